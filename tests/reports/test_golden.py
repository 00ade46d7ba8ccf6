"""Each format, byte by byte, of one report with everything hostile in it.

After a change that is meant: `REWRITE_GOLDEN=1 pytest tests/reports/test_golden.py`, then read the
difference.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import jsonschema
import pytest

from cli.closing import closing_words
from cli.console_plain import write_plain
from cli.console_view import view_of
from cli.exit_codes import ExitCode
from provenance.audit_report import AuditReport
from provenance.reports import (
    write_github,
    write_json,
    write_junit,
    write_markdown,
    write_ndjson,
    write_sarif,
)
from provenance.schemas import load_schema
from tests.reports.hostile import describe, hostile_report

_FOLDER = Path(__file__).parent.parent / "data" / "reports"
_CODE = ExitCode.INTERRUPTED


def _verdict(report: AuditReport) -> str:
    return closing_words(report, _CODE)


def _console(report: AuditReport) -> Iterable[str]:
    return [write_plain(view_of(report, _CODE), quiet=False)]


_WRITERS: dict[str, Callable[[AuditReport], Iterable[str]]] = {
    "console.txt": _console,
    "github.txt": lambda report: write_github(
        report, describe=describe, verdict=_verdict(report), folder=""
    ),
    "report.json": lambda report: write_json(report, version="0"),
    "report.junit.xml": lambda report: write_junit(
        report, describe=describe, failed=_verdict(report)
    ),
    "report.md": lambda report: write_markdown(report, describe=describe, verdict=_verdict(report)),
    "report.ndjson": write_ndjson,
    "report.sarif": lambda report: write_sarif(report, version="0", describe=describe),
}


@pytest.mark.parametrize("name", _WRITERS)
def test_as_it_was(name: str) -> None:
    written = "".join(_WRITERS[name](hostile_report())).encode("utf-8")
    path = _FOLDER / name
    if os.environ.get("REWRITE_GOLDEN") == "1":
        path.write_bytes(written)
    assert path.read_bytes() == written, f"{name} differs: see the docstring of this module"


def test_each_file_has_its_writer() -> None:
    assert {path.name for path in _FOLDER.iterdir()} == {*_WRITERS, "README.md"}


@pytest.mark.parametrize("name", _WRITERS)
def test_no_evidence_and_nothing_hidden_stands_in_it(name: str) -> None:
    text = (_FOLDER / name).read_bytes().decode("utf-8")
    assert "what it says" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2028\ud800-\udfff]", text)


def test_the_json_ones_are_valid() -> None:
    document = json.loads((_FOLDER / "report.json").read_bytes())
    jsonschema.Draft202012Validator(json.loads(load_schema("report"))).validate(document)
    sarif = json.loads((_FOLDER / "report.sarif").read_bytes())
    schema = Path(__file__).parent.parent / "data" / "sarif" / "sarif-schema-2.1.0.json"
    jsonschema.Draft4Validator(json.loads(schema.read_bytes())).validate(sarif)


@pytest.mark.parametrize(
    ("key", "value"),
    [("kind", "rumour"), ("steps", 0), ("parent", -1), ("file", None), ("more", 1)],
)
def test_the_schema_refuses_what_is_no_consequence(key: str, value: object) -> None:
    document = json.loads((_FOLDER / "report.json").read_bytes())
    (result,) = [one for one in document["results"] if len(one["consequences"]) > 1]
    result["consequences"][0][key] = value
    validator = jsonschema.Draft202012Validator(json.loads(load_schema("report")))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(document)
