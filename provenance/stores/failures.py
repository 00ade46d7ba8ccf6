"""What a state store refuses or fails at, split by whose fault it is.

Guarantees: one line each; no message holds a fact, a query, a name from a hostile file or a host
path. Whatever fails, the versions that were there are there.

Example:
    >>> StateConflict("run-1", expected=2, current=3).current
    3
"""

from __future__ import annotations

from provenance.errors import CallerError, DataError, MachineError

__all__ = [
    "ConflictKeyTaken",
    "NoStateStore",
    "SelectionAbsent",
    "StateAbsent",
    "StateConflict",
    "StoreArgumentError",
    "StoreBusy",
    "StoreDamaged",
    "StoreOpenToOthers",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnsafe",
    "StoreWriteFailed",
]


class StateConflict(CallerError):
    """The version that an update read is not the current one any more; nothing was written.

    Attributes:
        name: the state.
        expected: the version that the caller read; None: none.
        current: the version that is current; None: none.
    """

    code = "state_conflict"

    def __init__(self, name: str, *, expected: int | None, current: int | None) -> None:
        super().__init__(
            f"replaces: expected the current version of {name}, which is "
            f"{_version(current)}, got {_version(expected)}"
        )
        self.name = name
        self.expected = expected
        self.current = current

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _conflict, (self.name, self.expected, self.current)


class ConflictKeyTaken(CallerError, ValueError):
    """Two members of one state would both be current under one conflict key."""

    code = "conflict_key_taken"


class StoreArgumentError(CallerError, ValueError):
    """An argument breaks its rule; the message names it."""

    code = "invalid_store_argument"


class StateAbsent(DataError, KeyError):
    """No state, or no version of it, has that name or number."""

    code = "state_absent"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would print its repr


class SelectionAbsent(StateAbsent):
    """No selection has that number."""

    code = "selection_absent"


class NoStateStore(DataError):
    """The file is another program's database, or none."""

    code = "no_state_store"


class StoreTooNew(DataError):
    """A newer ctxaudit wrote the file; it was not touched."""

    code = "state_store_too_new"


class StoreDamaged(DataError):
    """The file is a state store whose content is not what was written."""

    code = "state_store_damaged"


class StoreUnsafe(DataError):
    """A link, another user's file, or one that others may open stands where the store belongs."""

    code = "state_store_unsafe"


class StoreOpenToOthers(StoreUnsafe):
    """Modes let others write the folder, or open the file: nothing is damaged, chmod mends it."""

    code = "state_store_open_to_others"


class StoreReadOnly(MachineError):
    """The home or its disk can be read and not written."""

    code = "state_store_read_only"


class StoreBusy(MachineError):
    """Another process wrote for the whole waiting time; nothing was written."""

    code = "state_store_busy"


class StoreWriteFailed(MachineError):
    """The disk or file system refused; what was there before is there."""

    code = "state_store_write_failed"


def _version(number: int | None) -> str:
    return "none" if number is None else f"version {number}"


def _conflict(name: str, expected: int | None, current: int | None) -> StateConflict:
    return StateConflict(name, expected=expected, current=current)
