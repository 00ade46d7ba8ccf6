"""Layer 1: a tool result above the cap keeps its beginning, or both ends where it was stored.

Guarantees: a result is only ever made shorter, and of what it holds only the text. With a store the
whole text is stored first, and the notice carries its pointer; if the store fails, the result stays
whole; what would stay whole is not stored. What reads a spilled result back, or is one that this
process spilled, is never spilled again.

Example:
    >>> shortened("x" * 100, 4).splitlines()
    ['xxxx', '', '[... truncated: the first 4 of 100 characters are shown ...]']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from provenance.artifacts.heads import Ends, Unit, keep_ends, shape_of
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.notices import (
    Notice,
    SpilledEnds,
    cut,
    cut_in,
    notices_in,
    remember_spilled,
    spilled,
    spilled_ends,
)
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import Entry, HeuristicCounter, View
from provenance.messages.shapes import (
    Block,
    BlockKind,
    blocks_of,
    text_in_result,
    with_result_texts,
)

__all__ = ["LAYER", "shortened", "truncate"]

LAYER = "tool_result_truncation"
_CHARS_PER_TOKEN = 4
# Twice the longest pointer, and the words.
_MOST_OF_NOTICE = 5_000


def truncate(view: View, log: ChangeLog, config: CompactionConfig, spiller: Spiller) -> None:
    """Shorten the tool results of a view that are above the cap."""
    cutter = _Cutter(view, config, spiller)
    # By the estimate no text in a message costs more than the message, so most need no look.
    least = config.max_tool_result_tokens if type(view.counter) is HeuristicCounter else -1
    for entry in view.entries:
        if entry.tokens <= least:
            continue
        _put(view, log, entry, cutter.parts_of(entry), spiller)


def shortened(text: str, room: int, pointer: str | None = None) -> str:
    """Shorten a text: to its beginning, or where it was stored to its two ends."""
    if pointer is None:
        before = cut_in(text)
        # What is left of a beginning is the beginning of the same whole.
        is_again = before is not None and room < before.shown
        return text[:room] + cut(room, before.total if before and is_again else len(text))
    return spilled(*_ends_of(text, room, pointer))


def _ends_of(text: str, room: int, pointer: str) -> SpilledEnds:
    room = _room_for_ends(room, len(text), pointer)
    ends = keep_ends(text, room=room, unit=Unit.CHARACTERS, shape=shape_of(text))
    if not (ends.head and ends.tail) and room > 1:
        ends = Ends(text[: room // 2], text[len(text) - (room - room // 2) :])
    return SpilledEnds(ends.head, ends.tail, len(text), pointer)


def _again(ends: SpilledEnds, room: int) -> SpilledEnds:
    """Shorten the ends of a spilled text; the pointer stays what it is."""
    room = _room_for_ends(room, ends.total, ends.pointer)
    for_tail = min(len(ends.tail), max(room // 3, min(room // 2, 1)))
    for_head = min(len(ends.head), room - for_tail)
    for_tail = min(len(ends.tail), room - for_head)
    tail = ends.tail[len(ends.tail) - for_tail :]
    return ends._replace(head=ends.head[:for_head], tail=tail)


def _room_for_ends(room: int, total: int, pointer: str) -> int:
    """Give what the notice leaves of the room, and half of it where it leaves less."""
    return max(room - Notice(0, 0, total, pointer).most, room // 2)


class _Part(NamedTuple):
    """What stands in the place of a result: a text, which is the ends of a stored one, or not."""

    text: str
    ends: SpilledEnds | None = None

    @classmethod
    def of(cls, ends: SpilledEnds) -> _Part:
        return cls(spilled(*ends), ends)


class _Cutter:
    def __init__(self, view: View, config: CompactionConfig, spiller: Spiller) -> None:
        self._view = view
        self._counter = view.counter
        self._cap = config.max_tool_result_tokens
        self._room = self._cap * _CHARS_PER_TOKEN
        self._readers = config.spill_read_tools
        self._spiller = spiller
        self._names = view.tool_names() if spiller.has_store else {}

    def parts_of(self, entry: Entry) -> dict[int, _Part]:
        """Shorten the results of a message, those that do not stay whole."""
        texts = {
            block.index: text
            for block in entry.blocks
            if block.kind is BlockKind.TOOL_RESULT
            and (text := text_in_result(block)) is not None
            and self._is_above(text)
        }
        parts: dict[int, _Part] = {}
        planned: dict[int, SpilledEnds] = {}
        for index, text in texts.items():
            known = spilled_ends(text)
            if known is not None:
                part = _Part.of(_again(known, self._room))
            elif self._is_to_store(entry.blocks[index]):
                # What it would become, so that nothing is stored that stays as it is then.
                ends = _ends_of(text, self._room, self._spiller.likely_pointer)
                part = _Part.of(ends)
                planned[index] = ends
            else:
                part = _Part(shortened(text, self._room))
            if len(part.text) < len(text):
                parts[index] = part
        if not planned or not parts or _changed(self._view, entry, parts) is None:
            return {} if planned else parts
        found = {
            index: self._stored(entry, entry.blocks[index], texts[index], planned[index])
            if index in planned
            else part
            for index, part in parts.items()
        }
        return {index: part for index, part in found.items() if part is not None}

    def _is_above(self, text: str) -> bool:
        size, most = len(text), self._room // 2 + _MOST_OF_NOTICE
        if size <= self._room or self._counter.count_text(text) <= self._cap:
            return False
        before = cut_in(text)
        if before is not None and before.shown <= self._room:
            return False  # as short as a beginning gets: what is too much is its notice
        # By what it says itself it is as short as a spilled text gets, with a notice that takes
        # more than half of the room. If it only says so, it stays whole, and it is not much.
        return size > most or not any(
            size <= self._room // 2 + notice.most for notice in notices_in(text)
        )

    def _is_to_store(self, block: Block) -> bool:
        return self._spiller.has_store and self._tool_of(block) not in self._readers

    def _tool_of(self, block: Block) -> str | None:
        return block.name or self._names.get(block.call_id)

    def _stored(self, entry: Entry, block: Block, text: str, planned: SpilledEnds) -> _Part | None:
        """Store a text and shorten it; None where it stays whole."""
        call_id = block.call_id if isinstance(block.call_id, str) else None
        pointer = self._spiller.keep(text, tool=self._tool_of(block), call_id=call_id)
        if pointer is None:
            return None  # nothing is lost for want of a store
        self._spiller.remember_shortened(entry, block, pointer)
        ends = planned._replace(pointer=pointer)
        if len(pointer) != len(planned.pointer):
            ends = _ends_of(text, self._room, pointer)
        part = _Part.of(ends)
        return part if len(part.text) < len(text) else None


def _changed(view: View, entry: Entry, parts: Mapping[int, _Part]) -> tuple[object, int] | None:
    """Give the message with these parts, and its cost; None where it would not cost less."""
    changed = with_result_texts(entry.message, {at: part.text for at, part in parts.items()})
    tokens = view.counter.count_message(changed)
    return (changed, tokens) if tokens < entry.tokens else None


def _put(
    view: View, log: ChangeLog, entry: Entry, parts: Mapping[int, _Part], spiller: Spiller
) -> None:
    made = _changed(view, entry, parts) if parts else None
    if made is None:
        return
    changed, tokens = made
    blocks = blocks_of(changed)
    for index, (_, ends) in parts.items():
        block, pointer = entry.blocks[index], None
        if ends is not None:
            remember_spilled(ends)
            pointer = ends.pointer
        spiller.remember_shortened(entry, block, pointer)
        log.note(entry, block, layer=LAYER, changed=blocks[index].value, pointer=pointer)
    view.tokens -= entry.tokens - tokens
    entry.put(changed, blocks, tokens)
