"""SQLite files for tests, made with the standard library, and sources that are opened on them.

Guarantees: nothing here uses the code under test to build what that code is to judge.

Example:
    >>> SESSIONS.split()[2]
    'agent_sessions'
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from provenance.fs import BackendName, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.sources import Source

__all__ = ["MESSAGES", "SESSIONS", "add", "make", "opened", "snapshot"]

SESSIONS = (
    "CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT "
    "CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
)
MESSAGES = (
    "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, "
    "message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
)


def make(path: Path, *statements: str) -> Path:
    """Run statements on a database, each in a transaction of its own."""
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        for statement in statements:
            made.execute(statement)
    return path


def add(
    made: sqlite3.Connection, items: Iterable[object], session: object = "s1"
) -> sqlite3.Connection:
    """Write items as messages of a session, whatever they are."""
    made.executemany(
        "INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)",
        [(session, item) for item in items],
    )
    return made


@contextmanager
def opened(
    path: Path, *, backend: BackendName = "auto", limits: Limits = DEFAULT_LIMITS
) -> Iterator[Source]:
    """Open a file as a source, as a reader of a tree does."""
    with (
        TrustedRoot(path.parent, backend=backend) as root,
        root.open_directory() as directory,
        directory.open_file(path.name) as file,
    ):
        yield Source(name=path.name, directory=directory, file=file, limits=limits)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Give the names and bytes of the files of a folder."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
