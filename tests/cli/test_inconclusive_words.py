"""A check that did not come to its end is called and counted as one thing in every report."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from provenance.schemas import load_schema

_FORMATS = ("console", "json", "ndjson", "sarif", "junit", "github", "markdown", "html")


@pytest.fixture
def reports(home: Any, call: Callable[..., Any], tmp_path: Path) -> dict[str, str]:
    """Verify a home of one artifact that is over its limit; gives each report."""
    home.state("one.json", [home.artifact("s1", "log.txt", "x" * 40)])
    home.config("[limits]\nmax_artifact_bytes = 18\n")
    options: list[str] = []
    for name in _FORMATS:
        options += ["--format", name, "--output", str(tmp_path / name)]
    assert call("verify", home.path, *options).code == 4
    return {name: (tmp_path / name).read_text(encoding="utf-8") for name in _FORMATS}


def test_it_is_counted_as_inconclusive_alone_whatever_its_status(reports: dict[str, str]) -> None:
    report = json.loads(reports["json"])
    jsonschema.validate(report, json.loads(load_schema("report")))
    (result,) = report["results"]
    assert (result["status"], result["conclusive"]) == ("corrupt", False)
    summary = report["summary"]
    states = ("available", "missing", "denied", "corrupt", "unsupported")
    assert [summary[state] for state in states] == [0] * 5
    assert summary["inconclusive"] == summary["total"] == 1
    assert json.loads(reports["ndjson"].splitlines()[0])["conclusive"] is False


def test_reports_for_people_never_call_it_by_its_status(reports: dict[str, str]) -> None:
    assert re.search(r"^inconclusive +artifact:s1:log.txt", reports["console"], re.MULTILINE)
    assert "0 corrupt" in reports["console"]
    assert "1 inconclusive" in reports["console"]
    assert "- **inconclusive** `artifact:s1:log.txt" in reports["markdown"]
    assert "| inconclusive | 1 |" in reports["markdown"]
    assert "| corrupt | 0 |" in reports["markdown"]
    assert "title=inconclusive%3A artifact_too_large" in reports["github"]
    assert "1 inconclusive." in reports["github"]
    assert "corrupt" not in reports["github"]
    # The other one is of the home's own limit (`limited_by_target`).
    error, _ = ET.fromstring(reports["junit"]).iter("error")
    assert error.attrib["message"].startswith("inconclusive: ")
    assert "corrupt" not in reports["junit"]
    result, _ = json.loads(reports["sarif"])["runs"][0]["results"]
    assert ": inconclusive. " in result["message"]["text"]
    assert result["level"] == "warning"
    assert result["properties"]["conclusive"] is False
    tile = '<b class="number">{}</b> <span class="b {}">'
    assert tile.format(1, "inconclusive") in reports["html"]
    assert tile.format(0, "corrupt") in reports["html"]
    # The tile of the number and the choice of rows have the word; no row has.
    assert 'class="b inconclusive">inconclusive</span>' in reports["html"]
    assert reports["html"].count('class="b corrupt"') == 1


def test_the_schema_says_which_number_counts_it() -> None:
    definitions = json.loads(load_schema("report"))["$defs"]
    numbers = definitions["summary"]["properties"]
    for state in ("available", "missing", "denied", "corrupt", "unsupported"):
        assert numbers[state]["description"].endswith(
            "Conclusive ones only: the others are counted under inconclusive."
        )
    assert "conclusive is false, whatever its status" in numbers["inconclusive"]["description"]
    result = definitions["result"]["properties"]
    assert "inconclusive" in result["status"]["description"]
    assert "summary.inconclusive" in result["conclusive"]["description"]
