"""What `--fast` may hold an artifact against: ledger lines that a seal covers (spec 01.6).

Guarantees: pure. A line is offered only by whoever has proved that a seal covers it in this very
run; without such a proof there is no `SealedLedger`, and SHA-256 is computed. A line of another
event than `stored`, or one without both digests, is never offered.

Example:
    >>> line = SealedLine(sha256="ab" * 32, blake3="cd" * 32, size=12)
    >>> ledger = SealedLines({("run-1", "log.txt"): line})
    >>> ledger("run-1", "log.txt") is line, ledger("run-1", "x")
    (True, None)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent

__all__ = ["SealedLedger", "SealedLine", "SealedLines", "sealed_line"]


@dataclass(frozen=True, slots=True)
class SealedLine:
    """What a sealed ledger line says of an artifact's bytes.

    Attributes:
        sha256: 64 lower-case hex digits.
        blake3: the same by BLAKE3.
        size: in bytes.
    """

    sha256: str
    blake3: str
    size: int


# Asked with a session id and a file name; None: no seal covers a line about that artifact. Where
# several lines tell of one name, the last one counts, and only if it is sealed: what a later line
# took back is not for a seal to vouch for.
SealedLedger = Callable[[str, str], SealedLine | None]


@dataclass(frozen=True, slots=True)
class SealedLines:
    """A `SealedLedger` of lines known by session id and file name; it travels between processes."""

    lines: Mapping[tuple[str, str], SealedLine]

    def __call__(self, session_id: str, filename: str) -> SealedLine | None:
        """Give the line of an artifact, or None."""
        return self.lines.get((session_id, filename))


def sealed_line(entry: LedgerEntry) -> SealedLine | None:
    """Give what a ledger entry says of the bytes; None where it says that they are gone."""
    if entry.event is LedgerEvent.REMOVED:
        return None
    if entry.sha256 is None or entry.blake3 is None or entry.bytes is None:
        return None
    return SealedLine(entry.sha256, entry.blake3, entry.bytes)
