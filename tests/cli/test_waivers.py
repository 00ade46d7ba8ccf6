"""`verify --waivers`: what is covered does not count and stays visible; what is over fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from provenance.schemas import load_schema

_SCHEMA = json.loads(load_schema("report"))
_LIVE, _OVER = "2999-12-31", "2020-01-01"


def _waiver(expires: str = _LIVE, **keys: str) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(
        [
            "[[waiver]]",
            *lines,
            'reason = "lost \\u001b[31m"',
            'owner = "ops"',
            f"expires = {expires}\n",
        ]
    )


@pytest.fixture
def audit(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Verify the home with waivers; gives the exit code and the report, which is valid."""

    def audit(waivers: str, *options: str) -> tuple[int, dict[str, Any]]:
        file = tmp_path / "waivers.toml"
        file.write_text(waivers, encoding="utf-8")
        done = call("verify", home.path, "--waivers", file, "--format", "json", *options)
        jsonschema.validate(done.report, _SCHEMA)
        return done.code, done.report

    return audit


def _codes(report: dict[str, Any]) -> list[str]:
    return [one["code"] for one in report["findings"]]


def test_a_waived_source_does_not_count_and_is_shown(home: Any, audit: Callable[..., Any]) -> None:
    good = home.transcript("s1", 1)[0]
    home.state("one.json", [good, "transcript:gone:1", "transcript:gone:2"])
    code, report = audit(_waiver(pointer="transcript:gone:1"))
    assert code == 12
    code, report = audit(
        _waiver(pointer="transcript:gone:1") + _waiver(pointer="transcript:gone:2")
    )
    assert code == 0
    summary = report["summary"]
    assert (summary["missing"], summary["waived"], summary["available"]) == (2, 2, 1)
    expected = {
        "reason": "lost \x1b[31m",
        "owner": "ops",
        "expires": _LIVE,
        "pointer": "transcript:gone:1",
        "code": None,
        "target": None,
    }
    assert report["results"][0]["waiver"] == expected
    assert report["results"][0]["status"] == "missing"
    assert "waiver" not in report["results"][2]
    assert report["waivers"][0] == expected | {"state": "used"}
    assert _codes(report) == []


def test_a_waived_finding_does_not_count_and_is_shown(home: Any, audit: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    (home.path / "states" / "bad.json").write_text("{")
    assert audit(_waiver(code="state_unreadable", target="states/other.json"))[0] == 14
    code, report = audit(_waiver(code="state_unreadable", target="states/bad.json"))
    assert code == 0
    (finding,) = report["findings"]
    assert finding["waiver"]["target"] == "states/bad.json"
    assert report["summary"]["findings"] == {"state_unreadable": 1}
    assert report["summary"]["waived"] == 0


def test_weak_evidence_is_waived_by_code_and_target_alone(
    home: Any, audit: Callable[..., Any]
) -> None:
    pointer = home.transcript("s1", 1)[0]
    home.state("one.json", [pointer])
    options = ("--min-strength", "full")
    assert audit(_waiver(pointer=pointer), *options)[0] == 14
    code, report = audit(_waiver(code="evidence_too_weak", target="states/one.json"), *options)
    assert (code, _codes(report)) == (0, ["evidence_too_weak"])


@pytest.mark.parametrize("options", [(), ("--fail-on", "missing"), ("--fail-on", "denied")])
def test_one_that_is_over_fails_the_run_and_says_so(
    home: Any, audit: Callable[..., Any], options: tuple[str, ...]
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    code, report = audit("\n" + _waiver(_OVER, pointer="transcript:gone:1"), *options)
    assert code == 14
    (finding,) = report["findings"]
    assert (finding["code"], finding["severity"]) == ("waiver_expired", "error")
    assert (finding["target"], finding["location"]["line"]) == ("waivers.toml", 2)
    assert finding["message"] == (
        "waiver 1: expires: expected a day that is not over, got 2020-01-01 "
        "(transcript:gone:1; owner: ops)"
    )


def test_one_that_is_over_covers_nothing(home: Any, audit: Callable[..., Any]) -> None:
    home.state("one.json", ["transcript:gone:1"])
    code, report = audit(_waiver(_OVER, pointer="transcript:gone:1"))
    assert code == 14
    assert (report["summary"]["waived"], report["summary"]["missing"]) == (0, 1)
    assert "waiver" not in report["results"][0]


def test_today_is_not_over_and_yesterday_is(home: Any, audit: Callable[..., Any]) -> None:
    home.state("one.json", ["transcript:gone:1"])
    codes = []
    for _ in range(2):  # a run may go over midnight, and not twice
        today = datetime.now(UTC).date()
        found = [
            audit(_waiver((today - timedelta(days=days)).isoformat(), pointer="transcript:gone:1"))
            for days in (0, 1)
        ]
        codes.append([code for code, _ in found])
        if today == datetime.now(UTC).date():
            break
    assert codes[-1] == [0, 14]


def test_an_unused_one_is_told_and_changes_nothing(home: Any, audit: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    code, report = audit(_waiver(pointer="transcript:s1:1"))
    assert (code, _codes(report)) == (0, ["waiver_unused"])
    assert report["findings"][0]["severity"] == "info"


def test_nothing_verified_and_usage_are_never_waived(
    home: Any, call: Callable[..., Any], audit: Callable[..., Any], tmp_path: Path
) -> None:
    home.config("")
    assert audit(_waiver(code="state_unreadable", target="."))[0] == 3
    file = tmp_path / "waivers.toml"
    for code in ("nothing_verified", "nonsense", "artifact_missing", "seal_refused", "space_low"):
        file.write_text(_waiver(code=code, target="."))
        done = call("verify", home.path, "--waivers", file)
        assert done.code == 2
        assert done.err.startswith(
            "ctxaudit verify: --waivers: waivers.toml: line 2: waiver 1: code: expected the code "
            f"of a finding (a source is waived by its pointer), got '{code}'"
        )
    file.write_text("[[waiver]]\nreason = 1")
    done = call("verify", home.path, "--waivers", file)
    assert done.code == 2
    assert done.err.startswith(
        "ctxaudit verify: --waivers: waivers.toml: line 2: waiver 1: reason: expected"
    )
    file.write_bytes(b"# ok\n\xff")
    done = call("verify", home.path, "--waivers", file)
    assert (done.code, "waivers.toml: line 2: file: expected UTF-8" in done.err) == (2, True)
    done = call("verify", home.path, "--waivers", tmp_path / "absent")
    assert (done.code, "Traceback" in done.err) == (2, False)


def test_the_console_names_owner_end_and_reason(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    (home.path / "states" / "bad.json").write_text("{")
    file = tmp_path / "waivers.toml"
    file.write_text(
        _waiver(pointer="transcript:gone:1")
        + _waiver(code="state_unreadable", target="states/bad.json")
    )
    for options in ((), ("--color", "always"), ("--quiet",)):
        done = call("verify", home.path, "--waivers", file, *options)
        assert done.code == 0
        text = " ".join(done.out.split())
        assert "waived by ops until 2999-12-31: lost" in text
        assert "Covered by waivers, and not counted for the exit code: 1 source, 1 finding" in text
        assert "\x1b[31ml" not in done.out
        assert "Every source that was checked is available, or covered by a waiver." in text


def test_lines_of_json_have_them_as_they_come(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    file = tmp_path / "waivers.toml"
    file.write_text(_waiver(pointer="transcript:gone:1") + _waiver(pointer="transcript:gone:2"))
    first, *rest = call("verify", home.path, "--waivers", file, "--format", "ndjson").lines
    assert first["waiver"]["owner"] == "ops"
    assert [next(iter(one)) for one in rest] == ["finding", "waiver", "waiver"]
    assert rest[0]["finding"]["code"] == "waiver_unused"


def test_faults_that_a_transcript_has_by_the_thousand_are_waived_as_one(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.transcript("s1", 2)
    home.transcript("s2", 2)
    logs = home.path / "transcripts"
    with (logs / "s1.jsonl").open("a") as log:
        log.write("not json\n" * 1_500)
    report = call("transcript", "check", logs, "--format", "json").report
    errors = [one for one in report["findings"] if one["severity"] == "error"]
    assert {one["target"] for one in errors} == {"s1.jsonl"}
    assert report["summary"]["findings"]["invalid_line"] == 1_500
    assert len(errors) < 1_500
    file = tmp_path / "waivers.toml"
    codes = sorted({one["code"] for one in errors})
    text = "".join(_waiver(code=code, target="s1.jsonl") for code in codes)
    file.write_text(text)
    assert call("verify", logs, "--waivers", file).code == 0
    file.write_text(text.replace("s1.jsonl", "s2.jsonl"))
    assert call("verify", logs, "--waivers", file).code == 14
    file.write_text(text.replace("invalid_line", "torn_line"))
    assert call("verify", logs, "--waivers", file).code == 14
    with (logs / "s2.jsonl").open("a") as log:
        log.write("not json\n")
    file.write_text(text)
    assert call("verify", logs, "--waivers", file).code == 14


def test_waivers_from_the_environment_are_told(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    file = tmp_path / "waivers.toml"
    file.write_text(_waiver(pointer="transcript:gone:1"))
    done = call("verify", home.path, "--format", "json", CTXAUDIT_WAIVERS=str(file))
    assert done.code == 0
    assert done.report["weakened_by_environment"] == ["CTXAUDIT_WAIVERS"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_number_of_processes_changes_nothing(
    home: Any, audit: Callable[..., Any], jobs: str
) -> None:
    home.state("one.json", [f"transcript:gone{n}:1" for n in range(20)])
    text = "".join(_waiver(pointer=f"transcript:gone{n}:1") for n in range(19))
    code, report = audit(text, "--jobs", jobs)
    assert (code, report["summary"]["waived"]) == (12, 19)


def test_a_format_from_outside_has_codes_of_its_own(
    home: Any, audit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    monkeypatch.setattr(
        "provenance.transcripts.formats.has_formats_from_outside", lambda: True, raising=True
    )
    code, report = audit(_waiver(code="acme_clock_odd", target="transcripts/s1.jsonl"))
    assert (code, _codes(report)) == (0, ["waiver_unused"])
