"""The table of files, and the references of a single one."""

from __future__ import annotations

from dataclasses import replace

from cli.console_transcripts import is_tree, transcripts_view
from provenance.audit_report import AuditReport, CheckedReference, CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.resolution import SourceResolutionStatus

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_FILE = CheckedTranscript(
    "a.jsonl",
    "claude-code",
    ("s1",),
    30,
    4,
    3,
    first_time="2026-01-01T00:00:00Z",
    last_time="2026-01-02T00:00:00Z",
)


def _tree(*bad: tuple[str, str, Severity, int], good: int = 0) -> AuditReport:
    findings, files = [], []
    for target, code, severity, count in bad:
        findings += [Finding(code, severity, target)] * count
        files.append(replace(_FILE, target=target, findings={code: count}))
    files += [replace(_FILE, target=f"good-{number}") for number in range(good)]
    return AuditReport(targets=("t",), findings=tuple(findings), transcripts=tuple(files))


def test_of_a_few_each_has_its_row() -> None:
    view = transcripts_view(_tree(("x", "torn_line", _ERROR, 2), good=9))
    assert not view.is_tree
    assert len(view.files) == 10
    row = view.files[0]
    assert (row.format, row.sessions, row.records) == ("claude-code", "1 session", "30 records")
    assert (row.calls, row.results) == ("4 calls", "3 results")
    assert (row.first, row.last) == ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")
    assert (row.faults, row.severity) == ("2 torn_line", "error")
    assert (view.files[1].faults, view.files[1].severity) == ("none", "")
    assert view.more_files(10) == ""


def test_of_a_tree_only_those_with_faults_the_worst_first() -> None:
    view = transcripts_view(
        _tree(
            ("many-warnings", "dangling_parent", _WARNING, 9),
            ("two-errors", "torn_line", _ERROR, 2),
            ("information", "split_message", _INFO, 50),
            ("one-error", "torn_line", _ERROR, 1),
            ("also-one", "torn_line", _ERROR, 1),
            good=6,
        )
    )
    assert view.is_tree
    assert [row.name for row in view.files] == [
        "two-errors",
        "also-one",
        "one-error",
        "many-warnings",
    ]
    assert view.more_files(4) == "... and 7 files without faults"
    assert view.more_files(3) == "... and 1 more file with faults, 7 without"


def test_eleven_files_are_a_tree_and_ten_are_not() -> None:
    assert is_tree(_tree(good=11))
    assert not is_tree(_tree(good=10))
    view = transcripts_view(_tree(good=11))
    assert view.files == ()


def test_a_tree_with_ten_thousand_files_has_twenty_rows() -> None:
    report = _tree(*((f"f{number}", "torn_line", _ERROR, 1) for number in range(10_000)))
    view = transcripts_view(report)
    assert len(view.files) == 20
    assert view.more_files(20) == "... and 9,980 more files with faults, 0 without"


def test_what_a_file_counted_stands_where_not_all_is_listed() -> None:
    report = AuditReport(
        findings=(Finding("torn_line", _ERROR, "a.jsonl"),),
        finding_counts={"torn_line": 1_700},
        transcripts=(
            replace(_FILE, findings={"torn_line": 1_200}),
            replace(_FILE, target="b.jsonl", findings={"torn_line": 500, "branch": 0}),
        ),
    )
    assert [row.faults for row in transcripts_view(report).files] == [
        "1,200 torn_line",
        "500 torn_line",
    ]


def test_a_normal_absence_is_no_fault_of_a_file() -> None:
    files = (
        replace(_FILE, findings={"reference_missing": 1}),
        replace(_FILE, target="b.jsonl", findings={"reference_missing": 3}),
    )
    report = AuditReport(
        findings=(
            Finding("reference_missing", _ERROR, "a.jsonl"),
            *[Finding("reference_missing", _INFO, "b.jsonl")] * 3,
        ),
        finding_counts={"reference_missing": 4},
        transcripts=files,
    )
    assert [row.faults for row in transcripts_view(report).files] == [
        "1 reference_missing",
        "none",
    ]


def test_a_fault_of_a_member_is_one_of_its_file() -> None:
    report = AuditReport(
        findings=(Finding("torn_line", _ERROR, "a.jsonl/samples/1.json"),),
        transcripts=(_FILE, replace(_FILE, target="b.jsonl")),
    )
    assert [row.severity for row in transcripts_view(report).files] == ["error", ""]


def _reference(status: str, line: int | None = 7, text: str = "x") -> CheckedReference:
    location = Location(ordinal=8, line=line)
    return CheckedReference("a.jsonl", location, "kind", SourceResolutionStatus(status), True, text)


def test_a_single_file_tells_its_references_the_worst_first() -> None:
    references = (
        _reference("available", text="compact_boundary: 1 records, all present\x1b[2J"),
        _reference("missing", None),
        _reference("corrupt"),
        replace(_reference("corrupt"), conclusive=False),
    )
    report = AuditReport(
        transcripts=(_FILE,),
        references=references,
        reference_counts={"available": 1, "missing": 1, "corrupt": 2},
    )
    view = transcripts_view(report)
    assert [(one.state, one.place) for one in view.references] == [
        ("corrupt", "line 7"),
        ("inconclusive", "line 7"),
        ("missing", "record 8"),
        ("available", "line 7"),
    ]
    assert view.references[-1].message == "compact_boundary: 1 records, all present\\x1b[2J"
    assert (view.files, view.more_references) == ((), 0)
    # Two files: the numbers say enough.
    both = replace(report, transcripts=(_FILE, replace(_FILE, target="b.jsonl")))
    assert transcripts_view(both).references == ()


def test_twenty_references_are_told_and_the_others_counted() -> None:
    report = AuditReport(
        transcripts=(_FILE,),
        references=(_reference("available"),) * 21,
        reference_counts={"available": 5_000},
    )
    view = transcripts_view(report)
    assert (len(view.references), view.more_references) == (20, 4_980)
