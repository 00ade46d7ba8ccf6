"""New files that are written together, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from cli.compact_files import NewFiles
from cli.streams import OutputFailed
from provenance.fs import Directory, WriteFailed
from tests.cli.compaction_files import compacted_options, history, program, write

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


def _written(folder: Path, *names: str) -> NewFiles:
    files = NewFiles()
    for name in names:
        files.reserve(CTX, f"--{name}", str(folder / name))
        files.write(f"--{name}", name.encode())
    return files


def test_where_one_has_no_name_the_others_have_none(tmp_path: Path) -> None:
    with _written(tmp_path, "a", "b", "c") as files:
        (tmp_path / "c").write_text("somebody else's")
        with pytest.raises(
            OutputFailed, match=r"^--c: c: expected .* in use; nothing was written$"
        ):
            files.publish()
    assert os.listdir(tmp_path) == ["c"]
    assert (tmp_path / "c").read_text() == "somebody else's"


def test_what_somebody_put_in_the_place_of_one_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = Directory.sync

    def sync_and_replace(folder: Directory) -> None:
        sync(folder)
        (tmp_path / "new").write_text("somebody else's")
        (tmp_path / "new").rename(tmp_path / "a")

    with _written(tmp_path, "a", "b") as files:
        (tmp_path / "b").write_text("taken")
        monkeypatch.setattr(Directory, "sync", sync_and_replace)
        with pytest.raises(OutputFailed):
            files.publish()
    assert (tmp_path / "a").read_text() == "somebody else's"


def test_one_whose_folder_does_not_sync_is_taken_back_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Directory) -> None:
        raise WriteFailed("file: expected to write, got EIO")

    with _written(tmp_path, "a", "b") as files:
        monkeypatch.setattr(Directory, "sync", refuse)
        with pytest.raises(OutputFailed, match=r"^--a: a: .* EIO; nothing was written$"):
            files.publish()
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_taken_back_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Directory, name: str, published: tuple[int, int]) -> bool:
        raise WriteFailed("file: expected to write, got EIO")

    with _written(tmp_path, "a", "b", "c") as files:
        (tmp_path / "c").write_text("taken")
        monkeypatch.setattr(Directory, "take_back", refuse)
        with pytest.raises(OutputFailed, match=r"in use; --b: b and --a: a stand$"):
            files.publish()
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_a_program_that_takes_a_name_meanwhile_leaves_no_receipt(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    file, output = write(tmp_path / "h.json", history()), tmp_path / "o.json"
    body = f"import sys\nsys.stdin.read()\nopen({str(output)!r}, 'w').write('mine')\nprint('all')"
    options = compacted_options("--keep-recent", 9, "--summarizer", program(tmp_path, body))
    done = call("compact", file, *options, "--receipt", tmp_path / "r.json", "--output", output)
    assert done.code == 1
    assert "--output: o.json: expected a name that is free, got one in use; nothing" in done.err
    assert output.read_text() == "mine"
    assert not (tmp_path / "r.json").exists()
