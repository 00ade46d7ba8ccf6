"""One sample of an Inspect log: its messages and its events as records.

Guarantees: pure; raises nothing, whatever the values are, and does not recurse. Calls and results
are taken from the messages, which hold each of them once; a sample without messages has them taken
from its events. A record's value knows the sample it stands in, so that its references can be told.

Example:
    >>> item = Item({"role": "user", "content": "hi"}, b"{...}", 0)
    >>> maker = RecordMaker(SampleFacts(), has_messages=True)
    >>> record = maker.message(item, Where(1, "7_epoch_1"))
    >>> record.kind, record.text
    ('message/user', 'hi')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provenance.transcripts.adapters._inspect_references import (
    PlacedValue,
    SampleFacts,
    attachments_in,
    pairs_of,
)
from provenance.transcripts.fields import text_of
from provenance.transcripts.records import Call, CallResult, Record, Speaker

__all__ = ["Item", "RecordMaker", "Where"]

_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_ROLES = frozenset({"system", "user", "assistant", "tool"})
_EVENTS = frozenset(
    {
        "anchor",
        "approval",
        "branch",
        "checkpoint",
        "compaction",
        "error",
        "info",
        "input",
        "interrupt",
        "logger",
        "model",
        "sample_init",
        "sample_limit",
        "sandbox",
        "score",
        "score_edit",
        "span_begin",
        "span_end",
        "state",
        "step",
        "store",
        "subtask",
        "tool",
    }
)


@dataclass(frozen=True, slots=True)
class Item:
    """An element of `messages` or `events`, with its bytes; `offset` is where they begin."""

    value: Any
    raw: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class Where:
    """Where a record stands, as in `Record`."""

    ordinal: int
    session: str
    member: str | None = None
    line: int | None = None


class RecordMaker:
    """Makes the records of one sample, in their order."""

    def __init__(
        self,
        facts: SampleFacts,
        *,
        has_messages: bool,
        pool: Sequence[Any] = (),
    ) -> None:
        """Take what the records may refer to.

        Args:
            facts: of the sample.
            has_messages: calls and results are in the messages, not in the events.
            pool: the messages of the pool, where they are no records themselves.
        """
        self._facts = facts
        self._has_messages = has_messages
        self._pool = pool
        self._pool_used = 0

    def message(self, item: Item, where: Where, *, is_final: bool = True) -> Record:
        """Make the record of a message; the calls count in the final conversation alone."""
        value = item.value if isinstance(item.value, dict) else {}
        role = text_of(value, "role")
        calls: tuple[Call, ...] = ()
        results: tuple[CallResult, ...] = ()
        if is_final and role == "assistant":
            calls = _calls(value)
        elif is_final and role == "tool" and (call_id := text_of(value, "tool_call_id")):
            results = (CallResult(call_id),)
        return self._record(
            item,
            where,
            kind=f"message/{role}" if role else "(none)",
            native_id=text_of(value, "id"),
            # The answer of a tool is nobody's: two answers may be one after another.
            speaker=_SPEAKERS.get(role) if is_final and role else None,
            calls=calls,
            results=results,
            is_known=role in _ROLES,
            say=_say_message,
        )

    def event(self, item: Item, where: Where) -> Record:
        """Make the record of an event."""
        value = item.value if isinstance(item.value, dict) else {}
        kind = text_of(value, "event")
        calls: tuple[Call, ...] = ()
        results: tuple[CallResult, ...] = ()
        if not self._has_messages and kind == "model":
            calls = _calls(_answer(value))
        elif not self._has_messages and kind == "tool" and value.get("pending") is not True:
            call_id = text_of(value, "id")
            results = (CallResult(call_id),) if call_id else ()
        return self._record(
            item,
            where,
            kind=kind or "(none)",
            native_id=text_of(value, "uuid"),
            time=text_of(value, "timestamp"),
            speaker=Speaker.ASSISTANT if kind == "model" and not self._has_messages else None,
            calls=calls,
            results=results,
            is_known=kind in _EVENTS,
            say=_say_event,
            pooled=self._take_pooled(value.get("input_refs")),
        )

    def _take_pooled(self, refs: Any) -> tuple[str, ...]:  # noqa: ANN401 - a stranger's value
        """Give the attachments in the part of the pool that no event before has used."""
        ends = [pair[1] for pair in pairs_of(refs) if pair is not None]
        end = min(max(ends, default=0), len(self._pool))
        new = self._pool[self._pool_used : end]
        self._pool_used = max(self._pool_used, end)
        return tuple(attachments_in(new)) if new else ()

    def _record(
        self,
        item: Item,
        where: Where,
        *,
        pooled: tuple[str, ...] = (),
        **known: Any,  # noqa: ANN401
    ) -> Record:
        value = item.value
        if isinstance(value, dict):
            value = PlacedValue(value, self._facts, pooled)
        return Record(
            ordinal=where.ordinal,
            raw=item.raw,
            value=value,
            line=where.line,
            offset=item.offset,
            member=where.member,
            session=where.session,
            **known,
        )


def _calls(message: dict[str, Any]) -> tuple[Call, ...]:
    calls = message.get("tool_calls")
    return tuple(
        Call(call_id, text_of(call, "function"))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and (call_id := text_of(call, "id"))
    )


def _answer(event: dict[str, Any]) -> dict[str, Any]:
    """Give the message that a model event ended with."""
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _say_message(value: Any) -> str:  # noqa: ANN401 - whatever stands there
    content = value.get("content") if isinstance(value, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    found = (part.get("text") or part.get("reasoning") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in found if isinstance(text, str))


def _say_event(value: Any) -> str:  # noqa: ANN401 - whatever stands there
    if not isinstance(value, dict):
        return ""
    if value.get("event") == "model":
        return _say_message(_answer(value))
    for key in ("result", "output", "data", "message", "input"):
        if isinstance(text := value.get(key), str):
            return text
    return ""
