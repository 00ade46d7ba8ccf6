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
from collections.abc import Iterator

from provenance.fs.failures import translate
from provenance.fs.operator_input import open_operator_input

__all__ = ["iterate_operator_file"]

_BLOCK_BYTES = 1 << 20


def iterate_operator_file(
    path: str | os.PathLike[str], *, named_pipes: bool = True
) -> Iterator[bytes]:
    """Give the bytes of a file in blocks of at most 1 MiB.

    Args:
        path: as it was named.
        named_pipes: False for what may lie in a home: as `open_operator_input`.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: what stood there.
    """
    fd = open_operator_input(path, named_pipes=named_pipes)
    try:
        while block := os.read(fd, _BLOCK_BYTES):
            yield block
    except OSError as error:
        raise translate(error) from None
    finally:
        os.close(fd)
