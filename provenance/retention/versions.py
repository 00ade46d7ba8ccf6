"""What the versions of states in a home's database cite.

Guarantees: a database that cannot be read is never taken for one that cites nothing.

Example:
    >>> list(cited_by_versions(TrustedRoot("/nowhere")))
    []
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.errors import CtxauditError, DataError
from provenance.fs import SourceAbsent, TrustedRoot

__all__ = ["DATABASE_NAME", "VersionsUnreadable", "cited_by_versions"]

DATABASE_NAME = "states.sqlite3"
"""The database's name in a home's `states` folder; its journals' names begin with it."""


class VersionsUnreadable(DataError):
    """The database of state versions is there and cannot be read."""

    code = "state_versions_unreadable"


def cited_by_versions(home: TrustedRoot) -> Iterator[tuple[str, bytes]]:
    """Give each version of each state, as a name for reports and the bytes of its JSON.

    Raises:
        VersionsUnreadable: there is a database, and nobody here knows what it cites.
    """
    try:
        with home.open_directory("states") as folder:
            names = [entry.name for entry in folder.entries()]
    except SourceAbsent:
        return
    except CtxauditError as error:
        raise VersionsUnreadable(str(error)) from None
    if any(name.startswith(DATABASE_NAME) for name in names):
        raise VersionsUnreadable(f"{DATABASE_NAME}: this version cannot read what it cites")
    yield from ()
