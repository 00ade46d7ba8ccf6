"""What turns the records of one conversation into messages: one builder a format.

Guarantees: a builder takes records in their order and raises nothing for what they hold.

Example:
    >>> isinstance(CommonBuilder(LeftOut()), Builder)
    True
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from provenance.histories.left_out import LeftOut
from provenance.histories.turns import Turns
from provenance.histories.values import arguments, as_text
from provenance.transcripts.records import Record

__all__ = ["Builder", "CommonBuilder"]

_CALL_NAMES = ("id", "call_id", "callId", "tool_call_id", "toolCallId")
_RESULT_NAMES = ("tool_use_id", "tool_call_id", "toolCallId", "call_id", "callId", "id")
_ARGUMENTS = ("input", "arguments", "args", "raw_input", "parameters")
_OUTPUTS = ("content", "output", "result", "text")


@runtime_checkable
class Builder(Protocol):
    """Builds the messages of one conversation."""

    def take(self, record: Record) -> None:
        """Take the next record."""

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""


class CommonBuilder:
    """Builds messages from what every format tells: text by speaker, calls, results."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self.turns = Turns()

    def take(self, record: Record) -> None:
        """Take the next record."""
        if record.speaker is None and not record.calls and not record.results:
            self._left_out.add(record.kind)
            return
        # The text of a record that calls or answers has those in it too.
        if record.speaker is not None and not record.calls and not record.results:
            self.turns.say(str(record.speaker), record.text)
        for call in record.calls:
            found = _holder(record.value, call.id, _CALL_NAMES, _ARGUMENTS)
            self.turns.call(call.id, call.name, arguments(_first(found, _ARGUMENTS)))
        for result in record.results:
            found = _holder(record.value, result.call_id, _RESULT_NAMES, _OUTPUTS)
            text = record.text if found is None else as_text(_first(found, _OUTPUTS))
            self.turns.answer(result.call_id, text)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self.turns.messages


def _holder(
    value: object, call_id: str, names: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, Any] | None:
    """Find the object that names a call and has one of some fields; the outermost, in order."""
    waiting: list[object] = [value]
    while waiting:
        layer, waiting = waiting, []
        for item in layer:
            if isinstance(item, dict):
                is_named = any(item.get(name) == call_id for name in names)
                if is_named and any(name in item for name in fields):
                    return item
                waiting += item.values()
            elif isinstance(item, list):
                waiting += item
    return None


def _first(holder: dict[str, Any] | None, names: tuple[str, ...]) -> object:
    if holder is None:
        return None
    return next((holder[name] for name in names if holder.get(name) is not None), None)
