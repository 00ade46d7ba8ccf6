"""How many sources are verified before the run looks up: for progress, interrupts and streams.

Guarantees: all pointers into one transcript stay in one batch, so that it is read once. The size of
a batch follows the time that the last one took; no result depends on it.

Example:
    >>> list(batches(["transcript:s:1", "transcript:s:2", "transcript:t:1"], Pace(size=1)))
    [['transcript:s:1', 'transcript:s:2'], ['transcript:t:1']]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["Pace", "batches"]

# A person waits this long for a sign of life; below it, larger batches cost less.
_SHORT_SECONDS = 0.1
_LONG_SECONDS = 0.5
_LARGEST = 8_192
# Starting processes costs some 0.1 s, so each batch has to be worth it.
_LARGEST_FOR_PROCESSES = 65_536


class Pace:
    """The size of the next batch."""

    def __init__(self, *, size: int = 64, largest: int = _LARGEST) -> None:
        self.size = size
        self._largest = largest

    @classmethod
    def for_jobs(cls, jobs: int) -> Pace:
        """Choose the pace for one process or several."""
        if jobs == 1:
            return cls()
        return cls(size=_LARGEST, largest=_LARGEST_FOR_PROCESSES)

    def took(self, seconds: float) -> None:
        """Adapt to what the last batch took."""
        if seconds < _SHORT_SECONDS:
            self.size = min(self.size * 2, self._largest)
        elif seconds > _LONG_SECONDS:
            self.size = max(self.size // 2, 1)


def batches(pointers: Sequence[str], pace: Pace) -> Iterator[list[str]]:
    """Cut sorted pointers into batches; one transcript's never stand in two.

    Args:
        pointers: sorted, so that those of one session stand together.
        pace: asked for the size before each batch.
    """
    start = 0
    while start < len(pointers):
        end = min(start + pace.size, len(pointers))
        session = _transcript_of(pointers[end - 1])
        while end < len(pointers) and session is not None:
            if not pointers[end].startswith(session):
                break
            end += 1
        yield list(pointers[start:end])
        start = end


def _transcript_of(pointer: str) -> str | None:
    """Give what all pointers into the same transcript begin with; None for other pointers."""
    if not pointer.startswith("transcript:"):
        return None
    return pointer[: pointer.rfind(":") + 1]
