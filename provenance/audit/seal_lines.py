r"""Digests of the lines of a growing file, whatever stands in them.

Guarantees: memory is bounded by a block, whatever the length of a line. The digest of a line is
that of its bytes without the CR and LF at its end, as the evidence of an event is (spec 01.5). What
follows the last line end counts only where the caller says that it is whole.

Example:
    >>> data = b"a\r\nb\n"
    >>> read = lambda offset, size: data[offset : offset + size]
    >>> lines = line_digests(read, len(data), is_whole=lambda tail: False)
    >>> [digest[:6] for digest in lines.digests], lines.torn_bytes
    (['ca9781', '3e23e8'], 0)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Lines", "line_digests"]

_BLOCK_BYTES = 1 << 20
# A last line without its end is looked at up to here; what is longer is no record.
_LONGEST_TAIL_BYTES = 64 << 20
_sha256 = hashlib.sha256


class Lines(NamedTuple):
    """What a file holds.

    Attributes:
        digests: SHA-256 of each line in hex, in order.
        torn_bytes: how many bytes after the last of them are no record.
    """

    digests: list[str]
    torn_bytes: int


def line_digests(
    read_at: Callable[[int, int], bytes], size: int, *, is_whole: Callable[[bytes], bool]
) -> Lines:
    """Give the digest of each line.

    Args:
        read_at: gives the bytes at (offset, size); fewer only at the end of the file.
        size: of the file; what is appended meanwhile is not looked at.
        is_whole: says whether bytes after the last line end are a record all the same.
    """
    digests: list[str] = []
    begun: _Line | None = None
    offset = start = 0
    while offset < size:
        block = read_at(offset, min(_BLOCK_BYTES, size - offset))
        if not block:
            break
        first, *lines = block.split(b"\n")
        if begun is not None:
            begun.add(first)
            if lines:
                digests.append(begun.hexdigest())
                begun = None
        else:
            lines.insert(0, first)
        if lines:
            rest = lines.pop()
            digests += [_sha256(line.rstrip(b"\r\n")).hexdigest() for line in lines]
            begun = _Line()
            begun.add(rest)
            start = offset + len(block) - len(rest)
        offset += len(block)
    length = offset - start
    if begun is not None and 0 < length <= _LONGEST_TAIL_BYTES and is_whole(read_at(start, length)):
        digests.append(begun.hexdigest())
        length = 0
    return Lines(digests, length)


class _Line:
    """A line that goes on in the next block."""

    __slots__ = ("_hash", "_returns")

    def __init__(self) -> None:
        self._hash = _sha256()
        self._returns = 0  # CR bytes that count only if something follows them

    def add(self, piece: bytes) -> None:
        text = piece.rstrip(b"\r")
        if text:
            while self._returns:
                count = min(self._returns, _BLOCK_BYTES)
                self._hash.update(b"\r" * count)
                self._returns -= count
            self._hash.update(text)
        self._returns += len(piece) - len(text)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
