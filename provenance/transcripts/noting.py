"""What was tolerated in a transcript, as findings: all counted, the first of each kind listed.

Guarantees: memory is bounded by the number of codes, however many lines there are. Findings stand
in the order of lines; one line gives at most one of each code.

Example:
    >>> log = NoteLog("s1")
    >>> log.add([(3, Note("recorded_at_invalid", "recorded_at: expected a time, got none"))])
    >>> log.findings[0].target, log.findings[0].location.line, log.counts
    ('s1.jsonl', 3, {'recorded_at_invalid': 1})
"""

from __future__ import annotations

from collections.abc import Iterable

from provenance.findings import Finding, Location, Severity
from provenance.transcripts.envelope import Note

__all__ = ["MAX_LISTED", "NoteLog"]

# A report with more of one kind is not read to its end; the counts stay exact.
MAX_LISTED = 1_000


class NoteLog:
    """Collects what was tolerated in one transcript."""

    def __init__(self, session_id: str) -> None:
        """Take the session that the transcript is named after."""
        self._target = f"{session_id}.jsonl"
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}

    def add(self, notes: Iterable[tuple[int, Note]]) -> None:
        """Take notes, each with the number of its line."""
        for line, (code, message) in notes:
            count = self.counts.get(code, 0) + 1
            self.counts[code] = count
            if count <= MAX_LISTED:
                location = Location(ordinal=line, line=line)
                self.findings.append(
                    Finding(code, Severity.WARNING, self._target, location, message)
                )
