"""The folder for temporary files, and that it is gone afterwards."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from provenance.fs import scratch
from provenance.fs.scratch import scratch_folder


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _nested(folder: Path, count: int) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(count):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=there))
        os.close(here)
        here = there
    os.close(here)


@pytest.mark.attack
def test_a_tree_deeper_than_any_stack_is_removed(tmp_path: Path) -> None:
    with scratch_folder() as folder:
        _nested(folder, 3_000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.attack
def test_folders_that_nobody_may_enter_are_removed(tmp_path: Path) -> None:
    with scratch_folder() as folder:
        for name in ("a", "b"):
            (folder / name / "c").mkdir(parents=True)
            (folder / name / "c" / "file").touch()
            (folder / name / "c").chmod(0)
            (folder / name).chmod(0o500)
    left = list(tmp_path.iterdir())
    assert left == [] or os.geteuid() != 0


def test_a_link_out_of_it_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    with scratch_folder() as folder:
        (folder / "link").symlink_to(tmp_path / "kept")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]


def test_what_is_too_much_stays_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "MOST_REMOVED", 10)
    with scratch_folder() as folder:
        _nested(folder, 30)
    assert folder.is_dir()


def test_a_failure_within_is_the_one_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyError), scratch_folder():
        raise KeyError
    assert list(tmp_path.iterdir()) == []
