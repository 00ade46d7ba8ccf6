r"""What is wrong with parts of one JSON document, and where: faults with a line and a place.

Guarantees: pure; no message holds any of the text. Lines are counted once, however many faults.

Example:
    >>> from provenance.limits import DEFAULT_LIMITS
    >>> notes = DamageNotes(b'{"a":\n"\0"}', DEFAULT_LIMITS)
    >>> notes.damage_in(6, 9, 500)[0], notes.line_at(6)
    ('nul_line', 2)
"""

from __future__ import annotations

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.containers.json_scan import begins_again
from provenance.transcripts.records import Fault
from provenance.transcripts.strict_json import is_nesting_at_most

__all__ = ["DamageNotes", "over_limit"]


def over_limit(name: str, most: int) -> Fault:
    """Say of a document, or a part of it, that it has more bytes than we read."""
    message = f"{name}: expected at most {most} bytes, got more"
    return Fault("record_over_limit", Severity.ERROR, message)


class DamageNotes:
    """Keeps the faults of one document."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        """Begin with none."""
        self._data = data
        self._limits = limits
        self._placed: list[tuple[int, Fault]] = []
        self._counted_to = 0
        self._line = 1

    def add(self, code: str, message: str, place: int) -> None:
        """Add a fault at a place in the bytes."""
        self.place(Fault(code, Severity.ERROR, message), place)

    def place(self, fault: Fault, place: int) -> None:
        """Add a fault that lacks its line."""
        self._placed.append((place, fault._replace(line=self.line_at(place))))

    def last(self) -> Fault:
        """Give the fault that was added last; there is one."""
        return self._placed[-1][1]

    def in_order(self) -> tuple[tuple[int, Fault], ...]:
        """Give all, in the order of the bytes: that of a key is found after that of its value."""
        return tuple(sorted(self._placed, key=lambda item: item[0]))

    def line_at(self, place: int) -> int:
        """Give the line of a place, from 1; places are asked for nearly in their order."""
        if place < self._counted_to:
            return self._line - self._data.count(b"\n", place, self._counted_to)
        self._line += self._data.count(b"\n", self._counted_to, place)
        self._counted_to = place
        return self._line

    def damage_in(self, start: int, end: int, levels: int) -> tuple[str, str] | None:
        """Tell damage that shows in a part of the bytes themselves: its code and message."""
        raw = self._data[start:end]
        if b"\0" in raw:
            return "nul_line", "document: expected JSON, got NUL bytes"
        if not is_nesting_at_most(raw, levels):
            most = self._limits.max_nesting
            return "record_over_limit", f"document: expected at most {most} levels, got more"
        # What begins there itself begins nothing again.
        if begins_again(self._data, start + 1, end):
            return "spliced_line", "document: expected its end, got another that begins inside"
        return None
