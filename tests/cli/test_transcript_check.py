"""`ctxaudit transcript check`: `verify` for transcripts and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"
_CODEX = _DATA / "codex"


def _claude(number: int) -> str:
    value = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": {"content": "hi"}}
    return json.dumps(value)


def test_a_tree_of_several_formats(call: Callable[..., Any]) -> None:
    done = call("transcript", "check", _DATA, "--format", "json")
    assert done.code in (0, 12, 14)
    formats = {one["format"] for one in done.report["transcripts"]}
    assert {"codex", "dsh", "gemini-cli", "inspect", "openai-agents", "openhands"} <= formats
    assert done.report["summary"]["total"] == 0


def _lasting(text: str) -> list[str]:
    """Leave out when it was, and the heading."""
    lines = text.split("\n")[1:]
    return [line for line in lines if "ed_at" not in line and "TimeUtc" not in line]


@pytest.mark.parametrize("shape", ["console", "json", "ndjson", "sarif"])
def test_it_says_and_exits_as_verify_does(call: Callable[..., Any], shape: str) -> None:
    for name in ("clean.jsonl", "torn-line-then-ordinal-reused.jsonl"):
        checked = call("transcript", "check", _CODEX / name, "--format", shape)
        verified = call("verify", _CODEX / name, "--format", shape)
        assert checked.code == verified.code
        assert checked.err == verified.err == ""
        assert shape == "ndjson" or _lasting(checked.out) == _lasting(verified.out)
    assert checked.code == 14


@pytest.mark.parametrize("color", ["never", "always"])
def test_it_says_its_own_name(call: Callable[..., Any], color: str) -> None:
    target = _CODEX / "clean.jsonl"
    done = call("transcript", "check", target, target, "--color", color)
    assert "ctxaudit transcript check clean.jsonl" in done.out
    assert done.err.startswith("ctxaudit transcript check: clean.jsonl: named more than once")
    assert "ctxaudit verify" not in done.out + done.err
    done = call("verify", target, target, "--color", color)
    assert "ctxaudit verify clean.jsonl" in done.out
    assert done.err.startswith("ctxaudit verify: clean.jsonl: named more than once")


def test_ndjson_has_every_fault_of_a_transcript(call: Callable[..., Any]) -> None:
    check = ("transcript", "check", _DATA / "claude-code" / "synthetic", "--format")
    listed = call(*check, "json").report["findings"]
    told = [line["finding"] for line in call(*check, "ndjson").lines if "finding" in line]
    assert told == listed
    assert {"info", "error"} <= {finding["severity"] for finding in told}


def test_options_are_those_of_verify(call: Callable[..., Any], tmp_path: Path) -> None:
    damaged = _CODEX / "torn-line-then-ordinal-reused.jsonl"
    check = ("transcript", "check", damaged)
    assert call(*check, "--exit-zero").code == 0
    assert call(*check, "--fail-on", "missing").code == 0
    assert call(*check, "--fail-on", "nonsense").code == 2
    assert call(*check, "--session", "no-such-*").code == 3
    assert call(*check, "--as", "nonsense").code == 2
    report = tmp_path / "report.json"
    done = call(*check, "--format", "json", "--output", report, "--format", "console")
    assert done.code == 14
    assert json.loads(report.read_text())["transcripts"][0]["format"] == "codex"
    done = call(*check, CTXAUDIT_EXIT_ZERO="1", CTXAUDIT_FORMAT="json")
    assert done.code == 0
    assert "CTXAUDIT_EXIT_ZERO" in done.out


def test_a_content_hash(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(_claude(1) + "\n")
    right, wrong = hashlib.sha256(path.read_bytes()).hexdigest(), "0" * 64
    check = ("transcript", "check", path, "--expect-hash")
    assert call(*check, f"sha256:{right}").code == 0
    done = call(*check, wrong, "--format", "json")
    assert done.code == 14
    assert "content_hash_mismatch" in done.out
    assert call(*check, "sha256:12").code == 2
    for targets in ([tmp_path], [path, path]):
        done = call("transcript", "check", *targets, "--expect-hash", right)
        assert (done.code, done.out) == (2, "")
        assert "--expect-hash: expected one file" in done.err


@pytest.mark.parametrize("content", ["transcript:s1:1\n", "", '{"schema": "ctxaudit.state/1"}'])
def test_what_is_no_transcript_is_refused(
    call: Callable[..., Any], home: Any, content: str
) -> None:
    home.transcript("s1", 2)
    home.state("a.json", ["transcript:s1:1"])
    text = home.path.parent / "notes.md"
    text.write_text(content)
    for target, said in (
        (text, "known format"),
        (home.path / "states" / "a.json", "known format"),
        ("-", "standard input"),
        (home.path / "nowhere", "nothing of that name"),
    ):
        done = call("transcript", "check", target, stdin=b"transcript:s1:1\n")
        assert (done.code, done.out) == (2, ""), target
        assert said in done.err
        assert len(done.err.splitlines()) == 1
        assert str(home.path) not in done.err
    # Of a home the transcripts alone are checked.
    for target in (home.path, home.path / "transcripts"):
        done = call("transcript", "check", target, "--format", "json")
        assert done.code == 0
        assert [one["records"] for one in done.report["transcripts"]] == [2]


def test_a_link_to_a_state_is_not_followed(call: Callable[..., Any], home: Any) -> None:
    home.transcript("s1", 1)
    link = home.path.parent / "a.json"
    link.symlink_to(home.state("a.json", ["transcript:s1:1"]))
    assert call("transcript", "check", link).code == 2


def test_where_there_is_nothing_it_is_never_a_success(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    assert call("transcript", "check", tmp_path).code == 3
    assert call("transcript", "check").code == 2
    done = call("transcript")
    assert (done.code, done.out) == (2, "")
    assert "Usage: ctxaudit transcript" in done.err
    assert call("transcript", "nonsense").code == 2
