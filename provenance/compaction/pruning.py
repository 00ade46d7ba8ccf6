"""Layer 3: the first message and the most recent ones stay, what lies between goes.

Guarantees: an interaction that crosses the cut goes whole, and nothing else of the messages that
stay; only where that would take all recent messages the calls of the last turn stay instead.
Instructions at the beginning (system messages), and a summary that stands for what went before,
stay as the first message does; so does what is bound to a message that stays (`bonds`).

Example:
    >>> LAYER
    'message_pruning'
"""

from __future__ import annotations

from collections.abc import Collection

from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.interactions import Gone, all_of, drop, sides_of
from provenance.compaction.neighbours import bonds, leading_systems, with_neighbours
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import View

__all__ = ["LAYER", "prune"]

LAYER = "message_pruning"


def prune(view: View, log: ChangeLog, config: CompactionConfig, spiller: Spiller) -> None:
    """Drop old messages."""
    count = len(view.entries)
    # The first message after the instructions is the original request.
    staying = set(range(min(count, leading_systems(view) + 1)))
    staying.update(range(max(0, count - config.keep_recent_messages), count))
    # Its acknowledgement may go: it must not be left as the last message.
    staying.update(index for index, entry in enumerate(view.entries) if entry.is_never_pruned)
    if len(staying) == count:
        return
    pairs = bonds(view)
    gone = _gone(view, with_neighbours(staying, pairs))
    recent = range(max(0, count - config.keep_recent_messages), count)
    if recent and all(len(gone.get(at, ())) == len(view.entries[at].blocks) for at in recent):
        # The newest results fill the window and would go with their calls: nothing would be left to
        # answer.
        staying.update(_calls_of_the_end(view))
        gone = _gone(view, with_neighbours(staying, pairs))
    if gone:
        drop(view, log, gone, layer=LAYER, spiller=spiller)


def _gone(view: View, staying: Collection[int]) -> Gone:
    """Give every block that goes: messages, and both sides of what crosses the cut."""
    interactions = view.interactions()
    crossing = {
        call_id
        for call_id, (call, result) in interactions.items()
        if (call in staying) != (result in staying)
    }
    gone = all_of(view, (index for index in range(len(view.entries)) if index not in staying))
    for index, blocks in sides_of(view, crossing, interactions).items():
        if index in staying:
            gone[index] = blocks
    return gone


def _calls_of_the_end(view: View) -> set[int]:
    """Give the messages whose calls are answered behind the last of the assistant's."""
    end = len(view.entries)
    while end > 0 and view.entries[end - 1].role != "assistant":
        end -= 1
    return {call for call, result in view.interactions().values() if result >= end}
