"""`sample_state/` is what its script builds, and shows the five states to somebody new."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from provenance.durable import DurableContextState


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _verify(checkout: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", "verify", "sample_state", *args],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_what_the_script_builds(checkout: Path, tmp_path: Path) -> None:
    script = checkout / "scripts" / "build_sample_state.py"
    for name in ("one", "two"):
        subprocess.run([sys.executable, script, tmp_path / name], check=True, cwd=tmp_path)
    assert _tree(tmp_path / "one") == _tree(tmp_path / "two")
    assert _tree(checkout / "sample_state") == _tree(tmp_path / "one")


def test_it_is_small_and_readable(checkout: Path) -> None:
    tree = _tree(checkout / "sample_state")
    assert len(tree) < 15
    assert sum(map(len, tree.values())) < 20_000
    for data in tree.values():
        assert data.decode("ascii")


def test_it_holds_each_state_and_exits_with_the_worst(checkout: Path) -> None:
    done = _verify(checkout, "--format", "json")
    assert done.returncode == 14
    summary = json.loads(done.stdout)["summary"]
    for state in ("missing", "denied", "corrupt", "unsupported"):
        assert summary[state] == 1
    assert summary["available"] >= 3
    assert summary["inconclusive"] == summary["not_checked"] == 0
    assert summary["uncited"] == 1
    strengths = {result["strength"] for result in json.loads(done.stdout)["results"]}
    assert strengths == {None, "position", "prefix", "full"}


def test_its_state_has_facts_items_of_every_status_and_evidence(checkout: Path) -> None:
    (path,) = (checkout / "sample_state" / "states").iterdir()
    state = DurableContextState.from_json(path.read_text(encoding="utf-8"))
    assert len(state.facts) >= 5
    assert {item.status for item in state.pending_items} == {"open", "blocked", "done"}
    assert len(state.retrieval_evidence) == 2


def test_a_reader_finds_the_altered_file_by_following_the_report(checkout: Path) -> None:
    lines = _verify(checkout).stdout.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("corrupt"))
    place = next(line for line in lines[start:] if "look at: " in line).partition("look at: ")[2]
    altered = (checkout / "sample_state" / place).read_text(encoding="utf-8")
    claim = next(line for line in lines[start:] if "rests on it: " in line)
    assert "4.7%" in claim
    assert "4.7%" not in altered


@pytest.mark.parametrize(
    "word", ["available", "missing", "denied", "corrupt", "unsupported", "What to do next"]
)
def test_the_table_explains_itself(checkout: Path, word: str) -> None:
    out = _verify(checkout).stdout
    assert word in out
    assert "What the states mean" in out
    assert "Exit code 14." in out
