"""Verifying events of a transcript: one pass for all pointers into it.

Guarantees: event n is available only if lines 1 to n are all in order, each judged by the rules of
spec 01.5. What is said of one event does not depend on which others are asked for. File contents
never raise here; every failure is a reason.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> verdict = verify_events(
    ...     TrustedRoot("/nowhere"), "s1", [1], limits=Limits(), excerpt_chars=0
    ... )
    >>> verdict.outcomes[1].reason.value
    'transcript_missing'
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from provenance.errors import CallerError
from provenance.evidence import EvidenceUnavailable
from provenance.findings import Finding
from provenance.fs.reading import OpenFile
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.resolution import Quiescence, Reason
from provenance.transcripts.envelope import Note, evidence_of, excerpt_of
from provenance.transcripts.fast import Record, field_of
from provenance.transcripts.noting import NoteLog
from provenance.transcripts.scan import Scan, scan
from provenance.transcripts.steady import Steady, file_name, read_steadily
from provenance.transcripts.strict_json import parse_strict

__all__ = [
    "EventOutcome",
    "SequenceError",
    "TranscriptVerdict",
    "read_event_bytes",
    "verify_events",
]


class SequenceError(CallerError, ValueError):
    """A sequence that no pointer can hold."""

    code = "sequence_invalid"


class EventOutcome(NamedTuple):
    """What holds of one event; the last four are set only where it is verified.

    Attributes:
        reason: `verified_transcript_event`, or why not.
        sha256: 64 hex digits, of the line without its line end.
        excerpt: the first characters of what the event says; None where none were wanted.
        quiescence: the guard that held while it was read.
        size: of what `sha256` is of, in bytes.
    """

    reason: Reason
    sha256: str | None = None
    excerpt: str | None = None
    quiescence: Quiescence | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptVerdict:
    """The answer for all events of one transcript that were asked for.

    Attributes:
        outcomes: one for each sequence.
        findings: what was tolerated in the lines up to the last one asked for; a bounded list.
        finding_counts: how often each code was met, exact.
    """

    outcomes: Mapping[int, EventOutcome]
    findings: tuple[Finding, ...] = ()
    finding_counts: Mapping[str, int] = field(default_factory=dict)


def verify_events(
    root: TrustedRoot,
    session_id: str,
    sequences: Collection[int],
    *,
    limits: Limits,
    excerpt_chars: int,
) -> TranscriptVerdict:
    """Verify events of one transcript in one pass.

    Args:
        root: the transcript root.
        session_id: whose transcript.
        sequences: which events; repeats are allowed.
        limits: bounds on records and on how often a changing file is read again.
        excerpt_chars: the most characters of an excerpt; 0 for none.

    Raises:
        SequenceError: a sequence is no whole number of 1 or more.
        SessionIdError: the session id is outside the pointer grammar.
    """
    wanted = _require_sequences(sequences)
    if not wanted:
        file_name(session_id)
        return TranscriptVerdict({})

    def one_pass(file: OpenFile, hashed: bool) -> tuple[_Events, Scan]:  # noqa: FBT001
        events = _Events(session_id, wanted, limits=limits, excerpt_chars=excerpt_chars)
        return events, scan(file, session_id, events, limits=limits, last=wanted[-1], hashed=hashed)

    try:
        events, steady = read_steadily(
            root, session_id, one_pass, attempts=limits.read_attempts, last=wanted[-1]
        )
    except EvidenceUnavailable as refusal:
        return TranscriptVerdict(dict.fromkeys(wanted, EventOutcome(refusal.reason)))
    return events.verdict(steady)


def read_event_bytes(root: TrustedRoot, session_id: str, sequence: int, *, limits: Limits) -> bytes:
    """Give the evidence of one event: its line, without the line end, verified as it was read.

    Raises:
        EvidenceUnavailable: the event is not available; `reason` says why.
        SequenceError: the sequence is no whole number of 1 or more.
        SessionIdError: the session id is outside the pointer grammar.
    """
    wanted = _require_sequences((sequence,))

    def one_pass(file: OpenFile, hashed: bool) -> tuple[_Events, Scan]:  # noqa: FBT001
        events = _Events(session_id, wanted, limits=limits, excerpt_chars=0)
        return events, scan(file, session_id, events, limits=limits, last=sequence, hashed=hashed)

    events, steady = read_steadily(
        root, session_id, one_pass, attempts=limits.read_attempts, last=sequence
    )
    reason = events.verdict(steady).outcomes[sequence].reason
    if reason is not Reason.VERIFIED_TRANSCRIPT_EVENT:
        raise EvidenceUnavailable(reason)
    return events.last_evidence


class _Events:
    """Keeps what is said of the wanted events while lines go by."""

    def __init__(
        self, session_id: str, wanted: Sequence[int], *, limits: Limits, excerpt_chars: int
    ) -> None:
        self.last_evidence = b""
        self._wanted = wanted
        self._limits = limits
        self._excerpt_chars = excerpt_chars
        self._outcomes: dict[int, EventOutcome] = {}
        self._log = NoteLog(session_id)

    def take(
        self,
        first: int,
        lines: bytes,
        records: Sequence[Record],
        notes: Sequence[tuple[int, Note]],
    ) -> None:
        self._log.add(notes)
        start = bisect_left(self._wanted, first)
        stop = bisect_right(self._wanted, first + len(records) - 1)
        if start == stop:
            return
        split = lines.split(b"\n")
        for number in self._wanted[start:stop]:
            evidence = self.last_evidence = evidence_of(split[number - first])
            self._outcomes[number] = EventOutcome(
                Reason.VERIFIED_TRANSCRIPT_EVENT,
                hashlib.sha256(evidence).hexdigest(),
                self._excerpt(evidence, records[number - first]),
                Quiescence.STAT,
                len(evidence),
            )

    def _excerpt(self, evidence: bytes, record: Record) -> str | None:
        if self._excerpt_chars <= 0:
            return None
        content = field_of(record, "content")
        if isinstance(content, str):
            return excerpt_of({"content": content}, self._excerpt_chars)
        # Numbers print as they stand in the line only when the strict parser has read them.
        parsed = parse_strict(evidence, max_nesting=self._limits.max_nesting)
        return excerpt_of(parsed, self._excerpt_chars) if isinstance(parsed, dict) else None

    def verdict(self, steady: Steady) -> TranscriptVerdict:
        otherwise = EventOutcome(steady.scan.reason or Reason.TRANSCRIPT_EVENT_MISSING)
        changed = EventOutcome(Reason.SOURCE_CHANGED_DURING_READ)
        outcomes = {
            number: self._outcomes.get(number, otherwise) if number <= steady.holds_to else changed
            for number in self._wanted
        }
        return TranscriptVerdict(outcomes, tuple(self._log.findings), self._log.counts)


def _require_sequences(sequences: Collection[int]) -> list[int]:
    wanted = set()
    for sequence in sequences:
        if type(sequence) is not int or sequence < 1:
            raise SequenceError(
                f"sequence: expected a whole number of 1 or more, got {sequence!r:.50}"
            )
        wanted.add(sequence)
    return sorted(wanted)
