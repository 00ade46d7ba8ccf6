"""Reads a rendered durable context back: the inverse of `render_durable_context`.

Guarantees: a text is read only if rendering what was read gives that very text again, so nothing
else (another order, a raw hidden character, an escape that need not be) is taken for a rendered
context. The time taken grows with the length of the text and no faster.

Example:
    >>> from provenance.durable.rendering import render_durable_context
    >>> from provenance.durable.values import DurableContextState, DurableFact
    >>> state = DurableContextState(
    ...     [DurableFact("f1", "A (source=x)", "transcript:s1:3", "2026-01-01T09:00:00Z")]
    ... )
    >>> parse_durable_context(render_durable_context(state)).state == state
    True
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from provenance.durable.escaping import unescape
from provenance.durable.failures import (
    DurableTypeError,
    DurableValueError,
    RenderedContextError,
)
from provenance.durable.rendering import (
    EVIDENCE_HEADING,
    FACTS_HEADING,
    HEADER,
    MAX_DONE_SHOWN,
    PENDING_HEADING,
    render_durable_context,
)
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.resolution import SourceResolution, SourceResolutionStatus

__all__ = ["RenderedContext", "parse_durable_context"]

_AVAILABLE = "available; evidence_sha256="
_UNAVAILABLE = "; evidence_unavailable=true"
_match_fields = re.compile(r" \((?:status|reason|source)=").search
_match_omitted = re.compile(r"- done_omitted=([1-9][0-9]{0,17})").fullmatch
_is_rank = re.compile(r"[1-9][0-9]{0,300}").fullmatch
_is_score = re.compile(r"[0-9][0-9.e-]{0,31}").fullmatch


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """What a rendered context says.

    Attributes:
        state: the items that it shows, in their order.
        resolutions: status and digest of each distinct pointer that it shows, in the order of
            first occurrence; None where it was rendered without any.
        done_omitted: how many `done` items it leaves out.
    """

    state: DurableContextState
    resolutions: tuple[SourceResolution, ...] | None = None
    done_omitted: int = 0


def parse_durable_context(text: str) -> RenderedContext:
    """Parse what `render_durable_context` gave.

    Args:
        text: the whole rendered context; an empty one is that of an empty state.

    Raises:
        RenderedContextError: the text is no rendered context; the message names the line.
        DurableTypeError: `text` is not a `str`.
    """
    if not isinstance(text, str):
        raise DurableTypeError(f"text: expected text, got {type(text).__name__}")
    if not text:
        return RenderedContext(DurableContextState())
    lines = text.split("\n")
    if lines[0] != HEADER:
        raise RenderedContextError("line 1: expected the header, got something else")
    reader = _Reader()
    for number, line in enumerate(lines[1:], start=2):
        try:
            reader.take(line)
        except (DurableValueError, _NotThereError) as error:
            raise RenderedContextError(f"line {number}: {error}") from error
    context = reader.finish()
    if _printed_again(context) != [line for line in lines if not _match_omitted(line)]:
        raise RenderedContextError("text: expected what prints back identically, got another text")
    return context


class _NotThereError(Exception):
    """A separator of the format is not in the line."""


class _Reader:
    """Collects items line by line; what must follow what is checked by printing them again."""

    def __init__(self) -> None:
        self._heading = ""
        self._facts: list[DurableFact] = []
        self._items: list[PendingItem] = []
        self._evidence: list[RetrievalEvidence] = []
        self._statuses: dict[str, SourceResolution | None] = {}
        self._omitted = 0

    def take(self, line: str) -> None:
        """Take one line after the header."""
        if line in (FACTS_HEADING, PENDING_HEADING, EVIDENCE_HEADING):
            self._heading = line
        elif self._heading == FACTS_HEADING:
            self._take_fact(line)
        elif self._heading == EVIDENCE_HEADING:
            self._take_evidence(line)
        elif self._omitted or not self._heading:
            raise _NotThereError("expected a heading, got something else")
        elif omitted := _match_omitted(line):
            self._omitted = int(omitted[1])
        else:
            self._take_item(line)

    def finish(self) -> RenderedContext:
        """Put together what was taken."""
        resolutions = [one for one in self._statuses.values() if one is not None]
        if 0 < len(resolutions) < len(self._statuses):
            raise RenderedContextError("source_status: expected for each source or none, got some")
        done = sum(item.status == "done" for item in self._items)
        if self._omitted and done != MAX_DONE_SHOWN:
            raise RenderedContextError(
                f"done_omitted: expected after {MAX_DONE_SHOWN} done items, got {done}"
            )
        try:
            state = DurableContextState(
                tuple(self._facts), tuple(self._items), tuple(self._evidence)
            )
        except DurableValueError as error:
            raise RenderedContextError(str(error)) from error
        return RenderedContext(state, tuple(resolutions) or None, self._omitted)

    def _take_fact(self, line: str) -> None:
        label, rest = _cut(_after("- ", line), ": ")
        content, rest = _cut(rest, " (source=")
        pointer, time = self._source(rest)
        self._facts.append(DurableFact(unescape(label), unescape(content), pointer, time))

    def _take_item(self, line: str) -> None:
        label, rest = _cut(_after("- ", line), ": ")
        status, reason = "open", None
        # No text of a state holds a field's name before a plain equals sign, so the first is ours.
        match = _match_fields(rest)
        if match is None:
            raise _NotThereError("expected a bracket with fields, got none")
        description, rest = rest[: match.start()], rest[match.start() + 2 :]
        if rest.startswith("status="):
            status, rest = _cut(_after("status=", rest), "; ")
        if rest.startswith("reason="):
            escaped, rest = _cut(_after("reason=", rest), "; source=")
            reason = unescape(escaped)
        else:
            rest = _after("source=", rest)
        pointer, time = self._source(rest)
        self._items.append(
            PendingItem(unescape(label), unescape(description), pointer, time, status, reason)
        )

    def _take_evidence(self, line: str) -> None:
        memory, rest = _cut(_after("- ", line), ": source=")
        kind, rest = _cut(rest, ":")
        source, rest = _cut(rest, "; title=")
        title, rest = _cut(rest, "; captured=")
        captured, rest = _cut(rest, "; score=")
        score, rest = _cut(rest, "; rank=")
        rank, conflict = _cut(rest, "; ")
        if not (_is_score(score) and _is_rank(rank)):
            raise _NotThereError("score and rank: expected numbers, got something else")
        self._evidence.append(
            RetrievalEvidence(
                unescape(memory),
                unescape(source),
                unescape(kind),
                unescape(title),
                captured,
                _number(score),
                int(rank),
                None
                if conflict == "conflict=none"
                else unescape(_after("conflict_winner=", conflict)),
            )
        )

    def _source(self, rest: str) -> tuple[str, str]:
        """Give pointer and time of what stands behind `source=`; keep the pointer's status."""
        escaped, time = _cut(rest, "; confirmed=")
        escaped, mark, found = escaped.partition("; source_status=")
        pointer = unescape(escaped)
        self._statuses[pointer] = _resolution(pointer, found) if mark else None
        if not time.endswith(")"):
            raise _NotThereError("expected a closing bracket at the end, got none")
        return pointer, time[:-1]


def _resolution(pointer: str, found: str) -> SourceResolution:
    if found.startswith(_AVAILABLE):
        digest = found.removeprefix(_AVAILABLE)
        return SourceResolution(pointer, SourceResolutionStatus.AVAILABLE, evidence_sha256=digest)
    for status in SourceResolutionStatus:
        if found == f"{status}{_UNAVAILABLE}" and status is not SourceResolutionStatus.AVAILABLE:
            return SourceResolution(pointer, status)
    raise _NotThereError("source_status: expected one of the five states, got something else")


def _printed_again(context: RenderedContext) -> list[str]:
    try:
        printed = render_durable_context(context.state, source_resolutions=context.resolutions)
    except ValueError as error:
        raise RenderedContextError(str(error)) from error
    return printed.split("\n")


def _cut(text: str, separator: str) -> tuple[str, str]:
    before, found, after = text.partition(separator)
    if not found:
        raise _NotThereError(f"expected {separator!r}, got none")
    return before, after


def _after(prefix: str, text: str) -> str:
    if not text.startswith(prefix):
        raise _NotThereError(f"expected {prefix!r}, got something else")
    return text.removeprefix(prefix)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise _NotThereError("score: expected a number, got something else") from error
