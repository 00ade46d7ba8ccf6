r"""ctxaudit's own transcripts, read like anybody else's: for what the records say of each other.

Guarantees: as the protocol says. Whether a pointer into one resolves is not decided here but by the
strict rules of spec 01.5 (`provenance.transcripts.reader`).

Example:
    >>> Native().identify(Head("s1.jsonl", b'{"sequence":1,"event_id":"transcript:s1:1"}\n'))
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from provenance.transcripts.checking import KNOWN_TYPES
from provenance.transcripts.fields import text_of
from provenance.transcripts.lines import read_json_lines
from provenance.transcripts.records import Call, CallResult, Fault, Record, Reference, Speaker
from provenance.transcripts.sources import Head, Source

__all__ = ["Native"]

_ROLES = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_BY_TYPE = {
    "function_call": Speaker.ASSISTANT,
    "function_call_result": Speaker.USER,
    "reasoning": Speaker.ASSISTANT,
}


# What the messages of other formats have.
_OTHERS = frozenset({"message", "messageId", "parentId", "payload", "uuid"})


class Native:
    """The format `native`."""

    name = "native"
    suffixes = (".jsonl",)
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether one of the first lines is an event; older writers left the envelope out."""
        return any(map(_is_own, head.objects))

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the records of one transcript."""
        session = source.name.removesuffix(".jsonl")
        for item in read_json_lines(
            source.chunks(), limits=source.limits, is_record=lambda value: False
        ):
            if isinstance(item, Fault):
                yield item
                continue
            value = item.value
            found = value.get("type")
            kind = found if isinstance(found, str) else "(none)"
            call_id = text_of(value, "call_id") or text_of(value, "callId") or ""
            yield Record(
                ordinal=item.ordinal,
                kind=kind,
                raw=item.raw,
                value=value,
                line=item.line,
                offset=item.offset,
                session=session,
                time=text_of(value, "recorded_at"),
                speaker=_speaker(kind, value),
                calls=((Call(call_id, text_of(value, "name")),) if kind == "function_call" else ()),
                results=((CallResult(call_id),) if kind == "function_call_result" else ()),
                is_known=kind in KNOWN_TYPES,
                say=_text,
            )

    def references(self, record: Record) -> Iterable[Reference]:
        """Give nothing: what a state cites is checked as a pointer."""
        return ()

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session that the file is named after."""
        return (source.name.removesuffix(".jsonl"),)


def _is_own(value: dict[str, Any]) -> bool:
    if "sequence" in value and ("event_id" in value or "session_id" in value):
        return True
    event_id = value.get("event_id")
    if isinstance(event_id, str) and event_id.startswith("transcript:"):
        return True
    # Older writers left the envelope out; what is left are these fields.
    match value.get("type"):
        case "message":
            return "role" in value and "content" in value and not _OTHERS & value.keys()
        case "function_call":
            return "name" in value and ("call_id" in value or "callId" in value)
        case "function_call_result":
            return "call_id" in value or "callId" in value
        case _:
            return False


def _speaker(kind: str, value: dict[str, Any]) -> Speaker | None:
    if kind == "message":
        role = value.get("role")
        return _ROLES.get(role) if isinstance(role, str) else None
    return _BY_TYPE.get(kind)


def _text(value: Any) -> str:  # noqa: ANN401 - a parsed record
    if not isinstance(value, dict):
        return ""
    content = value.get("content")
    if isinstance(content, str):
        return content
    parts: list[str] = []
    waiting: list[object] = [value.get("output"), value.get("arguments"), content]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            parts.append(found)
        elif isinstance(found, dict):
            waiting.extend(reversed(list(found.values())))
        elif isinstance(found, list):
            waiting.extend(reversed(found))
    return "\n".join(parts)
