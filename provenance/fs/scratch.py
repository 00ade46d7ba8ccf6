"""Where temporary files go: a private database for what does not fit into memory, and its folder.

Guarantees: no name in any folder leads to the database, and nothing of it outlives its connection.
It grows on the disk for temporary files, which SQLite chooses as programs do (`SQLITE_TMPDIR`,
`TMPDIR`, `/var/tmp`); in a confined process it is the folder that the process was given.

Example:
    >>> base = scratch_database(cache_kib=64)
    >>> base.execute("select 1").fetchall()
    [(1,)]
    >>> base.close()
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from provenance.fs.failures import translate

if TYPE_CHECKING:
    import sqlite3

__all__ = ["MOST_REMOVED", "scratch_database", "scratch_folder", "use_scratch_folder"]

# Steps from one folder to the next while a scratch folder is removed; an audit makes a handful.
MOST_REMOVED = 1_000_000
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

_folder: Path | None = None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a fresh private folder, which is gone with all that is in it at the end of the `with`.

    Whoever wrote in it must be gone by then. What cannot be removed, or is more than
    `MOST_REMOVED`, stays behind: that is no fault of what was done with it.

    Raises:
        WriteFailed, AccessRefused and their like: there is no place for one.
    """
    try:
        name = tempfile.mkdtemp(prefix="ctxaudit-")
    except OSError as error:
        raise translate(error) from None
    try:
        os.chmod(name, 0o700)  # whatever the umask left of it
        yield Path(name)
    finally:
        with suppress(OSError):
            _remove(name)


def _remove(folder: str) -> None:
    """Remove a folder with all that is in it, however deep; two handles at a time."""
    here = os.open(folder, _FOLDER)
    above: list[str] = []
    try:
        for _ in range(MOST_REMOVED):
            below = _empty_but_one(here)
            if below is not None:
                here = _moved(here, below)
                above.append(below)
            elif above:
                here = _moved(here, "..")
                os.rmdir(above.pop(), dir_fd=here)
            else:
                break
    finally:
        os.close(here)
    os.rmdir(folder)


def _empty_but_one(folder: int) -> str | None:
    """Remove the files and empty folders of a folder; gives a folder that is not empty, if any."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            try:
                os.rmdir(entry.name, dir_fd=folder)
            except OSError:
                return entry.name
    return None


def _moved(here: int, name: str) -> int:
    try:
        there = os.open(name, _FOLDER, dir_fd=here)
    except PermissionError:  # made without leave for its owner
        os.chmod(name, 0o700, dir_fd=here)
        there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def use_scratch_folder(folder: Path) -> None:
    """Put all temporary files of this process into a folder, from now on."""
    global _folder  # noqa: PLW0603 - of the process, as the folder for temporary files is
    _folder = folder
    tempfile.tempdir = str(folder)


def scratch_database(*, cache_kib: int) -> sqlite3.Connection:
    """Open an empty database; the caller commits nothing and closes it.

    Args:
        cache_kib: how much of it stays in memory.
    """
    import sqlite3  # noqa: PLC0415 - few runs need it

    # An empty name: SQLite keeps it in its cache, and beyond that in an unlinked file.
    base = sqlite3.connect("", isolation_level=None)
    if _folder is not None:
        # SQLite read the environment when it was loaded; a build without this setting fails later.
        quoted = str(_folder).replace("'", "''")
        base.execute(f"pragma temp_store_directory = '{quoted}'")
    base.executescript(
        f"pragma cache_size=-{cache_kib}; pragma journal_mode=off; pragma synchronous=off;"
        "pragma temp_store=file;"
    )
    return base
