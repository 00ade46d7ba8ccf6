"""Short ways to fill a state store, and to look at it with SQLite alone.

Guarantees: `tables_of` reads through no code under test.

Example:
    >>> a_state("one").facts[0].content
    'one'
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from provenance import DurableContextState, DurableFact, DurableStateStore

__all__ = ["T0", "Ticking", "a_state", "alter", "file_of", "filled", "tables_of"]

T0 = "2026-01-01T09:00:00Z"


class Ticking:
    """A clock that goes a second at a time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def a_state(*contents: str) -> DurableContextState:
    """A state with a fact for each text."""
    return DurableContextState(
        [
            DurableFact(f"f{number}", text, f"transcript:s1:{number}", T0)
            for number, text in enumerate(contents, start=1)
        ]
    )


def file_of(home: Path) -> Path:
    """Where the database is."""
    return home / "states/states.sqlite3"


def filled(home: Path, *, versions: int = 3, name: str = "run-1") -> DurableStateStore:
    """A store with so many versions of one state."""
    store = DurableStateStore(home, clock=Ticking())
    current: int | None = None
    for number in range(1, versions + 1):
        texts = [f"number {one}" for one in range(1, number + 1)]
        current = store.put(name, a_state(*texts), replaces=current, author="harness").version
    return store


def alter(home: Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    with closing(sqlite3.connect(file_of(home), isolation_level=None)) as base:
        for sql in statements:
            base.execute(sql)


def tables_of(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows, as SQLite gives them."""
    with closing(sqlite3.connect(file_of(home))) as base:
        assert base.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        names = [
            row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {name: base.execute(f"SELECT * FROM {name}").fetchall() for name in names}
