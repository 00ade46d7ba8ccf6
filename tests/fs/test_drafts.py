"""Drafts: a file appears whole, under a free name, or not at all; both ways of making one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.fs import Draft, NameTaken, WriteFailed, _linux, is_temporary_name
from provenance.fs.drafts import discard_stale


@pytest.fixture(params=["unnamed", "named", "named_without_proc"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way of making a draft: without a name, and with a hidden one."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)
    elif request.param == "named_without_proc":
        monkeypatch.setattr(os, "access", lambda *_: False)
        # Where the answer is kept for the life of a process, the kept one counts.
        kept = "provenance.fs.drafts._has_descriptor_folder"
        monkeypatch.setattr(kept, lambda: False, raising=False)
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def _visible(path: Path) -> list[str]:
    return [name for name in os.listdir(path) if not is_temporary_name(name)]


def test_a_draft_is_invisible_until_it_is_linked(way: str, folder: int, tmp_path: Path) -> None:
    with Draft(folder) as draft:
        draft.write(b"one")
        draft.write(memoryview(b"two"))
        draft.sync()
        assert _visible(tmp_path) == []
        assert bool(os.listdir(tmp_path)) == (way != "unnamed")
        draft.link_as("f")
        assert (tmp_path / "f").read_bytes() == b"onetwo"
    assert os.listdir(tmp_path) == ["f"]
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    assert (tmp_path / "f").stat().st_nlink == 1


def test_a_draft_that_is_given_up_leaves_nothing(way: str, folder: int, tmp_path: Path) -> None:
    with Draft(folder) as draft:
        draft.write(b"one")
    with pytest.raises(TypeError), Draft(folder) as draft:
        draft.write(None)  # type: ignore[arg-type]
    draft.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["file", "folder", "dangling_link", "fifo"])
def test_nothing_is_overwritten(way: str, folder: int, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "f"
    if kind == "file":
        place.write_bytes(b"theirs")
    elif kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to("nothing-here")
    before = place.lstat()
    with Draft(folder) as draft:
        draft.write(b"ours")
        with pytest.raises(NameTaken):
            draft.link_as("f")
        draft.link_as("g")  # another name may be tried
    after = place.lstat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (
        before.st_ino, before.st_mode, before.st_mtime_ns,
    )  # fmt: skip
    assert (tmp_path / "g").read_bytes() == b"ours"
    assert sorted(os.listdir(tmp_path)) == ["f", "g"]


def test_of_many_writers_one_gets_the_name(way: str, folder: int, tmp_path: Path) -> None:
    drafts = [Draft(folder) for _ in range(8)]
    won = 0
    for number, draft in enumerate(drafts):
        draft.write(b"%d" % number)
        try:
            draft.link_as("f")
            won += 1
        except NameTaken:
            pass
        draft.close()
    assert won == 1
    assert (tmp_path / "f").read_bytes() == b"0"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL])
def test_a_file_system_without_unnamed_files(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(number, "no")
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)
    with Draft(folder) as draft:
        draft.write(b"x")
        draft.link_as("f")
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)
    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "taken").write_bytes(b"theirs")
    with Draft(folder) as draft:
        draft.write(b"ours")
        with pytest.raises(NameTaken):
            draft.link_as("taken")
        draft.link_as("f")
    assert (tmp_path / "taken").read_bytes() == b"theirs"
    assert (tmp_path / "f").read_bytes() == b"ours"
    assert sorted(os.listdir(tmp_path)) == ["f", "taken"]


def test_without_hard_links_and_exclusive_renames_nothing_is_risked(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, "no")

    monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(_linux, "rename_exclusive", refuse)
    with Draft(folder) as draft:
        draft.write(b"ours")
        with pytest.raises(WriteFailed) as caught:
            draft.link_as("f")
    assert caught.value.errno == errno.ENOSYS
    assert os.listdir(tmp_path) == []


def _finish(draft: Draft) -> None:
    draft.write(b"x")
    draft.sync()
    draft.link_as("f")


@pytest.mark.parametrize("call", ["write", "fsync", "link"])
def test_a_refusing_disk_leaves_nothing(
    way: str, folder: int, tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "at /secret")

    with Draft(folder) as draft, monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(WriteFailed) as caught:
            _finish(draft)
    assert caught.value.errno == errno.ENOSPC
    assert "secret" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_short_writes_are_continued(
    way: str, folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with Draft(folder) as draft:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
            draft.write(b"0123456789")
        draft.link_as("f")
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_a_folder_that_takes_no_file(
    way: str, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, "at /secret")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(WriteFailed) as caught:
            Draft(folder)
    assert caught.value.errno == errno.EROFS


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (".ctxaudit-0123456789abcdef.tmp", True),
        (".ctxaudit-", False),
        ("ctxaudit-0123.tmp", False),
        ("log.tmp", False),
        (".ctxaudit-0123.txt", False),
    ],
)
def test_temporary_names(name: str, ours: bool) -> None:
    assert is_temporary_name(name) is ours


_STALE = ".ctxaudit-0123456789abcdef.tmp"


def test_only_an_old_regular_file_of_ours_is_discarded(folder: int, tmp_path: Path) -> None:
    stale = tmp_path / _STALE
    stale.write_bytes(b"x")
    os.utime(stale, (1000, 1000))
    assert not discard_stale(folder, _STALE, before_seconds=1000)  # a live writer may have it
    assert discard_stale(folder, _STALE, before_seconds=1001)
    assert not discard_stale(folder, _STALE, before_seconds=1001)
    for name in ("other", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (1000, 1000))
        assert not discard_stale(folder, name, before_seconds=10**10)
    stale.symlink_to("other")
    assert not discard_stale(folder, _STALE, before_seconds=10**10)
    stale.unlink()
    stale.mkdir()
    assert not discard_stale(folder, _STALE, before_seconds=10**10)
    assert sorted(os.listdir(tmp_path)) == [_STALE, ".hidden", "other"]


def test_one_that_is_published_already_is_discarded_at_any_age(folder: int, tmp_path: Path) -> None:
    stale = tmp_path / _STALE
    stale.write_bytes(b"x")
    os.link(stale, tmp_path / "f")
    assert discard_stale(folder, _STALE, before_seconds=0)
    assert os.listdir(tmp_path) == ["f"]
