"""Stores of a state home that are databases: the versions of its durable states.

Guarantees: importing it opens nothing.

Example:
    >>> DurableStateStore("/nowhere").names()
    ()
"""

from __future__ import annotations

from provenance.stores.checking import (
    CheckedVersion,
    check_version,
    checked_versions,
    rows_of_no_version,
)
from provenance.stores.failures import (
    ConflictKeyTaken,
    NoStateStore,
    SelectionAbsent,
    StateAbsent,
    StateConflict,
    StoreArgumentError,
    StoreBusy,
    StoreDamaged,
    StoreOpenToOthers,
    StoreReadOnly,
    StoreTooNew,
    StoreUnsafe,
    StoreWriteFailed,
)
from provenance.stores.reading import StateReader, VersionList, first_gap
from provenance.stores.snapshot import has_store, iter_state_versions, open_snapshot
from provenance.stores.state_store import DurableStateStore
from provenance.stores.values import (
    LinkedResolution,
    Selection,
    SelectionCandidate,
    StateChange,
    StateVersion,
    StateVersionBytes,
    StoredState,
)

__all__ = [
    "CheckedVersion",
    "ConflictKeyTaken",
    "DurableStateStore",
    "LinkedResolution",
    "NoStateStore",
    "Selection",
    "SelectionAbsent",
    "SelectionCandidate",
    "StateAbsent",
    "StateChange",
    "StateConflict",
    "StateReader",
    "StateVersion",
    "StateVersionBytes",
    "StoreArgumentError",
    "StoreBusy",
    "StoreDamaged",
    "StoreOpenToOthers",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnsafe",
    "StoreWriteFailed",
    "StoredState",
    "VersionList",
    "check_version",
    "checked_versions",
    "first_gap",
    "has_store",
    "iter_state_versions",
    "open_snapshot",
    "rows_of_no_version",
]
