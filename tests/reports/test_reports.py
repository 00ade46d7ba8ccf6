"""The JSON and NDJSON reports: valid, complete, and readable by strict readers."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript, Citation
from provenance.findings import Finding, Location, Severity
from provenance.reports import closing_lines, result_line, write_json, write_ndjson
from provenance.reports._encoding import to_json
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Quiescence,
    Reason,
    SourceResolution,
    Strength,
)
from provenance.schemas import load_schema

_SCHEMA = json.loads(load_schema("report"))
_VALIDATOR = jsonschema.Draft202012Validator(_SCHEMA)
_TIME = "2026-01-01T00:00:00.000Z"
_texts = st.text(max_size=20)
_maybe = st.none() | _texts


@st.composite
def _sources(draw: st.DrawFn) -> AuditedSource:
    reason = draw(st.sampled_from(Reason))
    available = reason.startswith("verified")
    resolution = SourceResolution(
        draw(_texts),
        REASON_STATUS[reason],
        draw(st.sampled_from(["transcript", "artifact", None])),
        draw(st.from_regex(r"[0-9a-f]{64}", fullmatch=True)) if available else None,
        draw(_maybe),
        reason,
        draw(st.sampled_from(Strength)) if available else None,
        reason not in INCONCLUSIVE_REASONS,
        draw(st.sampled_from(Quiescence)) if available else None,
    )
    return AuditedSource(
        resolution,
        tuple(draw(st.lists(st.builds(Citation, _texts, _maybe, _maybe, _maybe), max_size=3))),
    )


_numbers = st.none() | st.integers(1, 10**9)
_codes = st.from_regex(r"[a-z][a-z_]{0,10}", fullmatch=True)
_counts = st.dictionaries(_codes, st.integers(1, 9), max_size=3)
_findings = st.builds(
    Finding,
    _codes,
    st.sampled_from(Severity),
    _texts,
    st.builds(Location, _numbers, _maybe, _numbers),
    _texts,
)
_transcripts = st.builds(
    CheckedTranscript,
    _texts,
    st.just("native"),
    st.tuples(_texts),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9),
    _counts,
    _maybe,
    _maybe,
    st.none() | st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
    _counts,
)
_reports = st.builds(
    AuditReport,
    targets=st.lists(_texts, max_size=3).map(tuple),
    started_at=st.just(_TIME),
    finished_at=st.just(_TIME),
    sources=st.lists(_sources(), max_size=4).map(tuple),
    findings=st.lists(_findings, max_size=3).map(tuple),
    finding_counts=_counts,
    transcripts=st.lists(_transcripts, max_size=2).map(tuple),
    not_checked=st.integers(0, 9),
    uncited=st.integers(0, 9),
    is_interrupted=st.booleans(),
    weakened_by_environment=st.sampled_from([(), ("CTXAUDIT_FAIL_ON",)]),
)


def _strict(text: str) -> Any:
    """Read JSON as a strict reader does: UTF-8, no half characters."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


@given(_reports)
def test_every_report_is_valid(report: AuditReport) -> None:
    text = "".join(write_json(report, version="1.2.3"))
    assert text.isascii()
    document = _strict(text)
    _VALIDATOR.validate(document)
    assert document["tool"] == {"name": "ctxaudit", "version": "1.2.3"}
    assert len(document["results"]) == len(report.sources)
    assert len(document["findings"]) == len(report.findings)
    assert len(document["transcripts"]) == len(report.transcripts)


@given(_reports)
def test_each_result_has_a_line_and_what_else_there_is_follows(report: AuditReport) -> None:
    lines = [_strict(line) for line in "".join(write_ndjson(report)).splitlines()]
    count = len(report.sources)
    document = json.loads("".join(write_json(report, version="1")))
    assert lines[:count] == document["results"]
    rest = lines[count:]
    assert [line["finding"] for line in rest if "finding" in line] == [
        finding
        for finding in document["findings"]
        if finding["severity"] != "info" or report.transcripts
    ]
    assert [line["transcript"] for line in rest if "transcript" in line] == document["transcripts"]
    runs = [line["run"] for line in rest if "run" in line]
    whole = not (report.not_checked or report.is_interrupted or report.weakened_by_environment)
    assert len(runs) == (not whole)
    for run in runs:
        assert run["summary"] == document["summary"]
    assert not any("pointer" in line for line in rest)


@given(_reports)
def test_streaming_gives_the_same_lines(report: AuditReport) -> None:
    streamed = [*map(result_line, report.sources), *closing_lines(report)]
    assert "".join(streamed) == "".join(write_ndjson(report))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in streamed)


def test_one_result_is_one_line_of_the_document() -> None:
    resolution = SourceResolution("x", REASON_STATUS[Reason.ARTIFACT_MISSING], reason="r")
    report = AuditReport(sources=(AuditedSource(resolution),) * 3)
    text = "".join(write_json(report, version="1"))
    assert sum(line.startswith('    {"pointer"') for line in text.splitlines()) == 3


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\ud800", r'"\ufffd"'),
        ("\udfff\ud800", r'"\ufffd\ufffd"'),
        ("\U0001f600", r'"\ud83d\ude00"'),
        ("\ud83d\U0001f600", r'"\ufffd\ud83d\ude00"'),
        (r"\ud800", r'"\\ud800"'),
        (r"\\ud800", r'"\\\\ud800"'),
        ("\\\ud800", r'"\\\ufffd"'),
        ("é\u2028", r'"\u00e9\u2028"'),
    ],
)
def test_half_characters(value: str, written: str) -> None:
    assert to_json(value) == written


@given(st.text())
def test_whole_texts_come_back(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        _strict(to_json(text))
    else:
        assert json.loads(to_json(text)) == text


def test_the_schema_refuses_what_is_no_report() -> None:
    report = json.loads(
        "".join(write_json(AuditReport(started_at=_TIME, finished_at=_TIME), version="1"))
    )
    _VALIDATOR.validate(report)
    for change in (
        {"extra": 1},
        {"schema": "ctxaudit.report/2"},
        {"results": [{}]},
        {"summary": {}},
    ):
        assert not _VALIDATOR.is_valid(report | change)
    for key in report:
        assert not _VALIDATOR.is_valid({k: v for k, v in report.items() if k != key})
