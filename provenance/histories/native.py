"""Our own events: messages as they stand, calls and results as items of the Responses shape.

Guarantees: a message keeps its role and content. A call and its result keep their id, name,
arguments and text; the fields of the envelope are no part of a request and go.

Example:
    >>> item_of({"type": "function_call", "callId": "c1", "name": "ls", "arguments": {}})
    {'type': 'function_call', 'call_id': 'c1', 'name': 'ls', 'arguments': '{}'}
"""

from __future__ import annotations

from typing import Any

from provenance.histories.left_out import NO_MESSAGE, LeftOut
from provenance.histories.values import as_text, plain
from provenance.transcripts.records import Record

__all__ = ["NativeBuilder", "item_of"]

_ENVELOPE = frozenset({"schema_version", "sequence", "recorded_at", "session_id", "event_id"})
_KINDS = frozenset({"message", "reasoning", "function_call", "function_call_result"})


class NativeBuilder:
    """Builds the messages of one transcript of ours."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._items: list[dict[str, Any]] = []

    def take(self, record: Record) -> None:
        """Take the next record."""
        if record.kind not in _KINDS or not isinstance(record.value, dict):
            self._left_out.add(record.kind)
            return
        item = item_of(record.value)
        if item is None:
            self._left_out.add(NO_MESSAGE)
        else:
            self._items.append(item)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self._items


def item_of(event: dict[str, Any]) -> dict[str, Any] | None:
    """Give the message or item that an event is; None where it says nothing."""
    match event.get("type"):
        case "message":
            role, content = event.get("role"), event.get("content")
            if not isinstance(role, str) or not role:
                return None
            text = plain(content) if isinstance(content, str | list) else as_text(content)
            return {"role": role, "content": text}
        case "function_call":
            arguments = event.get("arguments")
            return {
                "type": "function_call",
                "call_id": plain(_call_id(event)),
                "name": as_text(event.get("name")),
                "arguments": as_text({} if arguments is None else arguments),
            }
        case "function_call_result":
            output = event.get("output", event.get("content"))
            return {
                "type": "function_call_output",
                "call_id": plain(_call_id(event)),
                "output": as_text(output),
            }
        case "reasoning":
            kept = {name: value for name, value in event.items() if name not in _ENVELOPE}
            found: dict[str, Any] = plain(kept)
            return found
        case _:
            return None


def _call_id(event: dict[str, Any]) -> object:
    found = event.get("call_id")
    return event.get("callId") if found is None else found
