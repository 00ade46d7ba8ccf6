"""What one state has that another has not: facts, pending items, evidence, order, session, turn.

Guarantees: pure. `apply_difference(a, diff_states(a, b)) == b` for any two states, the order of
their members included. A difference is applied only to a state that holds what it replaces.

Example:
    >>> from provenance.durable.values import DurableFact
    >>> fact = DurableFact("f1", "WAL is on.", "transcript:s1:3", "2026-01-01T09:00:00Z")
    >>> before, after = DurableContextState(), DurableContextState([fact])
    >>> [f"{one.kind} {one.item_id} {one.change}" for one in diff_states(before, after)]
    ['fact f1 added']
    >>> apply_difference(before, diff_states(before, after)) == after
    True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from provenance.durable.failures import StateMismatchError
from provenance.durable.fields import shown
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.frozen import sealed

__all__ = [
    "ChangeKind",
    "ItemChange",
    "ItemKind",
    "StateDifference",
    "apply_difference",
    "diff_states",
]

Item = DurableFact | PendingItem | RetrievalEvidence
_ItemT = TypeVar("_ItemT", DurableFact, PendingItem, RetrievalEvidence)


class ItemKind(StrEnum):
    """What a member of a state is."""

    FACT = "fact"
    PENDING = "pending"
    EVIDENCE = "evidence"


class ChangeKind(StrEnum):
    """What happened to a member between two states.

    `CONFIRMED`: the same words with another time or pointer. The last three are moves of a pending
    item, whatever else of it changed.
    """

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    CONFIRMED = "confirmed"
    BLOCKED = "blocked"
    REOPENED = "reopened"
    COMPLETED = "completed"


_MOVES: Mapping[str, ChangeKind] = MappingProxyType(
    {
        "open": ChangeKind.REOPENED,
        "blocked": ChangeKind.BLOCKED,
        "done": ChangeKind.COMPLETED,
    }
)


@sealed
@dataclass(frozen=True, slots=True)
class ItemChange:
    """One member that is not the same in both states.

    Attributes:
        kind: what it is.
        item_id: its id.
        before: as it was; None where it was not there.
        after: as it is; None where it is not there any more.
    """

    kind: ItemKind
    item_id: str
    before: Item | None
    after: Item | None

    @property
    def change(self) -> ChangeKind:
        """What happened to it."""
        before, after = self.before, self.after
        if before is None:
            return ChangeKind.ADDED
        if after is None:
            return ChangeKind.REMOVED
        if isinstance(before, PendingItem) and isinstance(after, PendingItem):
            if before.status != after.status:
                return _MOVES[after.status]
            if before == _confirmed_as(after, before):
                return ChangeKind.CONFIRMED
        if (
            isinstance(before, DurableFact)
            and isinstance(after, DurableFact)
            and before.content == after.content
        ):
            return ChangeKind.CONFIRMED
        return ChangeKind.CHANGED


@sealed
@dataclass(frozen=True, slots=True)
class StateDifference:
    """Everything that tells two states apart; iterating gives the changes of members.

    Attributes:
        changes: of facts, then pending items, then evidence: in the order of the later state, what
            was removed last, in the order of the earlier one.
        orders: for each kind whose members stand in another order than the changes alone would
            give, their ids in the order of the later state.
        session: before and after, where they differ.
        turn: before and after, where they differ.
    """

    changes: tuple[ItemChange, ...] = ()
    orders: tuple[tuple[ItemKind, tuple[str, ...]], ...] = ()
    session: tuple[str | None, str | None] | None = None
    turn: tuple[int | None, int | None] | None = None

    def __iter__(self) -> Iterator[ItemChange]:
        return iter(self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether the two states are equal."""
        return not (self.changes or self.orders or self.session or self.turn)


def diff_states(before: DurableContextState, after: DurableContextState) -> StateDifference:
    """Say what changed from one state to another."""
    changes: list[ItemChange] = []
    orders: list[tuple[ItemKind, tuple[str, ...]]] = []
    for kind in ItemKind:
        old, new = _members(before, kind), _members(after, kind)
        found = [
            ItemChange(kind, item_id, old.get(item_id), item)
            for item_id, item in new.items()
            if old.get(item_id) != item
        ]
        found += [
            ItemChange(kind, item_id, item, None)
            for item_id, item in old.items()
            if item_id not in new
        ]
        changes += found
        if list(_changed(old, found)) != list(new):
            orders.append((kind, tuple(new)))
    return StateDifference(
        tuple(changes),
        tuple(orders),
        None if before.session == after.session else (before.session, after.session),
        None if before.turn == after.turn else (before.turn, after.turn),
    )


def apply_difference(
    state: DurableContextState, difference: StateDifference
) -> DurableContextState:
    """Make the later state from the earlier one; members that did not change are the same objects.

    Raises:
        StateMismatchError: the state does not hold what the difference replaces.
    """
    orders = dict(difference.orders)
    members: dict[ItemKind, Mapping[str, Item]] = {}
    for kind in ItemKind:
        found = _members(state, kind)
        changes = [change for change in difference.changes if change.kind is kind]
        for change in changes:
            if found.get(change.item_id) != change.before:
                raise StateMismatchError(
                    f"{kind}: expected {shown(change.item_id)} as it was before the change, "
                    "got another"
                )
        changed = _changed(found, changes)
        order: Sequence[str] = orders.get(kind, tuple(changed))
        if sorted(order) != sorted(changed):
            raise StateMismatchError(f"{kind}: expected the ids that the order lists, got others")
        members[kind] = {item_id: changed[item_id] for item_id in order}
    return replace(
        state,
        facts=_of_type(members[ItemKind.FACT], DurableFact),
        pending_items=_of_type(members[ItemKind.PENDING], PendingItem),
        retrieval_evidence=_of_type(members[ItemKind.EVIDENCE], RetrievalEvidence),
        session=_follow(state.session, difference.session, "session"),
        turn=_follow(state.turn, difference.turn, "turn"),
    )


def _members(state: DurableContextState, kind: ItemKind) -> dict[str, Item]:
    match kind:
        case ItemKind.FACT:
            return {fact.fact_id: fact for fact in state.facts}
        case ItemKind.PENDING:
            return {item.item_id: item for item in state.pending_items}
        case ItemKind.EVIDENCE:
            return {one.memory_id: one for one in state.retrieval_evidence}


def _changed(members: Mapping[str, Item], changes: Sequence[ItemChange]) -> dict[str, Item]:
    """Give the members after the changes: each stays in its place, new ones come last."""
    changed = dict(members)
    for change in changes:
        if change.after is None:
            changed.pop(change.item_id, None)
        else:
            changed[change.item_id] = change.after
    return changed


def _of_type(members: Mapping[str, Item], kind: type[_ItemT]) -> tuple[_ItemT, ...]:
    return tuple(item for item in members.values() if isinstance(item, kind))


_Value = TypeVar("_Value", str | None, int | None)


def _follow(value: _Value, step: tuple[_Value, _Value] | None, field: str) -> _Value:
    if step is None:
        return value
    if value != step[0]:
        raise StateMismatchError(f"{field}: expected that of before the change, got another")
    return step[1]


def _confirmed_as(item: PendingItem, other: PendingItem) -> PendingItem:
    return replace(
        item, source_pointer=other.source_pointer, last_confirmed_at=other.last_confirmed_at
    )
