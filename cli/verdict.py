"""From a report to the exit code of `verify` (spec 05).

Guarantees: pure. A finding of severity error counts like the state that its code belongs to, else
as corrupt. A run that verified nothing is never a success. What `--fail-on` leaves out does not
count; it cannot make "nothing was verified" or an interrupt a success.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> verdict_of(AuditReport())
    <ExitCode.NOTHING_VERIFIED: 3>
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from provenance.audit_report import AuditReport
from provenance.findings import Finding, Severity
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
)

from .exit_codes import ExitCode, worst

__all__ = ["COUNTABLE", "code_of", "fault_of_finding", "verdict_of"]

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
_UNCHECKED = frozenset({"unaddressable_file", "ledger_not_transcript"})


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
    code = worst(codes)
    if code is not ExitCode.OK:
        return ExitCode.OK if exit_zero else code
    return code if _is_anything_verified(report) else ExitCode.NOTHING_VERIFIED


def _faults(report: AuditReport) -> Iterator[ExitCode]:
    for source in report.sources:
        yield code_of(source.resolution)
    for finding in report.findings:
        if finding.severity is Severity.ERROR:
            yield fault_of_finding(finding)


def code_of(resolution: SourceResolution) -> ExitCode:
    """Give the exit code of a single source."""
    return _BY_STATE[resolution.status] if resolution.conclusive else ExitCode.INCONCLUSIVE


def fault_of_finding(finding: Finding) -> ExitCode:
    """Give the exit code that a finding of severity error counts as."""
    if finding.code in _UNCHECKED:
        return ExitCode.INCONCLUSIVE
    if finding.code not in REASON_STATUS:
        return ExitCode.CORRUPT
    reason = Reason(finding.code)
    if reason in INCONCLUSIVE_REASONS:
        return ExitCode.INCONCLUSIVE
    return _BY_STATE[REASON_STATUS[reason]]


def _is_anything_verified(report: AuditReport) -> bool:
    return bool(report.sources) or any(one.records for one in report.transcripts)
