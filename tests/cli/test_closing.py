"""The last sentence of the console report follows the report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.closing import Asked, closing_words
from cli.exit_codes import ExitCode
from cli.verdict import COUNTABLE, fault_of_code, verdict_of
from provenance.audit import all_explanations
from provenance.audit._transcript_pages import TRANSCRIPT_PAGES
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


_CHECKED = CheckedTranscript("a.jsonl", "codex", ("s1",), 1, 0, 0)
_SOUND = "Every transcript that was checked is sound"


def _said(*found: tuple[str, Severity], **references: int) -> str:
    report = AuditReport(
        transcripts=(_CHECKED,),
        findings=tuple(Finding(code, severity, "a.jsonl") for code, severity in found),
        reference_counts=references,
    )
    return closing_words(report, verdict_of(report))


def test_a_reference_that_leads_to_nothing_is_not_sound() -> None:
    assert _said(("reference_missing", Severity.ERROR), missing=1) == (
        "Exit code 12. Missing: something that a record says exists elsewhere is not there."
    )
    assert _said(("reference_denied", Severity.ERROR), denied=1) == (
        "Exit code 13. Denied: something that a record says exists elsewhere may not be read here."
    )
    assert _said(("reference_corrupt", Severity.ERROR), corrupt=1) == (
        "Exit code 14. Counts as corrupt: what a record says exists elsewhere is not as it says."
    )
    assert _said(("reference_not_checked", Severity.ERROR), corrupt=1).startswith(
        "Exit code 4. Inconclusive: "
    )


def test_a_reference_is_not_blamed_for_a_source() -> None:
    report = AuditReport(
        sources=(_source(Reason.TRANSCRIPT_MISSING),),
        transcripts=(_CHECKED,),
        findings=(Finding("reference_missing", Severity.ERROR, "a.jsonl"),),
    )
    assert closing_words(report, verdict_of(report)) == (
        "Exit code 12. Missing: some evidence is not there."
    )
    assert "some evidence is not there" in _said(
        ("reference_missing", Severity.ERROR), ("transcript_missing", Severity.ERROR)
    )


def test_what_is_normally_absent_is_said_and_is_sound() -> None:
    said = _said(("reference_missing", Severity.INFO), missing=16, available=4)
    assert said == (
        f"Exit code 0. {_SOUND}. 16 of 20 references in them lead to what is not there, as is "
        "normal for such a transcript."
    )
    assert _said(available=4) == f"Exit code 0. {_SOUND}."


def test_warnings_are_said_where_nothing_is_an_error() -> None:
    warning = ("dangling_parent", Severity.WARNING)
    assert _said(warning) == f"Exit code 0. {_SOUND}, with 1 warning."
    assert _said(warning, warning) == f"Exit code 0. {_SOUND}, with 2 warnings."
    assert _said(("branch", Severity.INFO)) == f"Exit code 0. {_SOUND}."


def test_sources_and_transcripts() -> None:
    report = AuditReport(sources=(_GOOD,), transcripts=(_CHECKED,))
    assert closing_words(report, verdict_of(report)) == f"Exit code 0. {_ALL_AVAILABLE} {_SOUND}."


def test_a_softened_code_says_what_the_references_are() -> None:
    report = AuditReport(
        transcripts=(_CHECKED,), findings=(Finding("reference_denied", Severity.ERROR, "a"),)
    )
    said = closing_words(report, ExitCode.OK, Asked(softened_by=("--exit-zero",)))
    assert said.startswith("Exit code 0, since --exit-zero was given; without it 13. Denied: ")
    assert _SOUND not in said


def test_an_unlisted_fault_is_told_too() -> None:
    report = AuditReport(transcripts=(_CHECKED,), finding_counts={"torn_line": 3})
    assert closing_words(report, verdict_of(report)) == (
        "Exit code 14. Counts as corrupt: a transcript that was checked whole has a fault."
    )


@pytest.mark.parametrize(
    "code",
    [
        one.code
        for one in all_explanations()
        if one.family in ("finding", "reason") and fault_of_code(one.code) is ExitCode.CORRUPT
    ]
    + ["a_code_from_outside"],
)
def test_the_words_are_about_what_was_found(code: str) -> None:
    finding = Finding(code, Severity.ERROR, "x")
    report = AuditReport(sources=(_GOOD,), findings=(finding,), finding_counts={code: 1})
    words = closing_words(report, ExitCode.CORRUPT)
    assert words.startswith("Exit code 14. Counts as corrupt: ")
    assert words.endswith(".")
    assert ": ." not in words
    is_of_transcripts = code in TRANSCRIPT_PAGES or code.startswith("transcript_")
    assert ("a transcript that was checked whole" in words) == (
        is_of_transcripts and code != "reference_corrupt"
    )
    # The nearest other case: it was found in such a transcript.
    checked = CheckedTranscript("x", "native", ("s1",), 1, 0, 0, findings={code: 1})
    words = closing_words(replace(report, transcripts=(checked,)), ExitCode.CORRUPT)
    assert words.startswith("Exit code 14. Counts as corrupt: ")


def test_a_fault_of_a_whole_transcript_is_called_that() -> None:
    finding = Finding("torn_line", Severity.ERROR, "x")
    checked = CheckedTranscript("x", "native", ("s1",), 1, 0, 0, findings={"torn_line": 1})
    report = AuditReport(
        transcripts=(checked,),
        findings=(finding, Finding("lock_unreadable", Severity.ERROR, "ctxaudit.lock")),
        finding_counts={"torn_line": 1, "lock_unreadable": 1},
    )
    assert closing_words(report, ExitCode.CORRUPT) == (
        "Exit code 14. Counts as corrupt: a transcript that was checked whole has a fault; a "
        "home's lock file cannot be read, so nobody knows what was pinned."
    )
