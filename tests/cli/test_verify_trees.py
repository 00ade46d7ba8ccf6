"""What `ctxaudit verify` says of other agents' transcripts on the console."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"
_SYNTHETIC = _DATA / "claude-code" / "synthetic"


@pytest.mark.parametrize("color", ["never", "always"])
@pytest.mark.parametrize("width", ["80", "120"])
def test_a_tree_is_one_screen(call: Callable[..., Any], color: str, width: str) -> None:
    done = call("verify", _SYNTHETIC, "--color", color, COLUMNS=width)
    assert done.code == 14
    assert done.out.count("\n") <= 75  # eighteen codes, two lines each
    assert "All together" in done.out
    assert "more files with faults" in done.out
    assert "Exit code 14. Counts as corrupt: " in done.out


def test_the_plain_words_do_not_depend_on_the_window(call: Callable[..., Any]) -> None:
    narrow = call("verify", _SYNTHETIC, COLUMNS="40").out
    assert narrow == call("verify", _SYNTHETIC, COLUMNS="200").out
    assert narrow.isascii()
    assert str(_DATA) not in narrow


def test_faults_are_told_by_code_with_a_place(call: Callable[..., Any]) -> None:
    lines = call("verify", _SYNTHETIC).out.splitlines()
    number = next(n for n, line in enumerate(lines) if " welded_records " in line)
    assert lines[number].startswith("error         welded_records  1 in 1 file: ")
    assert lines[number + 1].strip() == "synthetic/three-welded.jsonl:2 (record 2)"


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("clean.jsonl", 0, "Every transcript that was checked is sound."),
        ("torn-tail.jsonl", 14, "a transcript that was checked whole has a fault"),
        (
            "persisted-output/projects/-home-user-project/missing.jsonl",
            12,
            "something that a record says exists elsewhere is not there",
        ),
        (
            "persisted-output/projects/-home-user-project/path-outside-root.jsonl",
            13,
            "something that a record says exists elsewhere may not be read here",
        ),
        (
            "persisted-output/projects/-home-user-project/shorter-than-announced.jsonl",
            14,
            "what a record says exists elsewhere is not as it says",
        ),
        ("persisted-output/projects/-home-user-project/exists-and-whole.jsonl", 0, "is sound."),
    ],
)
def test_a_single_file(call: Callable[..., Any], name: str, code: int, said: str) -> None:
    done = call("verify", _SYNTHETIC / name)
    assert done.code == code
    lines = done.out.splitlines()
    assert said in lines[-1]
    assert f"  file           {Path(name).name}" in lines
    assert "  format         claude-code" in lines
    assert "sources:" not in done.out


def test_a_hostile_name_steers_nothing(call: Callable[..., Any], tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    data = (_SYNTHETIC / "torn-tail.jsonl").read_bytes()
    for number in range(12):
        (tree / f"{number}\x1b[2J\n[red]x.jsonl").write_bytes(data)
    for color in ("never", "always"):
        out = call("verify", tree, "--color", color, COLUMNS="80").out
        assert "\x1b[2J" not in out
        assert "[red]x.jsonl" in out
