"""Which result belongs to which call, in a history that may be broken.

Guarantees: one pass in the order of the history; every call ends up with an id of its own and with
one result or none, every result with one call or none. The same history gives the same pairing.

Example:
    >>> plan = pair([("assistant", (Block(0, BlockKind.TOOL_CALL, "t1", "ls", {}),))])
    >>> [(call.message, call.call_id, call.is_answered) for call in plan.calls]
    [(0, 't1', False)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from provenance.messages._blocks import Block, BlockKind
from provenance.messages.protocol import is_call_id

__all__ = ["Call", "Pairing", "RepairKind", "pair"]


class RepairKind(StrEnum):
    """What a repair did."""

    ANSWERED_INTERRUPTED_CALL = "answered_interrupted_call"
    DROPPED_ORPHAN_RESULT = "dropped_orphan_result"
    DROPPED_EARLY_RESULT = "dropped_early_result"
    DROPPED_DUPLICATE_RESULT = "dropped_duplicate_result"
    DROPPED_MISPLACED_RESULT = "dropped_misplaced_result"
    DROPPED_MISPLACED_CALL = "dropped_misplaced_call"
    DROPPED_UNANSWERABLE_CALL = "dropped_unanswerable_call"
    DROPPED_THINKING = "dropped_thinking"
    RENAMED_CALL = "renamed_call"
    RENAMED_RESULT = "renamed_result"


@dataclass(slots=True)
class Call:
    """One call: where it stands, the block, the id that it has in the end, whether it is paired."""

    message: int
    block: Block
    call_id: str
    is_answered: bool = False


@dataclass(slots=True)
class Pairing:
    """What has to be done to a history.

    Attributes:
        calls: by assistants, in the order of the history.
        renamed: the new id of a call or result, by message and block index.
        dropped: why a call or result has to go, by message and block index.
    """

    calls: list[Call] = field(default_factory=list)
    renamed: dict[tuple[int, int], str] = field(default_factory=dict)
    dropped: dict[tuple[int, int], RepairKind] = field(default_factory=dict)


# Blank ids and ids that are no strings are all one id: nothing tells one from another.
_NO_ID = ""
_Key = str


def pair(rows: Sequence[tuple[str, Sequence[Block]]]) -> Pairing:
    """Pair the calls and results of a history.

    Args:
        rows: of each message its role and its blocks.
    """
    return _Pairer(rows).plan


class _Pairer:
    def __init__(self, rows: Sequence[tuple[str, Sequence[Block]]]) -> None:
        self.plan = Pairing()
        self._taken = {_key(block) for _, blocks in rows for block in _sides(blocks)}
        self._called_at_all = {
            _key(block)
            for role, blocks in rows
            if role == "assistant"
            for block in _sides(blocks)
            if block.kind is BlockKind.TOOL_CALL
        }
        self._given: set[str] = set()
        # By id: the calls of the latest turn that used it, without those that have a result.
        self._open: dict[_Key, tuple[int, deque[Call]]] = {}
        self._answered: set[_Key] = set()
        self._collisions = 0
        self._turn = 0
        was_assistant = False
        for index, (role, blocks) in enumerate(rows):
            # Parallel calls may come as messages of their own: they are one turn all the same.
            if not (was_assistant and role == "assistant" and _only_calls(blocks)):
                self._turn = index
            was_assistant = role == "assistant"
            for block in _sides(blocks):
                if block.kind is BlockKind.TOOL_CALL:
                    self._take_call(index, role, block)
                else:
                    self._take_result(index, role, block)

    def _take_call(self, index: int, role: str, block: Block) -> None:
        place, key = (index, block.index), _key(block)
        if role != "assistant":
            self.plan.dropped[place] = RepairKind.DROPPED_MISPLACED_CALL
            return
        call_id = key
        if key == _NO_ID or key in self._given:
            call_id = self.plan.renamed[place] = self._fresh_id(place)
        self._given.add(call_id)
        call = Call(index, block, call_id)
        self.plan.calls.append(call)
        latest = self._open.get(key)
        if latest is not None and latest[0] == self._turn:
            latest[1].append(call)
        else:
            self._open[key] = (self._turn, deque([call]))

    def _take_result(self, index: int, role: str, block: Block) -> None:
        place, key = (index, block.index), _key(block)
        if role not in {"user", "tool"}:
            self.plan.dropped[place] = RepairKind.DROPPED_MISPLACED_RESULT
            return
        _, waiting = self._open.get(key, (self._turn, deque[Call]()))
        if not waiting:
            self.plan.dropped[place] = self._why_unpaired(key)
            return
        call = waiting.popleft()
        call.is_answered = True
        self._answered.add(key)
        if key != call.call_id:
            self.plan.renamed[place] = call.call_id

    def _why_unpaired(self, key: _Key) -> RepairKind:
        if key in self._answered:
            return RepairKind.DROPPED_DUPLICATE_RESULT
        if key != _NO_ID and key in self._called_at_all:
            return RepairKind.DROPPED_EARLY_RESULT
        return RepairKind.DROPPED_ORPHAN_RESULT

    def _fresh_id(self, place: tuple[int, int]) -> str:
        # Letters, digits and underscores, and short: every provider's limits on ids allow it.
        name = stem = f"repaired_{place[0]}_{place[1]}"
        while name in self._taken:
            # One count for all, so that a history full of such names costs no more than its size.
            self._collisions += 1
            name = f"{stem}_{self._collisions}"
        self._taken.add(name)
        return name


def _sides(blocks: Sequence[Block]) -> Iterable[Block]:
    return (
        block
        for block in blocks
        if block.kind is BlockKind.TOOL_CALL or block.kind is BlockKind.TOOL_RESULT
    )


def _only_calls(blocks: Sequence[Block]) -> bool:
    return all(
        block.kind is BlockKind.TOOL_CALL or block.kind is BlockKind.THINKING for block in blocks
    )


def _key(block: Block) -> _Key:
    call_id = block.call_id
    return call_id if isinstance(call_id, str) and is_call_id(call_id) else _NO_ID
