"""Who may finish a pending item: only `transition_pending` moves one, and only on confirmation.

Guarantees: the state that is given is never changed; in the new one every other item is the
identical object. An item moves only forward in time, and never out of `done`. Whether the pointer
leads to evidence is for the resolver to say.

Example:
    >>> from provenance.durable.values import DurableContextState, PendingItem
    >>> item = PendingItem("p1", "Ship it.", "transcript:s1:3", "2026-01-01T09:00:00Z")
    >>> state = transition_pending(
    ...     DurableContextState((), [item]), "p1", "done", confirmed_at="2026-01-01T10:00:00Z",
    ...     confirmed_by="user", source_pointer="transcript:s1:7",
    ... )
    >>> state.pending_items[0].status
    'done'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from provenance.durable.failures import (
    DurableTypeError,
    DurableValueError,
    ForbiddenTransitionError,
    UnknownPendingItemError,
)
from provenance.durable.fields import collapse, optional_text, require_text, shown
from provenance.durable.instants import instant_of, require_time
from provenance.durable.values import PENDING_STATUSES, DurableContextState, PendingItem

__all__ = ["require_confirmer", "require_move", "transition_pending"]

_ALLOWED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"open": ("blocked", "done"), "blocked": ("open", "done"), "done": ()}
)
# The model and its summary finish nothing, so they cannot be named as who confirmed.
_NO_CONFIRMER = frozenset({"assistant", "llm", "model", "summariser", "summarizer", "summary"})
_words = re.compile(r"[a-z]+").findall


def transition_pending(
    state: DurableContextState,
    item_id: str,
    to: str,
    *,
    confirmed_at: str,
    confirmed_by: str,
    source_pointer: str | None = None,
    reason: str | None = None,
) -> DurableContextState:
    """Move one pending item, and give the state that holds from then on.

    Args:
        state: the state that holds now.
        item_id: which item.
        to: `open`, `blocked` or `done`.
        confirmed_at: when it was confirmed; a strictly later instant than the last.
        confirmed_by: who confirmed it: harness, user or tool, with a name behind a colon where
            there is one (`tool:pytest`). The returned state does not hold it: whoever keeps
            versions records it there.
        source_pointer: where the confirmation lies. `blocked` and `done` need it in this call;
            without it a reopened item keeps the one it has.
        reason: why it is blocked. `blocked` needs it in this call; any other status has none.

    Raises:
        UnknownPendingItemError: (a `KeyError`) no item has that id.
        ForbiddenTransitionError: (a `ValueError`) the item may not make this move, or not then.
        DurableValueError: an argument breaks its rule; the message names it.
    """
    if not isinstance(state, DurableContextState):
        raise DurableTypeError(f"state: expected DurableContextState, got {type(state).__name__}")
    # 1. Which item, and whether it may make this move at all.
    position, item = _find_item(state, collapse(item_id, "item_id"))
    target = require_text(to, "to")
    if target not in PENDING_STATUSES:
        raise DurableValueError("to: expected open, blocked or done, got another text")
    _require_allowed(item, target)
    # 2. Who confirms, and that it is news.
    require_confirmer(confirmed_by)
    time = require_time(confirmed_at, "confirmed_at")
    _require_later(item, time)
    # 3. What the new status needs in this call.
    pointer = optional_text(source_pointer, "source_pointer")
    if pointer is None and target != "open":
        raise DurableValueError(
            f"source_pointer: expected the pointer of this confirmation for {target}, got None"
        )
    why = optional_text(reason, "reason")
    if why is None and target == "blocked":
        raise DurableValueError("reason: expected text for blocked, got None")
    moved = replace(
        item,
        status=target,
        source_pointer=item.source_pointer if pointer is None else pointer,
        last_confirmed_at=time,
        reason=why if target == "blocked" else None,
    )
    items = state.pending_items
    return replace(state, pending_items=(*items[:position], moved, *items[position + 1 :]))


def _find_item(state: DurableContextState, item_id: str) -> tuple[int, PendingItem]:
    for position, item in enumerate(state.pending_items):
        if item.item_id == item_id:
            return position, item
    raise UnknownPendingItemError(
        f"item_id: expected the id of a pending item, got {shown(item_id)}"
    )


def require_move(before: PendingItem, after: PendingItem) -> None:
    """Refuse a change of status that `transition_pending` would not have made.

    Raises:
        ForbiddenTransitionError: the move is not allowed, or not at that time.
    """
    _require_allowed(before, after.status)
    _require_later(before, after.last_confirmed_at)


def _require_allowed(item: PendingItem, target: str) -> None:
    if target not in _ALLOWED[item.status]:
        raise ForbiddenTransitionError(
            f"to: expected a move that {item.status} allows "
            f"({' or '.join(_ALLOWED[item.status]) or 'none'}), got {target}"
        )


def _require_later(item: PendingItem, time: str) -> None:
    if instant_of(time) <= instant_of(item.last_confirmed_at):
        raise ForbiddenTransitionError(
            f"confirmed_at: expected an instant later than {item.last_confirmed_at}, got {time}"
        )


def require_confirmer(value: object) -> None:
    """Refuse whoever cannot confirm: nobody, the model and its summary.

    The word before the colon may not name them at all; a name behind it may not be theirs alone
    (`tool:model-checker` is a tool, `tool:model` is none).
    """
    category, *names = (_plain(one) for one in require_text(value, "confirmed_by").split(":"))
    is_model = not _NO_CONFIRMER.isdisjoint(_words(category)) or any(
        words and _NO_CONFIRMER.issuperset(words) for words in map(_words, names)
    )
    if is_model:
        raise ForbiddenTransitionError(
            f"confirmed_by: expected a harness, user or tool, got {shown(str(value))}"
        )


def _plain(text: str) -> str:
    """Give a name as a reader sees it: without what is invisible, wide letters as plain ones."""
    seen = (one for one in text if unicodedata.category(one) != "Cf")
    return unicodedata.normalize("NFKC", "".join(seen)).casefold()
