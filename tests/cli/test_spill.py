"""`ctxaudit spill`: a pointer for a file or standard input."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_standard_input(home: Any, run: Callable[..., Any]) -> None:
    data = "héllo\n".encode()
    done = run("spill", "--home", home.path, "--session", "s1", stdin=data)
    assert done.code == 0
    digest = hashlib.sha256(data).hexdigest()
    assert done.out == f"artifact:s1:tool_result_001.txt:{digest}\n"
    assert done.err == ""
    assert (home.path / "s1" / "tool-results" / "tool_result_001.txt").read_bytes() == data
    again = run("spill", "-", "--artifact-root", home.path, "--session", "s1", stdin=data)
    assert again.out == done.out
    assert run("verify", "--pointer", done.out.strip(), home.path).code == 0


def test_a_file_with_what_the_ledger_should_know(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "build.log"
    log.write_bytes(b"x" * 3_000_000)
    done = call(
        *("spill", log, "--home", home.path, "--session", "s1", "--name", "a/b"),
        *("--tool", "bash", "--call-id", "call-1"),
    )
    assert done.code == 0
    line = json.loads((home.path / "s1" / "tool-results.jsonl").read_text().splitlines()[-1])
    assert (line["tool"], line["call_id"], line["bytes"]) == ("bash", "call-1", 3_000_000)
    assert line["filename"] == done.out.split(":")[2]


def test_an_empty_input_is_an_artifact_too(home: Any, call: Callable[..., Any]) -> None:
    done = call("spill", "--home", home.path, "--session", "s1", stdin=b"")
    assert done.out.strip().endswith(hashlib.sha256(b"").hexdigest())


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--session", "s1"], "--home"),
        (["--home", "home"], "--session"),
        (["--home", "home", "--session", "../x"], "session"),
        (["--home", "home", "--session", "states"], "session"),
        (["nowhere.log", "--home", "home", "--session", "s1"], "nowhere.log"),
        (["home", "--home", "home", "--session", "s1"], "home"),
    ],
)
def test_usage(
    home: Any,
    call: Callable[..., Any],
    args: list[str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home.path.parent)
    done = call("spill", *args)
    assert done.code == 2
    assert named in done.err
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert list(home.path.iterdir()) == []


def test_what_is_no_text_is_refused_and_leaves_nothing(home: Any, call: Callable[..., Any]) -> None:
    done = call("spill", "--home", home.path, "--session", "s1", stdin=b"\xff\xfe")
    assert done.code == 2
    assert "UTF-8" in done.err
    assert call("verify", home.path, "--all").code == 3


def test_a_store_that_cannot_be_written(home: Any, call: Callable[..., Any]) -> None:
    (home.path / "s1").write_text("a file where the session's folder belongs")
    done = call("spill", "--home", home.path, "--session", "s1", stdin=b"x")
    assert done.code in (1, 2)
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert str(home.path) not in done.err
