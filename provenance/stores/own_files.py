"""Is what lies where a state store belongs ours alone? Looked at before SQLite may open it by name.

Guarantees: nothing is opened and no link is followed: each name is looked at from the folder's own
handle. A link, another kind of file, another owner, a second name, wider modes and a rollback
journal are refused, for the database and for what SQLite opens beside it.

Example:
    >>> import tempfile
    >>> from provenance.fs import TrustedRoot
    >>> with tempfile.TemporaryDirectory() as home, TrustedRoot(home) as root:
    ...     with root.open_directory() as folder:
    ...         require_own_folder(folder)
"""

from __future__ import annotations

import contextlib
import os
import stat

from provenance.fs.directory import Directory
from provenance.fs.drafts import is_temporary_name
from provenance.fs.failures import SourceAbsent
from provenance.stores.failures import StoreOpenToOthers, StoreReadOnly, StoreUnsafe

__all__ = [
    "FILE_NAME",
    "FOLDER_NAME",
    "require_no_logs",
    "require_own_files",
    "require_own_folder",
    "require_writable",
]

FOLDER_NAME = "states"
FILE_NAME = "states.sqlite3"
_LOGS = ("-wal", "-shm")
_JOURNAL = "-journal"
_OTHERS = 0o077
_EFFECTIVE = os.access in os.supports_effective_ids


def require_no_logs(directory: Directory) -> None:
    """Refuse logs without their database: SQLite would replay them into a new one."""
    for ending in (*_LOGS, _JOURNAL):
        if directory.identity(FILE_NAME + ending) is not None:
            raise StoreUnsafe("states.sqlite3: expected no log without its database, got one")


def require_own_folder(directory: Directory) -> None:
    """Refuse a folder in which others may give our names to their files."""
    found = os.fstat(directory.fd)
    if found.st_uid != os.geteuid():
        raise StoreUnsafe("states: expected a folder of our own, got another user's")
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise StoreOpenToOthers(
            f"states: expected a folder that only we may write, got mode "
            f"{stat.S_IMODE(found.st_mode):04o} (chmod go-w makes it ours alone)"
        )


def require_own_files(directory: Directory) -> tuple[int, int]:
    """Refuse links, other kinds, other owners, other names; give device and inode of the file."""
    _drop_twins(directory)
    main = _look(directory, "")
    if main is None:
        raise SourceAbsent("states.sqlite3: expected a state store, got nothing of that name")
    if stat.S_IMODE(main.st_mode) & _OTHERS:
        raise StoreOpenToOthers(
            "states.sqlite3: expected mode 0600, got "
            f"{stat.S_IMODE(main.st_mode):04o} (chmod 600 makes it ours alone)"
        )
    for ending in _LOGS:
        _look(directory, ending)
    # In write-ahead mode there is none; SQLite would roll it back, and remove what it names.
    if _look(directory, _JOURNAL) is not None:
        raise StoreUnsafe("states.sqlite3: expected no rollback journal, got one")
    return main.st_dev, main.st_ino


def _drop_twins(directory: Directory) -> None:
    """Take the temporary name away that whoever made the file could not when it was killed."""
    identity = directory.identity(FILE_NAME)
    try:
        found = os.stat(FILE_NAME, dir_fd=directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
        return
    for entry in directory.entries():
        if is_temporary_name(entry.name) and directory.identity(entry.name) == identity:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(entry.name, dir_fd=directory.fd)


def _look(directory: Directory, ending: str) -> os.stat_result | None:
    name = FILE_NAME + ending
    try:
        found = os.stat(name, dir_fd=directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "something else"
        raise StoreUnsafe(f"{name}: expected a regular file, got {kind}")
    if found.st_uid != os.geteuid():
        raise StoreUnsafe(f"{name}: expected a file of our own, got another user's")
    if found.st_nlink != 1:
        raise StoreUnsafe(f"{name}: expected one name for the file, got several hard links")
    return found


def require_writable(directory: Directory) -> None:
    """Refuse where writing would fail anyway: before a log is made that cannot be removed."""
    if not (
        os.access(".", os.W_OK | os.X_OK, dir_fd=directory.fd, effective_ids=_EFFECTIVE)
        and os.access(FILE_NAME, os.R_OK | os.W_OK, dir_fd=directory.fd, effective_ids=_EFFECTIVE)
    ):
        raise StoreReadOnly("states.sqlite3: expected a home that can be written, got a read-only")
