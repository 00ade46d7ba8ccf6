"""Which cited events speak of an artifact: the step from a lost file to what rests on its event.

A large result is stored as an artifact, and the event of the session's log says only where. Whoever
cites that event rests on the artifact, too.

Guarantees: events are read again, and only where an artifact is not available; through the same
checks and policies, and no text of them is kept. A mention is a well-formed pointer with the same
session, name and first 12 digits of the digest.

Not guaranteed: mentions beyond the first 65,536 characters of an event, and in events that nothing
cites.

Example:
    >>> artifact_key("artifact:s1:a.txt:0123456789AB"), artifact_key("transcript:s1:3")
    ('artifact:s1:a.txt:0123456789ab', None)
"""

from __future__ import annotations

from collections.abc import Sequence

from provenance.audit.part import AuditPart
from provenance.audit.scan import scan_text
from provenance.audit.verifying import PartVerifier
from provenance.consequences import ConsequenceGraph
from provenance.pointers import SourcePointerError, parse_source_pointer
from provenance.resolution import SourceResolution, SourceResolutionStatus

__all__ = ["Mentions", "artifact_key"]

# What a spill leaves inline is shorter (spec 01.6: 50,000 bytes).
_MOST_CHARACTERS = 1 << 16
# Their texts are in memory together; a log is read once for each batch.
_BATCH = 500
_DIGITS = 12


class Mentions:
    """Looks for mentions in the cited events of one part, once, when there is a reason to."""

    def __init__(self, part: AuditPart, graph: ConsequenceGraph, *, tenant: str | None) -> None:
        """Name the part, where mentions go, and who asks."""
        self._part = part
        self._graph = graph
        self._tenant = tenant
        self._is_done = False

    def look(self, answers: Sequence[SourceResolution], *, jobs: int = 1) -> None:
        """Look for mentions if one of these answers is about a lost artifact."""
        if self._is_done or not any(map(_is_lost, answers)):
            return
        self._is_done = True
        events = sorted(text for text in self._part.citations if _is_event(text))
        with PartVerifier(
            self._part, tenant=self._tenant, max_excerpt_chars=_MOST_CHARACTERS
        ) as verifier:
            for start in range(0, len(events), _BATCH):
                for answer in verifier.verify(events[start : start + _BATCH], jobs=jobs):
                    if answer.excerpt and "artifact:" in answer.excerpt:
                        self._note(answer.pointer, answer.excerpt, is_ours=answer.native_id is None)

    def _note(self, event: str, text: str, *, is_ours: bool) -> None:
        keys = {artifact_key(hit.pointer) for hit in scan_text(text)} - {None}
        if not keys:
            return
        part = self._part
        session = parse_source_pointer(event).session_id
        # Another agent's log has any name: its folder is as near as it gets.
        folder = part.prefix + part.transcript_folder
        file = f"{folder}{session}.jsonl" if is_ours else folder.rstrip("/") or "."
        rests_on = sorted(key for key in keys if key is not None)
        self._graph.add("text", file, event, key=event, rests_on=rests_on, session=session)
        for one in part.citations[event]:
            self._graph.add(
                one.kind,
                one.file,
                one.item,
                rests_on=[event],
                session=one.session,
                text=one.text,
            )


def artifact_key(pointer: str) -> str | None:
    """Give what an artifact is known as, however many digits its digest is cited with."""
    try:
        parsed = parse_source_pointer(pointer)
    except SourcePointerError:
        return None
    if parsed.artifact_name is None or parsed.digest_prefix is None:
        return None
    digits = parsed.digest_prefix[:_DIGITS]
    return f"artifact:{parsed.session_id}:{parsed.artifact_name}:{digits}"


def _is_event(pointer: str) -> bool:
    try:
        return parse_source_pointer(pointer).artifact_name is None
    except SourcePointerError:
        return False


def _is_lost(answer: SourceResolution) -> bool:
    is_available = answer.status is SourceResolutionStatus.AVAILABLE and answer.conclusive
    return not is_available and answer.pointer.startswith("artifact:")
