r"""The files of an SQLite database that may hold transcripts, copied together.

Guarantees: those of `provenance.fs.database_copy`, within a bound of this kind of source; what was
identified as a database is what is copied.

Example:
    >>> is_database(b"SQLite format 3\0" + bytes(84)), is_database(b"")
    (True, False)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from provenance.fs.database_copy import copied_files, is_database
from provenance.fs.private_copy import PrivateCopy
from provenance.transcripts.sources import Source

__all__ = ["MAX_DATABASE_BYTES", "copied_database", "is_database"]

# The copy lies in the temporary folder, which may be memory.
MAX_DATABASE_BYTES = 4 << 30


@contextmanager
def copied_database(source: Source) -> Iterator[tuple[PrivateCopy, bool]]:
    """Copy the database with its logs, as they were together at one time.

    Gives the copy, in which it is called `database`, and whether there is a rollback journal.

    Raises:
        DatabaseDamaged, FileTooLarge, WriteFailed, SourceAbsent, BoundaryRefused, AccessRefused,
        NotARegularFile, ReadFailed: as `copied_files`.
    """
    with copied_files(
        source.directory,
        source.name,
        max_bytes=MAX_DATABASE_BYTES,
        attempts=source.limits.read_attempts,
        expected=source.file,
    ) as copied:
        yield copied
