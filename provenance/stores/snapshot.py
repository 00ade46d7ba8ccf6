"""A home's state store read from a private copy: hostile, read-only and foreign homes too.

Guarantees: the file and its logs are copied through the home's trusted root, as they were at one
time, and only the copy is opened, by a connection that can do nothing but read: nothing is written
beside the original. Whatever is wrong with it is one of the errors below.

Example:
    >>> with open_snapshot(TrustedRoot("/nowhere")) as reader:
    ...     pass
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from provenance.fs.database_copy import copied_files
from provenance.fs.failures import BoundaryRefused, NotARegularFile, SourceAbsent
from provenance.fs.root import TrustedRoot
from provenance.fs.sqlite import DatabaseDamaged, DatabaseOverLimit, ReadOnlyDatabase
from provenance.fs.whole import FileTooLarge
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.stores.failures import StoreDamaged, StoreUnsafe
from provenance.stores.guarding import one_at_a_time
from provenance.stores.layout import TABLES, check_layout
from provenance.stores.own_files import FILE_NAME, FOLDER_NAME
from provenance.stores.reading import StateReader
from provenance.stores.values import StateVersionBytes

__all__ = ["has_store", "iter_state_versions", "open_snapshot"]

# The copy lies in the temporary folder, which may be memory. A year of turns of 100 KB has less.
_MAX_STORE_BYTES = 4 << 30
# Of the attempts at a file that stands still. Another program's write takes milliseconds, and so
# does a copy: a busy store is no damaged one.
_ATTEMPTS_AT_A_BUSY_STORE = 20
# What one question costs in steps of SQLite's machine, and what a byte of the file may cost.
_BASE_STEPS, _STEPS_A_BYTE = 1_000_000, 8


@contextmanager
def open_snapshot(home: TrustedRoot, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[StateReader]:
    """Read the store of a home as it is now.

    Raises:
        SourceAbsent: there is none.
        NoStateStore, StoreTooNew, StoreDamaged, StoreUnsafe: it cannot be read as one.
        AccessRefused, ReadFailed, WriteFailed: the machine (the last: no room for a copy).
    """
    with ExitStack() as opened:
        with (
            _file_failures(),
            _sqlite_failures(),
            one_at_a_time(),
            home.open_directory(FOLDER_NAME) as directory,
        ):
            copy, has_journal = opened.enter_context(
                copied_files(
                    directory,
                    FILE_NAME,
                    max_bytes=_MAX_STORE_BYTES,
                    attempts=limits.read_attempts * _ATTEMPTS_AT_A_BUSY_STORE,
                )
            )
        with _sqlite_failures():
            database = opened.enter_context(
                ReadOnlyDatabase(
                    copy.path("database"),
                    tables=TABLES,
                    max_cell_bytes=limits.max_document_bytes,
                    max_steps=_BASE_STEPS + _STEPS_A_BYTE * copy.total_bytes,
                    has_journal=has_journal,
                )
            )
            check_layout(database.rows)
            yield StateReader(database.rows, limits=limits)


def has_store(home: TrustedRoot) -> bool:
    """Say whether anything has the name of a home's state store.

    Raises:
        BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: of the folder.
    """
    try:
        with home.open_directory(FOLDER_NAME) as directory:
            return directory.identity(FILE_NAME) is not None
    except SourceAbsent:
        return False


def iter_state_versions(
    home: TrustedRoot, *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[StateVersionBytes]:
    """Give every version of every state of a home: by name, then ascending.

    Raises:
        SourceAbsent: the home has no store.
        NoStateStore, StoreTooNew, StoreDamaged, StoreUnsafe, AccessRefused, ReadFailed,
        WriteFailed: as `open_snapshot`; also between two versions.
    """
    with open_snapshot(home, limits=limits) as reader:
        found = reader.scan()
        if found.faults:
            raise StoreDamaged(found.faults[0])
        for name, numbers in found.versions.items():
            for number in numbers:
                yield reader.document(name, number)


@contextmanager
def _file_failures() -> Iterator[None]:
    try:
        yield
    except (BoundaryRefused, NotARegularFile) as error:
        raise StoreUnsafe(f"states.sqlite3: {error}") from error
    except FileTooLarge as error:
        raise StoreDamaged(
            f"states.sqlite3: expected at most {_MAX_STORE_BYTES} bytes, got more"
        ) from error


@contextmanager
def _sqlite_failures() -> Iterator[None]:
    try:
        yield
    except (DatabaseDamaged, DatabaseOverLimit) as error:
        raise StoreDamaged(f"states.sqlite3: {error}") from error
