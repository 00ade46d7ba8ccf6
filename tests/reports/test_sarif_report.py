"""The SARIF report: valid, with places that can be opened, and safe whatever the files held."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import category
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.explanations import all_explanations, find_explanation
from provenance.audit_report import AuditedSource, AuditReport, Citation
from provenance.consequences import Consequence
from provenance.findings import Finding, Location, Severity
from provenance.reports import write_sarif
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    resolution_for,
)
from tests.reports.hostile import REPORTS, hostile_report

_DATA = Path(__file__).parent.parent / "data" / "sarif"
_SCHEMA = json.loads((_DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
_VALIDATOR = jsonschema.Draft4Validator(_SCHEMA, format_checker=jsonschema.FormatChecker())
_TIME = "2026-01-01T00:00:00.000Z"
# A relative path of RFC 3986 (`path-noscheme`); the schema's own `format` needs another package.
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=@-]|%[0-9A-F]{2})"
_is_relative_path = re.compile(rf"{_PCHAR}+(?:/{_PCHAR}+)*/?").fullmatch


def _page(code: str) -> tuple[str, str, str] | None:
    page = find_explanation(code)
    return None if page is None else (page.meaning, page.arises, page.remedy)


def _no_page(code: str) -> None:
    return None


def _write(report: AuditReport, **options: Any) -> str:
    return "".join(write_sarif(report, **{"version": "1.2.3", "describe": _page} | options))


def _run(report: AuditReport, **options: Any) -> dict[str, Any]:
    """Write a report, and read it as a strict reader does."""
    text = _write(report, **options)
    assert text.isascii()
    document = json.loads(text)
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    _VALIDATOR.validate(document)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    return dict(run)


def _results(report: AuditReport, **options: Any) -> list[dict[str, Any]]:
    return list(_run(report, **options)["results"])


def _finding(
    code: str = "torn_line",
    target: str = "a.jsonl",
    message: str = "line: expected JSON, got half of it",
    severity: Severity = Severity.ERROR,
    **place: Any,
) -> Finding:
    return Finding(code, severity, target, Location(**place), message)


def _of(*findings: Finding, **fields: Any) -> AuditReport:
    return AuditReport(findings=findings, **fields)


def _source(reason: Reason, *cited_by: Citation, pointer: str = "transcript:s1:4") -> AuditedSource:
    return AuditedSource(resolution_for(pointer, reason), cited_by)


def _cited(*sources: AuditedSource, **fields: Any) -> AuditReport:
    return AuditReport(sources=sources, **fields)


def _only_uri(report: AuditReport, **options: Any) -> str:
    (result,) = _results(report, **options)
    (location,) = result["locations"]
    return str(location["physicalLocation"]["artifactLocation"]["uri"])


# --- hostile text in every field -------------------------------------------------------------

_hostile = st.sampled_from(
    [
        "",
        ".",
        "..",
        "/",
        "//evil.example/x",
        "/etc/passwd",
        "../../secret",
        "a/../../b",
        "a//b",
        "a/./b",
        "..\\..\\secret",
        "C:\\Windows\\x",
        "file:///etc/passwd",
        "https://evil.example/",
        "javascript:alert(1)",
        "a b#c?d%2e%2e/e",
        "%2e%2e/%2e%2e/x",
        "a\r\nb\u2028c\x85d\x0be",
        "\x00\x1b[31m\x7f\u202e",
        "[click](http://evil.example) {0} {{1}}",
        "\ud800\udcff\udfff",
        "caf\u00e9/\U0001f600.jsonl",
        "line 0",
        "line 7",
        "line 99999999999999999999",
        "-",
        "--pointer",
        "x" * 3_000,
    ]
)
_texts = _hostile | st.text(max_size=20) | st.text("./\\:%#? a\ud800\udcff\n", max_size=12)
_maybe = st.none() | _texts
_numbers = st.none() | st.integers(-2, 5) | st.integers(-(10**30), 10**30)
_findings = st.builds(
    Finding,
    _texts,
    st.sampled_from(Severity),
    _texts,
    st.builds(Location, _numbers, _maybe, _numbers),
    _texts,
)


@st.composite
def _sources(draw: st.DrawFn) -> AuditedSource:
    reason = draw(st.sampled_from(Reason))
    resolution = SourceResolution(
        draw(_texts),
        REASON_STATUS[reason],
        draw(_maybe),
        reason=draw(st.just(reason) | _maybe),
        conclusive=reason not in INCONCLUSIVE_REASONS,
    )
    cited_by = draw(st.lists(st.builds(Citation, _texts, _maybe, _maybe, _maybe), max_size=3))
    return AuditedSource(resolution, tuple(cited_by))


_reports = st.builds(
    AuditReport,
    targets=st.lists(_texts, max_size=3).map(tuple),
    started_at=st.just(_TIME) | _texts,
    finished_at=st.just(_TIME) | _texts,
    sources=st.lists(_sources(), max_size=4).map(tuple),
    findings=st.lists(_findings, max_size=4).map(tuple),
    finding_counts=st.dictionaries(_texts, st.integers(1, 9), max_size=3),
    not_checked=st.integers(0, 9),
    is_interrupted=st.booleans(),
    weakened_by_environment=st.lists(_texts, max_size=2).map(tuple),
)
_describes = st.sampled_from([_page, _no_page]) | st.tuples(_texts, _texts, _texts).map(
    lambda page: lambda code: page
)


def _is_plain_line(text: str) -> bool:
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return text == " ".join(text.split()) != "" and hidden.isdisjoint(map(category, text))


@given(_reports, _describes, _texts)
def test_whatever_the_files_held_the_report_is_valid_and_safe(
    report: AuditReport, describe: Callable[[str], Any], folder: str
) -> None:
    run = _run(report, describe=describe, folder=folder)
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert ids == sorted(set(ids))
    for rule in rules:
        for key in ("shortDescription", "fullDescription", "help"):
            assert _is_plain_line(rule[key]["text"])
    wanted = [source for source in report.sources if source.resolution.status != "available"]
    assert len(run["results"]) == len(wanted) + len(report.findings)
    assert {result["ruleId"] for result in run["results"]} == set(ids)
    fingerprints = set()
    for result in run["results"]:
        assert result["ruleId"] == ids[result["ruleIndex"]]
        message = result["message"]["text"]
        assert _is_plain_line(message)
        assert "](" not in message
        assert not re.search(r"\{[0-9]+\}", message.replace("{{", "").replace("}}", ""))
        assert 1 <= len(result["locations"]) <= 1_000
        for location in result["locations"]:
            _check(location, list(run["originalUriBaseIds"]))
        fingerprints.add(result["partialFingerprints"]["ctxaudit/v1"])
    assert len(fingerprints) == len(run["results"])


def _check(location: dict[str, Any], bases: list[str]) -> None:
    physical = location["physicalLocation"]
    place = physical["artifactLocation"]
    assert place["uriBaseId"] in bases
    uri = place["uri"]
    assert _is_relative_path(uri), uri
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert parts.path == uri
    base = "http://host/base/"
    assert urljoin(base, uri).startswith(base)
    # Also where a reader decodes first, or takes a backslash for a slash.
    steps = re.split(rb"[/\\]", unquote_to_bytes(uri))
    assert b".." not in steps
    assert not uri.startswith("/")
    region = physical.get("region", {"startLine": 1})
    assert region["startLine"] >= 1
    assert region["startLine"] < 2**31
    for logical in location.get("logicalLocations", []):
        assert _is_plain_line(logical["name"])


@given(_reports, _texts)
def test_one_report_is_always_written_the_same(report: AuditReport, folder: str) -> None:
    assert _write(report, folder=folder) == _write(report, folder=folder)


@given(REPORTS, _texts)
def test_waivers_and_consequences_are_valid_and_safe(report: AuditReport, folder: str) -> None:
    results = _results(report, folder=folder)
    reported = [one for one in report.sources if one.resolution.status != "available"]
    waivers = [one.waiver for one in (*reported, *report.findings)]
    has_waivers = any(waiver is not None for waiver in waivers)
    assert len(results) == len(waivers)
    for result, waiver in zip(results, waivers, strict=True):
        assert ("suppressions" in result) is has_waivers
        assert len(result.get("suppressions", [])) == (waiver is not None)
        for one in result.get("relatedLocations", []):
            _check(one, ["TARGETROOT"])
            assert _is_plain_line(one["message"]["text"])


def test_what_is_waived_is_suppressed_with_who_and_why() -> None:
    results = _results(hostile_report())
    said = {result["ruleId"]: result["suppressions"] for result in results}
    assert said["torn_line"] == []
    assert said["waived_code"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "known (waived by ops until 2026-12-31)",
        }
    ]
    assert said["transcript_missing"][0]["justification"].startswith("lost </skipped>")
    assert "suppressions" not in _results(_of(_finding()))[0]


def test_consequences_are_named_without_what_is_claimed() -> None:
    (result,) = [one for one in _results(hostile_report()) if one["ruleId"] == "artifact_missing"]
    assert [one["message"]["text"] for one in result["relatedLocations"]] == [
        "Rests on it: summary message 0 block 0 in receipts/r.json (2 steps away).",
        "Rests on it: summary message 0 block 0 in receipts/s]]>.json (3 steps away).",
        "Rests on it: request in snapshots/q.json (4 steps away).",
    ]
    bag = result["properties"]["consequences"]
    assert [(one["kind"], one["steps"], one["parent"]) for one in bag] == [
        ("fact", 1, None),
        ("text", 1, None),
        ("summary", 2, 1),
        ("summary", 3, 2),
        ("request", 4, 3),
    ]
    assert not any("text" in one for one in bag)
    assert result["properties"]["consequences_left_out"] == 7


def test_of_many_consequences_the_first_are_places() -> None:
    many = tuple(Consequence("summary", "r.json", str(n), steps=2) for n in range(150))
    source = replace(_source(Reason.ARTIFACT_MISSING), consequences=many)
    (result,) = _results(_cited(source))
    assert len(result["relatedLocations"]) == 100
    assert len(result["properties"]["consequences"]) == 150


# --- places ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a.jsonl", "a.jsonl"),
        ("states/one.json", "states/one.json"),
        ("my notes/a b.jsonl", "my%20notes/a%20b.jsonl"),
        ("a#1?x=2.jsonl", "a%231%3Fx=2.jsonl"),
        ("100%.jsonl", "100%25.jsonl"),
        ("%2e%2e/x", "%252e%252e/x"),
        ("caf\u00e9.jsonl", "caf%C3%A9.jsonl"),
        ("\U0001f600", "%F0%9F%98%80"),
        ("a\nb\x00\x1b", "a%0Ab%00%1B"),
        ("back\\slash", "back%5Cslash"),
        ("C:/x", "C%3A/x"),
        ("mailto:x", "mailto%3Ax"),
        (os.fsdecode(b"\xff\xfe.jsonl"), "%FF%FE.jsonl"),
        ("half\ud800", "half%EF%BF%BD"),
        ("@scope/a+b,c;d=e!.jsonl", "@scope/a+b,c%3Bd=e!.jsonl"),
        ("-rf", "-rf"),
        ("...", "..."),
        (".hidden", ".hidden"),
        ("a..b", "a..b"),
    ],
)
def test_a_name_becomes_a_relative_uri(name: str, uri: str) -> None:
    assert _only_uri(_of(_finding(target=name))) == uri


@given(st.binary(min_size=1, max_size=12).filter(lambda name: not set(name) & set(b"/\\")))
def test_the_uri_of_a_file_is_its_name_byte_for_byte(name: bytes) -> None:
    if name in (b".", b".."):
        return
    uri = _only_uri(_of(_finding(target="d/" + os.fsdecode(name))))
    assert unquote_to_bytes(uri) == b"d/" + name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../x",
        "a/..",
        "a/./b",
        "./a",
        "/etc/passwd",
        "//host/x",
        "a//b",
        "..\\x",
        "a\\..\\b",
    ],
)
def test_a_name_that_could_lead_elsewhere_becomes_the_whole_and_is_named(name: str) -> None:
    (result,) = _results(_of(_finding(target=name, line=3)))
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "./", "uriBaseId": "TARGETROOT"}
    }
    named = [{"name": name, "kind": "target"}] if name else None
    assert location.get("logicalLocations") == named
    assert result["properties"]["target"] == name


@pytest.mark.parametrize("name", ["-", "--pointer"])
def test_what_stands_in_no_file_is_named(name: str) -> None:
    (result,) = _results(_of(_finding(target=name, ordinal=2)), folder="home")
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "home/"
    assert location["logicalLocations"] == [
        {"name": "2", "kind": "record"},
        {"name": name, "kind": "target"},
    ]


def test_the_label_of_an_audited_folder_comes_before_its_files() -> None:
    report = _of(_finding(target="states/a.json"))
    assert _only_uri(report, folder="my home") == "my%20home/states/a.json"
    assert _only_uri(report, folder=".") == "states/a.json"
    assert _only_uri(report, folder="") == "states/a.json"
    assert _only_uri(report, folder="../x") == "states/a.json"
    whole = _of(_finding(target="."))
    assert _only_uri(whole, folder="home") == "home/"
    assert _only_uri(whole) == "./"
    assert "logicalLocations" not in _results(whole)[0]["locations"][0]


def test_the_base_is_declared_without_a_path_of_the_machine() -> None:
    run = _run(AuditReport(targets=("home",)), folder="home")
    assert set(run["originalUriBaseIds"]) == {"TARGETROOT"}
    assert "uri" not in run["originalUriBaseIds"]["TARGETROOT"]
    assert run["columnKind"] == "utf16CodeUnits"


@pytest.mark.parametrize(
    ("line", "region"), [(1, {"startLine": 1}), (2**31 - 1, {"startLine": 2**31 - 1})]
)
def test_a_line_becomes_the_region(line: int, region: object) -> None:
    (result,) = _results(_of(_finding(line=line)))
    assert result["locations"][0]["physicalLocation"]["region"] == region


@pytest.mark.parametrize("line", [None, 0, -1, 2**31])
def test_what_is_no_line_becomes_no_region(line: int | None) -> None:
    (result,) = _results(_of(_finding(line=line)))
    assert "region" not in result["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ({"native_id": "u-1", "ordinal": 4, "line": 5}, "u-1"),
        ({"ordinal": 4, "line": 5}, "4"),
        ({"line": 5}, None),
        ({"native_id": "", "line": 5}, None),
        ({"native_id": "a\nb\u202e"}, "a b\\u202e"),
    ],
)
def test_a_record_is_named(place: dict[str, Any], name: str | None) -> None:
    (result,) = _results(_of(_finding(**place)))
    named = None if name is None else [{"name": name, "kind": "record"}]
    assert result["locations"][0].get("logicalLocations") == named
    empty = {"ordinal": None, "native_id": None, "line": None}
    assert result["properties"] == {"target": "a.jsonl", "severity": "error"} | empty | place


# --- findings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severity", "level"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note")],
)
def test_a_severity_becomes_a_level(severity: Severity, level: str) -> None:
    run = _run(_of(_finding(severity=severity)))
    assert run["results"][0]["level"] == level
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"] == {"level": level}


@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_has_the_highest_level_of_its_results(order: int) -> None:
    findings = [_finding(severity=severity) for severity in Severity][::order]
    run = _run(_of(*findings))
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["defaultConfiguration"] == {"level": "error"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("field: expected 1, got 2", "field: expected 1, got 2"),
        ("  two\r\nlines\u2028here ", "two lines here"),
        ("[x](http://evil.example)", "[x] (http://evil.example)"),
        ("{0} and }{", "{{0}} and }}{{"),
        ("\x1b[31m\u202ered", "\\u001b[31m\\u202ered"),
        ("\ud800", "\\ud800"),
        ("", "A state file of the home cannot be read, so nobody knows what it rests on."),
        (" \n", "A state file of the home cannot be read, so nobody knows what it rests on."),
    ],
)
def test_a_message_is_one_plain_line(message: str, text: str) -> None:
    (result,) = _results(_of(_finding("state_unreadable", message=message)))
    assert result["message"] == {"text": text}


def test_a_finding_without_words_has_its_code_as_its_message() -> None:
    (result,) = _results(_of(_finding("strange_code", message="")), describe=_no_page)
    assert result["message"] == {"text": "strange_code"}


def test_a_message_is_cut_where_it_is_too_long() -> None:
    (result,) = _results(_of(_finding(message="x" * 5_000)))
    assert result["message"]["text"] == "x" * 1_000 + "..."


# --- sources ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_has_its_level_and_passes_are_left_out(reason: Reason) -> None:
    run = _run(_cited(_source(reason, Citation("states/a.json", "f1"))))
    if reason in (Reason.VERIFIED_ARTIFACT, Reason.VERIFIED_TRANSCRIPT_EVENT):
        assert run["results"] == run["tool"]["driver"]["rules"] == []
        return
    (result,) = run["results"]
    assert result["ruleId"] == reason
    is_warning = reason in INCONCLUSIVE_REASONS or reason is Reason.UNSUPPORTED_SCHEME
    assert result["level"] == ("warning" if is_warning else "error")
    assert result["properties"]["pointer"] == "transcript:s1:4"
    state = "inconclusive" if reason in INCONCLUSIVE_REASONS else REASON_STATUS[reason]
    page = find_explanation(reason)
    assert page is not None
    assert result["message"]["text"] == f"transcript:s1:4: {state}. {page.meaning}"
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": page.meaning}
    assert page.arises in rule["help"]["text"]
    assert page.remedy in rule["help"]["text"]


def test_each_place_that_cites_a_source_is_a_location() -> None:
    source = _source(
        Reason.TRANSCRIPT_MISSING,
        Citation("states/a.json", "f1", "s1", "what is claimed"),
        Citation("notes.md", "line 12", None, "what is claimed"),
        Citation("notes.md"),
        Citation("-", "line 3"),
    )
    (result,) = _results(_cited(source))
    places = [
        (
            location["physicalLocation"]["artifactLocation"]["uri"],
            location["physicalLocation"].get("region"),
            [logical["name"] for logical in location.get("logicalLocations", [])],
        )
        for location in result["locations"]
    ]
    assert places == [
        ("states/a.json", None, ["f1"]),
        ("notes.md", {"startLine": 12}, []),
        ("notes.md", None, []),
        ("./", None, ["line 3", "-"]),
    ]
    assert result["message"]["text"].endswith(" Cited in 4 places.")
    assert result["properties"]["places"] == 4
    assert "what is claimed" not in _write(_cited(source))


@pytest.mark.parametrize(
    "item", ["line 0", "line 01", "line x", "line 1 ", "line \u0661", "Line 1"]
)
def test_an_item_that_is_no_line_is_named(item: str) -> None:
    source = _source(Reason.TRANSCRIPT_MISSING, Citation("a.json", item))
    (location,) = _results(_cited(source))[0]["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"name": item.strip(), "kind": "item"}]


def test_no_evidence_stands_in_the_report() -> None:
    answer = SourceResolution(
        "p",
        SourceResolutionStatus.CORRUPT,
        excerpt="what it says",
        reason=Reason.ARTIFACT_DIGEST_MISMATCH,
    )
    assert "what it says" not in _write(_cited(AuditedSource(answer)))


def test_an_answer_that_is_not_conclusive_is_never_a_pass() -> None:
    answer = SourceResolution("p", SourceResolutionStatus.AVAILABLE, conclusive=False)
    (result,) = _results(_cited(AuditedSource(answer)), describe=_no_page)
    assert (result["level"], result["ruleId"]) == ("warning", "available")
    assert result["message"]["text"] == "p: inconclusive. (available)"


def test_a_source_that_nothing_cites_has_the_whole_as_its_place() -> None:
    assert _only_uri(_cited(_source(Reason.ARTIFACT_MISSING)), folder="home") == "home/"


def test_more_places_than_a_service_takes_are_counted() -> None:
    cited_by = [Citation(f"states/{number}.json") for number in range(1_001)]
    (result,) = _results(_cited(_source(Reason.ARTIFACT_MISSING, *cited_by)))
    assert len(result["locations"]) == 1_000
    assert result["properties"]["places"] == 1_001
    assert "Cited in 1001 places." in result["message"]["text"]


def test_a_pointer_of_any_length_leaves_room_for_what_is_wrong_with_it() -> None:
    pointer = "x" * 100_000
    (result,) = _results(_cited(_source(Reason.MALFORMED_POINTER, pointer=pointer)))
    assert "malformed" in result["message"]["text"] or "pointer" in result["message"]["text"]
    assert len(result["message"]["text"]) < 1_000
    assert result["properties"]["pointer"] == pointer
    longest = "artifact:" + "s" * 200 + ":" + "f" * 200 + ":" + "0" * 64
    (result,) = _results(_cited(_source(Reason.ARTIFACT_MISSING, pointer=longest)))
    assert longest in result["message"]["text"]


# --- fingerprints ----------------------------------------------------------------------------


def _fingerprints(*findings: Finding) -> list[str]:
    return [result["partialFingerprints"]["ctxaudit/v1"] for result in _results(_of(*findings))]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (
            {"native_id": "u", "ordinal": 4, "line": 5},
            {"native_id": "u", "ordinal": 9, "line": 11},
            True,
        ),
        ({"ordinal": 4, "line": 5}, {"ordinal": 4, "line": 6}, True),
        ({"line": 5}, {"line": 5, "message": "other words"}, True),
        ({"native_id": "u"}, {"native_id": "v"}, False),
        ({"native_id": "4"}, {"ordinal": 4}, False),
        ({"ordinal": 4}, {"ordinal": 5}, False),
        ({"ordinal": 4}, {"line": 4}, False),
        ({"line": 5}, {"line": 6}, False),
        ({"message": "a"}, {"message": "b"}, False),
        ({"ordinal": 4}, {"ordinal": 4, "code": "nul_line"}, False),
        ({"ordinal": 4}, {"ordinal": 4, "target": "b.jsonl"}, False),
        ({"ordinal": 4}, {"ordinal": 4, "severity": Severity.INFO}, True),
    ],
)
def test_what_a_fingerprint_is_taken_of(
    before: dict[str, Any], after: dict[str, Any], same: bool
) -> None:
    assert (_fingerprints(_finding(**before)) == _fingerprints(_finding(**after))) is same


def test_results_that_are_alike_are_numbered() -> None:
    first, second, third = _fingerprints(*[_finding(native_id="u", line=n) for n in (1, 2, 3)])
    digest = first.removesuffix(":1")
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert (second, third) == (f"{digest}:2", f"{digest}:3")


def test_a_fingerprint_of_a_source_does_not_depend_on_who_else_cites_it() -> None:
    def fingerprint(*files: str, targets: tuple[str, ...]) -> object:
        source = _source(Reason.ARTIFACT_MISSING, *map(Citation, files))
        return _results(_cited(source, targets=targets))[0]["partialFingerprints"]

    one = ("home",)
    assert fingerprint("a.json", targets=one) == fingerprint("0.json", "a.json", targets=one)
    two = ("a", "a/b", "c")
    in_a = fingerprint("a/x.json", targets=two)
    assert in_a == fingerprint("a/y.json", "a/x.json", targets=two)
    assert len({str(fingerprint(f"{name}/x.json", targets=two)) for name in two}) == 3


def test_what_is_at_one_place_of_two_members_is_told_apart() -> None:
    def prints(*parts: str) -> list[str]:
        found = [
            Finding("x", Severity.ERROR, "a.eval", Location(ordinal=3), f"field ({part})", part)
            for part in parts
        ]
        return [str(one["partialFingerprints"]) for one in _results(_of(*found))]

    one, two = prints("member a", "member b")
    assert one != two
    assert prints("member b") == [two]
    assert prints("") != [one]


def test_a_source_and_a_finding_of_one_code_are_two() -> None:
    source = _source(Reason.TRANSCRIPT_INVALID_JSON, pointer="p")
    finding = _finding("transcript_invalid_json", target="", native_id="p")
    report = _cited(source, findings=(finding,))
    assert len({str(one["partialFingerprints"]) for one in _results(report)}) == 2
    assert len(_run(report)["tool"]["driver"]["rules"]) == 1


# --- the run ---------------------------------------------------------------------------------


def test_rules_stand_once_sorted_and_results_say_which() -> None:
    report = _cited(
        _source(Reason.TRANSCRIPT_MISSING),
        _source(Reason.ARTIFACT_MISSING),
        findings=(_finding("b_code"), _finding("a_code"), _finding("b_code")),
    )
    run = _run(report, describe=_no_page)
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ctxaudit", "1.2.3")
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == ["a_code", "artifact_missing", "b_code", "transcript_missing"]
    assert [result["ruleIndex"] for result in run["results"]] == [3, 1, 2, 0, 2]


def test_the_texts_of_a_rule_fit_what_a_service_shows() -> None:
    for page in all_explanations():
        (rule,) = _run(_of(_finding(page.code)))["tool"]["driver"]["rules"]
        assert rule["shortDescription"]["text"] == page.meaning
        assert rule["fullDescription"]["text"] == f"{page.meaning} {page.arises}"
        assert page.arises in rule["help"]["text"]
        assert page.remedy in rule["help"]["text"]
        assert len(rule["fullDescription"]["text"]) < 1_024


def test_the_run_is_told() -> None:
    report = AuditReport(
        targets=("home",), started_at=_TIME, finished_at=_TIME, finding_counts={"x": 2}
    )
    (invocation,) = _run(report)["invocations"]
    assert invocation == {
        "executionSuccessful": True,
        "startTimeUtc": _TIME,
        "endTimeUtc": _TIME,
        "properties": {
            "targets": ["home"],
            "summary": report.summary.to_dict(),
            "interrupted": False,
            "weakened_by_environment": [],
            "seals": [],
            "waivers": [],
        },
    }


def test_an_interrupted_run_is_no_success_and_says_what_was_left_out() -> None:
    report = AuditReport(is_interrupted=True, not_checked=7, started_at="", finished_at="soon")
    (invocation,) = _run(report)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "startTimeUtc" not in invocation
    assert "endTimeUtc" not in invocation
    assert invocation["properties"]["interrupted"] is True
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"].endswith(": 7 sources were not checked.")


def test_it_is_written_piece_by_piece_one_result_a_line() -> None:
    report = _of(*[_finding(ordinal=number) for number in range(1, 51)])
    pieces = list(write_sarif(report, version="1", describe=_page))
    assert len(pieces) > 50
    lines = "".join(pieces).splitlines()
    assert sum(line.startswith('      {"ruleId":') for line in lines) == 50


def test_the_schema_refuses_what_is_no_report() -> None:
    document = json.loads(_write(_of(_finding(line=1))))
    _VALIDATOR.validate(document)
    assert not _VALIDATOR.is_valid(document | {"version": "2.0.0"})
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"] = {
        "startLine": 0
    }
    assert not _VALIDATOR.is_valid(document)


# --- the command line ------------------------------------------------------------------------


def test_the_sample_from_the_command_line(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from cli.main import app

    monkeypatch.chdir(checkout)
    done = CliRunner().invoke(app, ["verify", "sample_state", "--format", "sarif"])
    assert done.exit_code == 14, done.output
    document = json.loads(done.stdout)
    _VALIDATOR.validate(document)
    results = document["runs"][0]["results"]
    assert {"error", "warning"} <= {result["level"] for result in results}
    for result in results:
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert (checkout / uri).exists(), uri
    assert str(checkout) not in done.stdout
    again = CliRunner().invoke(app, ["verify", str(checkout / "sample_state"), "--format", "sarif"])
    assert json.loads(again.stdout)["runs"][0]["results"] == results
    one = "sample_state/states/" + min(os.listdir("sample_state/states"))
    alone = json.loads(CliRunner().invoke(app, ["verify", one, "--format", "sarif"]).stdout)
    _VALIDATOR.validate(alone)
    for result in alone["runs"][0]["results"]:
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert uri in (one, "./", "ctxaudit.toml")


def test_a_scanned_note_leads_to_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from cli.main import app

    (tmp_path / "home" / "transcripts").mkdir(parents=True)
    (tmp_path / "my notes.md").write_text("one\nsee transcript:s1:4 there\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    roots = ["--transcript-root", "home/transcripts", "--artifact-root", "home"]
    done = CliRunner().invoke(app, ["verify", "my notes.md", "--scan", *roots, "--format", "sarif"])
    assert done.exit_code == 12, done.output
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "my%20notes.md", "uriBaseId": "TARGETROOT"},
                "region": {"startLine": 2},
            }
        }
    ]


def test_reports_that_differ_have_other_fingerprints() -> None:
    finding = _finding(ordinal=3)
    assert _fingerprints(finding) != _fingerprints(replace(finding, target="other.jsonl"))
