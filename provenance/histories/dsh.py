"""DeepSeek Harness: rows for the messages of user and assistant, and for results.

Guarantees: calls are those that the assistant's message announces, with the arguments it gives. A
row that takes the place of earlier ones (a checkpoint) stands for what is in the log too, and is
left out.

Example:
    >>> from provenance.histories.left_out import LeftOut
    >>> DshBuilder(LeftOut()).messages()
    []
"""

from __future__ import annotations

from typing import Any

from provenance.histories.left_out import NO_MESSAGE, SUMMARY, LeftOut
from provenance.histories.turns import Turns
from provenance.histories.values import arguments, texts_of
from provenance.transcripts.fields import dict_of, dicts_in, text_of
from provenance.transcripts.records import Record

__all__ = ["DshBuilder"]

_KINDS = frozenset({"user/message", "assistant/message", "tool/result"})


class DshBuilder:
    """Builds the messages of one log."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._turns = Turns()

    def take(self, record: Record) -> None:
        """Take the next record."""
        value = record.value
        if record.kind not in _KINDS or not isinstance(value, dict):
            self._left_out.add(record.kind)
            return
        if dict_of(value, "surfaceOp").get("op") == "replace":
            self._left_out.add(SUMMARY)
            return
        data = dict_of(value, "data")
        content = dict_of(data, "message").get("content", data.get("content"))
        match record.kind:
            case "user/message":
                self._turns.say("user", "\n".join(texts_of(content)))
            case "assistant/message":
                self._assistant(content)
            case _:
                self._result(record, data, content)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self._turns.messages

    def _assistant(self, content: object) -> None:
        if isinstance(content, str):
            self._turns.say("assistant", content)
        for block in dicts_in(content):
            if block.get("type") == "text":
                self._turns.say("assistant", text_of(block, "text") or "")
            elif block.get("type") == "tool-call" and (call_id := text_of(block, "id")):
                given = arguments(block.get("arguments"))
                self._turns.call(call_id, text_of(block, "name"), given)

    def _result(self, record: Record, data: dict[str, Any], content: object) -> None:
        if not record.results:
            self._left_out.add(NO_MESSAGE)
        texts: list[str] = texts_of(content)
        is_error = data.get("isError") is True
        for block in dicts_in(content):
            texts += texts_of(block.get("content"))
            is_error = is_error or block.get("isError") is True
        for result in record.results:
            self._turns.answer(result.call_id, "\n".join(texts), is_error=is_error)
