"""Inspect AI: the messages of one sample, in a shape that is nearly that of OpenAI Chat.

Guarantees: role, content and ids are as they stand; a call's name and arguments go where OpenAI
Chat has them. Messages that are not in the final conversation, and the events, are left out.

Example:
    >>> call = {"id": "c1", "function": "ls", "arguments": {"path": "a"}}
    >>> chat_call(call)["function"]
    {'name': 'ls', 'arguments': '{"path":"a"}'}
"""

from __future__ import annotations

from typing import Any

from provenance.histories.left_out import NO_MESSAGE, LeftOut
from provenance.histories.values import as_text, plain
from provenance.transcripts.records import Record

__all__ = ["InspectBuilder", "chat_call"]

_KIND = "message/"
_ROLES = frozenset({"system", "user", "assistant", "tool"})


class InspectBuilder:
    """Builds the messages of one sample."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._messages: list[dict[str, Any]] = []

    def take(self, record: Record) -> None:
        """Take the next record."""
        value = record.value
        role = record.kind.removeprefix(_KIND)
        if not record.kind.startswith(_KIND) or role not in _ROLES or not isinstance(value, dict):
            self._left_out.add(record.kind)
        elif not _is_final(record, role):
            self._left_out.add(NO_MESSAGE)
        else:
            self._messages.append(_message(value, role))

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self._messages


def _is_final(record: Record, role: str) -> bool:
    """Whether a message of the pool is one of the conversation; the adapter tells it apart."""
    if role in ("user", "assistant"):
        return record.speaker is not None
    return role == "system" or bool(record.results)


def _message(value: dict[str, Any], role: str) -> dict[str, Any]:
    content = value.get("content")
    message: dict[str, Any] = {
        "role": role,
        "content": plain(content) if isinstance(content, str | list) else as_text(content),
    }
    if role == "tool":
        message["tool_call_id"] = plain(value.get("tool_call_id"))
    calls = value.get("tool_calls")
    if role == "assistant" and isinstance(calls, list) and calls:
        message["tool_calls"] = [chat_call(call) for call in calls if isinstance(call, dict)]
    return message


def chat_call(call: dict[str, Any]) -> dict[str, Any]:
    """Give a call as OpenAI Chat has it."""
    name, arguments = call.get("function"), call.get("arguments")
    text = (
        arguments if isinstance(arguments, str) else as_text({} if arguments is None else arguments)
    )
    return {
        "id": plain(call.get("id")),
        "type": "function",
        "function": {"name": name if isinstance(name, str) else "", "arguments": text},
    }
