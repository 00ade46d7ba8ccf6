"""Codex and the OpenAI Agents SDK: their records hold items of the Responses or Chat shape.

Guarantees: an item is as it was sent and received. What is no item of a request (a snapshot of the
files, a summary of items that are in the log too, an item that only the service has) is left out.

Example:
    >>> row = {"role": "user", "content": "hi"}
    >>> builder = ItemsBuilder(LeftOut())
    >>> builder.take(Record(ordinal=1, kind="message", raw=b"", value=row))
    >>> builder.messages()
    [{'role': 'user', 'content': 'hi'}]
"""

from __future__ import annotations

from typing import Any

from provenance.histories.left_out import SUMMARY, LeftOut
from provenance.histories.values import plain
from provenance.transcripts.records import Record

__all__ = ["CodexBuilder", "ItemsBuilder"]

_SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
# What stands among the items and is none of a request.
_NO_ITEMS = frozenset(
    {"additional_tools", "agent_message", "compaction_trigger", "encrypted", "ghost_snapshot",
     "item_reference"}
)  # fmt: skip
_ITEMS = frozenset({"message", "reasoning"})
_ENDINGS = ("_call", "_output")
_WRAPPER = "response_item"


class ItemsBuilder:
    """Builds the items of rows that are items."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._items: list[dict[str, Any]] = []

    def take(self, record: Record) -> None:
        """Take the next record."""
        item = self._item_in(record)
        kind = item.get("type") if item is not None else None
        if item is None or not (isinstance(kind, str) or isinstance(item.get("role"), str)):
            self._left_out.add(record.kind)
        elif kind in _SUMMARIES:
            self._left_out.add(SUMMARY)
        elif kind in _NO_ITEMS:
            self._left_out.add(str(kind))
        else:
            self._items.append(plain(item))

    def messages(self) -> list[dict[str, Any]]:
        """Give the items."""
        return self._items

    def _item_in(self, record: Record) -> dict[str, Any] | None:
        return record.value if isinstance(record.value, dict) else None


class CodexBuilder(ItemsBuilder):
    """Builds the items of a rollout, in each of its shapes."""

    def _item_in(self, record: Record) -> dict[str, Any] | None:
        value = record.value
        if not isinstance(value, dict):
            return None
        kind = value.get("type")
        if kind == _WRAPPER:
            payload = value.get("payload")
            return payload if isinstance(payload, dict) else None
        # Before September 2025 the items stood alone on their lines.
        is_item = isinstance(kind, str) and (kind in _ITEMS or kind.endswith(_ENDINGS))
        return value if is_item and "payload" not in value else None
