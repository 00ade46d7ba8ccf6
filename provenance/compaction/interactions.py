"""Removing blocks so that no tool interaction is torn: a call goes with its result, or not at all.

Guarantees: both sides of an interaction leave the view together, and the signed thinking that led
to nothing else goes with them; siblings in the same messages stay; a message that is emptied goes.
One pass, whatever the number of blocks.

Example:
    >>> [str(side) for side in SIDES]
    ['tool_call', 'tool_result']
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from provenance.compaction.changes import ChangedBlock, ChangeLog
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import Entry, View
from provenance.messages.protocol import ToolInteraction
from provenance.messages.shapes import Block, BlockKind
from provenance.messages.thinking import bound_thinking

__all__ = ["SIDES", "Gone", "all_of", "drop", "sides_of"]

# Names of the module are read faster than those of an enum.
_CALL, _RESULT = SIDES = (BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT)

# The blocks that are to go, by the place of their message in the view.
Gone = dict[int, Sequence[Block]]


def sides_of(
    view: View, call_ids: Collection[str], interactions: Mapping[str, ToolInteraction]
) -> Gone:
    """Give both sides of interactions."""
    touched: set[int] = set()
    for call_id in call_ids:
        touched.update(interactions[call_id])
    return {
        index: [
            block
            for block in view.entries[index].blocks
            if (block.kind is _CALL or block.kind is _RESULT) and block.call_id in call_ids
        ]
        for index in sorted(touched)
    }


def all_of(view: View, indexes: Iterable[int]) -> Gone:
    """Give every block of some messages."""
    return {index: view.entries[index].blocks for index in indexes}


def drop(
    view: View, log: ChangeLog, gone: Gone, *, layer: str, spiller: Spiller
) -> list[ChangedBlock] | None:
    """Take blocks out of the view.

    Args:
        view: changed in place.
        log: hears of each block that goes.
        gone: the blocks; whoever chose them tears no interaction.
        layer: who removes them.
        spiller: stores interactions first, where that is wanted.

    Returns:
        What was noted; None where a store failed: then nothing goes.
    """
    _with_bound_thinking(view, gone)
    names = view.tool_names() if spiller.keeps_dropped else {}
    if not spiller.keep_all(_placed(view, gone), names):
        return None
    noted: list[ChangedBlock] = []
    staying: list[Entry] = []
    for index, entry in enumerate(view.entries):
        blocks = gone.get(index)
        if not blocks:
            staying.append(entry)
            continue
        for block in blocks:
            pointer = spiller.pointer_of(entry, block) if spiller.has_store else None
            one = log.note(entry, block, layer=layer, pointer=pointer)
            if one is not None:
                noted.append(one)
        if len(blocks) < len(entry.blocks) and view.without(index, blocks) is not None:
            staying.append(entry)
    view.replace(staying)
    return noted


def _with_bound_thinking(view: View, gone: Gone) -> None:
    """Add the thinking that is bound to what goes; only turns that go in part can have any."""
    if not view.has_bonds:
        return
    entries, end = view.entries, 0
    for index in sorted(gone):
        if index < end or entries[index].role != "assistant":
            continue
        start, end = index, index + 1
        while start > 0 and entries[start - 1].role == "assistant":
            start -= 1
        while end < len(entries) and entries[end].role == "assistant":
            end += 1
        if all(len(gone.get(at, ())) == len(entries[at].blocks) for at in range(start, end)):
            continue
        rows = [(entry.role, entry.blocks) for entry in entries[start:end]]
        places = {
            (at - start, block.index) for at in range(start, end) for block in gone.get(at, ())
        }
        more: dict[int, list[Block]] = {}
        for at, number in bound_thinking(rows, places):
            more.setdefault(start + at, []).append(rows[at][1][number])
        for at, blocks in more.items():
            gone[at] = [*gone.get(at, ()), *blocks]


def _placed(view: View, gone: Gone) -> Iterator[tuple[Entry, Block]]:
    for index in sorted(gone):
        for block in gone[index]:
            yield view.entries[index], block
