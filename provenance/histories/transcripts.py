"""From the records of a transcript to the messages of a request.

Guarantees: pure; records come in, nothing is opened. Where a format carries the provider's own
messages, those are given as they are; of any other one the messages are built from what was said,
called and answered. What is left out is counted, by why. Memory holds the messages and nothing
else of the transcript, and no more than a bound.

Example:
    >>> from provenance.transcripts.records import Speaker
    >>> raw = b'{"type":"user","message":{"role":"user","content":"hi"}}'
    >>> record = Record(ordinal=1, kind="user", raw=raw, value={}, speaker=Speaker.USER)
    >>> history_of([record], "claude-code").messages
    [{'role': 'user', 'content': 'hi'}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenance.findings import Severity
from provenance.histories.builders import Builder, CommonBuilder
from provenance.histories.claude_code import ClaudeCodeBuilder
from provenance.histories.dsh import DshBuilder
from provenance.histories.failures import HistoryError
from provenance.histories.gemini_cli import GeminiCliBuilder
from provenance.histories.inspect_chat import InspectBuilder
from provenance.histories.left_out import DAMAGED, OTHER_SESSION, SUB_AGENT, LeftOut
from provenance.histories.native import NativeBuilder
from provenance.histories.openhands import OpenHandsBuilder
from provenance.histories.responses import CodexBuilder, ItemsBuilder
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import HIDING

__all__ = ["MOST_BYTES", "History", "history_of"]

MOST_BYTES = 256 << 20
"""So many bytes of records are taken; no model's window holds a hundredth of it."""

_BUILDERS: Mapping[str, Callable[[LeftOut], Builder]] = {
    "claude-code": ClaudeCodeBuilder,
    "codex": CodexBuilder,
    "dsh": DshBuilder,
    "gemini-cli": GeminiCliBuilder,
    "inspect": InspectBuilder,
    "native": NativeBuilder,
    "openai-agents": ItemsBuilder,
    "openhands": OpenHandsBuilder,
}


@dataclass(frozen=True, slots=True)
class History:
    """The messages of one conversation.

    Attributes:
        messages: in their order, in the provider's shape.
        left_out: how many records are no part of it, by why.
        session: whose it is, in the format's own words; None: its records do not say.
    """

    messages: list[dict[str, Any]]
    left_out: Mapping[str, int] = field(default_factory=dict)
    session: str | None = None


@dataclass(slots=True)
class _Strand:
    """One of several conversations in a log."""

    builder: Builder
    session: str | None
    records: int = 0


def history_of(
    items: Iterable[Record | Fault],
    format_name: str,
    *,
    session: str | None = None,
    most_bytes: int = MOST_BYTES,
) -> History:
    """Build the messages of one conversation of a transcript.

    Args:
        items: what an adapter gives, in its order.
        format_name: of the adapter; of one from outside the common form is used.
        session: which session, in the format's own words or as a pointer names it; a sub-agent has
            a session of its own. None: the log's main conversation, or the only one that it holds.
        most_bytes: so many bytes of records are taken.

    Raises:
        HistoryError: no record is of that session; several sub-agents and nobody else are there;
            the records are too large.
    """
    left_out = LeftOut()
    build = _BUILDERS.get(format_name, CommonBuilder)
    strands: dict[str | None, _Strand] = {}
    others: dict[str, bool] = {}
    size = 0
    for item in items:
        if isinstance(item, Fault):
            if item.severity is Severity.ERROR and item.code in HIDING:
                left_out.add(DAMAGED)
            continue
        if session is not None and not _is_of(item.session, session, others):
            left_out.add(OTHER_SESSION)
            continue
        size += len(item.raw)
        if size > most_bytes:
            raise HistoryError(f"transcript: expected at most {most_bytes} bytes, got more")
        key = None if session is not None else item.strand
        strand = strands.get(key)
        if strand is None:
            strand = strands[key] = _Strand(build(left_out if key is None else LeftOut()), None)
        strand.session = strand.session or item.session
        strand.records += 1
        strand.builder.take(item)
    if session is not None and not strands:
        raise HistoryError("session: expected one of the transcript, got another")
    chosen = _chosen(strands)
    for strand in strands.values():
        if strand is not chosen:
            for _ in range(strand.records):
                left_out.add(SUB_AGENT)
    if chosen is None:
        return History([], left_out.counts())
    return History(chosen.builder.messages(), left_out.counts(), chosen.session)


def _is_of(found: str | None, wanted: str, known: dict[str, bool]) -> bool:
    if found is None:
        return False
    answer = known.get(found)
    if answer is None:
        answer = known[found] = wanted in (found, session_name(found))
    return answer


def _chosen(strands: Mapping[str | None, _Strand]) -> _Strand | None:
    """Give the main conversation; where there is none, the only one."""
    main = strands.get(None)
    if main is not None and main.builder.messages():
        return main
    rest = [strand for key, strand in strands.items() if key is not None]
    if len(rest) > 1:
        raise HistoryError(
            f"session: expected the session of one of {len(rest)} sub-agents, got none"
        )
    return rest[0] if rest else main
