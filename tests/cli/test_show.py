"""`ctxaudit show`: only verified evidence, escaped and bounded."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_an_artifact_with_its_hash(home: Any, call: Callable[..., Any]) -> None:
    text = "one\ntwo\nthree\n"
    pointer = home.artifact("s1", "log.txt", text)
    done = call("show", pointer, "--home", home.path)
    assert done.code == 0
    assert done.out.splitlines() == [
        f"pointer   {pointer}",
        "status    available (full)",
        f"sha256    {hashlib.sha256(text.encode()).hexdigest()}",
        "excerpt   14 characters",
        "",
        "one",
        "two",
        "three",
        "",
    ]
    roots = call("show", pointer, "--artifact-root", home.path)
    assert roots.out == done.out


def test_an_event_with_its_hash(home: Any, call: Callable[..., Any]) -> None:
    pointer = home.transcript("s1", 3)[1]
    line = (home.path / "transcripts" / "s1.jsonl").read_bytes().split(b"\n")[1]
    done = call("show", pointer, "--home", home.path)
    assert done.code == 0
    assert hashlib.sha256(line).hexdigest() in done.out
    assert done.out.endswith("\n\nevent 2\n")


@pytest.mark.parametrize(
    ("lines", "shown", "header"),
    [
        ("2:3", ["l2", "l3"], "lines     2 to 3 of 5"),
        (":2", ["l1", "l2"], "lines     1 to 2 of 5"),
        ("4:", ["l4", "l5"], "lines     4 to 5 of 5"),
        ("5:9", ["l5"], "lines     5 to 5 of 5"),
        ("6:9", [], "lines     none of 5"),
        ("3:3", ["l3"], "lines     3 to 3 of 5"),
    ],
)
def test_lines(
    home: Any, call: Callable[..., Any], lines: str, shown: list[str], header: str
) -> None:
    text = "l1\nl2\nl3\nl4\nl5"
    for pointer in (
        home.artifact("s1", "log.txt", text),
        home.artifact("s1", "ended.txt", text + "\n"),
        home.transcript("s1", 1, content=text)[0],
    ):
        done = call("show", pointer, "--home", home.path, "--lines", lines)
        assert done.code == 0
        assert done.out.splitlines()[3:] == [header, "", *shown]


@pytest.mark.parametrize(
    "lines", ["", "5", ":", "0:1", "3:2", "a:b", "1:2:3", "-1:2", "\u0661:2", "1:" + "9" * 30]
)
def test_lines_are_two_numbers(home: Any, call: Callable[..., Any], lines: str) -> None:
    pointer = home.artifact("s1", "log.txt", "x")
    assert call("show", pointer, "--home", home.path, "--lines", lines).code == 2


def test_what_is_not_available_is_not_shown(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    altered = home.artifact("s1", "log.txt", "secret words before")
    home.artifact("s1", "log.txt", "secret words after")
    home.transcript("hr", 1, content="secret words")
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\nrefuse = ["prefix-digests"]\n')
    short = home.artifact("s1", "b.txt", "secret words", digits=12)
    home.config('[limits]\nmax_artifact_bytes = 50\n[[rule]]\neffect = "deny"\nsession = "hr"')
    large = home.artifact("s1", "large.txt", "secret words " * 10)
    for pointer, code, state in (
        (altered, 14, "corrupt (artifact_digest_mismatch)"),
        ("transcript:hr:1", 13, "denied (policy_denied)"),
        ("transcript:s2:1", 12, "missing (transcript_missing)"),
        ("memory:x", 11, "unsupported (unsupported_scheme)"),
        ("transcript:s1:0", 14, "corrupt (malformed_pointer)"),
        (large, 4, "inconclusive (artifact_too_large)"),
        (short, 13, "denied (refused_by_policy)"),
    ):
        for extra in ([], ["--raw"], ["--lines", "1:2"]):
            done = call("show", pointer, "--home", home.path, "--policy", policy, *extra)
            assert done.code == code
            assert done.out == ""
            assert state in done.err
            assert "secret" not in done.err
            assert len(done.err.splitlines()) == 1


def test_raw_gives_the_exact_bytes(home: Any, run: Callable[..., Any], tmp_path: Path) -> None:
    text = "a\r\n\x1b[31m\x00 é \u202e" * 1_000
    pointer = home.artifact("s1", "log.txt", text)
    done = run("show", pointer, "--home", home.path, "--raw")
    assert done.code == 0
    assert done.out == text
    event = home.transcript("s1", 2)[1]
    line = (home.path / "transcripts" / "s1.jsonl").read_bytes().split(b"\n")[1]
    assert run("show", event, "--home", home.path, "--raw").out == line.decode()
    assert run("show", event, "--home", home.path, "--raw", "--lines", "1:2").code == 2


def test_hostile_text_steers_nothing(home: Any, call: Callable[..., Any]) -> None:
    text = "\x1b]0;title\x07 \u202e \u200b \r[red]\ttab\nnext"
    for pointer in (
        home.artifact("s1", "log.txt", text),
        home.transcript("s1", 1, content=text)[0],
    ):
        for extra in ([], ["--lines", "1:2"]):
            out = call("show", pointer, "--home", home.path, *extra).out
            assert out.splitlines()[5] == r"\x1b]0;title\x07 \u202e \u200b \r[red]" + "\ttab"
            assert out.splitlines()[6] == "next"


def test_an_excerpt_is_bounded(home: Any, call: Callable[..., Any]) -> None:
    pointer = home.artifact("s1", "log.txt", "x" * 10_000 + "\n" + "y\n" * 5_000)
    done = call("show", pointer, "--home", home.path)
    assert "excerpt   2000 characters, more with --lines" in done.out
    assert len(done.out) < 3_000
    done = call("show", pointer, "--home", home.path, "--lines", "1:")
    assert "lines     1 to 2000 of 5001" in done.out


def test_an_event_without_text(home: Any, call: Callable[..., Any]) -> None:
    pointer = home.transcript("s1", 1, content={"b": [1, 2], "a": None})[0]
    done = call("show", pointer, "--home", home.path)
    assert json.loads(done.out.splitlines()[5]) == {"a": None, "b": [1, 2]}


def test_which_home(
    home: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pointer = home.transcript("s1", 1)[0]
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    refused = call("show", pointer)
    assert refused.code == 2
    assert "--home" in refused.err
    monkeypatch.chdir(home.path)
    assert call("show", pointer).code == 0
    assert call("show", pointer, "--artifact-root", home.path).code == 2
    assert call("show", pointer, "--home", tmp_path / "nowhere").code == 12
    os.symlink(home.path, tmp_path / "link")
    assert call("show", pointer, "--home", tmp_path / "link").code == 0


def test_a_folder_with_the_pointers_session_is_a_home(
    home: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pointer = home.artifact("s1", "log.txt", "text")
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "deny"')
    monkeypatch.chdir(home.path)
    assert call("show", pointer, "--quiet").code == 0
    assert call("show", pointer.replace(":s1:", ":s2:")).code == 2
    # What a policy denies is not looked for: present or not, the answer is the same.
    assert call("show", pointer, "--policy", policy).code == 2
    (home.path / "transcripts").mkdir()
    assert call("show", pointer.replace(":s1:", ":s2:")).code == 12
    assert "<session>/tool-results/" in call("show", "--help").out


def test_a_home_whose_rules_cannot_be_read_shows_nothing(
    home: Any, call: Callable[..., Any]
) -> None:
    pointer = home.transcript("s1", 1)[0]
    home.config("[[rule")
    done = call("show", pointer, "--home", home.path)
    assert (done.code, done.out) == (2, "")
    assert "ctxaudit.toml: line 1: file: expected TOML" in done.err
    home.config('exit_zero = true\n[[rule]]\neffect = "allow"')
    done = call("show", pointer, "--home", home.path)
    assert done.code == 0
    assert done.err.count("untrusted_config_ignored") == 2
