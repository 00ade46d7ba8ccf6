"""What `ctxaudit cite` looks for, and what it finds.

Guarantees: pure. A text is looked for as it stands, in time that grows with the record alone.

Example:
    >>> finder("B.", ignores_case=True)("ab.")
    (1, 3)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from provenance.pointers import transcript_pointer

from .streams import one_line

__all__ = ["Row", "around", "batches", "finder"]

_BEFORE, _AFTER = 40, 120


class Row(NamedTuple):
    """A record that holds the text.

    Attributes:
        session: as a pointer names it.
        ordinal: as a pointer counts it.
        sha256: of its bytes, 64 hex digits.
        native_id: the format's own id.
        kind: the format's own word.
        line: where it stands; None where the source has no lines.
        excerpt: what stands around the text, escaped; empty where it is not wanted.
    """

    session: str
    ordinal: int
    sha256: str
    native_id: str | None
    kind: str
    line: int | None
    excerpt: str

    @property
    def pointer(self) -> str:
        """The pointer that cites it."""
        return str(transcript_pointer(self.session, self.ordinal))


def finder(wanted: str, *, ignores_case: bool) -> Callable[[str], tuple[int, int] | None]:
    """Give what finds the text; a plain text is never a pattern that could run for ever."""
    if not ignores_case:
        size = len(wanted)

        def find(text: str) -> tuple[int, int] | None:
            start = text.find(wanted)
            return None if start < 0 else (start, start + size)

        return find
    search = re.compile(re.escape(wanted), re.IGNORECASE).search

    def find_folded(text: str) -> tuple[int, int] | None:
        match = search(text)
        return None if match is None else match.span()

    return find_folded


def around(text: str, span: tuple[int, int]) -> str:
    """Give what stands around a place, as one escaped line of bounded length."""
    start, end = max(0, span[0] - _BEFORE), min(len(text), span[1] + _AFTER)
    before, after = "..." if start else "", "..." if end < len(text) else ""
    return before + one_line(text[start:end]) + after


def batches(rows: Iterator[Row], size: Callable[[], int]) -> Iterator[list[Row]]:
    """Give rows several at a time; `size` says before each how many."""
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= size():
            yield batch
            batch = []
    if batch:
        yield batch
