r"""Reading an artifact ledger that anybody may have written (spec 01.6).

Guarantees: memory is bounded by the longest allowed line, whatever the file contains; a line that
is no entry is reported as a fault, in its place, and the next one is read. Bytes after the last
line end belong to a writer that died or still writes; they are a fault too, never an entry.

Example:
    >>> data = b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"a.txt"}\nrubbish\n'
    >>> read = lambda offset, size: data[offset : offset + size]
    >>> [type(item).__name__ for item in read_entries(LedgerLines(read, end=len(data)))]
    ['LedgerEntry', 'LedgerFault']
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from provenance.artifacts.ledger_entry import LedgerEntry, LedgerError, LedgerEvent, parse_entry
from provenance.fs.failures import (
    FILE_FAILURES,
    SourceAbsent,
)
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "LEDGER_NAME",
    "LedgerFault",
    "LedgerFaultKind",
    "LedgerLines",
    "find_removed",
    "read_entries",
    "read_ledger",
]

LEDGER_NAME = "tool-results.jsonl"
"""The ledger's name in the session's folder."""

_BLOCK_BYTES = 1 << 20


class LedgerFaultKind(StrEnum):
    """What is wrong with a line."""

    INVALID = "ledger_line_invalid"
    TOO_LONG = "ledger_line_too_long"
    TORN = "ledger_line_torn"


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """One line that is no entry; `line` counts from 1, `message` holds nothing of the line."""

    kind: LedgerFaultKind
    line: int
    message: str


class LedgerLines:
    """The lines of a stretch of a ledger, each without its end; None for one that is too long.

    Afterwards `consumed` is the offset behind the last line end, and `tail` what follows it: the
    beginning of a line that has no end (None where it is too long).
    """

    __slots__ = ("_max_bytes", "_read_at", "consumed", "end", "tail")

    def __init__(
        self,
        read_at: Callable[[int, int], bytes],
        *,
        end: int,
        start: int = 0,
        max_bytes: int = DEFAULT_LIMITS.max_ledger_line_bytes,
    ) -> None:
        """Choose the stretch.

        Args:
            read_at: gives the bytes at (offset, size); fewer only at the end of the file.
            end: offset behind the last byte to look at.
            start: offset of a line's first byte.
            max_bytes: longest line that is kept in memory.
        """
        self._read_at = read_at
        self._max_bytes = max_bytes
        self.consumed = start
        self.end = end
        self.tail: bytes | None = b""

    def __iter__(self) -> Iterator[bytes | None]:
        offset = self.consumed
        parts: list[bytes] = []
        held = 0
        too_long = False
        while offset < self.end:
            block = self._read_at(offset, min(_BLOCK_BYTES, self.end - offset))
            if not block:
                break  # shorter than it was: the rest is gone
            position = 0
            while (stop := block.find(b"\n", position)) >= 0:
                length = held + stop - position
                if too_long or length > self._max_bytes:
                    line = None
                else:
                    line = b"".join((*parts, block[position:stop]))
                parts, held, too_long = [], 0, False
                position = stop + 1
                self.consumed = offset + position
                yield line
            rest = len(block) - position
            if too_long or held + rest > self._max_bytes:
                parts, held, too_long = [], 0, True
            else:
                parts.append(block[position:])
                held += rest
            offset += len(block)
        self.tail = None if too_long else b"".join(parts)


def read_entries(lines: LedgerLines) -> Iterator[LedgerEntry | LedgerFault]:
    """Read each line as an entry, or say why it is none."""
    number = 0
    for line in lines:
        number += 1
        if line is None:
            yield LedgerFault(LedgerFaultKind.TOO_LONG, number, "line: expected a shorter one")
            continue
        try:
            yield parse_entry(line)
        except LedgerError as error:
            yield LedgerFault(LedgerFaultKind.INVALID, number, str(error))
    if lines.consumed < lines.end:
        yield LedgerFault(LedgerFaultKind.TORN, number + 1, "line: expected a line end")


def read_ledger(
    root: TrustedRoot, session_id: str, *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[LedgerEntry | LedgerFault]:
    """Read the ledger of a session, as far as it reaches now; nothing where there is none.

    Raises:
        BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: it cannot be read.
    """
    try:
        file = root.open_file(session_id, LEDGER_NAME)
    except SourceAbsent:
        return
    with file:
        yield from read_entries(
            LedgerLines(file.read_at, end=file.size, max_bytes=limits.max_ledger_line_bytes)
        )


def find_removed(
    root: TrustedRoot, session_id: str, *, limits: Limits = DEFAULT_LIMITS
) -> frozenset[str]:
    """Give the names of the artifacts whose last event in the ledger is `removed`.

    This refines the answer for an artifact that is missing anyway, so a ledger that is missing,
    refused or unreadable says nothing: the names read up to there are given, nothing is raised.
    A last line without its end counts if it is a whole entry.
    """
    removed: set[str] = set()
    try:
        with root.open_file(session_id, LEDGER_NAME) as file:
            lines = LedgerLines(file.read_at, end=file.size, max_bytes=limits.max_ledger_line_bytes)
            for line in _whole_lines(lines):
                # What names no removal, as it stands or escaped, can only take one back.
                if not removed and b"removed" not in line and b"\\u" not in line:
                    continue
                with contextlib.suppress(LedgerError):
                    entry = parse_entry(line)
                    if entry.event is LedgerEvent.REMOVED:
                        removed.add(entry.filename)
                    else:
                        removed.discard(entry.filename)
    except FILE_FAILURES:
        return frozenset(removed)
    return frozenset(removed)


def _whole_lines(lines: LedgerLines) -> Iterator[bytes]:
    for line in lines:
        if line is not None:
            yield line
    if lines.tail:
        yield lines.tail
