"""New files that are written together, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from cli.compact_files import NewFiles
from cli.streams import OutputFailed

CTX = click.Context(click.Command("x"))


def test_nothing_has_a_name_before_all_are_whole(tmp_path: Path) -> None:
    with NewFiles() as files:
        files.reserve(CTX, "--a", str(tmp_path / "a"))
        files.reserve(CTX, "--b", str(tmp_path / "b"))
        files.reserve(CTX, "--c", None)
        files.write("--a", b"1")
        files.write("--b", b"2")
        files.write("--c", b"3")
        assert not [name for name in os.listdir(tmp_path) if not name.startswith(".")]
        files.publish()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


def test_what_is_not_published_leaves_nothing(tmp_path: Path) -> None:
    with NewFiles() as files:
        files.reserve(CTX, "--a", str(tmp_path / "a"))
        files.write("--a", b"1")
    assert os.listdir(tmp_path) == []


def test_a_name_that_was_taken_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with NewFiles() as files:
        files.reserve(CTX, "--a", str(tmp_path / "a"))
        files.write("--a", b"1")
        (tmp_path / "a").write_text("somebody else's")
        with pytest.raises(OutputFailed, match=r"^--a: a: expected a name that is free"):
            files.publish()
    assert (tmp_path / "a").read_text() == "somebody else's"


@pytest.mark.parametrize("name", ["link", "folder", "dangling"])
def test_any_name_in_use_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "dangling").symlink_to("nowhere")
    with NewFiles() as files, pytest.raises(click.UsageError):
        files.reserve(CTX, "--a", str(tmp_path / name))


def test_one_file_by_two_paths_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with NewFiles() as files:
        files.reserve(CTX, "--a", str(tmp_path / "a"))
        with pytest.raises(click.UsageError, match="expected another file than --a"):
            files.reserve(CTX, "--b", str(tmp_path / "link" / "a"))
