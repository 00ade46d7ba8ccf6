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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from provenance.fs.failures import translate

if TYPE_CHECKING:
    import sqlite3

__all__ = ["scratch_database", "scratch_folder", "use_scratch_folder"]

_folder: Path | None = None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a fresh private folder, which is gone with all that is in it at the end of the `with`.

    Raises:
        WriteFailed, AccessRefused and their like: there is no place for one.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix="ctxaudit-", ignore_cleanup_errors=True)
    except OSError as error:
        raise translate(error) from None
    with made as name:
        os.chmod(name, 0o700)  # whatever the umask left of it
        yield Path(name)


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
