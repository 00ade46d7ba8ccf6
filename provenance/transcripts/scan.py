"""One pass over a transcript: which lines are in order, and what the answer rests on.

Guarantees: lines are judged in order, each once, up to the last one that is asked for or the first
that is not in order. Memory is bounded by a block and the longest allowed line.

Example:
    >>> Scan(good=2, reason=None, settled=2, prefix_bytes=90).reason is None
    True
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from provenance.fs.reading import OpenFile
from provenance.limits import Limits
from provenance.resolution import Reason
from provenance.transcripts.blocks import BLOCK_BYTES, read_blocks
from provenance.transcripts.envelope import Note
from provenance.transcripts.fast import BlockChecker, Record

__all__ = ["EVERY_LINE", "Collector", "Scan", "hash_prefix", "scan"]

# Above every sequence that a pointer can hold.
EVERY_LINE = 10**18


class Collector(Protocol):
    """What is to be kept of the lines that go by."""

    def take(
        self,
        first: int,
        lines: bytes,
        records: Sequence[Record],
        notes: Sequence[tuple[int, Note]],
    ) -> None:
        """Hear of lines that are in order.

        Args:
            first: the number of the first of them.
            lines: their bytes; a line that is not in order may follow, and more.
            records: one for each line.
            notes: what was tolerated, each with the line's number.
        """


@dataclass(frozen=True, slots=True)
class Scan:
    """What one pass found.

    Attributes:
        good: so many lines, from the first on, are in order.
        reason: why the line after them is not; None where nothing wrong was seen.
        settled: what is said of lines up to this number stays true when bytes are appended.
        prefix_bytes: so many bytes, from the first on, decided it.
        prefix_sha256: their digest, where it was wanted.
    """

    good: int
    reason: Reason | None
    settled: int
    prefix_bytes: int
    prefix_sha256: bytes | None = None

    @property
    def decided(self) -> int:
        """The number of the last line that was judged."""
        return self.good if self.reason is None else self.good + 1


def scan(
    file: OpenFile,
    session_id: str,
    collector: Collector,
    *,
    limits: Limits,
    last: int | None = None,
    hashed: bool = False,
) -> Scan:
    """Judge the lines of an open transcript.

    Args:
        file: the transcript, read up to the size that it had at opening.
        session_id: the session that it is named after.
        collector: hears of each line in order.
        limits: bounds on size and nesting.
        last: the number of the last line that matters; None for all.
        hashed: also give the digest of what was read.

    Raises:
        ReadFailed: the device or file system refused.
    """
    checker = BlockChecker(session_id, limits)
    digest = hashlib.sha256()
    reason: Reason | None = None
    good = settled = prefix_bytes = 0
    for data, too_long in read_blocks(file, max_record_bytes=limits.max_record_bytes):
        lines, is_last = _up_to(data, None if last is None else last - good)
        if lines:
            records, reason, notes = checker.check(lines, good + 1)
            collector.take(good + 1, lines, records, notes)
            settled = good + _count_settled(lines, len(records), reason)
            good += len(records)
        if reason is None and too_long and not is_last:
            reason, settled = Reason.TRANSCRIPT_RECORD_TOO_LARGE, EVERY_LINE
            lines += too_long
        prefix_bytes += len(lines)
        if hashed:
            digest.update(lines)
        if is_last or reason is not None:
            break
    return Scan(good, reason, settled, prefix_bytes, digest.digest() if hashed else None)


def hash_prefix(file: OpenFile, size: int) -> bytes | None:
    """Give the SHA-256 of the first `size` bytes of an open file; None where it has fewer."""
    digest = hashlib.sha256()
    offset = 0
    while offset < size:
        piece = file.read_at(offset, min(BLOCK_BYTES, size - offset))
        if not piece:
            return None
        digest.update(piece)
        offset += len(piece)
    return digest.digest()


def _up_to(data: bytes, count: int | None) -> tuple[bytes, bool]:
    """Give the first `count` lines of some, and whether that many are there."""
    # A line is a byte at least, so there is no need to count them while the goal is far.
    if count is None or count > len(data):
        return data, False
    pieces = data.split(b"\n", count)
    if len(pieces) <= count:
        # The last line may have no end.
        return data, len(pieces) == count and bool(pieces[-1])
    return data[: len(data) - len(pieces[-1])], True


def _count_settled(lines: bytes, good: int, reason: Reason | None) -> int:
    """Say for how many of these lines the judgement stays when bytes are appended."""
    ends = lines.count(b"\n") if reason is not None or not lines.endswith(b"\n") else good
    if reason is not None and good < ends:
        return EVERY_LINE  # the line that is not in order has its end
    return min(good, ends)
