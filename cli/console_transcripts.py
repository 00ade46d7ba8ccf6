"""Transcripts that were checked, in words: their files, what they refer to, and the numbers of all.

Guarantees: pure. Every text is one line in which nothing steers a terminal. Of a few files each has
its row; of a tree those that have a fault have, the worst first, and the others are counted. What
was left out or could not be checked is said.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> one = CheckedTranscript("a.jsonl", "codex", ("s1",), 7, 1, 1)
    >>> transcripts_view(AuditReport(transcripts=(one,))).totals[0]
    ('file', 'a.jsonl')
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from provenance.audit_report import AuditReport, CheckedReference, CheckedTranscript
from provenance.findings import Severity

from .console_faults import owner_of, weights
from .console_totals import totals_of
from .console_words import cut, listing, name_of, number, ranked, time_of
from .streams import one_line

__all__ = ["FileRow", "ReferenceLine", "TranscriptsView", "is_tree", "transcripts_view"]

# So many have a row each, whatever is in them; more are a tree.
_FEW = 10
_LISTED_FILES = 20
# With many codes above it, the table of files is the one that can give way.
_MANY_CODES = 6
_LISTED_FILES_THEN = 10
_LISTED_REFERENCES = 20
_MESSAGE_CHARACTERS = 300
_STATES = ("corrupt", "denied", "missing", "unsupported", "available")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file, in words.

    Attributes:
        name: relative to what was named.
        format: of its records.
        sessions: how many there are in it, in words as all numbers here.
        records: how many.
        calls: function calls.
        results: results of them.
        first: the time of its first record; empty where none has one.
        last: of its last record.
        faults: errors and warnings by code, in words.
        severity: the worst of them, or empty.
    """

    name: str
    format: str
    sessions: str
    records: str
    calls: str
    results: str
    first: str
    last: str
    faults: str
    severity: str


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """One reference: its state, where it stands, and what was looked for and found."""

    state: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class TranscriptsView:
    """The transcripts of a report, in words.

    Attributes:
        title: of the table of files.
        files: its rows; none for a single file, whose numbers are those of all.
        is_tree: only files with faults have a row, and not all of those.
        bad: how many files of a tree have faults.
        good: how many have none.
        references: of a single file, what is wrong first.
        more_references: how many are not among them.
        totals: name and value of the numbers of all files.
    """

    title: str
    files: tuple[FileRow, ...]
    is_tree: bool
    bad: int
    good: int
    references: tuple[ReferenceLine, ...]
    more_references: int
    totals: tuple[tuple[str, str], ...]

    def more_files(self, shown: int) -> str:
        """Say how many files have no row where `shown` have; empty for none."""
        hidden = self.bad - shown
        if hidden > 0:
            return f"... and {number(hidden, 'more file')} with faults, {self.good:,} without"
        return f"... and {number(self.good, 'file')} without faults" if self.good else ""


def is_tree(report: AuditReport) -> bool:
    """Say whether there are more files than can have a row each."""
    return len(report.transcripts) > _FEW


def transcripts_view(report: AuditReport) -> TranscriptsView:
    """Put the transcripts of a report into words."""
    transcripts = report.transcripts
    faults = _faults_by_file(report)
    single = len(transcripts) == 1
    references, more_references = _references(report) if single else ((), 0)
    totals = totals_of(report, {name: _worst(found) for name, found in faults.items()})
    if not is_tree(report):
        return TranscriptsView(
            title="Files",
            files=() if single else tuple(_row(one, faults) for one in transcripts),
            is_tree=False,
            bad=0,
            good=0,
            references=references,
            more_references=more_references,
            totals=totals,
        )
    bad = [one for one in transcripts if faults[one.target]]
    bad.sort(key=lambda one: (_order_of(faults[one.target]), one.target))
    codes = len({code for found in faults.values() for code, _ in found})
    room = _LISTED_FILES if codes <= _MANY_CODES else _LISTED_FILES_THEN
    return TranscriptsView(
        title="Files with faults, the worst first",
        files=tuple(_row(one, faults) for one in bad[:room]),
        is_tree=True,
        bad=len(bad),
        good=len(transcripts) - len(bad),
        references=(),
        more_references=0,
        totals=totals,
    )


_Faults = Counter[tuple[str, Severity]]


def _faults_by_file(report: AuditReport) -> dict[str, _Faults]:
    """Count the errors and warnings of each transcript."""
    found: dict[str, _Faults] = {one.target: Counter() for one in report.transcripts}
    for finding in report.findings:
        owner = owner_of(finding.target, found)
        if owner is not None and finding.severity is not Severity.INFO:
            found[owner][finding.code, finding.severity] += 1
    # A file knows how many it has of a code; a code of one severity has them all.
    severities: dict[str, set[Severity]] = {}
    for weight in weights(report):
        severities.setdefault(weight.code, set()).add(weight.severity)
    for transcript in report.transcripts:
        for code, count in transcript.findings.items():
            known = severities.get(code, {Severity.ERROR})
            if count and len(known) == 1 and Severity.INFO not in known:
                key = code, next(iter(known))
                found[transcript.target][key] = max(found[transcript.target][key], count)
    return found


def _worst(faults: _Faults) -> Severity | None:
    errors, warnings = _order_of(faults)
    return Severity.ERROR if errors else Severity.WARNING if warnings else None


def _order_of(faults: _Faults) -> tuple[int, int]:
    by_severity: Counter[Severity] = Counter()
    for (_, severity), count in faults.items():
        by_severity[severity] += count
    return -by_severity[Severity.ERROR], -by_severity[Severity.WARNING]


def _row(one: CheckedTranscript, faults: dict[str, _Faults]) -> FileRow:
    found = faults[one.target]
    errors = _by_code(found, Severity.ERROR)
    warnings = _by_code(found, Severity.WARNING)
    return FileRow(
        name=one_line(one.target),
        format=name_of(one.format),
        sessions=number(len(one.sessions), "session"),
        records=number(one.records, "record"),
        calls=number(one.calls, "call"),
        results=number(one.call_results, "result"),
        first=time_of(one.first_time),
        last=time_of(one.last_time),
        faults=listing(errors + warnings) or "none",
        severity=str(_worst(found) or ""),
    )


def _by_code(faults: _Faults, severity: Severity) -> list[tuple[str, int]]:
    return ranked({code: n for (code, weight), n in faults.items() if weight is severity})


def _references(report: AuditReport) -> tuple[tuple[ReferenceLine, ...], int]:
    worst_first = sorted(report.references, key=lambda one: _STATES.index(str(one.status)))
    shown = worst_first[:_LISTED_REFERENCES]
    total = max(len(report.references), sum(report.reference_counts.values()))
    return tuple(map(_reference_line, shown)), total - len(shown)


def _reference_line(reference: CheckedReference) -> ReferenceLine:
    at = reference.location
    place = f"line {at.line}" if at.line is not None else f"record {at.ordinal}"
    return ReferenceLine(
        state=str(reference.status) if reference.conclusive else "inconclusive",
        place=place,
        message=cut(one_line(reference.message), _MESSAGE_CHARACTERS),
    )
