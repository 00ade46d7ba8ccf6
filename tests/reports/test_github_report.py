"""The GitHub annotations: each line one command, whatever the files held, to any reader."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from unicodedata import category

import pytest
from hypothesis import given

from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript, Citation
from provenance.findings import Finding, Location, Severity
from provenance.reports import write_github
from provenance.reports._github_text import command
from provenance.reports._runner_commands import part_commands
from provenance.resolution import Reason, resolution_for
from tests.reports.hostile import REPORTS, TEXTS, describe, hostile_report

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class _Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def _parse(line: str) -> _Command:
    """Read a line as GitHub's own runner does: the next `::` ends the properties."""
    assert line.startswith("::")
    head, _, data = line[2:].partition("::")
    name, _, given = head.partition(" ")
    properties = {}
    for one in given.split(","):
        if one:
            key, _, value = one.partition("=")
            for token, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
                value = value.replace(token, plain)
            assert key not in properties
            properties[key] = value.replace("%25", "%")
    for token, plain in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        data = data.replace(token, plain)
    return _Command(name, properties, data)


# How an imitation of it reads: the properties end at the last `::`.
_greedy = re.compile(r"^::([^ ]+)( (.+)?)?::([^\r\n]*)$").fullmatch


def _commands(report: AuditReport, **options: Any) -> list[_Command]:
    text = "".join(write_github(report, **{"describe": describe, "verdict": "It fails."} | options))
    assert text.endswith("\n")
    found = []
    for line in text[:-1].split("\n"):
        # No other line end, and nothing that steers a terminal.
        assert _HIDDEN.isdisjoint(map(category, line))
        assert line.count("::") == 2
        assert "##[" not in line
        one = _parse(line)
        again = _greedy(line)
        assert again is not None
        assert again[1] == one.name
        assert set(one.properties) <= {"file", "line", "title"}
        assert one.message.strip()
        found.append(one)
    return found


@given(REPORTS, TEXTS)
def test_whatever_the_files_held_each_line_is_one_command_of_ours(
    report: AuditReport, folder: str
) -> None:
    *found, last = _commands(report, folder=folder)
    notices = [one for one in found if one.name == "notice"]
    found = found[: len(found) - len(notices)]
    assert len(notices) <= 9  # GitHub shows ten of a step
    assert {one.name for one in found} <= {"error", "warning"}
    assert (last.name, last.properties) == ("notice", {"title": "ctxaudit"})
    wanted = [one for one in report.sources if one.resolution.status != "available"]
    said = sum(one.waiver is None for one in wanted)
    said += sum(one.waiver is None and one.severity != "info" for one in report.findings)
    assert len(found) == said
    levels = [one.name for one in found]
    assert levels == sorted(levels)  # errors, then warnings
    for one in found:
        assert re.fullmatch("[1-9][0-9]*", one.properties.get("line", "1"))
        parts = one.properties.get("file", "a").split("/")
        assert ".." not in parts
        assert parts[0]  # not absolute


@given(TEXTS, TEXTS)
def test_a_text_comes_out_as_it_went_in(message: str, title: str) -> None:
    one = _parse(command("error", message, title=title)[:-1])
    for came, went in ((one.message, message), (one.properties.get("title", ""), title)):
        if (
            went.isprintable()
            and len(went) < 1_000
            and "::" not in went
            and part_commands(went) == went
        ):
            assert came.strip() == " ".join(went.split())


@pytest.mark.parametrize(
    ("message", "title", "line"),
    [
        ("100% sure", "a:b,c", "::error title=a%3Ab%2Cc::100%25 sure"),
        ("%0A::error::x", "%3A", "::error title=%253A::%250A: :error: :x"),
        ("a\r\nb", "", "::error::a b"),
        ("::add-mask::x", "", "::error:: : :add-mask: :x"),
        (":::", "", "::error:: : : :"),
        ("a:", "b", "::error title=b::a:"),
        ("##[set-env name=A]b", "", "::error::## [set-env name=A]b"),
    ],
)
def test_the_escaping(message: str, title: str, line: str) -> None:
    assert command("error", message, title=title) == line + "\n"


def test_the_worst_first_and_the_numbers_last() -> None:
    found = _commands(hostile_report())
    assert [one.properties["title"] for one in found] == [
        "corrupt: artifact_digest_mismatch",
        "corrupt: malformed_pointer",
        "denied: policy_denied",
        "missing: artifact_missing",
        "torn_line",
        "outside_code",
        "waiver_expired",
        "inconclusive: source_read_failed",
        "interrupted_call",
        "ctxaudit: environment",
        *["ctxaudit: waiver"] * 3,
        *["ctxaudit: seals"] * 2,
        "ctxaudit",
    ]
    assert found[-1].message == (
        "It fails. 10 sources: 2 corrupt, 1 denied, 2 missing, 1 inconclusive, 1 available, "
        "3 not checked. 1 transcript checked whole. 2 files not looked at. 8 findings. 2 waived."
    )


def test_where_it_is() -> None:
    finding = Finding("torn_line", Severity.ERROR, "a b.jsonl", Location(line=5), "torn")
    report = AuditReport(("home",), findings=(finding,))
    assert _commands(report, folder="logs")[0].properties == {
        "file": "logs/a b.jsonl",
        "line": "5",
        "title": "torn_line",
    }
    altered = {"a::b.jsonl": "a: :b.jsonl", "a##[x].jsonl": "a## [x].jsonl", ":a": " :a"}
    outside = frozenset({"waivers.toml"})
    for name in ("/etc/passwd", "../up", "a/../b", "--pointer", "-", "waivers.toml", *altered):
        finding = Finding("x", Severity.ERROR, name, Location(line=3), message="m")
        report = AuditReport(("home",), findings=(finding,), outside_names=outside)
        (one, _) = _commands(report)
        assert one.properties == {"title": "x"}
        assert one.message.strip() == f"{altered.get(name, name)}: m".strip()


def test_the_run_is_told_in_notices_those_that_are_over_first() -> None:
    found = [one.message for one in _commands(hostile_report()) if one.name == "notice"]
    assert found[0] == "Set by the environment, and weakens the verdict: CTXAUDIT_FAIL_ON."
    assert found[1] == (
        "Waiver, expired: transcript:s1:9 in home: it ran : :error: :out (owner: ops, last day: "
        "2025-12-31)."
    )
    assert found[3].startswith("Waiver, unused: torn_line at other/x.jsonl: ")
    assert found[4] == (
        "Seals of home: 3 by ctxaudit.example/a+0123abcd, 41 entries, log sound; "
        "2 not compared: the operator's policy denies them."
    )
    assert "log NOT sound" in found[5]


def test_what_rests_on_it_without_what_is_claimed() -> None:
    (one,) = [
        found for found in _commands(hostile_report()) if "missing:" in found.properties["title"]
    ]
    assert "summary message 0 block 0 in receipts/r.json (2 steps away)" in one.message
    assert one.message.endswith("9 more, at least.")
    everything = "".join(write_github(hostile_report(), describe=describe, verdict="x"))
    assert "is</b>" not in everything
    assert "what it says" not in everything


def _many(count: int) -> AuditReport:
    return AuditReport(
        ("home",),
        sources=tuple(
            AuditedSource(resolution_for(f"p{number}", Reason.ARTIFACT_MISSING), (Citation("f"),))
            for number in range(count)
        ),
    )


@pytest.mark.parametrize(("count", "shown"), [(10, False), (11, True)])
def test_it_says_that_github_shows_ten(count: int, shown: bool) -> None:
    *found, last = _commands(_many(count))
    assert len(found) == count
    assert ("GitHub shows ten" in last.message) is shown


def test_a_log_of_any_length_is_bounded_and_the_rest_counted() -> None:
    *found, last = _commands(_many(1_005))
    assert len(found) == 1_000
    assert "5 of them are not listed here" in last.message


def test_a_run_without_faults_says_so() -> None:
    (last,) = _commands(AuditReport(("home",)), verdict="Fine.")
    assert last == _Command("notice", {"title": "ctxaudit"}, "Fine. 0 sources.")


def test_a_run_over_transcripts_alone_says_nothing_of_sources() -> None:
    one = CheckedTranscript("a.jsonl", "native", ("s",), 1, 0, 0)
    (last,) = _commands(AuditReport(("logs",), transcripts=(one, one)), verdict="Fine.")
    assert last.message == "Fine. 2 transcripts checked whole."
