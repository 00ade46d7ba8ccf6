"""A file that is replaced as a whole, and a folder that is held."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from provenance.fs import Directory, LockTimeout, TrustedRoot, UnsafeComponent, WriteFailed
from provenance.fs.locking import exclusive_lock


@pytest.fixture
def folder(tmp_path: Path) -> Directory:
    with TrustedRoot(tmp_path) as root:
        return root.open_directory()


def test_a_new_file_is_for_others_to_read_at_most(folder: Directory, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with folder:
            folder.replace("a.lock", b"one")
    finally:
        os.umask(before)
    assert (tmp_path / "a.lock").read_bytes() == b"one"
    assert (tmp_path / "a.lock").stat().st_mode & 0o777 == 0o644
    assert os.listdir(tmp_path) == ["a.lock"]


def test_an_old_file_keeps_its_mode(folder: Directory, tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with folder:
        folder.replace("a.lock", b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_replaced_and_not_followed(folder: Directory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"outside")
    (tmp_path / "a.lock").symlink_to(outside)
    with folder:
        folder.replace("a.lock", b"new")
    assert outside.read_bytes() == b"outside"
    assert not (tmp_path / "a.lock").is_symlink()


def test_a_folder_of_that_name_stays(folder: Directory, tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    with folder, pytest.raises(WriteFailed):
        folder.replace("a.lock", b"new")
    assert os.listdir(tmp_path) == ["a.lock"]


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    folder: Directory, tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.lock").write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no")

    with folder, monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(WriteFailed, match=r"^file: expected to write, got ENOSPC$") as caught:
            folder.replace("a.lock", b"new")
    assert caught.value.errno == errno.ENOSPC
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.lock": b"old"}


def test_a_name_is_one_component(folder: Directory) -> None:
    with folder:
        for name in ("../a", "a/b", "..", ""):
            with pytest.raises(UnsafeComponent):
                folder.replace(name, b"")


def test_a_folder_is_held_by_one_handle(folder: Directory, tmp_path: Path) -> None:
    with folder, TrustedRoot(tmp_path) as root, root.open_directory() as other:
        with (
            folder.lock(),
            pytest.raises(LockTimeout, match=r"^folder: expected its lock within 0 s"),
            other.lock(timeout_seconds=0),
        ):
            pytest.fail("held twice")
        with other.lock(timeout_seconds=0), exclusive_lock(other.fd, "x", timeout_seconds=0):
            pass  # the handle that holds it may hold it again
    assert os.listdir(tmp_path) == []
