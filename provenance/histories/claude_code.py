"""Claude Code: its records hold the provider's own messages.

Guarantees: the content of a message is as it was sent and received; beside it only its role is
kept, which is all that a request has. The parts of one message of the model, which stand in records
of their own, are one message again, in the place of the first.

Example:
    >>> raw = b'{"type":"user","message":{"role":"user","content":"hi"}}'
    >>> builder = ClaudeCodeBuilder(LeftOut())
    >>> builder.take(Record(ordinal=1, kind="user", raw=raw, value={}, speaker=Speaker.USER))
    >>> builder.messages()
    [{'role': 'user', 'content': 'hi'}]
"""

from __future__ import annotations

from typing import Any

from provenance.histories.left_out import API_ERROR, META, NO_MESSAGE, REPEATED, SUMMARY, LeftOut
from provenance.histories.values import whole
from provenance.transcripts.records import Record, Speaker

__all__ = ["ClaudeCodeBuilder"]

# A flag on a record, and what a record with it is.
_FLAGS = {
    "isMeta": META,
    "isCompactSummary": SUMMARY,
    "isApiErrorMessage": API_ERROR,
}


class ClaudeCodeBuilder:
    """Builds the messages of one conversation."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._messages: list[dict[str, Any]] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._seen: set[tuple[str, str]] = set()

    def take(self, record: Record) -> None:
        """Take the next record."""
        if record.speaker is None:
            self._left_out.add(record.kind)
        elif self._is_repeated(record):
            self._left_out.add(REPEATED)
        elif (reason := self._add(record, record.speaker)) is not None:
            self._left_out.add(reason)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self._messages

    def _is_repeated(self, record: Record) -> bool:
        if record.native_id is None:
            return False
        key = record.native_id, record.sha256
        is_known = key in self._seen
        self._seen.add(key)
        return is_known

    def _add(self, record: Record, speaker: Speaker) -> str | None:
        """Add a record's message; gives why it is none."""
        value = whole(record.raw)
        if value is None:
            return NO_MESSAGE
        for flag, reason in _FLAGS.items():
            if value.get(flag) is True:
                return reason
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list) or not content:
            return NO_MESSAGE
        known = None if record.message_id is None else self._by_id.get(record.message_id)
        if known is not None:
            _join(known, content)
            return None
        new = {"role": str(speaker), "content": content}
        self._messages.append(new)
        if record.message_id is not None:
            self._by_id[record.message_id] = new
        return None


def _join(message: dict[str, Any], content: str | list[Any]) -> None:
    """Put the next part of a message behind those that are there."""
    blocks = _blocks(message["content"])
    # A log that was resumed repeats a call under another record id; it was made once.
    calls = [block for block in blocks if _is_call(block)]
    blocks += [block for block in _blocks(content) if not (_is_call(block) and block in calls)]
    message["content"] = blocks


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _is_call(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"
