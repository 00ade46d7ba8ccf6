"""A file that the operator named, read in pieces, for content that is too large to hold.

Guarantees: memory is bounded by one block. Links are followed and pipes are read to their end, as
for any file on a person's command line; nothing from a pointer, a transcript or a state file ever
reaches this.

Example:
    >>> list(iterate_operator_file("/nowhere/at/all"))
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from provenance.fs.failures import NotARegularFile, translate

__all__ = ["iterate_operator_file"]

_BLOCK_BYTES = 1 << 20


def iterate_operator_file(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Give the bytes of a file in blocks of at most 1 MiB.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: what stood there.
    """
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise translate(error) from None
    except ValueError:
        raise NotARegularFile("path: expected a file name, got a NUL byte") from None
    try:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise NotARegularFile("source: expected a file, got a directory")
        while block := os.read(fd, _BLOCK_BYTES):
            yield block
    except OSError as error:
        raise translate(error) from None
    finally:
        os.close(fd)
