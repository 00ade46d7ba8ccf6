"""Transcripts and their faults at a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from cli.console_boxes import print_boxes
from cli.console_plain import write_plain
from cli.console_view import view_of
from cli.verdict import verdict_of
from provenance.audit_report import AuditReport, CheckedReference, CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.resolution import SourceResolutionStatus

_CODES = (
    *(
        (code, Severity.ERROR)
        for code in (
            "welded_records",
            "torn_line",
            "spliced_line",
            "nul_line",
            "invalid_line",
            "conflicting_id",
            "orphan_result",
            "reference_missing",
        )
    ),
    *(
        (code, Severity.WARNING)
        for code in (
            "interrupted_call",
            "dangling_parent",
            "duplicate_id",
            "content_hash_mismatch_redacted",
        )
    ),
)
_FILE = CheckedTranscript("a.jsonl", "claude-code", ("s1",), 30, 4, 3)


def _tree(files: int, codes: int = len(_CODES)) -> AuditReport:
    findings: list[Finding] = []
    transcripts = []
    for number in range(files):
        name = f"-home-u-{number % 7}/0366ae93-2978-4202-856d-{number:012d}.jsonl"
        code, severity = _CODES[number % codes]
        place = Location(number + 1, f"0366ae93-2978-4202-856d-{number:012d}", number + 2)
        findings.append(Finding(code, severity, name, place, "x: expected y, got z"))
        transcripts.append(replace(_FILE, target=name, findings={code: 1}))
    return AuditReport(
        targets=("projects",), findings=tuple(findings), transcripts=tuple(transcripts)
    )


def _drawn(report: AuditReport, width: int, *, quiet: bool = False) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_boxes(view_of(report, verdict_of(report)), console, quiet=quiet)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().split("\n")


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_ten_thousand_files_and_twelve_codes_are_one_screen(width: int) -> None:
    report = _tree(10_000)
    lines = _drawn(report, width)
    assert len(lines) <= 60
    text = "\n".join(lines)
    assert all(code in text for code, _ in _CODES)
    assert "more files with faults, 0 without" in text
    assert len(write_plain(view_of(report, verdict_of(report)), quiet=False).split("\n")) <= 60


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("files", [1, 3, 30])
def test_only_a_place_is_wider_than_the_window(width: int, files: int) -> None:
    for line in _drawn(_tree(files, codes=3), width):
        assert cell_len(line) <= width or ".jsonl:" in line


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_place_is_never_broken(width: int) -> None:
    report = _tree(3, codes=3)
    text = "\n".join(_drawn(report, width))
    for finding in report.findings:
        assert f"projects/{finding.target}:{finding.location.line}" in text


def test_a_narrow_window_shortens_what_follows_the_place() -> None:
    place = Location(19, "0366ae93-2978-4202-856d-5ba46aa37f4a", 20)
    report = AuditReport(
        targets=("a.jsonl",),
        findings=(Finding("conflicting_id", Severity.ERROR, "a.jsonl", place),),
        transcripts=(_FILE,),
    )
    assert f"a.jsonl:20 (record 19, {place.native_id})" in "\n".join(_drawn(report, 80))
    assert "a.jsonl:20 (record 19, 0366ae93...)" in "\n".join(_drawn(report, 50))
    assert "        a.jsonl:20 (record 19)" in _drawn(report, 32)
    assert "        a.jsonl:20" in _drawn(report, 20)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_number_stands_apart_from_its_code(width: int) -> None:
    text = "\n".join(_drawn(_tree(60), width))
    for code, _ in _CODES:
        assert f"5 {code}" in text


def test_quiet_leaves_what_is_wrong_and_the_numbers() -> None:
    text = "\n".join(_drawn(_tree(30), 120, quiet=True))
    assert "welded_records  3 in 3 files" in text
    assert "All together" in text
    assert "Files with faults" not in text
    assert "ctxaudit explain" not in text
    assert "ctxaudit verify" not in text
    plain = write_plain(view_of(_tree(30), verdict_of(_tree(30))), quiet=True)
    assert "welded_records  3 in 3 files\n" in plain
    assert "ctxaudit explain" not in plain


def test_references_of_a_single_file() -> None:
    message = "compact_boundary: 1 records, all present; stands for records 1 to 30, all present"
    reference = CheckedReference(
        "a.jsonl",
        Location(31, None, 33),
        "compact_boundary",
        SourceResolutionStatus.AVAILABLE,
        True,
        message,
    )
    report = AuditReport(
        targets=("a.jsonl",),
        transcripts=(_FILE,),
        references=(reference,) * 25,
        reference_counts={"available": 25},
    )
    drawn = "\n".join(_drawn(report, 200))
    assert message in drawn
    assert "... and 5 more" in drawn
    plain = write_plain(view_of(report, verdict_of(report)), quiet=False)
    assert f"  available     line 33: {message}\n" in plain
    assert "  ... and 5 more: see --format json\n" in plain
    assert "25 available" in plain


@pytest.mark.parametrize("width", [80, 120])
def test_a_few_files_have_all_their_numbers(width: int) -> None:
    timed = replace(_FILE, first_time="2026-01-01T00:00:00Z", last_time="2026-01-02T00:00:00Z")
    report = AuditReport(transcripts=(timed, replace(_FILE, target="b.jsonl")))
    text = "\n".join(_drawn(report, width))
    for said in ("a.jsonl", "b.jsonl", "1 session", "30 records", "4 calls", "3 results"):
        assert said in text
    assert "2026-01-01T00:00:00Z" in text
    assert "Every transcript that was checked is sound." in text


def test_files_without_faults_are_not_listed_in_a_tree() -> None:
    report = AuditReport(transcripts=tuple(replace(_FILE, target=f"{n}.jsonl") for n in range(500)))
    text = "\n".join(_drawn(report, 80))
    assert "Files with faults" not in text
    assert "500, none with errors or warnings" in text
    assert write_plain(view_of(report, verdict_of(report)), quiet=False).count("\n") < 20
