"""No command waits for a pipe that lies in a home; one that the shell opened is read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_PIPES = (
    "states/f.json",
    "receipts/f.json",
    "transcripts/f.jsonl",
    "s1/tool-results/f.txt",
    "f.json",
)


@pytest.fixture
def hanging(home: Any) -> Path:
    home.state("one.json", home.transcript("s1", 2))
    home.artifact("s1", "a.txt", "text")
    for name in _PIPES:
        path = home.path / name
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
    return home.path


@pytest.mark.parametrize(
    "args",
    [
        ("verify", "{home}/states/f.json"),
        ("verify", "{home}", "{home}/states/f.json"),
        ("verify", "{home}/receipts/f.json"),
        ("verify", "{home}/f.json"),
        ("verify", "--scan", "{home}/transcripts/f.jsonl"),
        ("verify", "--scan", "{home}/s1/tool-results/f.txt"),
        ("verify", "--scan", "{link}"),
        ("verify", "{home}", "--lock", "{home}/f.json"),
        ("verify", "{home}", "--policy", "{home}/f.json"),
        ("verify", "{home}", "--waivers", "{home}/f.json"),
        ("verify", "{home}", "--seal", "{home}/f.json"),
        ("render", "{home}/states/f.json"),
        ("pin", "{home}", "--state", "{home}/states/f.json"),
        ("pin", "{home}", "--state", "f"),
        ("compact", "{home}/transcripts/f.jsonl"),
        ("compact", "{home}/f.json", "--as", "messages"),
        ("state", "put", "{home}", "n", "{home}/f.json", "--replaces", "none", "--author", "a"),
        ("log", "check", "{home}/f.json", "--key", "{home}/f.json"),
        ("attest", "check", "{home}/f.json", "--key", "{home}/f.json"),
        ("policy", "test", "{home}/f.json", "transcript:s1:1"),
    ],
)
def test_a_pipe_in_a_home_is_refused_at_once(
    args: tuple[str, ...], hanging: Path, call: Callable[..., Any]
) -> None:
    link = hanging.parent / "link.json"
    link.symlink_to(hanging / "states" / "f.json")
    done = call(*(one.format(home=hanging, link=link) for one in args))
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "expected a regular file" in done.err


def test_a_device_is_no_target(call: Callable[..., Any]) -> None:
    for extra in ([], ["--scan"]):
        done = call("verify", "/dev/zero", *extra)
        assert (done.code, done.err.count("\n")) == (2, 1)


def test_a_pipe_that_the_shell_opened_is_read(
    home: Any, environment: Callable[..., dict[str, str]]
) -> None:
    home.state("one.json", home.transcript("s1", 2))

    def run(text: str, *args: str | Path) -> int:
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        try:
            return subprocess.run(
                [sys.executable, "-m", "cli", *map(str, args), f"/dev/fd/{reading}"],
                env=environment({}),
                pass_fds=[reading],
                capture_output=True,
                check=False,
            ).returncode
        finally:
            os.close(reading)

    assert run('default = "deny"', "verify", home.path, "--policy") == 13
    assert run("see transcript:s1:1", "verify", "--scan", home.path) == 0
    assert run("see transcript:s1:9", "verify", "--scan", home.path) == 12
