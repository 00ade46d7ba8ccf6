"""What a finding is about is a file that is there, so that a click on it opens something."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.findings_builders import BUILDERS
from tests.transcripts.agents import agents_database
from tests.transcripts.containers.zips import Part, make_zip

_DATA = Path(__file__).resolve().parent.parent / "data"


def _part(name: str, value: object) -> Part:
    return Part(name, value if isinstance(value, bytes) else json.dumps(value).encode())


def _sample(number: int) -> dict[str, Any]:
    orphan = {"id": "m1", "role": "tool", "content": "x", "tool_call_id": "gone"}
    question = {"id": "m0", "role": "user", "content": "hi"}
    return {"id": number, "epoch": 1, "messages": [question, orphan]}


def _results(call: Callable[..., Any], target: Path, code: str) -> list[dict[str, Any]]:
    run = json.loads(call("transcript", "check", target, "--format", "sarif").out)["runs"][0]
    return [result for result in run["results"] if result["ruleId"] == code]


def _place(result: dict[str, Any]) -> dict[str, Any]:
    (location,) = result["locations"]
    return dict(location["physicalLocation"])


def test_a_member_of_an_archive_is_named_and_the_archive_is_the_file(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    header = {"version": 2, "status": "success", "eval": {"task": "t"}}
    parts = [_part(f"samples/{number}_epoch_1.json", _sample(number)) for number in (1, 2)]
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "run.eval"
    path.write_bytes(
        make_zip([_part("header.json", header), *parts, _part("samples/3_epoch_1.json", b"{torn")])
    )
    for target in (path, path.parent):
        results = _results(call, target, "orphan_result")
        assert len(results) == 2
        assert len({str(result["partialFingerprints"]) for result in results}) == 2
        for number, result in enumerate(results, 1):
            assert _place(result)["artifactLocation"]["uri"].endswith("run.eval")
            assert "region" not in _place(result)
            assert f"(member samples/{number}_epoch_1.json)" in result["message"]["text"]
        (torn,) = [
            result
            for code in ("torn_line", "invalid_line", "inspect_sample_invalid")
            for result in _results(call, target, code)
        ]
        assert _place(torn)["artifactLocation"]["uri"].endswith("run.eval")
        assert "samples/3_epoch_1.json" in torn["message"]["text"]


@pytest.mark.parametrize("sessions", [["one", "two"], ["one"]])
def test_a_database_of_several_sessions_says_which(
    call: Callable[..., Any], tmp_path: Path, sessions: list[str]
) -> None:
    orphan = json.dumps({"type": "function_call_output", "call_id": "gone", "output": "x"})
    question = json.dumps({"role": "user", "content": "hi"})
    path = tmp_path / "agents.db"
    agents_database(path, [(name, text) for name in sessions for text in (question, orphan)])
    results = _results(call, path, "orphan_result")
    assert {_place(result)["artifactLocation"]["uri"] for result in results} == {"agents.db"}
    said = [result["message"]["text"] for result in results]
    if len(sessions) == 1:
        assert "session" not in said[0]
    else:
        assert sorted(text[text.index("(session") :] for text in said) == [
            "(session one)",
            "(session two)",
        ]
    assert len({str(result["partialFingerprints"]) for result in results}) == len(sessions)


def test_every_target_of_the_samples_is_there(call: Callable[..., Any]) -> None:
    for tree in ("transcripts", "findings"):
        report = call("transcript", "check", _DATA / tree, "--format", "json").report
        assert len(report["findings"]) > 10
        for finding in report["findings"]:
            assert (_DATA / tree / finding["target"]).exists(), finding


@pytest.mark.parametrize("code", sorted(BUILDERS))
def test_every_target_of_the_samples_that_are_made_is_there(
    call: Callable[..., Any], tmp_path: Path, code: str
) -> None:
    if code == "reference_not_checked":
        pytest.skip("a very large file, and nothing but lines")
    BUILDERS[code].shows(tmp_path)
    report = call("transcript", "check", tmp_path, "--format", "json").report
    assert report["findings"]
    for finding in report["findings"]:
        assert (tmp_path / finding["target"]).exists(), finding
