"""Layer 1: a tool result above the cap keeps its beginning, or both ends where it was stored.

Guarantees: a result is only ever made shorter. With a store the whole text is stored first, and the
notice carries its pointer; if the store fails, the result stays whole. What reads a spilled result
back, or shows the ends of one, is never spilled again.

Example:
    >>> shortened("x" * 100, 4).splitlines()
    ['xxxx', '', '[... truncated: the first 4 of 100 characters are shown ...]']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from provenance.artifacts.heads import Unit, keep_ends, shape_of
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.notices import SpilledEnds, cut, spilled, spilled_ends
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import Entry, HeuristicCounter, View
from provenance.messages.shapes import (
    Block,
    BlockKind,
    blocks_of,
    result_text,
    with_result_texts,
)

__all__ = ["LAYER", "shortened", "truncate"]

LAYER = "tool_result_truncation"
_CHARS_PER_TOKEN = 4


def truncate(view: View, log: ChangeLog, config: CompactionConfig, spiller: Spiller) -> None:
    """Shorten the tool results of a view that are above the cap."""
    cutter = _Cutter(view, config, spiller)
    # By the estimate no text in a message costs more than the message, so most need no look.
    least = config.max_tool_result_tokens if type(view.counter) is HeuristicCounter else -1
    for entry in view.entries:
        if entry.tokens <= least:
            continue
        parts = {
            block.index: part
            for block in entry.blocks
            if block.kind is BlockKind.TOOL_RESULT
            and (part := cutter.part_of(entry, block)) is not None
        }
        if parts:
            _put(view, log, entry, parts)


def shortened(text: str, room: int, pointer: str | None = None) -> str:
    """Shorten a text: to its beginning, or where it was stored to its two ends."""
    if pointer is None:
        return text[:room] + cut(room, len(text))
    room = max(0, room - len(spilled("", "", len(text), pointer)))
    ends = keep_ends(text, room=room, unit=Unit.CHARACTERS, shape=shape_of(text))
    return spilled(ends.head, ends.tail, len(text), pointer)


def _again(ends: SpilledEnds, room: int) -> str:
    """Shorten the ends of a spilled text; the pointer stays what it is."""
    room = max(0, room - len(spilled("", "", ends.total, ends.pointer)))
    for_head = min(len(ends.head), room - min(len(ends.tail), room // 3))
    for_tail = min(len(ends.tail), room - for_head)
    tail = ends.tail[len(ends.tail) - for_tail :]
    return spilled(ends.head[:for_head], tail, ends.total, ends.pointer)


class _Part(NamedTuple):
    """What stands in the place of a result, and where the whole is."""

    text: str
    pointer: str | None


class _Cutter:
    def __init__(self, view: View, config: CompactionConfig, spiller: Spiller) -> None:
        self._counter = view.counter
        self._cap = config.max_tool_result_tokens
        self._readers = config.spill_read_tools
        self._spiller = spiller
        self._names = view.tool_names() if spiller.has_store else {}

    def part_of(self, entry: Entry, block: Block) -> _Part | None:
        """Shorten a result; None where it stays whole."""
        text, room = result_text(block), self._cap * _CHARS_PER_TOKEN
        if text is None or len(text) <= room or self._counter.count_text(text) <= self._cap:
            return None
        ends, pointer = spilled_ends(text), None
        if ends is not None:
            part = _Part(_again(ends, room), ends.pointer)
        else:
            tool = block.name or self._names.get(block.call_id)
            if self._spiller.has_store and tool not in self._readers:
                call_id = block.call_id if isinstance(block.call_id, str) else None
                pointer = self._spiller.keep(text, tool=tool, call_id=call_id)
                if pointer is None:
                    return None  # it stays whole: nothing is lost for want of a store
                self._spiller.remember(entry, block, pointer)
            part = _Part(shortened(text, room, pointer), pointer)
        return part if len(part.text) < len(text) else None


def _put(view: View, log: ChangeLog, entry: Entry, parts: Mapping[int, _Part]) -> None:
    texts = {index: part.text for index, part in parts.items()}
    changed = with_result_texts(entry.message, texts)
    tokens = view.counter.count_message(changed)
    if tokens >= entry.tokens:
        return
    blocks = blocks_of(changed)
    for index, part in parts.items():
        changed_block = blocks[index].value
        log.note(
            entry, entry.blocks[index], layer=LAYER, changed=changed_block, pointer=part.pointer
        )
    view.tokens -= entry.tokens - tokens
    entry.put(changed, blocks, tokens)
