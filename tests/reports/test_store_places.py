"""Annotations and URIs about a state of the store lead to a file that is there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenance.audit_report import AuditedSource, AuditReport, Citation
from provenance.findings import Finding, Location, Severity
from provenance.reports import write_github, write_sarif
from provenance.reports._store_places import store_file
from provenance.resolution import Reason, resolution_for

_STORE = "states/states.sqlite3"


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (f"{_STORE}:run-3@3", None),
        (f"{_STORE}:a.json@12", "state_unreadable"),
        (f"{_STORE}:run-3", "state_history_broken"),
        (f"{_STORE}:v1.2.json", "state_history_broken"),
        (f"{_STORE}:run-3", "sealed_state_changed"),
        (f"{_STORE}:run-3@1", "sealed_state_versions_rewritten"),
    ],
)
@pytest.mark.parametrize("before", ["", "J/", "a/b c/"])
def test_a_place_in_the_store_lies_in_the_store(before: str, place: str, code: str | None) -> None:
    assert store_file(before + place, code) == before + _STORE


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (_STORE, None),
        ("states/one.json", None),
        (f"{_STORE}:run-3", None),
        (f"{_STORE}:run.json", None),
        (f"{_STORE}:run.json", "state_unreadable"),
        (f"{_STORE}:run-3@3", "torn_line"),
        (f"{_STORE}:run-3@0", None),
        (f"{_STORE}:@3", None),
        (f"{_STORE}:a/b@3", None),
        ("states/other.sqlite3:run-3@3", None),
        ("states.sqlite3:run-3@3", None),
        ("xstates/states.sqlite3:run-3@3", None),
        ("states/xstates.sqlite3:run-3@3", None),
        ("logs/12:30@1", None),
        (f"{_STORE}:run-3@3\n", None),
    ],
)
def test_a_file_whose_name_holds_a_colon_is_left_as_it_is(place: str, code: str | None) -> None:
    assert store_file(place, code) is None


_REPORT = AuditReport(
    targets=("J",),
    sources=(
        AuditedSource(
            resolution_for("transcript:gone:1", Reason.TRANSCRIPT_MISSING),
            (Citation(f"{_STORE}:other@1", "line 4", None, None),),
        ),
        AuditedSource(
            resolution_for("transcript:gone:2", Reason.TRANSCRIPT_MISSING),
            (Citation("logs/12:30@1", "line 4", None, None),),
        ),
    ),
    findings=(
        Finding("state_history_broken", Severity.ERROR, f"{_STORE}:run-3", Location(), "version 2"),
        Finding("state_unreadable", Severity.ERROR, f"{_STORE}:run-4@3", Location(), "bad"),
        Finding("torn_line", Severity.ERROR, "logs/a:b.jsonl", Location(line=3), "torn"),
    ),
)


def _no_page(code: str) -> None:
    return None


def test_annotations_lead_to_the_store_and_name_the_state() -> None:
    lines = list(write_github(_REPORT, describe=_no_page, verdict="It fails.", folder="J"))
    text = "".join(lines)
    errors = [line for line in text.splitlines() if line.startswith("::error")]
    assert [line.split(" ", 1)[1].split(",title")[0] for line in errors] == [
        f"file=J/{_STORE}",
        "file=J/logs/12%3A30@1,line=4",
        f"file=J/{_STORE}",
        f"file=J/{_STORE}",
        "file=J/logs/a%3Ab.jsonl,line=3",
    ]
    assert f"{_STORE}:other@1" in errors[0]
    assert errors[2].endswith(f"::{_STORE}:run-3: version 2")
    assert errors[3].endswith(f"::{_STORE}:run-4@3: bad")
    assert errors[4].endswith("::torn")


def test_uris_lead_to_the_store_and_logical_locations_name_the_state() -> None:
    text = "".join(write_sarif(_REPORT, version="1", describe=_no_page, folder="J"))
    results: list[dict[str, Any]] = json.loads(text)["runs"][0]["results"]
    places = [one["locations"][0] for one in results]
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in places] == [
        f"J/{_STORE}",
        "J/logs/12%3A30@1",
        f"J/{_STORE}",
        f"J/{_STORE}",
        "J/logs/a%3Ab.jsonl",
    ]
    states = [
        [one["name"] for one in place.get("logicalLocations", []) if one["kind"] == "state"]
        for place in places
    ]
    assert states == [["other@1"], [], ["run-3"], ["run-4@3"], []]
    regions = ["region" in one["physicalLocation"] for one in places]
    assert regions == [False, True, False, False, True]
    messages = [one["message"]["text"] for one in results]
    assert messages[2:] == [f"{_STORE}:run-3: version 2", f"{_STORE}:run-4@3: bad", "torn"]
    # What the JSON report calls it stays beside it.
    assert results[2]["properties"]["target"] == f"{_STORE}:run-3"
