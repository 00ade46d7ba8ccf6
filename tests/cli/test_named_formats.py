"""The formats that a home names in its `ctxaudit.toml` narrow what is evidence in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from provenance.fs.confinement import LEAST_ABI, landlock_abi
from tests.transcripts.agents import SESSION, claude

_REFUSED = ("denied", "refused_by_policy")


def _codes(report: dict[str, Any]) -> set[str]:
    return {one["code"] for one in report["findings"] if one["severity"] == "error"}


@pytest.fixture
def both(home: Any) -> Any:
    """A home with a native transcript and one of another agent, both cited."""
    pointers = home.transcript("s1", 2)
    (home.path / "transcripts" / f"{SESSION}.jsonl").write_bytes(claude(3))
    home.state("one.json", [*pointers, f"transcript:{SESSION}:1", f"transcript:{SESSION}:2"])
    return home


def _answers(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        one["pointer"].split(":")[1]: (one["status"], one["reason"]) for one in report["results"]
    }


@pytest.mark.parametrize(
    "extra", [[], ["--all"], ["--all", "--jobs", "2"], ["--fail-on", "missing"]]
)
@pytest.mark.parametrize(
    ("named", "refused"),
    [
        ('["native"]', {SESSION}),
        ('["claude-code"]', {"s1"}),
        ('["codex", "openhands"]', {"s1", SESSION}),
        ('["claude-code", "native"]', set()),
        ("[]", set()),
    ],
)
def test_only_what_is_named_is_evidence(
    named: str, refused: set[str], extra: list[str], both: Any, call: Callable[..., Any]
) -> None:
    assert call("verify", both.path, *extra).code == 0
    both.config(f"formats = {named}")
    done = call("verify", both.path, *extra, "--format", "json")
    assert done.code == (13 if refused else 0)
    answers = _answers(done.report)
    assert {session for session in answers if answers[session] == _REFUSED} == refused
    assert {answers[session][0] for session in answers if session not in refused} <= {"available"}
    if "--all" in extra:
        told = {
            one["target"]
            for one in done.report["findings"]
            if one["code"] == "refused_by_policy" and one["severity"] == "error"
        }
        assert told == {f"transcripts/{session}.jsonl" for session in refused}
    assert ("denied_by_target" in _codes(done.report)) is bool(refused)


@pytest.mark.skipif((landlock_abi() or 0) < LEAST_ABI, reason="the kernel has no Landlock")
def test_the_same_in_the_sandbox(both: Any, run: Callable[..., Any]) -> None:
    both.config('formats = ["native"]')
    plain, boxed = (
        run("verify", both.path, "--all", "--format", "json", *extra)
        for extra in ([], ["--sandbox"])
    )
    assert plain.code == boxed.code == 13
    for key in ("results", "findings", "transcripts", "summary"):
        assert plain.report[key] == boxed.report[key]


def test_a_log_elsewhere_in_the_home_is_told(both: Any, call: Callable[..., Any]) -> None:
    both.config('formats = ["native", "claude-code"]')
    (both.path / "logs").mkdir()
    (both.path / "logs" / "x.jsonl").write_bytes(claude(2, session="other"))
    assert call("verify", both.path).code == 0
    both.state("one.json", ["transcript:s1:1"])
    both.config('formats = ["native"]')
    done = call("verify", both.path, "--format", "json")
    assert done.code == 13
    assert [
        one["target"] for one in done.report["findings"] if one["code"] == "refused_by_policy"
    ] == ["logs/x.jsonl"]


def test_naming_a_format_does_not_settle_what_two_logs_dispute(
    both: Any, call: Callable[..., Any]
) -> None:
    folder = both.path / "transcripts" / "more"
    folder.mkdir()
    changed = claude(3).replace(b"text 2", b"TEXT 2")
    (folder / "copy.jsonl").write_bytes(changed)
    before = call("verify", both.path).code
    assert before == 14
    for named in ("native", "claude-code", "codex"):
        both.config(f'formats = ["{named}"]')
        assert call("verify", both.path).code == 14


def test_what_is_not_there_stays_missing(both: Any, call: Callable[..., Any]) -> None:
    both.config('formats = ["codex"]')
    both.state("one.json", ["transcript:s1:9", f"transcript:{SESSION}:9", "transcript:gone:1"])
    done = call("verify", both.path, "--format", "json")
    assert done.code == 12
    assert set(_answers(done.report).values()) == {
        ("missing", "transcript_event_missing"),
        ("missing", "transcript_missing"),
    }


def test_other_commands_hold_to_it(both: Any, call: Callable[..., Any]) -> None:
    pointer = f"transcript:{SESSION}:2"
    assert call("show", pointer, "--home", both.path).code == 0
    both.config('formats = ["native"]')
    assert call("show", pointer, "--home", both.path).code == 13
    assert call("show", "transcript:s1:1", "--home", both.path).code == 0
    assert call("pin", both.path).code == 13
    assert "source_status=denied" in call("render", both.path / "states" / "one.json").out
