"""Layer 3: the first message and the most recent ones stay, what lies between goes.

Guarantees: an interaction that crosses the cut goes whole, and nothing else of the messages that
stay. Instructions at the beginning (system messages), and a summary that stands for what went
before, stay as the first message does; so does what is bound to a message that stays (`bonds`).

Example:
    >>> LAYER
    'message_pruning'
"""

from __future__ import annotations

from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.interactions import all_of, drop, sides_of
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
    # An acknowledgement may go: it must not be left as the last message.
    staying.update(
        index
        for index, entry in enumerate(view.entries)
        if entry.is_kept and entry.role != "assistant"
    )
    if len(staying) == count:
        return
    staying = with_neighbours(staying, bonds(view))
    interactions = view.interactions()
    crossing = {
        call_id
        for call_id, (call, result) in interactions.items()
        if (call in staying) != (result in staying)
    }
    gone = all_of(view, (index for index in range(count) if index not in staying))
    for index, blocks in sides_of(view, crossing, interactions).items():
        if index in staying:
            gone[index] = blocks
    if gone:
        drop(view, log, gone, layer=LAYER, spiller=spiller)
