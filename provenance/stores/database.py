"""`states/states.sqlite3` opened for writing: safely, for one operation, by nobody else meanwhile.

Guarantees: folder and file are reached through the home's trusted root. The file, and whatever lies
beside it under its name, is a regular file of ours with one name that nobody else may open, or it
is not opened at all; another program's file and a newer one are told by their first bytes and never
touched. Once open, nothing but reading and adding rows is permitted: no `ATTACH`, no extension, no
trigger, no view, no `UPDATE`, no `DELETE`. What is committed is on the disk (`synchronous=FULL`).
Nothing stays open between two operations, so a waiting program holds no lock. A fork waits for the
end of an operation (`guarding.py`); a connection never works, and is never closed, in a process
that was forked while it was open.

Example:
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home, open_for_writing(TrustedRoot(home)) as base:
    ...     list(base.rows("SELECT name FROM main.versions", ()))
    []
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sqlite3
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from provenance.errors import CtxauditError
from provenance.fs.directory import Directory
from provenance.fs.failures import (
    AccessRefused,
    BoundaryRefused,
    NameTaken,
    NotARegularFile,
    ReadFailed,
    WriteFailed,
)
from provenance.fs.root import TrustedRoot
from provenance.fs.sqlite import Cell, TextCell
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.stores.failures import (
    NoStateStore,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    StoreUnsafe,
    StoreWriteFailed,
)
from provenance.stores.guarding import has_foreign_connection, one_at_a_time
from provenance.stores.layout import (
    SCHEMA_VERSION,
    TABLES,
    check_header,
    check_layout,
    empty_database,
    steps_from,
)
from provenance.stores.own_files import (
    FILE_NAME,
    FOLDER_NAME,
    require_no_logs,
    require_own_files,
    require_own_folder,
    require_writable,
)

__all__ = ["StateDatabase", "open_for_writing"]

_HEADER_BYTES = 100
# A cell may hold a whole state; SQLite counts the row around it as well.
_ROW_BYTES = 1 << 16
_SETTINGS = (
    "PRAGMA trusted_schema=OFF",
    "PRAGMA synchronous=FULL",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA foreign_keys=OFF",
)
_FORKED = (
    "states.sqlite3: expected a process that was not forked inside a call of the store, got one"
)
_BUSY = frozenset({5, 6})
_READ_ONLY = frozenset({3, 8})
# SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: no room for the shared memory beside the log.
_NO_ROOM = frozenset({13, 4874})
_MACHINE = frozenset({7, 9, 10, 13, 14, 15, 22})
_NOT_A_DATABASE, _TOO_BIG = 26, 18
_READ_ONLY_DISK = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class StateDatabase:
    """An open store: questions, and rows that are added in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a connection that was opened and checked here."""
        self._connection = connection
        self._process = os.getpid()

    def rows(
        self, sql: str, values: Sequence[Cell | str]
    ) -> Generator[tuple[Cell, ...], None, None]:
        """Give the rows of a question; text comes as the bytes that are stored."""
        self._require_own()
        with _translated():
            cursor = self._connection.execute(sql, tuple(values))
        try:
            while True:
                with _translated():
                    row = cursor.fetchone()
                if row is None:
                    return
                yield row
        finally:
            cursor.close()

    def add(self, table: str, values: Sequence[str | int | bytes | None]) -> int:
        """Add a row and give its row id; it counts when the transaction is committed."""
        marks = ", ".join("?" * len(values))
        self._require_own()
        with _translated():
            cursor = self._connection.execute(
                f"INSERT INTO main.{table} VALUES ({marks})",  # noqa: S608 - names of ours
                tuple(values),
            )
            row_id = cursor.lastrowid
            cursor.close()
        return row_id or 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the store alone; commit at the end, or leave everything as it was."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            # SQLite may have rolled back already (a full disk).
            with contextlib.suppress(sqlite3.Error):
                if self._is_own:
                    self._connection.execute("ROLLBACK").close()
            raise

    def close(self) -> None:
        """Close it; in a child that inherited it, keep it as it is for ever."""
        if self._is_own:
            self._connection.close()
        else:
            # To close it would touch the log of the parent, which is at work in it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))

    @property
    def _is_own(self) -> bool:
        return self._process == os.getpid()

    def _require_own(self) -> None:
        if not self._is_own:
            raise StoreUnsafe(_FORKED)

    def _run(self, sql: str) -> None:
        self._require_own()
        with _translated():
            self._connection.execute(sql).close()


@contextmanager
def open_for_writing(
    home: TrustedRoot,
    *,
    create: bool = True,
    busy_timeout_seconds: float = 10.0,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[StateDatabase]:
    """Open the store of a home for one operation.

    Args:
        home: its root.
        create: make folder and file where they are missing.
        busy_timeout_seconds: how long to wait for another process.
        limits: bounds a state.

    Raises:
        SourceAbsent: there is no store, and none was to be made.
        NoStateStore, StoreTooNew, StoreDamaged, StoreUnsafe: of the file, which was not touched.
        StoreReadOnly, StoreBusy, StoreWriteFailed: the machine.
    """
    with one_at_a_time(), _file_failures(), contextlib.ExitStack() as opened:
        if has_foreign_connection():
            raise StoreUnsafe(_FORKED)
        # 1. The folder and the file, by handles; a new file is whole when it gets its name.
        directory = opened.enter_context(home.open_directory(FOLDER_NAME, create=create))
        require_own_folder(directory)
        if create:
            _make(directory)
        # 2. What is there is ours, and nobody else's.
        identity = require_own_files(directory)
        require_writable(directory)
        # 3. Judged by its first bytes, before SQLite sees it.
        with directory.open_file(FILE_NAME) as file:
            check_header(file.read_at(0, _HEADER_BYTES))
        # 4. SQLite opens by name: what it opened has to be what was looked at.
        path = Path(home.path).absolute() / FOLDER_NAME / FILE_NAME
        connection = _connect(path, busy_timeout_seconds, limits)
        database = StateDatabase(connection)
        opened.callback(database.close)
        _require_same(directory, path, identity)
        # 5. The schema, brought up to date if it is older.
        version = check_layout(database.rows, present=False)
        if version < SCHEMA_VERSION:
            _migrate(database, connection)
        check_layout(database.rows)
        connection.set_authorizer(_permit)
        yield database
        # 6. Still under its name, so that what was written is found again.
        _require_same(directory, path, identity)


def _make(directory: Directory) -> None:
    if directory.identity(FILE_NAME) is not None:
        return
    require_no_logs(directory)
    with contextlib.suppress(NameTaken):  # another process made it meanwhile
        directory.publish(FILE_NAME, [empty_database()])


def _require_same(directory: Directory, path: Path, identity: tuple[int, int]) -> None:
    """Refuse to go on where a name does not lead to the file that was looked at."""
    there = directory.identity(FILE_NAME)
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    if there != identity or found is None or (found.st_dev, found.st_ino) != identity:
        raise StoreUnsafe("states.sqlite3: expected the same file under its name, got another")


def _connect(path: Path, busy_timeout_seconds: float, limits: Limits) -> sqlite3.Connection:
    with _translated():
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",
            uri=True,
            timeout=busy_timeout_seconds,
            isolation_level=None,
            cached_statements=0,
            check_same_thread=False,
        )
    try:
        connection.text_factory = TextCell
        connection.setlimit(
            sqlite3.SQLITE_LIMIT_LENGTH, min(limits.max_document_bytes + _ROW_BYTES, (1 << 31) - 1)
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
        if sys.version_info >= (3, 12):
            for option, value in _options():
                with contextlib.suppress(sqlite3.Error):
                    connection.setconfig(option, value)
        with _translated():
            for setting in _SETTINGS:
                connection.execute(setting).close()
    except BaseException:
        connection.close()
        raise
    return connection


if sys.version_info >= (3, 12):

    def _options() -> tuple[tuple[int, bool], ...]:
        return (
            (sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True),
            (sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False),
            (sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False),
        )


def _migrate(database: StateDatabase, connection: sqlite3.Connection) -> None:
    with database.transaction():
        # Another process may have done it while we waited.
        version = check_layout(database.rows, present=False)
        with _translated():
            for sql in steps_from(version):
                connection.execute(sql).close()
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").close()


def _permit(
    action: int, first: str | None, second: str | None, database: str | None, inner: str | None
) -> int:
    if inner is None:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION):
            return sqlite3.SQLITE_OK
        if (
            action in (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT)
            and database == "main"
            and first in TABLES
        ):
            return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


@contextmanager
def _file_failures() -> Iterator[None]:
    """Say what a failure of the file system means for somebody who wants to write."""
    try:
        yield
    except (BoundaryRefused, NotARegularFile) as error:
        raise StoreUnsafe(f"states.sqlite3: {error}") from error
    except AccessRefused as error:
        raise StoreReadOnly(f"states.sqlite3: {error}") from error
    except (ReadFailed, WriteFailed) as error:
        kind = StoreReadOnly if error.errno in _READ_ONLY_DISK else StoreWriteFailed
        raise kind(f"states.sqlite3: {error}") from error
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "unknown error")
        raise StoreWriteFailed(f"states.sqlite3: expected to open it, got {name}") from error


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (UnicodeDecodeError, MemoryError) as error:
        raise _failure(None if isinstance(error, UnicodeDecodeError) else 7) from None
    except sqlite3.Error as error:
        code: int | None = getattr(error, "sqlite_errorcode", None)
        raise _failure(code, getattr(error, "sqlite_errorname", None)) from None


def _failure(code: int | None, name: str | None = None) -> CtxauditError:
    """Name what SQLite said; its own message may quote the file."""
    primary = -1 if code is None else code & 0xFF
    shown = name or f"SQLite error {code}"
    if primary in _BUSY:
        return StoreBusy("states.sqlite3: expected the turn to write, got a busy store")
    if primary in _READ_ONLY:
        return StoreReadOnly(
            "states.sqlite3: expected a home that can be written, got a read-only one"
        )
    if code in _NO_ROOM:
        return StoreWriteFailed("states.sqlite3: expected room on the disk, got ENOSPC")
    if primary in _MACHINE:
        return StoreWriteFailed(f"states.sqlite3: expected the disk to answer, got {shown}")
    if primary == _NOT_A_DATABASE:
        return NoStateStore("states.sqlite3: expected a state store, got no SQLite file")
    if primary == _TOO_BIG:
        return StoreDamaged("states.sqlite3: expected cells within the limit, got a longer one")
    found = "words that are not UTF-8" if code is None else shown
    return StoreDamaged(f"states.sqlite3: expected a sound state store, got {found}")
