"""Findings grouped by code."""

from __future__ import annotations

import pytest

from cli.console_faults import fault_groups, first_sentence, folder_of, owner_of, weights
from provenance.audit_report import AuditReport, CheckedTranscript
from provenance.findings import Finding, Location, Severity

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _finding(code: str, severity: Severity, target: str = "a.jsonl", line: int = 1) -> Finding:
    return Finding(code, severity, target, Location(ordinal=line, line=line), "x: expected y")


def _checked(target: str, **findings: int) -> CheckedTranscript:
    return CheckedTranscript(target, "codex", ("s",), 9, 0, 0, findings=findings)


def _report(*findings: Finding, files: tuple[str, ...] = (), **counts: int) -> AuditReport:
    return AuditReport(
        targets=("tree",),
        findings=findings,
        finding_counts=counts,
        transcripts=tuple(map(_checked, files)),
    )


def test_the_worst_come_first_then_what_is_in_most_files() -> None:
    report = _report(
        _finding("dangling_parent", _WARNING, "a"),
        _finding("dangling_parent", _WARNING, "b"),
        _finding("torn_line", _ERROR, "a", 1),
        _finding("torn_line", _ERROR, "a", 2),
        _finding("torn_line", _ERROR, "a", 3),
        _finding("nul_line", _ERROR, "a"),
        _finding("nul_line", _ERROR, "b"),
        _finding("branch", _INFO, "a"),
        files=("a", "b"),
    )
    groups = fault_groups(report)
    assert [(group.severity, group.code, group.count) for group in groups] == [
        ("error", "nul_line", "2 in 2 files"),
        ("error", "torn_line", "3 in 1 file"),
        ("warning", "dangling_parent", "2 in 2 files"),
    ]


def test_a_place_is_what_an_editor_opens() -> None:
    finding = Finding("torn_line", _ERROR, "d/a.jsonl", Location(412, "1f7a" * 9, 409), "why")
    (group,) = fault_groups(_report(finding, files=("d/a.jsonl", "b.jsonl")))
    (place,) = group.places
    assert place.where == "tree/d/a.jsonl:409"
    assert place.variants() == (
        f"tree/d/a.jsonl:409 (record 412, {'1f7a' * 9})",
        "tree/d/a.jsonl:409 (record 412, 1f7a1f7a...)",
        "tree/d/a.jsonl:409 (record 412)",
        "tree/d/a.jsonl:409",
    )
    assert place.message == ""
    # In a report of a few files, and of what is no transcript, the message is there.
    (group,) = fault_groups(_report(finding, files=("d/a.jsonl",)), with_messages=True)
    assert group.places[0].message == "why"
    (group,) = fault_groups(_report(finding, files=("b.jsonl",)))
    assert group.places[0].message == "why"


def test_a_place_without_a_line_is_the_file() -> None:
    (group,) = fault_groups(_report(Finding("container_invalid", _ERROR, "a.eval")))
    assert group.places[0].variants()[0] == "tree/a.eval"


def test_places_are_of_different_files_where_there_are_several() -> None:
    many = [_finding("torn_line", _ERROR, "a", line) for line in range(1, 90)]
    (group,) = fault_groups(_report(*many, _finding("torn_line", _ERROR, "b"), files=("a", "b")))
    assert [place.where for place in group.places] == [
        "tree/a:1",
        "tree/a:2",
        "tree/a:3",
        "tree/a:4",
        "tree/b:1",
    ]


def test_many_codes_have_few_places() -> None:
    findings = [
        _finding(f"code_{code}", _ERROR, f"{number}") for code in range(12) for number in range(5)
    ]
    groups = fault_groups(_report(*findings, files=("0", "1", "2", "3", "4")))
    assert sum(1 + len(group.places) for group in groups) <= 26


def test_what_is_not_listed_is_counted() -> None:
    listed = _finding("torn_line", _ERROR, "a")
    report = AuditReport(
        findings=(listed,),
        finding_counts={"torn_line": 1_500},
        transcripts=(_checked("a", torn_line=1_000), _checked("b", torn_line=500), _checked("c")),
    )
    assert fault_groups(report)[0].count == "1,500 in 2 files"


def test_a_code_of_two_severities_claims_no_more_than_it_knows() -> None:
    error, info = _finding("reference_missing", _ERROR), _finding("reference_missing", _INFO)
    assert [str(one) for one in weights(_report(error, info, reference_missing=2))] == ["1", "1"]
    found = weights(_report(error, info, reference_missing=3))
    assert [(one.severity, str(one)) for one in found] == [
        (_ERROR, "1 or more"),
        (_INFO, "1 or more"),
    ]
    # All of one severity: the number is known.
    assert [str(one) for one in weights(_report(info, reference_missing=3))] == ["3"]


def test_a_code_of_which_nothing_is_listed_may_be_an_error() -> None:
    (weight,) = weights(_report(torn_line=2))
    assert (weight.severity, weight.count) == (_ERROR, 2)
    (group,) = fault_groups(_report(torn_line=2))
    assert (group.severity, group.places) == ("error", ())
    assert weights(_report(torn_line=0)) == ()


def test_a_code_from_outside_is_explained_by_its_own_words() -> None:
    (group,) = fault_groups(_report(Finding("their_own", _ERROR, "a", message="it is\x1b[31m so")))
    assert group.meaning == "it is\\x1b[31m so"


@pytest.mark.parametrize(
    ("target", "owner"),
    [
        ("a/b.eval", "a/b.eval"),
        ("a/b.eval/samples/1.json", "a/b.eval"),
        ("a/b.evalx", None),
        ("a", None),
        ("", None),
    ],
)
def test_a_member_is_of_its_file(target: str, owner: str | None) -> None:
    assert owner_of(target, {"a/b.eval"}) == owner


@pytest.mark.parametrize(
    ("targets", "name", "folder"),
    [
        (("tree",), "a.jsonl", "tree/"),
        (("tree",), "tree.jsonl", "tree/"),
        (("a.jsonl",), "a.jsonl", ""),
        (("a.eval",), "a.eval/samples/1.json", ""),
        (("one", "two"), "one/a.jsonl", ""),
        ((".",), "a.jsonl", ""),
        (("-",), "a.jsonl", ""),
        ((), "a.jsonl", ""),
    ],
)
def test_names_are_completed_where_one_folder_was_named(
    targets: tuple[str, ...], name: str, folder: str
) -> None:
    finding = _finding("torn_line", _ERROR, name)
    assert folder_of(AuditReport(targets=targets, findings=(finding,))) == folder


def test_only_the_first_sentence_is_told() -> None:
    assert first_sentence("One. Two.") == "One."
    assert first_sentence("A file 1.5 long.") == "A file 1.5 long."
