"""The tables of `states.sqlite3`, how a new file is made, and how an older one is brought up.

Guarantees: pure but for SQLite in memory. A new file is made whole, as bytes, so that no moment
exists at which a file of that name is half made. A schema is judged by what stands in it, letter by
letter: a trigger, a view or another column is not ours.

Example:
    >>> empty_database()[:15]
    b'SQLite format 3'
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from functools import lru_cache

from provenance.fs.database_copy import is_database
from provenance.fs.sqlite import Cell
from provenance.stores.failures import NoStateStore, StoreDamaged, StoreTooNew

__all__ = [
    "APPLICATION_ID",
    "SCHEMA_VERSION",
    "TABLES",
    "Rows",
    "check_header",
    "check_layout",
    "empty_database",
    "steps_from",
]

# Asks a database one question; text comes as the bytes that are stored.
Rows = Callable[[str, Sequence[Cell | str]], Generator[tuple[Cell, ...], None, None]]

APPLICATION_ID = 0x43545853  # "CTXS"

# `versions` is append-only: nothing in this package updates or deletes a row of any table.
_VERSIONS = """CREATE TABLE versions (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  replaces INTEGER,
  created_at TEXT NOT NULL,
  author TEXT NOT NULL,
  note TEXT,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  document BLOB NOT NULL,
  PRIMARY KEY (name, version)
)"""
_CHANGES = """CREATE TABLE changes (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  item_id TEXT NOT NULL,
  change TEXT NOT NULL,
  source_pointer TEXT NOT NULL,
  confirmed_at TEXT NOT NULL,
  confirmed_by TEXT,
  PRIMARY KEY (name, version, position)
)"""
# The key is the rule: one version of a state has one winner of each conflict.
_CONFLICT_KEYS = """CREATE TABLE conflict_keys (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL,
  conflict_key TEXT NOT NULL,
  item_id TEXT NOT NULL,
  PRIMARY KEY (name, version, kind, conflict_key)
)"""
_SELECTIONS = """CREATE TABLE selections (
  selection_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version INTEGER,
  recorded_at TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  document BLOB NOT NULL
)"""
_SELECTIONS_INDEX = "CREATE INDEX selections_of_a_state ON selections (name, version)"
_RESOLUTIONS = """CREATE TABLE resolutions (
  selection_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  linked_at TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  document BLOB NOT NULL,
  PRIMARY KEY (selection_id, position)
)"""
# The statements that lead from each version of the schema to the next; the first makes version 1.
_STEPS: tuple[tuple[str, ...], ...] = (
    (_VERSIONS, _CHANGES, _CONFLICT_KEYS, _SELECTIONS, _SELECTIONS_INDEX, _RESOLUTIONS),
)
SCHEMA_VERSION = len(_STEPS)
TABLES = ("versions", "changes", "conflict_keys", "selections", "resolutions")

# Header bytes 18 and 19: both 2 means that the file is used with a write-ahead log.
_WRITE_VERSION, _READ_VERSION, _WAL = 18, 19, 2
_HEADER_BYTES = 100


def steps_from(version: int) -> tuple[str, ...]:
    """Give the statements that bring a schema of that version to the present one."""
    return tuple(sql for step in _STEPS[version:] for sql in step)


@lru_cache(maxsize=1)
def empty_database() -> bytes:
    """Give the bytes of a new store: present schema, no rows, write-ahead mode."""
    with closing(_in_memory()) as base:
        data = bytearray(base.serialize())
    data[_WRITE_VERSION] = data[_READ_VERSION] = _WAL
    return bytes(data)


def check_header(header: bytes) -> None:
    """Judge a store by its first 100 bytes, before SQLite may touch it.

    Raises:
        NoStateStore: it is no state store.
        StoreTooNew: a newer ctxaudit wrote it.
        StoreDamaged: it is one that is not used with a write-ahead log.
    """
    if len(header) < _HEADER_BYTES or not is_database(header):
        raise NoStateStore("file: expected a ctxaudit state store, got no SQLite file")
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise NoStateStore("file: expected a ctxaudit state store, got another SQLite file")
    _require_known(int.from_bytes(header[60:64]))
    if (header[_WRITE_VERSION], header[_READ_VERSION]) != (_WAL, _WAL):
        raise StoreDamaged("file: expected write-ahead mode, got another")


def check_layout(rows: Rows, *, present: bool = True) -> int:
    """Say which version of the schema a database has.

    Args:
        rows: asks the database.
        present: the version has to be the present one, and the schema that of it.

    Raises:
        NoStateStore: it is no state store.
        StoreTooNew: its version is above ours.
        StoreDamaged: its schema is not that of its version.
    """
    # 1. Whose file is it?
    if _number(rows, "PRAGMA application_id") != APPLICATION_ID:
        raise NoStateStore("file: expected a ctxaudit state store, got another SQLite file")
    version = _number(rows, "PRAGMA user_version")
    # 2. Newer than we know: hands off.
    _require_known(version)
    if version < 1 or (present and version != SCHEMA_VERSION):
        raise StoreDamaged(f"file: expected schema version {SCHEMA_VERSION}, got {version}")
    # 3. Exactly our tables; what SQLite makes of a primary key has no text of its own.
    if version == SCHEMA_VERSION and not _has_own_schema(rows):
        raise StoreDamaged("file: expected the tables of a state store, got another schema")
    return version


def _require_known(version: int) -> None:
    if version > SCHEMA_VERSION:
        raise StoreTooNew(
            f"file: expected schema version {SCHEMA_VERSION} or older, got {version}; "
            "a newer ctxaudit wrote it"
        )


def _number(rows: Rows, sql: str) -> int:
    with closing(rows(sql, ())) as answer:
        row = next(answer, None)
    if row is not None and isinstance(row[0], int):
        return row[0]
    raise NoStateStore("file: expected a ctxaudit state store, got another SQLite file")


def _has_own_schema(rows: Rows) -> bool:
    own = _own_schema()
    found: set[tuple[Cell, ...]] = set()
    with closing(rows("SELECT type, name, tbl_name, sql FROM main.sqlite_master", ())) as listed:
        for row in listed:
            if row not in own or row in found:
                return False
            found.add(row)
    return found == own


@lru_cache(maxsize=1)
def _own_schema() -> frozenset[tuple[Cell, ...]]:
    with closing(_in_memory()) as base:
        base.text_factory = bytes
        return frozenset(base.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


def _in_memory() -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", isolation_level=None)
    _run(base, steps_from(0))
    _run(base, (f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={SCHEMA_VERSION}"))
    return base


def _run(base: sqlite3.Connection, statements: Iterable[str]) -> None:
    for sql in statements:
        base.execute(sql).close()
