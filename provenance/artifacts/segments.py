r"""What the ledger keeps of an artifact's bytes: two digests, and one for each 1 MiB segment.

Guarantees: the values depend on the bytes alone, never on how they were handed over. A line ends
with `\n`; it counts in the segment that holds its end, and an unterminated last line counts in the
last segment, so the counts add up to the number of lines.

Example:
    >>> facts = describe(b"one\ntwo")
    >>> facts.bytes, facts.segment_lines, facts.segments == (facts.blake3,)
    (7, (2,), True)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from blake3 import blake3

__all__ = ["SEGMENT_BYTES", "ContentDigester", "ContentFacts", "describe"]

SEGMENT_BYTES = 1 << 20
"""Length of a segment in bytes; the last one of an artifact may be shorter (spec 01.6)."""


@dataclass(frozen=True, slots=True)
class ContentFacts:
    """Digests in lower-case hex, sizes in bytes.

    Attributes:
        sha256: of all bytes; the digest of the pointer.
        blake3: of all bytes.
        bytes: how many there are.
        segments: BLAKE3 of each segment, in order; none for an empty artifact.
        segment_lines: the number of lines that end in each segment.
    """

    sha256: str
    blake3: str
    bytes: int
    segments: tuple[str, ...]
    segment_lines: tuple[int, ...]


def describe(data: bytes) -> ContentFacts:
    """Give the facts of content that is in memory."""
    if not 0 < len(data) <= SEGMENT_BYTES:
        digester = ContentDigester()
        digester.update(data)
        return digester.finish()
    # One segment: its digest is the digest of the whole.
    digest = blake3(data).hexdigest()
    lines = data.count(b"\n") + (data[-1] != 0x0A)
    return ContentFacts(hashlib.sha256(data).hexdigest(), digest, len(data), (digest,), (lines,))


class ContentDigester:
    """The same for content that comes in pieces; memory grows by one digest a segment."""

    __slots__ = (
        "_blake3",
        "_bytes",
        "_ends_line",
        "_lines",
        "_segment",
        "_segment_left",
        "_segment_lines",
        "_segments",
        "_sha256",
    )

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._blake3 = blake3()
        self._bytes = 0
        self._ends_line = True
        self._segments: list[str] = []
        self._lines: list[int] = []
        self._segment = blake3()
        self._segment_left = SEGMENT_BYTES
        self._segment_lines = 0

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        if not data:
            return
        self._sha256.update(data)
        self._blake3.update(data)
        self._bytes += len(data)
        self._ends_line = data[-1] == 0x0A
        for piece in self._split(data):
            self._segment.update(piece)
            self._segment_lines += piece.count(b"\n")
            self._segment_left -= len(piece)
            if self._segment_left == 0:
                self._close_segment()

    def finish(self) -> ContentFacts:
        """Give the facts of everything that was taken."""
        open_segment = self._segment_left < SEGMENT_BYTES
        if open_segment:
            self._close_segment()
        lines = self._lines.copy()
        if not self._ends_line:
            lines[-1] += 1
        return ContentFacts(
            self._sha256.hexdigest(),
            self._blake3.hexdigest(),
            self._bytes,
            tuple(self._segments),
            tuple(lines),
        )

    def _split(self, data: bytes) -> Iterator[bytes]:
        start = 0
        while start < len(data):
            end = start + self._segment_left
            yield data if start == 0 and end >= len(data) else data[start:end]
            start = end

    def _close_segment(self) -> None:
        self._segments.append(self._segment.hexdigest())
        self._lines.append(self._segment_lines)
        self._segment = blake3()
        self._segment_left = SEGMENT_BYTES
        self._segment_lines = 0
