r"""An SQLite file below a trusted root, read from a private copy.

Guarantees: the database, its write-ahead log and its rollback journal are opened from one directory
handle, no link followed, and copied as they were at one time; SQLite sees the copy alone, so
nothing is written beside the evidence, a lock that somebody holds does not matter, and rows that
are still in the log are seen. Expected tables are plain tables with the expected columns. Rows come
in the order of their row ids, in bounded memory; a row over the limit is passed over and named.
Whatever is wrong with the file is `SourceUnreadable`.

Example:
    >>> has_tables(b"SQLite format 3\0" + bytes(84) + b"CREATE TABLE runs (a)", ("runs",))
    True
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from provenance.fs.failures import WriteFailed
from provenance.fs.sqlite import (
    Cell,
    CellTooLong,
    DatabaseDamaged,
    DatabaseOverLimit,
    ReadOnlyDatabase,
    TextCell,
)
from provenance.fs.whole import FileTooLarge
from provenance.transcripts.containers.database_files import (
    MAX_DATABASE_BYTES,
    copied_database,
    is_database,
)
from provenance.transcripts.sources import Source, SourceUnreadable

__all__ = [
    "Cell",
    "Column",
    "Database",
    "TablesAbsent",
    "TextCell",
    "TooLong",
    "has_tables",
    "open_database",
]

_BASE_STEPS, _STEPS_A_BYTE = 1_000_000, 4
_is_plain_table = re.compile(rb"\s*CREATE\s+TABLE\b", re.IGNORECASE).match


class Column(NamedTuple):
    """A column that a table must have; `is_row_id`: it is another name of the row id."""

    name: str
    is_row_id: bool = False


class TooLong(NamedTuple):
    """A row that has a cell over the limit; of its columns those are given that are not."""

    row_id: int
    cells: tuple[Cell, ...]


class TablesAbsent(SourceUnreadable):
    """It is a sound database that has none of the tables."""


def has_tables(head: bytes, names: Collection[str]) -> bool | None:
    """Say from a database's first bytes whether its schema has these tables.

    Returns:
        None where they cannot say: in write-ahead mode the whole schema may still be in the log.
    """
    if not is_database(head):
        return False
    # SQLite stores the words `CREATE TABLE ` in this spelling, whatever was written.
    if all(re.search(rb"CREATE TABLE [\"'`\[]?%s\b" % name.encode(), head) for name in names):
        return True
    is_empty = head[100:101] == b"\x0d" and head[103:105] == b"\0\0"
    return None if is_empty and head[18:20] == b"\x02\x02" else False


class Database:
    """An open database: its expected tables, and nothing else."""

    def __init__(self, connection: ReadOnlyDatabase, total_bytes: int) -> None:
        """Read from a connection whose files have `total_bytes`."""
        self._connection = connection
        self._total_bytes = total_bytes
        self._has: frozenset[str] = frozenset()

    def has(self, table: str) -> bool:
        """Say whether there is a plain table of that name (one of those asked for)."""
        return table in self._has

    def rows(
        self, table: str, *, row_id: str = "rowid", columns: Sequence[str] = ()
    ) -> Iterator[tuple[Cell, ...] | TooLong]:
        """Give the rows of a table in the order of their row ids: the row id, then the columns.

        Args:
            table: one that `has` knows.
            row_id: the column that is another name of the row id.
            columns: of the table.

        Raises:
            SourceUnreadable: it is damaged, or takes more work than is allowed.
            ReadFailed: the machine could not.
        """
        wanted = ", ".join([row_id, *(f'"{column}"' for column in columns)])
        place = f'FROM main."{table}" NOT INDEXED'
        last: int | None = None
        size = 0
        with _unreadable():
            while True:
                for row in self._some(f"{wanted} {place}", row_id, last):
                    last = _following(row[0], last)
                    # Pages that are shared by several rows would make a small file endless.
                    size += sum(len(cell) for cell in row if isinstance(cell, bytes))
                    if size > self._total_bytes:
                        raise DatabaseDamaged("database: expected rows as large as it, got more")
                    yield row
                # Only row ids are read, so that a long cell is in nobody's way.
                found = self._find(f"SELECT {row_id} {_after(place, row_id, last)}", last)
                if found is None:
                    return
                last = _following(found[0], last)
                alone = f"{place} WHERE {row_id} = ?"
                if (whole := self._find(f"SELECT {wanted} {alone}", last)) is not None:
                    yield whole
                    continue
                cells = (self._find(f'SELECT "{one}" {alone}', last) for one in columns)
                yield TooLong(last, tuple(None if cell is None else cell[0] for cell in cells))

    def check(self, table: str, columns: Sequence[Column]) -> None:
        """Look whether the schema has a table that is what it seems, with these columns.

        Raises:
            DatabaseDamaged: something else has that name, or it lacks a column.
            DatabaseOverLimit, ReadFailed: as they say.
        """
        query = "SELECT type, name, rootpage, sql FROM main.sqlite_master"
        # Names are told apart without case; only ASCII letters have one here.
        found = [
            (kind, root, sql)
            for kind, name, root, sql in self._connection.rows(query)
            if isinstance(name, bytes) and name.lower() == table.encode() and kind != b"index"
        ]
        if not found:
            return
        kind, root, sql = found[0]
        # SQLite makes this one itself, and so does every schema of ours with plain words.
        is_plain = isinstance(sql, bytes) and _is_plain_table(sql) is not None
        if len(found) > 1 or kind != b"table" or not root or not is_plain:
            raise DatabaseDamaged(f"database: expected a plain table {table}, got something else")
        present: dict[bytes, tuple[Cell, ...]] = {}
        for row in self._connection.rows(f'PRAGMA main.table_xinfo("{table}")'):
            if isinstance(row[1], bytes):
                present[row[1].lower()] = row
        for column in columns:
            found_column = present.get(column.name.encode())
            # The last field is not 0 for a column that is computed.
            if found_column is None or found_column[6] != 0:
                raise DatabaseDamaged(
                    f"database: expected a column {column.name} in {table}, got none"
                )
            kind = found_column[2]
            is_key = isinstance(kind, bytes) and kind.upper() == b"INTEGER" and found_column[5] == 1
            if column.is_row_id and not is_key:
                raise DatabaseDamaged(
                    f"database: expected {column.name} in {table} as row id, got another column"
                )
        if b"rowid" in present:
            raise DatabaseDamaged(f"database: expected no column rowid in {table}, got one")
        self._has |= {table}

    def _some(self, selected: str, row_id: str, last: int | None) -> Iterator[tuple[Cell, ...]]:
        """Give rows up to one that has a cell over the limit; it may stop a row before that."""
        query = f"SELECT {_after(selected, row_id, last)}"
        try:
            yield from self._connection.rows(query, () if last is None else (last,))
        except CellTooLong:
            return

    def _find(self, query: str, last: int | None) -> tuple[Cell, ...] | None:
        """Give one row; None where there is none, or where a cell is over the limit."""
        try:
            for row in self._connection.rows(query, () if last is None else (last,)):
                return row
        except CellTooLong:
            pass
        return None


def _after(selected: str, row_id: str, last: int | None) -> str:
    where = "" if last is None else f" WHERE {row_id} > ?"
    return f"{selected}{where} ORDER BY {row_id}"


def _following(row_id: Cell, last: int | None) -> int:
    """Give a row id that comes after the last one: damaged pages may go round in circles."""
    if not isinstance(row_id, int) or (last is not None and row_id <= last):
        raise DatabaseDamaged("database: expected row ids that ascend, got another order")
    return row_id


@contextmanager
def open_database(
    source: Source,
    *,
    tables: Mapping[str, Sequence[Column]],
    optional: Mapping[str, Sequence[Column]] | None = None,
) -> Iterator[Database]:
    """Open a database for reading its tables.

    Args:
        source: the file, and the directory that it and its logs lie in.
        tables: the columns that each needed table must have; names in lower case.
        optional: the same for tables that may be absent.

    Raises:
        TablesAbsent: it is sound, and has none of the needed tables.
        SourceUnreadable: `container_invalid`, `container_over_limit`.
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: of the file, of
            its log or of its journal (a log that is not there is no error).
    """
    limits = source.limits
    known = {**tables, **(optional or {})}
    with _unreadable(), copied_database(source) as (copy, has_journal):
        connection = ReadOnlyDatabase(
            copy.path("database"),
            tables=known,
            max_cell_bytes=limits.max_foreign_record_bytes,
            max_steps=_BASE_STEPS + _STEPS_A_BYTE * copy.total_bytes,
            has_journal=has_journal,
        )
        with connection:
            database = Database(connection, copy.total_bytes)
            for table, columns in known.items():
                database.check(table, columns)
            absent = [table for table in tables if not database.has(table)]
            if absent:
                kind = TablesAbsent if len(absent) == len(tables) else SourceUnreadable
                raise kind(
                    "container_invalid",
                    f"database: expected a table {absent[0]}, got a schema without it",
                )
            yield database


@contextmanager
def _unreadable() -> Iterator[None]:
    try:
        yield
    except DatabaseDamaged as error:
        raise SourceUnreadable("container_invalid", str(error)) from error
    except DatabaseOverLimit as error:
        raise SourceUnreadable("container_over_limit", str(error)) from error
    except FileTooLarge as error:
        message = f"database: expected at most {MAX_DATABASE_BYTES} bytes, got more"
        raise SourceUnreadable("container_over_limit", message) from error
    except WriteFailed as error:
        message = "database: expected room for a private copy, got a failure to write"
        raise SourceUnreadable("container_over_limit", message) from error
