"""Messages built from what was said, called and answered: the form for formats without their own.

Guarantees: the messages are Anthropic mappings. What an assistant says and calls in one go is one
message, and so are the results that come one after another; what a user says is a message each.

Example:
    >>> turns = Turns()
    >>> turns.call("c1", "ls", {})
    >>> turns.answer("c1", "a.txt")
    >>> [message["role"] for message in turns.messages]
    ['assistant', 'user']
"""

from __future__ import annotations

from typing import Any

__all__ = ["Turns"]


class Turns:
    """A conversation, as it goes on."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self.messages: list[dict[str, Any]] = []
        self._is_answering = False

    def say(self, role: str, text: str) -> None:
        """Add what a user or an assistant says; nothing where it is empty."""
        if not text:
            return
        if role == "assistant":
            self._assistant({"type": "text", "text": text})
        else:
            self.messages.append({"role": role, "content": text})
            self._is_answering = False

    def call(self, call_id: str, name: str | None, arguments: dict[str, Any]) -> None:
        """Add a call of a tool."""
        block = {"type": "tool_use", "id": call_id, "name": name or "", "input": arguments}
        self._assistant(block)

    def answer(self, call_id: str, text: str, *, is_error: bool = False) -> None:
        """Add the result of a call."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        if is_error:
            block["is_error"] = True
        if self._is_answering:
            self.messages[-1]["content"].append(block)
        else:
            self.messages.append({"role": "user", "content": [block]})
            self._is_answering = True

    def _assistant(self, block: dict[str, Any]) -> None:
        self._is_answering = False
        if self.messages and self.messages[-1]["role"] == "assistant":
            self.messages[-1]["content"].append(block)
        else:
            self.messages.append({"role": "assistant", "content": [block]})
