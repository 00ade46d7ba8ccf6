"""The JUnit report: valid, with numbers that add up, whatever the files held."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hypothesis import given

from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript, Citation
from provenance.findings import Finding, Location, Severity
from provenance.reports import write_junit
from provenance.reports._runner_commands import part_commands
from provenance.reports._xml_text import xml_text
from provenance.resolution import Reason, resolution_for
from tests.reports.hostile import HOSTILE, REPORTS, TEXTS, describe, hostile_report

_SCHEMA = xmlschema.XMLSchema10(Path(__file__).parent.parent / "data" / "junit" / "junit-10.xsd")


def _write(report: AuditReport, **options: Any) -> str:
    return "".join(write_junit(report, **{"describe": describe} | options))


def _read(report: AuditReport, **options: Any) -> ET.Element:
    """Write a report, hold it to the schema and to its own numbers, and read it."""
    text = _write(report, **options)
    assert text.isascii()
    root = ET.fromstring(text)
    _SCHEMA.validate(root)
    counted: Counter[str] = Counter()
    for suite in root:
        inside = Counter(_outcome(case) for case in suite)
        numbers = {
            key: int(suite.get(key, "")) for key in ("tests", "failures", "errors", "skipped")
        }
        assert numbers == {
            "tests": len(suite),
            "failures": inside["failure"],
            "errors": inside["error"],
            "skipped": inside["skipped"],
        }
        counted += inside
    assert int(root.get("tests", "")) == counted.total()
    assert int(root.get("failures", "")) == counted["failure"]
    assert int(root.get("errors", "")) == counted["error"]
    return root


def _outcome(case: ET.Element) -> str:
    assert case.tag == "testcase"
    (outcome,) = [child.tag for child in case] or ["passed"]
    assert outcome in {"passed", "failure", "error", "skipped", "system-out"}
    return "passed" if outcome == "system-out" else outcome


def _cases(root: ET.Element) -> dict[str, str]:
    return {case.get("name", ""): _outcome(case) for case in root.iter("testcase")}


@given(REPORTS)
def test_whatever_the_files_held_it_is_valid_and_the_numbers_add_up(report: AuditReport) -> None:
    root = _read(report, failed="It fails.")
    cases = [case.get("classname") for case in root.iter("testcase")]
    assert cases.count("ctxaudit.source") == len(report.sources)
    # One finding is one case; what is not listed of a code has one, too.
    assert cases.count("ctxaudit.finding") >= len(report.findings)
    texts = [text for one in root.iter() for text in (*one.attrib.values(), one.text or "")]
    assert not any(
        re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\u2028]", one) for one in texts
    )
    # A run that fails is no success here either, and never an empty one.
    assert {"failure", "error"} & {_outcome(case) for case in root.iter("testcase")}


@given(TEXTS)
def test_a_text_comes_out_as_it_went_in_or_as_its_escape(text: str) -> None:
    written = xml_text(text)
    attribute = ET.fromstring(f'<a b="{written}">{written}</a>')
    assert attribute.get("b") == (attribute.text or "")
    if text.isprintable() and len(text) <= 1_000 and not text.startswith("\U0001fffe"):
        plain = (
            part_commands(" ".join(text.split()))
            .replace("\ufffe", "\\ufffe")
            .replace("\uffff", "\\uffff")
        )
        assert attribute.get("b") == plain


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (Reason.VERIFIED_ARTIFACT, "passed"),
        (Reason.ARTIFACT_MISSING, "failure"),
        (Reason.POLICY_DENIED, "failure"),
        (Reason.ARTIFACT_DIGEST_MISMATCH, "failure"),
        (Reason.UNSUPPORTED_SCHEME, "failure"),
        (Reason.SOURCE_READ_FAILED, "error"),
    ],
)
def test_each_state_has_its_outcome(reason: Reason, outcome: str) -> None:
    report = AuditReport(("home",), sources=(AuditedSource(resolution_for("p", reason)),))
    assert _cases(_read(report)) == {"p": outcome}


def test_what_is_waived_is_skipped_with_its_reason() -> None:
    (case,) = _read(hostile_report()).findall(".//testcase[@name='transcript:s1:4']")
    (skipped,) = case
    assert skipped.tag == "skipped"
    assert (
        skipped.get("message") == "waived by @ops|all until 2026-12-31: lost </skipped> with `disk`"
    )


def test_what_was_not_checked_is_skipped_and_not_passed() -> None:
    report = AuditReport(("home",), not_checked=3, transcripts_not_checked=1, is_interrupted=True)
    assert _cases(_read(report)) == {
        "sources that were not checked": "skipped",
        "files that may be transcripts that were not checked": "skipped",
        "interrupted": "error",
    }


def test_a_suite_for_each_target_also_for_one_without_anything() -> None:
    sources = tuple(
        AuditedSource(
            resolution_for(f"transcript:{name}:1", Reason.VERIFIED_TRANSCRIPT_EVENT),
            (Citation(f"{name}/states/a.json"),),
        )
        for name in ("a", "a/b")
    )
    root = _read(AuditReport(("a", "a/b", "c"), sources=sources))
    assert [(suite.get("name"), len(suite)) for suite in root] == [("a", 1), ("a/b", 1), ("c", 0)]


def test_a_run_that_fails_has_a_case_that_does() -> None:
    nothing = _read(AuditReport(("home",)), failed="Nothing was verified.")
    assert _cases(nothing) == {"verdict": "error"}
    assert _cases(_read(AuditReport(("home",)))) == {}
    lost = AuditReport(
        ("home",), sources=(AuditedSource(resolution_for("p", Reason.ARTIFACT_MISSING)),)
    )
    assert _cases(_read(lost, failed="Missing.")) == {"p": "failure"}


def test_findings_by_their_weight() -> None:
    findings = tuple(
        Finding(f"code_{severity}", severity, "a.jsonl", Location(line=3), "field: x")
        for severity in Severity
    )
    report = AuditReport(("home",), findings=findings, finding_counts={"code_error": 9, "gone": 2})
    assert _cases(_read(report)) == {
        "code_info a.jsonl:3": "passed",
        "code_warning a.jsonl:3": "passed",
        "code_error a.jsonl:3": "failure",
        "code_error: more than are listed": "passed",
        "gone: more than are listed": "failure",
    }
    weighed = _read(report, weigh=lambda code, severity: "error" if severity == "error" else "")
    assert _cases(weighed)["code_error a.jsonl:3"] == "error"


def test_a_transcript_without_findings_is_a_case() -> None:
    good = CheckedTranscript("a.jsonl", "native", ("s",), 1, 0, 0)
    bad = CheckedTranscript("b.jsonl", "native", ("s",), 1, 0, 0, findings={"torn_line": 1})
    assert _cases(_read(AuditReport(("home",), transcripts=(good, bad)))) == {"a.jsonl": "passed"}


def test_consequences_stand_below_the_failure() -> None:
    (case,) = _read(hostile_report()).findall(".//testcase[@name='artifact:s1:a.txt:0123456789ab']")
    lines = (case[0].text or "").split("\n")
    assert lines[0] == "missing: It is not there."
    assert lines[4] == "rests on it: summary message 0 block 0 in receipts/s]]>.json (3 steps away)"
    assert lines[-1] == "rests on it: 7 more, at least"


def test_no_evidence_stands_in_it() -> None:
    assert "what it says" not in _write(hostile_report())


def test_hostile_texts_are_there_to_be_escaped() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE)
