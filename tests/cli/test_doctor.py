"""`ctxaudit doctor`: what it says, and with which exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from provenance.schemas import load_schema
from tests.cli.conftest import Done
from tests.fixtures import open_folder

__all__ = ["open_folder"]

Call = Callable[..., Done]


@pytest.fixture
def root(open_folder: Path) -> Path:
    home = open_folder / "home"
    (home / "states").mkdir(parents=True)
    for path in (home, home / "states"):
        path.chmod(0o755)
    return home


def _codes(done: Done) -> set[str]:
    return {one["code"] for one in done.report["findings"] if one["target"] == "home"}


def test_what_is_safe_is_0_and_what_is_not_14(root: Path, call: Call) -> None:
    assert call("doctor", root).code == 0
    (root / "states").chmod(0o777)
    done = call("doctor", root)
    assert done.code == 14
    lines = done.out.splitlines()
    assert lines[0] == (
        "error    world_writable  home: expected that the owner alone may write, got anybody"
    )
    assert lines[1] == "         where:  states"
    assert lines[2].startswith("         costs:  Transcripts")
    assert lines[3].startswith("         remedy: chmod")
    assert str(root) not in done.out
    assert lines[-1].startswith("1 unsafe, ")
    quiet = call("doctor", root, "--quiet")
    assert (quiet.code, "costs:" in quiet.out) == (14, False)


def test_a_warning_counts_where_it_is_to(root: Path, call: Call) -> None:
    (root / "link").symlink_to("x")
    assert call("doctor", root).code == 0
    assert call("doctor", root, "--strict").code == 14


def test_what_was_not_looked_at_is_4(root: Path, call: Call) -> None:
    (root / "a").mkdir(mode=0o755)
    done = call("doctor", root, "--max-entries", "1")
    assert done.code == 4
    assert "not all could be looked at" in done.out
    assert call("doctor", root, "--max-entries", "2").code == 0


def test_the_document_is_the_published_one(root: Path, call: Call) -> None:
    (root / "states").chmod(0o777)
    for number in range(7):
        (root / f"link{number}").symlink_to("x")
    done = call("doctor", root, root / "states", "--format", "json")
    Draft202012Validator(
        json.loads(load_schema("doctor")), format_checker=Draft202012Validator.FORMAT_CHECKER
    ).validate(done.report)
    assert [one["label"] for one in done.report["roots"]] == ["home", "states"]
    (links,) = [one for one in done.report["findings"] if one["code"] == "link_inside"]
    assert (links["count"], len(links["places"])) == (7, 5)
    assert str(root) not in done.out


def test_without_roots_it_looks_at_the_machine_and_at_a_home_it_stands_in(
    root: Path, call: Call, here: Path
) -> None:
    assert call("doctor", "--format", "json").report["roots"] == []
    os.chdir(root)
    assert [one["entries"] for one in call("doctor", "--format", "json").report["roots"]] == [1]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def test_usage(root: Path, call: Call) -> None:
    done = call("doctor", root / "nothing")
    assert (done.code, "ROOT: nothing: expected a folder" in done.err) == (2, True)
    assert call("doctor", root, "--max-entries", "0").code == 2


def test_a_name_that_would_steer_the_terminal_is_shown(root: Path, call: Call) -> None:
    (root / "\x1b[31mx").symlink_to("x")
    out = call("doctor", root).out
    assert "\x1b" not in out
    assert "\\x1b[31mx" in out


def test_every_code_it_says_can_be_explained(root: Path, call: Call) -> None:
    (root / "states").chmod(0o777)
    for code in _codes(call("doctor", root, "--format", "json")):
        assert "What it costs" in call("explain", code).out
