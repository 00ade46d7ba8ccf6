"""What the versions of states in a home's store cite, and the traces kept beside them.

Guarantees: a store that cannot be read, or of which only a journal is left, is never taken for one
that cites nothing.

Example:
    >>> list(cited_by_versions(TrustedRoot("/nowhere")))
    []
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.errors import CtxauditError, DataError
from provenance.fs import SourceAbsent, TrustedRoot

__all__ = ["DATABASE_NAME", "STORE_FILES", "VersionsUnreadable", "cited_by_versions"]

DATABASE_NAME = "states.sqlite3"
"""The store's name in a home's `states` folder."""
STORE_FILES = frozenset(DATABASE_NAME + ending for ending in ("", "-wal", "-shm", "-journal"))
"""It and what SQLite keeps beside it."""


class VersionsUnreadable(DataError):
    """The store of state versions is there and cannot be read."""

    code = "state_versions_unreadable"


def cited_by_versions(home: TrustedRoot) -> Iterator[tuple[str, bytes]]:
    """Give each version of each state and each trace, as a name for reports and text to search.

    Raises:
        VersionsUnreadable: there is a store, and nobody can say what all of it cites.
    """
    from provenance.stores import StoreDamaged, open_snapshot  # noqa: PLC0415 - loads SQLite

    try:
        with open_snapshot(home) as reader:
            found = reader.scan()
            if found.faults:
                raise StoreDamaged(found.faults[0])
            for name, versions in found.versions.items():
                for version in versions:
                    kept = reader.document(name, version)
                    yield f"{DATABASE_NAME}:{name}@{version}", kept.document
            for trace in reader.selections():
                # Only searched for pointers, which are ASCII and never quoted: any spelling does.
                text = repr(trace).encode("utf-8", "backslashreplace")
                yield f"{DATABASE_NAME}: selection {trace.selection_id}", text
    except SourceAbsent:
        _require_no_remains(home)
    except CtxauditError as error:
        raise VersionsUnreadable(str(error)) from None


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
