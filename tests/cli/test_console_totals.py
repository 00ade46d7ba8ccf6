"""The last table of a report on transcripts."""

from __future__ import annotations

from dataclasses import replace

from cli.console_totals import totals_of
from provenance.audit_report import AuditReport, CheckedTranscript
from provenance.findings import Finding, Severity

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_ONE = CheckedTranscript("a.jsonl", "codex", ("s1",), 1_200, 4, 1)


def test_a_single_file_is_named() -> None:
    totals = dict(totals_of(AuditReport(transcripts=(_ONE,)), {"a.jsonl": None}))
    assert totals == {
        "file": "a.jsonl",
        "format": "codex",
        "sessions": "s1",
        "records": "1,200",
        "calls": "4, with 1 result",
        "time": "not said",
        "references": "none",
        "errors": "none",
        "warnings": "none",
        "information": "none",
    }


def test_many_files_are_summed() -> None:
    two = replace(
        _ONE,
        target="b.eval",
        format="inspect",
        sessions=("s1", "s2"),
        unknown_types={"hologram": 3},
        first_time="2026-01-01T00:00:00Z",
    )
    report = AuditReport(
        findings=(
            Finding("torn_line", _ERROR, "a.jsonl"),
            Finding("nul_line", _ERROR, "a.jsonl"),
            Finding("nul_line", _ERROR, "a.jsonl"),
            Finding("branch", _INFO, "b.eval"),
        ),
        finding_counts={"torn_line": 1, "nul_line": 2, "branch": 40},
        transcripts=(_ONE, two),
        reference_counts={"available": 1_000, "denied": 2, "corrupt": 1},
    )
    totals = dict(totals_of(report, {"a.jsonl": _ERROR, "b.eval": None}))
    assert totals["files"] == "2: 1 with errors, 0 with warnings alone, 1 with neither"
    assert totals["formats"] == "1 codex, 1 inspect"
    # A session of one id in two formats is two.
    assert totals["sessions"] == "3"
    assert totals["records"] == "2,400"
    assert totals["time"] == "2026-01-01T00:00:00Z to 2026-01-01T00:00:00Z"
    assert totals["unknown types"] == "3 hologram"
    assert totals["references"] == "1 corrupt, 2 denied, 1,000 available"
    assert totals["errors"] == "3: 2 nul_line, 1 torn_line"
    assert totals["warnings"] == "none"
    assert totals["information"] == "40 branch"
    assert "not checked" not in totals
    assert "left out" not in totals


def test_what_was_not_looked_at_is_said() -> None:
    report = AuditReport(
        findings=(
            Finding("unknown_format", _WARNING, "c.jsonl"),
            Finding("record_over_limit", _ERROR, "a.jsonl"),
            Finding("reference_not_checked", _INFO, "a.jsonl"),
            Finding("torn_line", _ERROR, "a.jsonl"),
            Finding("transcript_left_out", _INFO, ".", message="transcripts: 12 were left out"),
        ),
        transcripts=(_ONE,),
    )
    totals = dict(totals_of(report, {"a.jsonl": _ERROR}))
    assert totals["not checked"] == "2: 1 record_over_limit, 1 unknown_format"
    assert totals["left out"] == "transcripts: 12 were left out"
