r"""The files of an SQLite database, copied together to a place where SQLite may open them.

Guarantees: the database, its write-ahead log and its rollback journal are opened from one directory
handle by names that are looked up again after they were copied: what is given is what all of them
were at one time. A journal that would make SQLite remove some other file is refused, and so is a
file that SQLite would read in part, or whose text it would convert.

Example:
    >>> is_database(b"SQLite format 3\0" + bytes(84)), is_database(b"")
    (True, False)
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from provenance.fs.directory import Directory, UnsafeComponent
from provenance.fs.failures import ReadFailed, SourceAbsent
from provenance.fs.private_copy import PrivateCopy, private_copy
from provenance.fs.reading import OpenFile
from provenance.fs.sqlite import DatabaseDamaged
from provenance.fs.whole import SourceChanged

__all__ = ["copied_files", "is_database"]

_ENDINGS = ("", "-wal", "-journal")
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_UTF8 = 1
# The last eight bytes of a journal that names another file, which SQLite would then delete.
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def is_database(head: bytes) -> bool:
    """Say whether a file that begins with these bytes is an SQLite file."""
    return head.startswith(_MAGIC) and len(head) >= _HEADER_BYTES


@contextmanager
def copied_files(
    directory: Directory,
    name: str,
    *,
    max_bytes: int,
    attempts: int,
    expected: OpenFile | None = None,
) -> Iterator[tuple[PrivateCopy, bool]]:
    """Copy a database with its logs, as they were together at one time.

    Args:
        directory: what they lie in.
        name: the database's; the logs are called after it.
        max_bytes: how much they may have together.
        attempts: how often they are copied where one changes meanwhile.
        expected: the database as it was opened before: another one of its name is not read.

    Gives the copy, in which it is called `database`, and whether there is a rollback journal.

    Raises:
        DatabaseDamaged: see above.
        FileTooLarge: they have more than `max_bytes`.
        WriteFailed: there is no room for a copy.
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: of the files, or
            of what changed at each attempt.
    """
    for _ in range(attempts):
        with ExitStack() as kept:
            # The originals are closed before the copy is used: see `stores/guarding.py`.
            with ExitStack() as opened:
                files = {
                    ending: opened.enter_context(file)
                    for ending in _ENDINGS
                    if (file := _open_beside(directory, name, ending)) is not None
                }
                if expected is not None and _identity(files[""]) != _identity(expected):
                    break  # what was identified is what is read
                copying = private_copy(
                    {f"database{ending}": file for ending, file in files.items()},
                    max_bytes=max_bytes,
                    attempts=1,
                    # A log that was removed, or made anew, belongs to another time.
                    is_still_named=partial(_are_named, directory, name, files),
                )
                try:
                    copy = kept.enter_context(copying)
                except SourceChanged:
                    continue
            yield copy, _check_copies(copy)
            return
    raise ReadFailed("database: expected no change while it was copied, got one", errno.EAGAIN)


def _open_beside(directory: Directory, name: str, ending: str) -> OpenFile | None:
    try:
        return directory.open_file(name + ending)
    except (SourceAbsent, UnsafeComponent):
        if not ending:
            raise
        return None  # there is none, or no file can have so long a name


def _are_named(directory: Directory, name: str, files: Mapping[str, OpenFile]) -> bool:
    for ending in _ENDINGS:
        file = files.get(ending)
        try:
            there = directory.identity(name + ending)
        except UnsafeComponent:
            there = None
        if there != (None if file is None else _identity(file)):
            return False
    return True


def _check_copies(copy: PrivateCopy) -> bool:
    """Refuse what SQLite must not be given; say whether there is a rollback journal.

    The copies are what is looked at: they are what SQLite opens, and nobody changes them.
    """
    size, journal_size = copy.sizes["database"], copy.sizes.get("database-journal", 0)
    # 1. A header, in the one encoding whose stored bytes are those that we give.
    header = copy.read_at("database", 0, _HEADER_BYTES)
    if not is_database(header):
        raise DatabaseDamaged("database: expected an SQLite header, got other bytes")
    if int.from_bytes(header[56:60]) not in (0, _UTF8):
        raise DatabaseDamaged("database: expected text in UTF-8, got another encoding")
    # 2. A journal that names another file: when it is rolled back, SQLite removes that file.
    if journal_size:
        if copy.read_at("database-journal", max(journal_size - 8, 0), 8) == _JOURNAL_MAGIC:
            raise DatabaseDamaged("journal: expected one of this file alone, got a shared one")
        return True
    # 3. Whole pages: a cut inside one would read as rows of zeros.
    page = int.from_bytes(header[16:18])
    if size % (page if page > 1 else 1 << 16):
        raise DatabaseDamaged("database: expected whole pages, got a part of one")
    return False


def _identity(file: OpenFile) -> tuple[int, int]:
    return file.facts.device, file.facts.inode
