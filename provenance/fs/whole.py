"""Whole files: small ones read stably, operator-named ones read and written.

Guarantees: a size limit is applied before the bytes are in memory. `read_whole` gives bytes that
did not change while they were read. `atomic_write` leaves either the old file or the new one.
Operator-named paths come from a person's command line and may be links or pipes; nothing from a
pointer, a transcript or a state file ever reaches these two functions.

Example:
    >>> read_operator_file("/nowhere/at/all", max_bytes=10)
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import os
import stat

from provenance.errors import DataError
from provenance.fs.failures import translate
from provenance.fs.operator_input import open_operator_input
from provenance.fs.operator_output import OperatorOutput
from provenance.fs.reading import OpenFile

__all__ = [
    "FileTooLarge",
    "SourceChanged",
    "atomic_write",
    "read_operator_file",
    "read_whole",
]

_BLOCK = 1 << 20


class FileTooLarge(DataError):
    """A file is larger than its limit; nothing of it was kept."""

    code = "file_too_large"


class SourceChanged(DataError):
    """A file changed during each attempt to read it."""

    code = "source_changed_during_read"


def read_whole(file: OpenFile, *, max_bytes: int, attempts: int = 3) -> bytes:
    """Read all of an open file, again where it changed meanwhile.

    Raises:
        FileTooLarge: it has more than `max_bytes`.
        SourceChanged: it changed during each of `attempts` readings.
        ReadFailed: the device or file system refused.
    """
    for _ in range(attempts):
        size = file.size
        if size > max_bytes:
            raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got {size}")
        data = file.read_at(0, size)
        if len(data) == size and file.is_unchanged():
            return data
        file.refresh()
    raise SourceChanged("file: expected no change during the read, got one each time")


def read_operator_file(
    path: str | os.PathLike[str], *, max_bytes: int, named_pipes: bool = True
) -> bytes:
    """Read a file that the operator named; links are followed, pipes are read to their end.

    Args:
        path: as it was named.
        max_bytes: the largest file that is read.
        named_pipes: False for what may lie in a home: as `open_operator_input`.

    Raises:
        SourceAbsent, AccessRefused, NotARegularFile, ReadFailed: what stood there.
        BoundaryRefused: links that lead to each other.
        FileTooLarge: it has more than `max_bytes`.
    """
    fd = open_operator_input(path, named_pipes=named_pipes)
    try:
        found = os.fstat(fd)
        if stat.S_ISREG(found.st_mode) and found.st_size > max_bytes:
            raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got {found.st_size}")
        parts: list[bytes] = []
        total = 0
        while data := os.read(fd, _BLOCK):
            total += len(data)
            if total > max_bytes:
                raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got more")
            parts.append(data)
        return b"".join(parts)
    except OSError as error:
        raise translate(error) from None
    finally:
        os.close(fd)


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that the operator named: a temporary one beside it, fsync, rename.

    A link is followed to its target, an old file's permissions are kept. What is no regular file (a
    pipe, a device), and a name that stands for what is open already (`/dev/stdout`), is written to
    and never replaced.

    Raises:
        WriteFailed: the old file, if there was one, is as it was.
    """
    with OperatorOutput(path) as output:
        output.write(data)
        output.commit()
