"""The way to a root, and what it lies on. (What is unsafe about it: tests/doctor.)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.fs import SourceAbsent, TrustedRoot
from provenance.fs.surroundings import FileSystem, file_system_of, mounts_below, way_to


def test_each_folder_on_the_way_is_a_step(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    path.mkdir(parents=True)
    levels = [step.levels_above for step in way_to(path)]
    assert levels == list(range(len(path.parts) - 1, -1, -1))
    assert way_to(f"{path}/./../b//")[-1] == way_to(path)[-1]


def test_a_path_that_begins_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    assert way_to("a") == way_to(tmp_path / "a")
    assert way_to(".")[-1] == way_to(tmp_path)[-1]


def test_links_are_steps_and_so_is_where_they_lie(tmp_path: Path) -> None:
    for name in ("real", "links"):
        (tmp_path / name).mkdir()
    (tmp_path / "links/one").symlink_to("two")
    (tmp_path / "links/two").symlink_to(tmp_path / "real")
    way = way_to(tmp_path / "links/one")
    assert any(step.is_link for step in way)
    assert way[-1].levels_above == 0
    assert sum(step.levels_above is None and not step.is_link for step in way) == 1


@pytest.mark.parametrize("path", ["nothing", "file", "file/x", "a\0b"])
def test_a_way_that_leads_nowhere(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SourceAbsent):
        way_to(f"{tmp_path}/{path}")


def test_this_file_system(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with TrustedRoot(tmp_path) as root, root.open_directory() as folder:
        found = file_system_of(folder)
    assert isinstance(found, FileSystem)
    assert found.locks_folders
    assert found.folds_case is os.path.exists(tmp_path / "X")
    assert found.free_bytes is None or found.free_bytes >= 0


def test_what_is_mounted_below_the_top() -> None:
    if not os.path.exists("/proc/self/mountinfo"):
        pytest.skip("no list of mounts here: NOT tested")
    assert any(name.startswith("proc") for name in mounts_below("/"))
    assert mounts_below("/nowhere/at/all") == ()
