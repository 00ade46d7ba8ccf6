"""From a report to the exit code of `verify` (spec 05).

Guarantees: pure. A finding of severity error counts like the state that its code belongs to, else
as corrupt. A code that was counted and of which nothing is listed counts like an error: it may be
one. What a waiver covers does not count; a waiver that is over, and what a target's own policy
alone withholds, count whatever `--fail-on` leaves out. A run that verified nothing is never a
success. What `--fail-on` leaves out does not count; it cannot make "nothing was verified" or an
interrupt a success.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> verdict_of(AuditReport())
    <ExitCode.NOTHING_VERIFIED: 3>
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from provenance.audit_report import AuditReport
from provenance.findings import Severity
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
)

from .exit_codes import ExitCode, worst

__all__ = [
    "COUNTABLE",
    "COUNTS_AS_WARNING",
    "code_of",
    "fault_of_code",
    "faults_of_findings",
    "is_unchecked",
    "verdict_of",
]

_BY_STATE = {
    SourceResolutionStatus.AVAILABLE: ExitCode.OK,
    SourceResolutionStatus.MISSING: ExitCode.MISSING,
    SourceResolutionStatus.DENIED: ExitCode.DENIED,
    SourceResolutionStatus.CORRUPT: ExitCode.CORRUPT,
    SourceResolutionStatus.UNSUPPORTED: ExitCode.UNSUPPORTED,
}
# What `--fail-on` may name, and the codes that then count. A result that is inconclusive has the
# status corrupt, and nobody knows that it is not: so `corrupt` counts it too.
COUNTABLE = {
    "missing": frozenset({ExitCode.MISSING}),
    "denied": frozenset({ExitCode.DENIED}),
    "corrupt": frozenset({ExitCode.CORRUPT, ExitCode.INCONCLUSIVE}),
    "unsupported": frozenset({ExitCode.UNSUPPORTED}),
    "inconclusive": frozenset({ExitCode.INCONCLUSIVE}),
}
# Errors that say that something could not be looked at, not that it is wrong.
_UNCHECKED = frozenset(
    {
        "archive_member_over_limit",
        "archive_member_unsupported",
        "container_over_limit",
        "container_unsupported",
        "home_not_checked",
        "ledger_not_transcript",
        "record_over_limit",
        "reference_not_checked",
        "seal_not_compared",
        "unaddressable_file",
        "unknown_format",
    }
)
# What a record says exists elsewhere has the states of a source. That nothing here can look for it
# is no fault of the transcript.
_OF_REFERENCE = {
    "reference_corrupt": ExitCode.CORRUPT,
    "reference_denied": ExitCode.DENIED,
    "reference_missing": ExitCode.MISSING,
    "reference_unsupported": ExitCode.OK,
}
# Counts as a warning, too: where too many references wait for their records, one of those that
# were dropped may lead to nothing, and nobody knows.
COUNTS_AS_WARNING = "reference_not_checked"
# What counts whatever `--fail-on` leaves out: a waiver must not end without anybody noticing, and
# what a target decides of its own audit must not choose which states count.
_ALWAYS = {
    "waiver_expired": ExitCode.CORRUPT,
    "denied_by_target": ExitCode.DENIED,
    "limited_by_target": ExitCode.INCONCLUSIVE,
}


def verdict_of(
    report: AuditReport,
    *,
    fail_on: Collection[str] | None = None,
    exit_zero: bool = False,
) -> ExitCode:
    """Judge a report.

    Args:
        report: what was found.
        fail_on: keys of `COUNTABLE`, the only states that count; None: all.
        exit_zero: a verdict on evidence becomes 0; that there is none does not.
    """
    if report.is_interrupted:
        return ExitCode.INTERRUPTED
    codes = frozenset(_faults(report))
    if fail_on is not None:
        codes &= frozenset().union(*(COUNTABLE[name] for name in fail_on))
        codes |= {
            weight
            for found, weight in _ALWAYS.items()
            if report.finding_counts.get(found, 0) > report.waived_counts.get(found, 0)
        }
    code = worst(codes)
    if code is not ExitCode.OK:
        return ExitCode.OK if exit_zero else code
    return code if _is_anything_verified(report) else ExitCode.NOTHING_VERIFIED


def _faults(report: AuditReport) -> Iterator[ExitCode]:
    for source in report.sources:
        if source.waiver is None:
            yield code_of(source.resolution)
    for _, code in faults_of_findings(report):
        yield code


def faults_of_findings(report: AuditReport) -> Iterator[tuple[str, ExitCode]]:
    """Give what counts among the findings, by the code of the finding, once or more.

    Not all findings are listed, but the first errors of each code that no waiver covers are.
    """
    listed = set()
    for finding in report.findings:
        if finding.waiver is not None:
            continue
        listed.add(finding.code)
        if finding.severity is Severity.ERROR or (
            finding.severity is Severity.WARNING and finding.code == COUNTS_AS_WARNING
        ):
            yield finding.code, fault_of_code(finding.code)
    for code, count in report.finding_counts.items():
        if count > report.waived_counts.get(code, 0) and code not in listed:
            yield code, fault_of_code(code)


def code_of(resolution: SourceResolution) -> ExitCode:
    """Give the exit code of a single source."""
    return _BY_STATE[resolution.status] if resolution.conclusive else ExitCode.INCONCLUSIVE


def fault_of_code(code: str) -> ExitCode:
    """Give the exit code that a finding of this code and severity error counts as."""
    if code in _UNCHECKED:
        return ExitCode.INCONCLUSIVE
    if code in _OF_REFERENCE:
        return _OF_REFERENCE[code]
    if code not in REASON_STATUS:
        return _ALWAYS.get(code, ExitCode.CORRUPT)
    reason = Reason(code)
    if reason in INCONCLUSIVE_REASONS:
        return ExitCode.INCONCLUSIVE
    return _BY_STATE[REASON_STATUS[reason]]


def is_unchecked(code: str) -> bool:
    """Say whether a finding of this code says that something could not be looked at."""
    return fault_of_code(code) is ExitCode.INCONCLUSIVE


def _is_anything_verified(report: AuditReport) -> bool:
    return (
        bool(report.sources)
        or any(one.records for one in report.transcripts)
        or any(one.size for one in report.seals)
    )
