"""No file of a run is written over an input of the same run, or over another output of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .sealed_homes import SealedHome

_OUTPUTS = ("--output", "--attest-output", "--decisions")
_INPUTS = ("--policy", "--waivers", "--lock", "--seal", "--seal-checkpoint", "--attest")


@pytest.fixture
def room(tmp_path: Path) -> tuple[SealedHome, dict[str, Path]]:
    """Make a sealed home, and a file for each option that reads one."""
    home = SealedHome.make(tmp_path)
    files = {
        "--policy": tmp_path / "policy.toml",
        "--waivers": tmp_path / "waivers.toml",
        "--lock": tmp_path / "other.lock",
        "--seal": home.public,
        "--seal-checkpoint": tmp_path / "held",
        "--attest": home.key,
    }
    files["--policy"].write_text('default = "allow"\nrefuse = ["hard-links"]\n')
    files["--waivers"].write_text("waiver = []\n")
    files["--lock"].write_bytes((home.path / "ctxaudit.lock").read_bytes())
    last = max((home.path / "seals").glob("*"))
    files["--seal-checkpoint"].write_bytes(last.read_bytes())
    return home, files


def _arguments(home: SealedHome, files: dict[str, Path], **places: Path) -> list[str | Path]:
    given: list[str | Path] = ["verify", home.path, "--format", "json"]
    for option, file in files.items():
        given += [option, file]
    outputs = {option: home.path.parent / f"new{option}" for option in _OUTPUTS}
    outputs |= {f"--{name.replace('_', '-')}": path for name, path in places.items()}
    for option, path in outputs.items():
        given += [option, path]
    return given


def test_files_of_their_own_are_written(
    room: tuple[SealedHome, dict[str, Path]], call: Callable[..., Any]
) -> None:
    home, files = room
    done = call(*_arguments(home, files))
    assert done.code in (0, 14), done.err
    assert json.loads((home.path.parent / "new--output").read_text())["schema"]


@pytest.mark.parametrize("way", ["same", "dots", "link", "hard link"])
@pytest.mark.parametrize("read", _INPUTS)
@pytest.mark.parametrize("written", _OUTPUTS)
def test_no_output_is_an_input(
    room: tuple[SealedHome, dict[str, Path]],
    call: Callable[..., Any],
    written: str,
    read: str,
    way: str,
) -> None:
    home, files = room
    place = _by_way(files[read], way)
    before = {option: file.read_bytes() for option, file in files.items()}
    done = call(*_arguments(home, files, **{written[2:].replace("-", "_"): place}))
    assert (done.code, done.out) == (2, "")
    said = f"{written}: {place.name}: expected a file of its own, got that of {read}"
    assert said in done.err
    assert {option: file.read_bytes() for option, file in files.items()} == before
    assert not list(home.path.parent.glob("new--*"))


@pytest.mark.parametrize("way", ["same", "dots", "link", "hard link"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("--output", "--attest-output"),
        ("--output", "--decisions"),
        ("--attest-output", "--decisions"),
    ],
)
def test_no_output_is_another_one(
    room: tuple[SealedHome, dict[str, Path]],
    call: Callable[..., Any],
    first: str,
    second: str,
    way: str,
) -> None:
    home, files = room
    one = home.path.parent / "one"
    if way == "hard link":
        one.write_text("old")
    other = _by_way(one, way)
    places = {first[2:].replace("-", "_"): one, second[2:].replace("-", "_"): other}
    done = call(*_arguments(home, files, **places))
    assert (done.code, done.out) == (2, "")
    assert f"{second}: {other.name}: expected a file of its own, got that of {first}" in done.err


def test_two_reports_of_one_place(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    home.state("one.json", home.transcript("s1", 1))
    (tmp_path / "other").symlink_to("one")
    reports = ["--format", "json", "--format", "ndjson"]
    done = call(
        "verify", home.path, *reports, "--output", tmp_path / "one", "--output", tmp_path / "other"
    )
    assert done.code == 2
    assert "--output: other: expected a file of its own, got that of --output" in done.err


@pytest.mark.parametrize("root", ["--transcript-root", "--artifact-root"])
def test_no_output_lies_below_a_root(home: Any, call: Callable[..., Any], root: str) -> None:
    (pointer,) = home.transcript("s1", 1)
    logs = home.path / "transcripts"
    before = (logs / "s1.jsonl").read_bytes()
    given = ("verify", "--pointer", pointer, root, logs, "--format", "json", "--output")
    done = call(*given, logs / "s1.jsonl")
    assert done.code == 2
    assert f"--output: s1.jsonl: expected a place outside {root}, got one below it" in done.err
    assert (logs / "s1.jsonl").read_bytes() == before
    # The nearest miss.
    assert "expected a place" not in call(*given, logs.parent / "beside.json").err


@pytest.mark.parametrize("which", ["policy", "state", "transcript"])
def test_pin_writes_over_no_input(
    home: Any, call: Callable[..., Any], tmp_path: Path, which: str
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    policy, state = tmp_path / "policy.toml", tmp_path / "state.json"
    policy.write_text('default = "allow"\nrefuse = ["hard-links"]\n')
    state.write_bytes((home.path / "states" / "one.json").read_bytes())
    transcript = home.path / "transcripts" / "s1.jsonl"
    place = {"policy": policy, "state": state, "transcript": transcript}[which]
    before = place.read_bytes()
    done = call("pin", home.path, "--policy", policy, "--state", state, "--lock", place)
    assert done.code != 0
    assert place.read_bytes() == before


def _by_way(file: Path, way: str) -> Path:
    match way:
        case "dots":
            return file.parent / "home" / ".." / file.name
        case "link":
            link = file.parent / "link"
            link.symlink_to(file)
            return link
        case "hard link":
            link = file.parent / "second"
            link.hardlink_to(file)
            return link
        case _:
            return file


@pytest.mark.parametrize("place", ["transcripts/s1.jsonl", "states/new.json", "report.json"])
@pytest.mark.parametrize("option", ["--output", "--decisions"])
def test_a_state_that_is_named_stands_for_the_home_that_it_lies_in(
    home: Any, call: Callable[..., Any], tmp_path: Path, place: str, option: str
) -> None:
    state = home.state("one.json", home.transcript("s1", 1))
    before = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()}
    done = call("verify", state, "--format", "json", option, home.path / place)
    assert done.code == 2
    assert "expected a place outside the targets, got one below them" in done.err
    assert {p: p.read_bytes() for p in home.path.rglob("*") if p.is_file()} == before
    # Beside the home it may lie.
    assert call("verify", state, "--format", "json", option, tmp_path / "beside.json").code == 0
