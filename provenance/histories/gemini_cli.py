"""Gemini CLI: a message holds its calls and their results; later lines change earlier ones.

Guarantees: what counts is the conversation as Gemini CLI itself would read it: a message that was
written again stands once, what a rewind took back is left out, and `$set` with messages puts those
in the place of all.

Example:
    >>> result = [{"functionResponse": {"response": {"output": "done"}}}]
    >>> result_text({"result": result})
    'done'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from provenance.histories.left_out import REWOUND, UPDATED, LeftOut
from provenance.histories.turns import Turns
from provenance.histories.values import arguments, as_text, texts_of
from provenance.transcripts.fields import dict_of, dicts_in, text_of
from provenance.transcripts.records import Record

__all__ = ["GeminiCliBuilder", "result_text"]

_SPEAKERS = {"user": "user", "gemini": "assistant"}
_FINISHED = frozenset({"success", "error", "cancelled"})


class GeminiCliBuilder:
    """Builds the messages of one session."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._by_id: dict[str, dict[str, Any]] = {}

    def take(self, record: Record) -> None:
        """Take the next record."""
        value = record.value
        if not isinstance(value, dict):
            self._left_out.add(record.kind)
        elif isinstance(target := value.get("$rewindTo"), str):
            self._rewind(target)
        elif isinstance(messages := dict_of(value, "$set").get("messages"), list):
            self._count(REWOUND, len(self._by_id))
            self._by_id = dict(_named(messages))
        elif record.kind in _SPEAKERS:
            message_id = text_of(value, "id") or f"#{record.ordinal}"
            if message_id in self._by_id:
                self._left_out.add(UPDATED)
            self._by_id[message_id] = value
        else:
            self._left_out.add(record.kind)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        turns = Turns()
        for value in self._by_id.values():
            _say(turns, value)
        return turns.messages

    def _rewind(self, target: str) -> None:
        is_there = target in self._by_id
        while self._by_id:
            last, _ = self._by_id.popitem()
            self._left_out.add(REWOUND)
            if is_there and last == target:
                break

    def _count(self, reason: str, times: int) -> None:
        for _ in range(times):
            self._left_out.add(reason)


def _named(messages: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for message in dicts_in(messages):
        if (message_id := text_of(message, "id")) is not None:
            yield message_id, message


def _say(turns: Turns, value: dict[str, Any]) -> None:
    kind = value.get("type")
    role = _SPEAKERS.get(kind) if isinstance(kind, str) else None
    if role is None:
        return
    turns.say(role, "\n".join(texts_of(value.get("content"))))
    calls = [call for call in dicts_in(value.get("toolCalls")) if text_of(call, "id") is not None]
    for call in calls:
        turns.call(call["id"], text_of(call, "name"), arguments(call.get("args")))
    for call in calls:
        status = call.get("status")
        if call.get("result") or (isinstance(status, str) and status in _FINISHED):
            turns.answer(call["id"], result_text(call), is_error=status == "error")


def result_text(call: dict[str, Any]) -> str:
    """Give the text of a call's result."""
    texts: list[str] = []
    for part in dicts_in(call.get("result")):
        response = dict_of(dict_of(part, "functionResponse"), "response")
        found = next((response[key] for key in ("output", "error") if key in response), None)
        texts.append(as_text(response if found is None else found) or text_of(part, "text") or "")
    return "\n".join(text for text in texts if text)
