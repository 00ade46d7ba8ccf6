"""What a new version may do with the pending items of the one before it, and of earlier ones.

Guarantees: pure. `done` is final, whatever way leads to it: an item that is done, or was when it
was left out, is there unchanged or not at all. Whoever says that work is done, or that its status
or the reason it is blocked for changed, is named, and is never the model or its summary. No item
goes back in time.

Example:
    >>> from provenance.durable.differences import ItemChange, ItemKind
    >>> item = PendingItem("p1", "Ship it.", "transcript:s1:3", "2026-01-01T09:00:00Z", "done")
    >>> require_pending_change(ItemChange(ItemKind.PENDING, "p1", None, item), confirmed_by="user")
"""

from __future__ import annotations

from provenance.durable.differences import ChangeKind, ItemChange
from provenance.durable.failures import ForbiddenTransitionError
from provenance.durable.fields import shown
from provenance.durable.instants import instant_of
from provenance.durable.pending import require_move
from provenance.durable.values import PendingItem

__all__ = ["require_pending_change"]

_DONE, _BLOCKED = "done", "blocked"
_MOVES = frozenset({ChangeKind.BLOCKED, ChangeKind.REOPENED, ChangeKind.COMPLETED})


def require_pending_change(
    change: ItemChange, *, confirmed_by: str | None, earlier: PendingItem | None = None
) -> None:
    """Refuse a change of a pending item that nobody may make, or that nobody confirms.

    Args:
        change: of a pending item; to leave one out is always allowed.
        confirmed_by: who confirms it; None: nobody.
        earlier: the item as it was when it was left out; None: no earlier version had it.

    Raises:
        ForbiddenTransitionError: it may not be made, or not by nobody.
    """
    before, after = change.before, change.after
    if not isinstance(after, PendingItem):
        return
    name = shown(change.item_id)
    # 1. Done is final, also for what was left out meanwhile.
    known = before if isinstance(before, PendingItem) else earlier
    if known is not None and known.status == _DONE:
        if after == known:
            return
        raise ForbiddenTransitionError(
            f"{name}: expected an item that is done as it was, or none, got another"
        )
    if not isinstance(before, PendingItem):
        if after.status == _DONE:
            _require_somebody(confirmed_by, f"that {name} is done")
        return
    # 2. A move of its status, as `transition_pending` would make it.
    if change.change in _MOVES:
        try:
            require_move(before, after)
        except ForbiddenTransitionError as error:
            raise ForbiddenTransitionError(f"{name}: {error}") from error
        _require_somebody(confirmed_by, f"that {name} is {after.status}")
        return
    # 3. Another reason is news about it.
    was, now = instant_of(before.last_confirmed_at), instant_of(after.last_confirmed_at)
    if before.reason != after.reason:
        if now <= was:
            raise ForbiddenTransitionError(
                f"{name}: reason: expected another one to be confirmed later than "
                f"{before.last_confirmed_at}, got {after.last_confirmed_at}"
            )
        _require_somebody(confirmed_by, f"why {name} is {_BLOCKED}")
    if now < was:
        raise ForbiddenTransitionError(
            f"{name}: last_confirmed_at: expected {before.last_confirmed_at} or later, got "
            f"{after.last_confirmed_at}"
        )


def _require_somebody(confirmed_by: str | None, of_what: str) -> None:
    if confirmed_by is None:
        raise ForbiddenTransitionError(
            f"confirmed_by: expected who confirmed {of_what}, got nobody"
        )
