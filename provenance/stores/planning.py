"""What a new version of a state will be, decided before anything is written.

Guarantees: pure. The version that was read has to be the current one; no two facts, and no two
pieces of evidence, share a conflict key; what becomes of pending items follows `pending_rules.py`.
Two conflict keys that look alike are one.

Example:
    >>> from provenance.durable.values import DurableContextState
    >>> plan = plan_version("run-1", DurableContextState(), current=None, replaces=None)
    >>> plan.version, plan.changes
    (1, ())
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from provenance.durable.differences import ChangeKind, ItemChange, ItemKind, diff_states
from provenance.durable.failures import DurableValueError
from provenance.durable.fields import require_text, shown
from provenance.durable.pending import require_confirmer
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import is_name
from provenance.stores.failures import (
    ConflictKeyTaken,
    StateConflict,
    StoreArgumentError,
)
from provenance.stores.pending_rules import require_pending_change
from provenance.stores.values import ADDED_BLOCKED, ADDED_DONE, StateChange, StoredState

__all__ = [
    "PlannedVersion",
    "Signature",
    "changes_between",
    "plan_version",
    "require_state_name",
    "stored_changes",
]

# A word to whoever reads the history; what is longer belongs into a state.
_MAX_NOTE_CHARS = 4_000
_ADDED = {"done": ADDED_DONE, "blocked": ADDED_BLOCKED}
_NOBODY = MappingProxyType[str, PendingItem]({})


@dataclass(frozen=True, slots=True)
class Signature:
    """Who writes a version, and who confirmed what is new in it.

    Attributes:
        author: who writes.
        note: why.
        confirmed_by: who confirmed each change; a mapping names them by item id.
    """

    author: str
    note: str | None = None
    confirmed_by: str | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "author", _word(self.author, "author"))
        if self.note is not None:
            object.__setattr__(self, "note", _word(self.note, "note"))
        names = self.confirmed_by
        if isinstance(names, Mapping):
            checked = {_word(key, "confirmed_by"): _confirmer(one) for key, one in names.items()}
            object.__setattr__(self, "confirmed_by", checked)
        elif names is not None:
            object.__setattr__(self, "confirmed_by", _confirmer(names))

    def confirmer_of(self, change: ItemChange) -> str | None:
        """Give who confirmed a change, if anybody is named; nobody confirms what is left out."""
        if isinstance(self.confirmed_by, Mapping):
            return self.confirmed_by.get(change.item_id)
        return None if change.after is None else self.confirmed_by


@dataclass(frozen=True, slots=True)
class PlannedVersion:
    """A version that may be written."""

    version: int
    document: bytes
    sha256: str
    changes: tuple[StateChange, ...]
    fact_keys: Mapping[str, str] = field(default_factory=dict)
    evidence_keys: Mapping[str, str] = field(default_factory=dict)


def plan_version(
    name: str,
    state: DurableContextState,
    *,
    current: StoredState | None,
    replaces: int | None,
    signature: Signature | None = None,
    conflict_keys: Mapping[str, str | None] | None = None,
    left_out: Mapping[str, PendingItem] = _NOBODY,
    limits: Limits = DEFAULT_LIMITS,
) -> PlannedVersion:
    """Decide what the next version is.

    Args:
        name: of the state.
        state: what is to be current.
        current: what is current now.
        replaces: the version that the caller read.
        signature: who confirms; None: nobody.
        conflict_keys: the conflict that a fact won, by fact id; a fact keeps the one that it has in
            the current version, None takes it away.
        left_out: pending items of earlier versions that the current one has not, as they were last.
        limits: bounds the document.

    Raises:
        StateConflict: `replaces` is not the current version.
        ConflictKeyTaken: two winners of one conflict.
        ForbiddenTransitionError: a pending item makes a move that it may not make.
        StoreArgumentError: an argument breaks its rule.
        StateDocumentError: the state cannot be written.
    """
    # 1. Compare, before anything else is said.
    found = None if current is None else current.version
    if replaces != found:
        raise StateConflict(name, expected=replaces, current=found)
    # 2. What is new, and who says so.
    changes = changes_between(
        DurableContextState() if current is None else current.state,
        state,
        signature,
        left_out=left_out,
    )
    # 3. One winner of each conflict.
    facts = _fact_keys(state, current, conflict_keys or {})
    evidence = {
        one.memory_id: one.conflict_key
        for one in state.retrieval_evidence
        if one.conflict_key is not None
    }
    _require_one_winner(facts, "fact")
    _require_one_winner(evidence, "retrieval evidence")
    # 4. The bytes that are kept.
    document = state.to_json().encode()
    if len(document) > limits.max_document_bytes:
        raise StoreArgumentError(
            f"state: expected at most {limits.max_document_bytes} bytes, got {len(document)}"
        )
    digest = hashlib.sha256(document).hexdigest()
    return PlannedVersion((found or 0) + 1, document, digest, changes, facts, evidence)


def changes_between(
    before: DurableContextState,
    after: DurableContextState,
    signature: Signature | None,
    *,
    left_out: Mapping[str, PendingItem] = _NOBODY,
) -> tuple[StateChange, ...]:
    """List the changes of a version; refuses those of pending items that nobody may make."""
    changes = diff_states(before, after).changes
    confirmers = [None if signature is None else signature.confirmer_of(one) for one in changes]
    for change, confirmed_by in zip(changes, confirmers, strict=True):
        if change.kind is ItemKind.PENDING:
            require_pending_change(
                change, confirmed_by=confirmed_by, earlier=left_out.get(change.item_id)
            )
    return tuple(map(_stored_change, changes, confirmers))


def stored_changes(
    before: DurableContextState, after: DurableContextState
) -> tuple[StateChange, ...]:
    """List the changes that follow from two documents alone, without who confirmed them."""
    return tuple(_stored_change(one, None) for one in diff_states(before, after))


def _stored_change(change: ItemChange, confirmed_by: str | None) -> StateChange:
    item = change.before if change.after is None else change.after
    pointer, moment = _source_of(item)
    word = str(change.change)
    # An item may come with its status: a history that said `added` alone would hide that.
    if change.change is ChangeKind.ADDED and isinstance(item, PendingItem):
        word = _ADDED.get(item.status, word)
    return StateChange(str(change.kind), change.item_id, word, pointer, moment, confirmed_by)


def require_state_name(value: object) -> str:
    """Give the name of a state, if it is one: the grammar of session ids.

    Raises:
        StoreArgumentError: it is none.
    """
    if isinstance(value, str) and is_name(value):
        return value
    got = shown(value) if isinstance(value, str) else type(value).__name__
    raise StoreArgumentError(f"name: expected one like a session id, got {got}")


def _source_of(item: DurableFact | PendingItem | RetrievalEvidence | None) -> tuple[str, str]:
    match item:
        case DurableFact() | PendingItem():
            return item.source_pointer, item.last_confirmed_at
        case RetrievalEvidence():
            return item.source_id, item.captured_at
        case None:
            return "", ""  # no change has neither


def _fact_keys(
    state: DurableContextState,
    current: StoredState | None,
    given: Mapping[str, str | None],
) -> dict[str, str]:
    ids = [fact.fact_id for fact in state.facts]
    keys: dict[str, str | None] = {} if current is None else dict(current.info.conflict_keys)
    for fact_id, key in given.items():
        wanted = _word(fact_id, "conflict_keys")
        if wanted not in ids:
            raise StoreArgumentError(
                f"conflict_keys: expected the id of a fact in the state, got {shown(wanted)}"
            )
        keys[wanted] = None if key is None else _word(key, "conflict_keys")
    return {fact_id: key for fact_id in ids if (key := keys.get(fact_id)) is not None}


def _require_one_winner(keys: Mapping[str, str], kind: str) -> None:
    winners: dict[str, str] = {}
    for item_id, key in keys.items():
        seen = _as_seen(key)
        if seen in winners:
            raise ConflictKeyTaken(
                f"conflict key {shown(key)}: expected one {kind} to be current, got "
                f"{shown(winners[seen])} and {shown(item_id)}"
            )
        winners[seen] = item_id


def _as_seen(key: str) -> str:
    """Give a conflict key as a reader sees it: what is invisible tells no two conflicts apart."""
    seen = (char for char in key if not unicodedata.category(char).startswith("C"))
    return unicodedata.normalize("NFC", "".join(seen))


def _confirmer(value: object) -> str:
    try:
        require_confirmer(value)
    except DurableValueError as error:
        raise StoreArgumentError(str(error)) from error
    return _word(value, "confirmed_by")


def _word(value: object, field: str) -> str:
    """Give a text of the caller's that a file can hold."""
    try:
        text = require_text(value, field)
    except DurableValueError as error:
        raise StoreArgumentError(str(error)) from error
    if len(text) > _MAX_NOTE_CHARS:
        raise StoreArgumentError(
            f"{field}: expected at most {_MAX_NOTE_CHARS} characters, got {len(text)}"
        )
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise StoreArgumentError(f"{field}: expected text that a file can hold, got half a pair")
    return text
