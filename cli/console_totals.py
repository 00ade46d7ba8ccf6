"""The last table of a report on transcripts: the numbers of all files, and what is wrong by code.

Guarantees: pure. Every number is that of the whole run, also where not everything is listed; one
that is not known to be exact says so. What was left out or could not be checked is said.

Example:
    >>> from provenance.audit_report import CheckedTranscript
    >>> one = CheckedTranscript("a.jsonl", "codex", ("s1",), 7, 1, 1)
    >>> totals_of(AuditReport(transcripts=(one,)), {"a.jsonl": None})[:3]
    (('file', 'a.jsonl'), ('format', 'codex'), ('sessions', 's1'))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from provenance.audit_report import AuditReport
from provenance.findings import Severity

from .console_faults import Weight, weights
from .console_words import LISTED_NAMES, listing, name_of, number, ranked, span_of
from .streams import one_line
from .verdict import is_unchecked

__all__ = ["totals_of"]

_STATES = ("corrupt", "denied", "missing", "unsupported", "available")
_SEVERITIES = (
    (Severity.ERROR, "errors"),
    (Severity.WARNING, "warnings"),
    (Severity.INFO, "information"),
)


def totals_of(
    report: AuditReport, worst: Mapping[str, Severity | None]
) -> tuple[tuple[str, str], ...]:
    """Give name and value of each number.

    Args:
        report: what was found; at least one transcript was checked.
        worst: of each transcript the worst of its findings; None: none but information.
    """
    transcripts = report.transcripts
    rows = [("files", _files(worst))]
    if len(transcripts) == 1:
        rows = [("file", one_line(transcripts[0].target))]
    formats = Counter(one.format for one in transcripts)
    sessions = {(one.format, name) for one in transcripts for name in one.sessions}
    calls = sum(one.calls for one in transcripts)
    results = sum(one.call_results for one in transcripts)
    rows += [
        ("format", name_of(transcripts[0].format))
        if len(transcripts) == 1
        else ("formats", listing(ranked(formats), most=len(formats))),
        ("sessions", _sessions(sessions, is_single=len(transcripts) == 1)),
        ("records", f"{sum(one.records for one in transcripts):,}"),
        ("calls", f"{calls:,}, with {number(results, 'result')}"),
        ("time", span_of(time for one in transcripts for time in (one.first_time, one.last_time))),
    ]
    unknown: Counter[str] = Counter()
    for one in transcripts:
        unknown.update(one.unknown_types)
    if unknown:
        rows.append(("unknown types", listing(ranked(unknown))))
    rows.append(("references", _reference_counts(report)))
    weighed = weights(report)
    for severity, name in _SEVERITIES:
        found = sorted(
            (one for one in weighed if one.severity is severity),
            key=lambda one: (-one.count, one.code),
        )
        rows.append((name, _weighed(found) or "none"))
    unchecked = [
        one for one in weighed if is_unchecked(one.code) and one.severity is not Severity.INFO
    ]
    if unchecked:
        rows.append(("not checked", _weighed(unchecked)))
    left_out = [one for one in report.findings if one.code == "transcript_left_out"]
    if left_out:
        said = "; ".join(one.message for one in left_out[:LISTED_NAMES])
        rows.append(("left out", one_line(said)))
    return tuple(rows)


def _files(worst: Mapping[str, Severity | None]) -> str:
    counts = Counter(worst.values())
    if counts[None] == len(worst):
        return f"{len(worst):,}, none with errors or warnings"
    return (
        f"{len(worst):,}: {counts[Severity.ERROR]:,} with errors, "
        f"{counts[Severity.WARNING]:,} with warnings alone, {counts[None]:,} with neither"
    )


def _sessions(sessions: set[tuple[str, str]], *, is_single: bool) -> str:
    if is_single and len(sessions) == 1:
        return one_line(next(iter(sessions))[1])
    return f"{len(sessions):,}"


def _reference_counts(report: AuditReport) -> str:
    counts = report.reference_counts
    said = [f"{counts[state]:,} {state}" for state in _STATES if counts.get(state)]
    return ", ".join(said) or "none"


def _weighed(found: list[Weight]) -> str:
    listed = ", ".join(f"{one} {name_of(one.code)}" for one in found)
    if len(found) <= 1:  # a single number is its own sum
        return listed
    return f"{sum(one.count for one in found):,}: {listed}"
