r"""Cutting a file into blocks of whole lines, in bounded memory.

Guarantees: lines end at the byte `\n` and nowhere else. No more than a block and the longest
allowed line is in memory at a time; a longer line is reported without reading on. Exactly the size
that the file had at opening is read, so a file that grows for ever ends here all the same.

Example:
    >>> find_longer_line(b"ab\nabcd\n", 3)
    3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from provenance.fs.reading import OpenFile
from provenance.transcripts.envelope import record_size

__all__ = ["BLOCK_BYTES", "Block", "find_longer_line", "read_blocks"]

# Measured: the records of a block should still be in the second-level cache when they are compared.
BLOCK_BYTES = 64 << 10


class Block(NamedTuple):
    """Some whole lines.

    Attributes:
        data: their bytes, line ends included; only the file's last line may lack its own.
        too_long: how the line that follows begins, where it is longer than allowed, by enough to
            show that; it ends the blocks.
    """

    data: bytes
    too_long: bytes = b""


def read_blocks(
    file: OpenFile, *, max_record_bytes: int, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block]:
    r"""Read an open file from its first byte to the size it had at opening.

    Args:
        file: the open file.
        max_record_bytes: the longest line, without a `\n` or `\r\n` at its end.
        block_bytes: how much is read at a time.

    Raises:
        ReadFailed: the device or file system refused.
    """
    begun: list[bytes] = []  # the pieces of a line whose end was not read yet
    begun_bytes = 0
    offset, size = 0, file.size
    while offset < size:
        piece = file.read_at(offset, min(block_bytes, size - offset))
        if not piece:
            break  # it was cut meanwhile
        offset += len(piece)
        cut = piece.rfind(b"\n") + 1
        if cut:
            begun.append(piece[:cut])
            data = b"".join(begun)
            if len(data) > max_record_bytes:
                start = _find_oversize(data, max_record_bytes)
                if start >= 0:
                    yield Block(data[:start], data[start : start + max_record_bytes + 2])
                    return
            yield Block(data)
            begun, begun_bytes = [], 0
        begun.append(piece[cut:])
        begun_bytes += len(piece) - cut
        # One byte more may still be the CR of the line's end.
        if begun_bytes > max_record_bytes + 1:
            yield Block(b"", b"".join(begun)[: max_record_bytes + 2])
            return
    data = b"".join(begun)
    if record_size(data) > max_record_bytes:
        yield Block(b"", data)
    elif data:
        yield Block(data)


def find_longer_line(data: bytes, length: int, start: int = 0) -> int:
    r"""Give where the first line of more than `length` bytes (its `\n` not counted) begins, or -1.

    Args:
        data: whole lines, each with its `\n`.
        length: the longest that is passed over.
        start: where a line begins.
    """
    end = len(data)
    while start < end:
        # From line to line in leaps: the last line end within reach proves all before it short.
        found = data.rfind(b"\n", start, start + length + 1)
        if found < 0:
            return start
        start = found + 1
    return -1


def _find_oversize(data: bytes, max_record_bytes: int) -> int:
    start = 0
    while (start := find_longer_line(data, max_record_bytes, start)) >= 0:
        end = start + max_record_bytes + 2
        if data[end - 2 : end] != b"\r\n":
            return start
        start = end  # one byte too long, and that byte belongs to the line's end
    return -1
