"""Checking a transcript from its first line to its last, for the report on it.

Guarantees: the first line that is not in order is named with its reason; what stands before it is
counted, what comes after it is part of the digest alone. Counts of types are bounded in number and
length, whatever the lines say.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> check_transcript(TrustedRoot("/nowhere"), "s1", limits=Limits()).first_bad
    (None, <Reason.TRANSCRIPT_MISSING: 'transcript_missing'>)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from provenance.evidence import EvidenceUnavailable
from provenance.findings import Finding
from provenance.fs.reading import OpenFile
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.resolution import Quiescence, Reason
from provenance.transcripts.envelope import Note, is_zoned_time, printable
from provenance.transcripts.fast import Record, field_of
from provenance.transcripts.noting import NoteLog
from provenance.transcripts.scan import EVERY_LINE, Scan, hash_prefix, scan
from provenance.transcripts.steady import Steady, read_steadily

__all__ = ["KNOWN_TYPES", "TranscriptCheck", "check_transcript"]

KNOWN_TYPES = frozenset(
    {
        "ai-title",
        "file-history-snapshot",
        "function_call",
        "function_call_result",
        "message",
        "reasoning",
    }
)

# Enough for any agent's own types; a file that invents more must not fill the report.
_MAX_UNKNOWN_TYPES = 100
_MAX_TYPE_CHARS = 64
_NO_TYPE = "(none)"
_FURTHER_TYPES = "(further types)"


@dataclass(frozen=True, slots=True)
class TranscriptCheck:
    """What one transcript holds.

    Attributes:
        session_id: the session that it is named after.
        records: the lines in order, up to the first that is not.
        first_bad: number and reason of that one; the number is None where the file as a whole
            could not be read. None where all are in order.
        last_sequence: the number of the last line in order; 0 where there is none.
        calls: events of type `function_call`.
        call_results: events of type `function_call_result`.
        unknown_types: types outside the known ones and how often each occurs.
        first_time: the first valid `recorded_at`.
        last_time: the last one.
        sha256: 64 hex digits, of the whole file; None where it could not be read whole.
        quiescence: the guard that held while it was read; None where it was not read.
        findings: what was tolerated; a bounded list.
        finding_counts: how often each code was met, exact.
    """

    session_id: str
    records: int = 0
    first_bad: tuple[int | None, Reason] | None = None
    last_sequence: int = 0
    calls: int = 0
    call_results: int = 0
    unknown_types: Mapping[str, int] = field(default_factory=dict)
    first_time: str | None = None
    last_time: str | None = None
    sha256: str | None = None
    quiescence: Quiescence | None = None
    findings: tuple[Finding, ...] = ()
    finding_counts: Mapping[str, int] = field(default_factory=dict)


def check_transcript(root: TrustedRoot, session_id: str, *, limits: Limits) -> TranscriptCheck:
    """Check a whole transcript.

    Args:
        root: the transcript root.
        session_id: whose transcript.
        limits: bounds on records and on how often a changing file is read again.

    Raises:
        SessionIdError: the session id is outside the pointer grammar.
    """

    def one_pass(file: OpenFile, hashed: bool) -> tuple[_Summary, Scan]:  # noqa: FBT001
        summary = _Summary(session_id)
        found = scan(file, session_id, summary, limits=limits, hashed=True)
        whole = found.prefix_bytes == file.size
        summary.sha256 = found.prefix_sha256 if whole else hash_prefix(file, file.size)
        summary.is_hashed_as_prefix = whole
        return summary, found

    try:
        summary, steady = read_steadily(root, session_id, one_pass, attempts=limits.read_attempts)
    except EvidenceUnavailable as refusal:
        return TranscriptCheck(session_id, first_bad=(None, refusal.reason))
    return summary.check(session_id, steady)


class _Summary:
    """Counts records while lines go by."""

    def __init__(self, session_id: str) -> None:
        self.sha256: bytes | None = None
        self.is_hashed_as_prefix = False
        self._log = NoteLog(session_id)
        self._types: Counter[str] = Counter()
        self._first_time: str | None = None
        self._last_time: str | None = None

    def take(
        self,
        first: int,
        lines: bytes,
        records: Sequence[Record],
        notes: Sequence[tuple[int, Note]],
    ) -> None:
        self._log.add(notes)
        for record in records:
            self._count(field_of(record, "type"))
        if self._first_time is None:
            self._first_time = _first_time_of(records)
        self._last_time = _first_time_of(records[::-1]) or self._last_time

    def _count(self, found: object) -> None:
        name = printable(found[:_MAX_TYPE_CHARS]) if isinstance(found, str) else _NO_TYPE
        if name not in self._types and len(self._types) >= _MAX_UNKNOWN_TYPES + len(KNOWN_TYPES):
            name = _FURTHER_TYPES
        self._types[name] += 1

    def check(self, session_id: str, steady: Steady) -> TranscriptCheck:
        found, types = steady.scan, self._types
        first_bad: tuple[int | None, Reason] | None = None
        if steady.holds_to < found.decided:
            first_bad = (None, Reason.SOURCE_CHANGED_DURING_READ)
        elif found.reason is not None:
            first_bad = (found.decided, found.reason)
        whole = steady.holds_to == EVERY_LINE or self.is_hashed_as_prefix
        return TranscriptCheck(
            session_id,
            records=found.good,
            first_bad=first_bad,
            last_sequence=found.good,
            calls=types["function_call"],
            call_results=types["function_call_result"],
            unknown_types={name: types[name] for name in types if name not in KNOWN_TYPES},
            first_time=self._first_time,
            last_time=self._last_time,
            sha256=self.sha256.hex() if self.sha256 is not None and whole else None,
            quiescence=Quiescence.STAT,
            findings=tuple(self._log.findings),
            finding_counts=self._log.counts,
        )


def _first_time_of(records: Sequence[Record]) -> str | None:
    for record in records:
        found = field_of(record, "recorded_at")
        if isinstance(found, str) and is_zoned_time(found):
            return found
    return None
