"""An SQLite file of somebody else, opened so that it can be read and can do nothing else.

Guarantees: the file is one that we own (a private copy): SQLite writes beside what it opens, and it
deletes what a journal names. No extension is loaded, no function, view, trigger, virtual table or
`ATTACH` is reached, whatever the schema says: an authorizer permits reads of the named tables
and nothing else. The size of a cell and the work that is done are bounded. Text comes as the bytes
that are stored. Whatever SQLite says of the file is one of the errors below, with no text of it.

Example:
    >>> import pathlib, sqlite3, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.db")
    ...     with sqlite3.connect(path) as made:
    ...         _ = made.execute("CREATE TABLE t (a)"), made.execute("INSERT INTO t VALUES ('x')")
    ...     made.close()
    ...     bounds = {"max_cell_bytes": 100, "max_steps": 10_000}
    ...     with ReadOnlyDatabase(path, tables=["t"], **bounds) as database:
    ...         list(database.rows("SELECT a FROM t"))
    [(b'x',)]
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from provenance.errors import DataError
from provenance.fs.failures import ReadFailed

__all__ = [
    "Cell",
    "CellTooLong",
    "DatabaseDamaged",
    "DatabaseOverLimit",
    "ReadOnlyDatabase",
    "TextCell",
]

# Work is counted in so many steps of SQLite's machine at a time.
_STEPS_AT_A_TIME = 1000
# A schema row is a cell too: below this no schema could be read.
_SHORTEST_LONGEST_CELL = 1 << 20
_SCHEMA = ("sqlite_master", "sqlite_schema")
_PRAGMAS = ("application_id", "encoding", "table_xinfo", "user_version")
_SETTINGS = (
    "PRAGMA trusted_schema=OFF",
    "PRAGMA query_only=ON",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-8192",
)
# Limits of SQLite itself, each far above what a schema of an agent needs.
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 10),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
# What a full disk, missing memory or our progress handler answer; the low byte of the code.
_OVER_LIMIT = frozenset({7, 9, 13})  # NOMEM, INTERRUPT, FULL
_MACHINE = frozenset({5, 6, 10, 14})  # BUSY, LOCKED, IOERR, CANTOPEN
_TOO_BIG = 18


class TextCell(bytes):
    """The bytes of a cell that is text; a blob is plain `bytes`."""

    __slots__ = ()


Cell = int | float | bytes | TextCell | None


class DatabaseDamaged(DataError):
    """It is no SQLite file, is damaged, or its schema is not of plain tables."""

    code = "database_damaged"


class DatabaseOverLimit(DataError):
    """Reading it takes more work or memory than is allowed; says nothing about the evidence."""

    code = "database_over_limit"


class CellTooLong(DatabaseOverLimit):
    """A cell is longer than allowed; other rows can be read."""

    code = "database_cell_too_long"


class ReadOnlyDatabase:
    """A connection that can only read; a context manager that closes it."""

    __slots__ = ("_connection", "_steps_left", "_tables")

    def __init__(
        self,
        path: Path,
        *,
        tables: Collection[str],
        max_cell_bytes: int,
        max_steps: int,
        has_journal: bool = False,
    ) -> None:
        """Open it.

        Args:
            path: a file that we own.
            tables: what may be read, beside the schema.
            max_cell_bytes: the longest cell (1 MiB at least, since the schema has cells too).
            max_steps: how much SQLite may do in all, in steps of its machine.
            has_journal: a rollback journal lies beside it; SQLite must write to roll it back.

        Raises:
            DatabaseDamaged, DatabaseOverLimit, ReadFailed: what SQLite says.
        """
        self._tables = frozenset(name.lower() for name in (*tables, *_SCHEMA))
        self._steps_left = max_steps
        mode = "rw" if has_journal else "ro"
        with _translated():
            self._connection = sqlite3.connect(
                f"{path.as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                cached_statements=0,
                check_same_thread=False,
            )
        try:
            self._harden(max_cell_bytes)
        except BaseException:
            self._connection.close()
            raise

    def rows(
        self, sql: str, parameters: Sequence[Cell | str] = ()
    ) -> Generator[tuple[Cell, ...], None, None]:
        """Give the rows of a query of ours, one at a time.

        Raises:
            CellTooLong: this row has a cell over the limit.
            DatabaseDamaged, DatabaseOverLimit, ReadFailed: what SQLite says.
        """
        with _translated():
            cursor = self._connection.execute(sql, parameters)
        try:
            while True:
                with _translated():
                    row = cursor.fetchone()
                if row is None:
                    return
                yield row
        finally:
            cursor.close()

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def __enter__(self) -> ReadOnlyDatabase:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _harden(self, max_cell_bytes: int) -> None:
        connection = self._connection
        # 1. Limits, before the file is looked at.
        connection.set_progress_handler(self._count, _STEPS_AT_A_TIME)
        longest = max(max_cell_bytes, _SHORTEST_LONGEST_CELL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, (1 << 31) - 1))
        for limit, value in _LIMITS:
            connection.setlimit(limit, value)
        # 2. What a hostile schema would use.
        if sys.version_info >= (3, 12):
            for option, value in _options():
                # An SQLite that does not know one: the authorizer below does not rest on them.
                with contextlib.suppress(sqlite3.Error):
                    connection.setconfig(option, value)
        with _translated():
            for setting in _SETTINGS:
                connection.execute(setting).close()
        # 3. From here on nothing but reading the named tables is permitted.
        connection.set_authorizer(_authorizer(self._tables))
        # 4. Stored bytes, valid UTF-8 or not.
        connection.text_factory = TextCell

    def _count(self) -> int:
        self._steps_left -= _STEPS_AT_A_TIME
        return self._steps_left < 0


if sys.version_info >= (3, 12):

    def _options() -> tuple[tuple[int, bool], ...]:
        return (
            (sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True),
            (sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False),
            (sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False),
            (sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True),
        )


def _authorizer(tables: Collection[str]) -> Callable[..., int]:
    def permit(
        action: int, first: str | None, second: str | None, database: str | None, view: str | None
    ) -> int:
        # What comes out of a view or trigger names it here.
        if view is None:
            if action == sqlite3.SQLITE_SELECT:
                return sqlite3.SQLITE_OK
            if action == sqlite3.SQLITE_READ and database == "main" and first is not None:
                return sqlite3.SQLITE_OK if first.lower() in tables else sqlite3.SQLITE_DENY
            if action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS:
                return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return permit


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (UnicodeDecodeError, MemoryError) as error:
        raise _failure(None if isinstance(error, UnicodeDecodeError) else 7) from None
    except sqlite3.Error as error:
        code: int | None = getattr(error, "sqlite_errorcode", None)
        raise _failure(code, getattr(error, "sqlite_errorname", None)) from None


def _failure(code: int | None, name: str | None = None) -> DataError | ReadFailed:
    """Name what SQLite said; its own message may quote the schema."""
    primary = -1 if code is None else code & 0xFF
    shown = name or f"SQLite error {code}"
    if primary == _TOO_BIG:
        return CellTooLong("database: expected cells within the limit, got a longer one")
    if primary in _OVER_LIMIT:
        return DatabaseOverLimit("database: expected bounded work and memory, got more")
    if primary in _MACHINE:
        return ReadFailed(f"database: expected to read, got {shown}", errno.EIO)
    found = "words that are not UTF-8" if code is None else shown
    return DatabaseDamaged(f"database: expected a sound SQLite file, got {found}")
