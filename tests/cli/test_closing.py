"""The last sentence of the console report follows the report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.closing import Asked, closing_words
from cli.exit_codes import ExitCode
from cli.verdict import COUNTABLE, verdict_of
from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript
from provenance.findings import Finding, Severity
from provenance.resolution import (
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    resolution_for,
)

_GOOD = AuditedSource(
    SourceResolution(
        "transcript:s1:1",
        SourceResolutionStatus.AVAILABLE,
        "transcript",
        "0" * 64,
        reason=Reason.VERIFIED_TRANSCRIPT_EVENT,
        strength="position",
    )
)
_ALL_AVAILABLE = "Every source that was checked is available."
_NOT_CITED = "some evidence is not what was cited"


def _source(reason: Reason) -> AuditedSource:
    if REASON_STATUS[reason] is SourceResolutionStatus.AVAILABLE:
        return _GOOD
    return AuditedSource(resolution_for("x", reason))


@given(
    st.lists(st.sampled_from(list(Reason)), min_size=1),
    st.none() | st.sets(st.sampled_from(sorted(COUNTABLE)), min_size=1),
    st.booleans(),
)
def test_the_words_follow_the_report(
    reasons: list[Reason], fail_on: set[str] | None, exit_zero: bool
) -> None:
    report = AuditReport(sources=tuple(map(_source, reasons)))
    code = verdict_of(report, fail_on=fail_on, exit_zero=exit_zero)
    given_options = ["--fail-on x"] * (fail_on is not None) + ["--exit-zero"] * exit_zero
    words = closing_words(report, code, Asked(softened_by=tuple(given_options)))
    assert words.startswith(f"Exit code {code.value}")
    strict = verdict_of(report)
    available = report.summary.available == report.summary.total
    assert (_ALL_AVAILABLE in words) == available
    assert (_NOT_CITED in words) == (report.summary.corrupt > 0)
    assert ("since" in words) == (strict is not code)
    if strict is not code:
        assert all(option in words for option in given_options)
        assert f"without {'it' if len(given_options) == 1 else 'them'} {strict.value}." in words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("evidence_too_weak", "some evidence proves less than --min-strength asks for"),
        ("state_unreadable", "a state cannot be read"),
        ("config_invalid", "ctxaudit.toml is not understood"),
        ("transcript_invalid_json", "a transcript that was checked whole has a fault"),
    ],
)
def test_what_counts_as_corrupt_is_named(code: str, words: str) -> None:
    finding = Finding(code, Severity.ERROR, "x")
    report = AuditReport(sources=(_GOOD,), findings=(finding,))
    said = closing_words(report, verdict_of(report))
    assert said.startswith("Exit code 14. Counts as corrupt: ")
    assert words in said
    assert _NOT_CITED not in said


def test_several_of_them() -> None:
    codes = ("evidence_too_weak", "state_unreadable", "transcript_invalid_json")
    findings = tuple(Finding(code, Severity.ERROR, "x") for code in codes)
    said = closing_words(AuditReport(sources=(_GOOD,), findings=findings), ExitCode.CORRUPT)
    assert said.count(";") == 2


def test_transcripts_alone() -> None:
    report = AuditReport(transcripts=(CheckedTranscript("s1.jsonl", "native", ("s1",), 1, 0, 0),))
    assert closing_words(report, verdict_of(report)) == (
        "Exit code 0. Every transcript that was checked is sound."
    )
