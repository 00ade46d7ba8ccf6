"""A private database for what does not fit into memory; nothing of it outlives its connection.

Guarantees: no name in any folder leads to it. It grows on the disk for temporary files, which
SQLite chooses as programs do (`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp`).

Example:
    >>> base = scratch_database(cache_kib=64)
    >>> base.execute("select 1").fetchall()
    [(1,)]
    >>> base.close()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

__all__ = ["scratch_database"]


def scratch_database(*, cache_kib: int) -> sqlite3.Connection:
    """Open an empty database; the caller commits nothing and closes it.

    Args:
        cache_kib: how much of it stays in memory.
    """
    import sqlite3  # noqa: PLC0415 - few runs need it

    # An empty name: SQLite keeps it in its cache, and beyond that in an unlinked file.
    base = sqlite3.connect("", isolation_level=None)
    base.executescript(
        f"pragma cache_size=-{cache_kib}; pragma journal_mode=off; pragma synchronous=off;"
        "pragma temp_store=file;"
    )
    return base
