"""Each finding in transcripts has a sample that shows it, and a look-alike that must not.

A sample lies in `data/findings/<code>/`, or is written by `findings_builders`. It is audited as a
tree, as a reviewer does it. `expected.json` says where the finding stands; beside it there must be
no other warning and no other error, and in the look-alike none at all.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from provenance.audit import AuditRequest, run_audit
from provenance.audit._transcript_pages import TRANSCRIPT_PAGES
from provenance.audit_report import AuditReport
from provenance.findings import Finding, Severity
from tests.findings_builders import BUILDERS

FINDINGS = Path(__file__).parent / "data/findings"
CODES = sorted(TRANSCRIPT_PAGES)

CONTAINERS = ("container_invalid", "container_over_limit", "container_unsupported")

MOMENT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _expected(code: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FINDINGS / code / "expected.json").read_bytes())
    return found


def _folder(code: str, side: str, room: Path) -> Path:
    """Give the folder of a sample; one that is not committed is written first."""
    committed = FINDINGS / code / side
    if code not in BUILDERS:
        return committed
    assert not committed.exists(), "committed, or built: not both"
    getattr(BUILDERS[code], side)(room)
    return room


def _audit(target: Path, code: str) -> AuditReport:
    options = _expected(code).get("options", {})
    request = AuditRequest(targets=(str(target),), sessions=tuple(options.get("sessions", ())))
    return run_audit(request, clock=lambda: MOMENT, stopwatch=lambda: 0.0)


def _place(finding: Finding) -> dict[str, Any]:
    at = finding.location
    return {
        "code": finding.code,
        "target": finding.target,
        "ordinal": at.ordinal,
        "line": at.line,
        "native_id": at.native_id,
    }


def _alarms(report: AuditReport) -> set[str]:
    return {one.code for one in report.findings if one.severity is not Severity.INFO}


@pytest.mark.parametrize("code", CODES)
def test_the_sample_shows_it(code: str, tmp_path: Path) -> None:
    report = _audit(_folder(code, "shows", tmp_path), code)
    expected = _expected(code)
    expected.pop("options", None)
    assert [_place(one) for one in report.findings if one.code == code] == [expected]
    assert report.finding_counts[code] == 1
    assert _alarms(report) <= {code}


@pytest.mark.parametrize("code", CODES)
def test_the_look_alike_does_not(code: str, tmp_path: Path) -> None:
    report = _audit(_folder(code, "harmless", tmp_path), code)
    assert code not in report.finding_counts
    assert _alarms(report) == set()
    assert report.transcripts, "a look-alike that nobody reads proves nothing"
    assert all(one.sha256 or one.format == "openhands" for one in report.transcripts)


@pytest.mark.parametrize("code", CONTAINERS)
def test_a_container_that_is_named_itself_is_told(code: str, tmp_path: Path) -> None:
    BUILDERS[code].shows(tmp_path)
    (file,) = tmp_path.iterdir()
    report = _audit(file, code)
    assert list(report.finding_counts) == [code]
    assert report.findings[0].severity is Severity.ERROR


def test_a_compressed_transcript_that_cannot_be_unpacked_is_told(tmp_path: Path) -> None:
    # No sound frame follows the mark; without the library that unpacks it, it cannot be read.
    (tmp_path / "rollout.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 40)
    report = run_audit(
        AuditRequest(targets=(str(tmp_path),)), clock=lambda: MOMENT, stopwatch=lambda: 0.0
    )
    assert set(report.finding_counts) & set(CONTAINERS)


def test_every_code_has_both_and_every_folder_is_a_code() -> None:
    assert {one.name for one in FINDINGS.iterdir() if one.is_dir()} == set(CODES)
    assert set(BUILDERS) <= set(CODES)
    for code in CODES:
        names = {one.name for one in (FINDINGS / code).iterdir()}
        sides = set() if code in BUILDERS else {"shows", "harmless"}
        assert names == {"expected.json", *sides}, code


def test_every_sample_says_where_it_is() -> None:
    for code in CODES:
        expected = _expected(code)
        assert expected["code"] == code
        assert set(expected) - {"options"} == {"code", "target", "ordinal", "line", "native_id"}


def test_a_sample_and_its_look_alike_differ_in_little() -> None:
    # They are read by people, side by side.
    sizes = [one.stat().st_size for one in FINDINGS.rglob("*") if one.is_file()]
    assert max(sizes) < 4_096


def test_the_bytes_are_kept_as_they_are(checkout: Path) -> None:
    assert "/tests/data/** -text" in (checkout / ".gitattributes").read_text().splitlines()
    assert b"\0" in (FINDINGS / "nul_line/shows/session.jsonl").read_bytes()
    spaced = (FINDINGS / "invalid_line/harmless/session.jsonl").read_bytes()
    assert spaced.count(b"\r\n") == spaced.count(b"\n") == 4
    assert not (FINDINGS / "torn_line/shows/session.jsonl").read_bytes().endswith(b"\n")
