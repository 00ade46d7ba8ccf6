"""From a report to an exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.exit_codes import ExitCode
from cli.verdict import COUNTABLE, verdict_of
from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript, Citation
from provenance.findings import Finding, Severity
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
)


def _source(reason: Reason, pointer: str = "transcript:s1:1", *claims: Citation) -> AuditedSource:
    status = REASON_STATUS[reason]
    available = status is SourceResolutionStatus.AVAILABLE
    resolution = SourceResolution(
        pointer,
        status,
        "transcript",
        "0" * 64 if available else None,
        reason=reason,
        strength="position" if available else None,
        conclusive=reason not in INCONCLUSIVE_REASONS,
    )
    return AuditedSource(resolution, claims)


_CODES = {
    "available": ExitCode.OK,
    "missing": ExitCode.MISSING,
    "denied": ExitCode.DENIED,
    "corrupt": ExitCode.CORRUPT,
    "unsupported": ExitCode.UNSUPPORTED,
}


_REASONS = st.sampled_from(list(Reason))


@pytest.mark.parametrize("reason", list(Reason))
def test_one_source(reason: Reason) -> None:
    expected = (
        ExitCode.INCONCLUSIVE
        if reason in INCONCLUSIVE_REASONS
        else _CODES[str(REASON_STATUS[reason])]
    )
    report = AuditReport(sources=(_source(reason),))
    assert verdict_of(report) is expected
    # The same fault, found in a transcript that was checked whole.
    finding = Finding(str(reason), Severity.ERROR, "s1.jsonl")
    assert verdict_of(AuditReport(findings=(finding,))) in (
        expected,
        ExitCode.NOTHING_VERIFIED,
    )


@given(st.lists(_REASONS), st.sets(st.sampled_from(sorted(COUNTABLE)), min_size=1))
def test_fail_on_never_makes_it_worse(reasons: list[Reason], states: set[str]) -> None:
    report = AuditReport(sources=tuple(_source(reason) for reason in reasons))
    whole = verdict_of(report)
    limited = verdict_of(report, fail_on=states)
    assert limited in (whole, ExitCode.OK) or limited in _CODES.values() or limited == 4
    assert verdict_of(report, fail_on=set(COUNTABLE)) is whole
    if not reasons:
        assert limited is ExitCode.NOTHING_VERIFIED


@given(st.lists(_REASONS))
def test_exit_zero_judges_nothing_but_invents_nothing(reasons: list[Reason]) -> None:
    report = AuditReport(sources=tuple(_source(reason) for reason in reasons))
    expected = ExitCode.OK if reasons else ExitCode.NOTHING_VERIFIED
    assert verdict_of(report, exit_zero=True) is expected


def test_findings() -> None:
    good = AuditReport(sources=(_source(Reason.VERIFIED_TRANSCRIPT_EVENT),))

    def with_finding(code: str, severity: Severity) -> ExitCode:
        return verdict_of(replace(good, findings=(Finding(code, severity, "x"),)))

    assert with_finding("state_unreadable", Severity.ERROR) is ExitCode.CORRUPT
    assert with_finding("state_unreadable", Severity.WARNING) is ExitCode.OK
    assert with_finding("unaddressable_file", Severity.ERROR) is ExitCode.INCONCLUSIVE
    assert with_finding("transcript_missing", Severity.ERROR) is ExitCode.MISSING


def test_an_interrupt_is_an_interrupt() -> None:
    report = AuditReport(sources=(_source(Reason.ARTIFACT_DIGEST_MISMATCH),), is_interrupted=True)
    assert verdict_of(report, exit_zero=True) is ExitCode.INTERRUPTED


def test_a_transcript_without_records_verifies_nothing() -> None:
    empty = CheckedTranscript("s1.jsonl", "native", ("s1",), 0, 0, 0)
    assert verdict_of(AuditReport(transcripts=(empty,))) is ExitCode.NOTHING_VERIFIED
    assert verdict_of(AuditReport(transcripts=(replace(empty, records=1),))) is ExitCode.OK
