"""From a report to an exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.exit_codes import ExitCode
from cli.verdict import COUNTABLE, verdict_of
from provenance.audit.notes import Notes
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
    assert limited in {whole, ExitCode.OK, ExitCode.INCONCLUSIVE, *_CODES.values()}
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


_CHECKED = AuditReport(transcripts=(CheckedTranscript("a.jsonl", "codex", ("s1",), 1, 0, 0),))


def _with(code: str, severity: Severity, **counts: int) -> AuditReport:
    finding = Finding(code, severity, "a.jsonl")
    return replace(_CHECKED, findings=(finding,), finding_counts=counts or {code: 1})


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("reference_missing", ExitCode.MISSING),
        ("reference_denied", ExitCode.DENIED),
        ("reference_corrupt", ExitCode.CORRUPT),
        ("reference_unsupported", ExitCode.OK),
        ("reference_not_checked", ExitCode.INCONCLUSIVE),
        ("record_over_limit", ExitCode.INCONCLUSIVE),
        ("container_over_limit", ExitCode.INCONCLUSIVE),
        ("container_unsupported", ExitCode.INCONCLUSIVE),
        ("unknown_format", ExitCode.INCONCLUSIVE),
        ("source_changed_during_read", ExitCode.INCONCLUSIVE),
        ("source_read_failed", ExitCode.INCONCLUSIVE),
        ("home_not_checked", ExitCode.INCONCLUSIVE),
        ("ledger_not_transcript", ExitCode.INCONCLUSIVE),
        ("container_invalid", ExitCode.CORRUPT),
        ("torn_line", ExitCode.CORRUPT),
        ("a_code_from_outside", ExitCode.CORRUPT),
    ],
)
def test_errors_of_transcripts(code: str, expected: ExitCode) -> None:
    assert verdict_of(_with(code, Severity.ERROR)) is expected
    assert verdict_of(_with(code, Severity.INFO)) is ExitCode.OK
    # One more that counts worse is not hidden by it.
    worse = replace(
        _with(code, Severity.ERROR),
        findings=(
            *_with(code, Severity.ERROR).findings,
            Finding("torn_line", Severity.ERROR, "b.jsonl"),
        ),
    )
    assert verdict_of(worse) is ExitCode.CORRUPT


def test_what_was_not_checked_counts_as_a_warning_too() -> None:
    assert verdict_of(_with("reference_not_checked", Severity.WARNING)) is ExitCode.INCONCLUSIVE
    assert verdict_of(_with("unknown_format", Severity.WARNING)) is ExitCode.OK
    assert verdict_of(_with("reference_missing", Severity.WARNING)) is ExitCode.OK


def test_fail_on_names_the_states_of_references_too() -> None:
    missing = _with("reference_missing", Severity.ERROR)
    assert verdict_of(missing, fail_on={"missing"}) is ExitCode.MISSING
    assert verdict_of(missing, fail_on={"corrupt", "denied"}) is ExitCode.OK
    assert verdict_of(missing, exit_zero=True) is ExitCode.OK


def test_a_code_that_is_counted_and_not_listed_is_not_missed() -> None:
    report = replace(_CHECKED, finding_counts={"torn_line": 1})
    assert verdict_of(report) is ExitCode.CORRUPT
    assert verdict_of(replace(_CHECKED, finding_counts={"torn_line": 0})) is ExitCode.OK
    # Listed as information: the number beside it adds nothing.
    assert verdict_of(_with("branch", Severity.INFO, branch=5_000)) is ExitCode.OK


@pytest.mark.parametrize("code", ["torn_line", "reference_denied", "reference_missing"])
def test_no_number_of_findings_hides_an_error(code: str) -> None:
    notes = Notes()
    for number in range(25_000):
        notes.add(Finding("split_message", Severity.INFO, f"{number % 30}.jsonl"))
        notes.add(Finding("dangling_parent", Severity.WARNING, f"{number % 30}.jsonl"))
    notes.add(Finding(code, Severity.ERROR, "29.jsonl"))
    report = replace(_CHECKED, findings=notes.listed(), finding_counts=notes.counts())
    assert verdict_of(report) is not ExitCode.OK
