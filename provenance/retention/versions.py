"""What the versions of states in a home's store cite, and the traces kept beside them.

Guarantees: a store that cannot be read, or of which only a journal is left, is never taken for one
that cites nothing.

Example:
    >>> list(cited_by_versions(TrustedRoot("/nowhere")))
    []
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from provenance.errors import CtxauditError, DataError
from provenance.fs import SourceAbsent, TrustedRoot

if TYPE_CHECKING:
    from provenance.stores import StateReader

__all__ = ["DATABASE_NAME", "STORE_FILES", "VersionsUnreadable", "cited_by_versions"]

DATABASE_NAME = "states.sqlite3"
"""The store's name in a home's `states` folder."""
STORE_FILES = frozenset(DATABASE_NAME + ending for ending in ("", "-wal", "-shm", "-journal"))
"""It and what SQLite keeps beside it."""


class VersionsUnreadable(DataError):
    """The store of state versions is there and cannot be read."""

    code = "state_versions_unreadable"


def cited_by_versions(home: TrustedRoot) -> Iterator[tuple[str, bytes]]:
    """Give all that a store says: a name for reports, and text to search.

    Each version comes under its own name, and then every cell of every table once more: who wrote
    it, why, and which conflict it won may name an artifact, too. A store whose history is not whole
    (as `verify --all` tells it) has lost something that may have cited more.

    Raises:
        VersionsUnreadable: there is a store, and nobody can say what all of it cites.
    """
    from provenance.stores import open_snapshot  # noqa: PLC0415 - loads SQLite

    try:
        with open_snapshot(home) as reader:
            yield from _documents(reader)
            reader.selections()
            for text in reader.texts():
                yield DATABASE_NAME, text
    except SourceAbsent:
        _require_no_remains(home)
    except CtxauditError as error:
        raise VersionsUnreadable(str(error)) from None


def _documents(reader: StateReader) -> Iterator[tuple[str, bytes]]:
    from provenance.stores import (  # noqa: PLC0415 - as above
        StoreDamaged,
        checked_versions,
        first_gap,
        rows_of_no_version,
    )

    found = reader.scan()
    faults = [*found.faults, *rows_of_no_version(reader, found.versions)]
    for name, numbers in found.versions.items():
        if (gap := first_gap(numbers)) is not None:
            faults.append(f"versions: expected version {gap} of {name}, got none")
        for one in checked_versions(reader, name, numbers):
            if one.error is not None:
                raise one.error
            faults += one.faults
            if one.kept is not None:
                yield f"{DATABASE_NAME}:{name}@{one.number}", one.kept.document
    if faults:
        raise StoreDamaged(faults[0])


def _require_no_remains(home: TrustedRoot) -> None:
    try:
        with home.open_directory("states") as folder:
            names = [entry.name for entry in folder.entries()]
    except SourceAbsent:
        return
    except CtxauditError as error:
        raise VersionsUnreadable(str(error)) from None
    if not STORE_FILES.isdisjoint(names):
        raise VersionsUnreadable(f"{DATABASE_NAME}: expected the store, got only its journal")
