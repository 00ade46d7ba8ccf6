"""A handle on a regular file: what is read, and what is noticed of a change."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from provenance.fs import NotARegularFile, OpenFile, ReadFailed


def _open(path: Path) -> OpenFile:
    return OpenFile(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    os.utime(path, ns=(10**18, 10**18))
    return path


def test_reading(path: Path) -> None:
    with _open(path) as file:
        assert file.size == file.facts.size == 10
        assert file.read_at(0, 10) == b"0123456789"
        assert file.read_at(8, 10) == b"89"
        assert file.read_at(10, 5) == b""
        assert file.read_at(3, 0) == b""
        buffer = bytearray(6)
        assert file.read_into(memoryview(buffer), 2) == 6
        assert buffer == b"234567"
        assert file.read_into(memoryview(buffer), 7) == 3
        assert file.is_unchanged()


def test_facts(path: Path, tmp_path: Path) -> None:
    os.link(path, tmp_path / "second")
    found = path.stat()
    with _open(path) as file:
        facts = file.facts
    assert (facts.device, facts.inode) == (found.st_dev, found.st_ino)
    assert (facts.mtime_ns, facts.ctime_ns) == (found.st_mtime_ns, found.st_ctime_ns)
    assert (facts.nlink, facts.uid, facts.mode) == (2, found.st_uid, found.st_mode)
    with pytest.raises(AttributeError):
        facts.size = 1  # type: ignore[misc]


def test_short_reads_are_put_together(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pread, preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, 3), at))
    monkeypatch.setattr(
        os, "preadv", lambda fd, buffers, at: preadv(fd, [buffers[0][:3]], at)
    )  # fmt: skip
    with _open(path) as file:
        assert file.read_at(0, 10) == b"0123456789"
        assert file.read_at(1, 100) == b"123456789"
        buffer = bytearray(100)
        assert file.read_into(memoryview(buffer), 1) == 9
        assert buffer[:9] == b"123456789"


def test_a_refusing_device_is_a_failed_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise OSError(errno.EIO, "at /secret")

    with _open(path) as file, monkeypatch.context() as patch:
        patch.setattr(os, "pread", refuse)
        patch.setattr(os, "preadv", refuse)
        patch.setattr(os, "fstat", refuse)
        for ask in (
            lambda: file.read_at(0, 1),
            lambda: file.read_into(memoryview(bytearray(1)), 0),
            file.is_unchanged,
            file.refresh,
        ):
            with pytest.raises(ReadFailed) as caught:
                ask()
            assert caught.value.errno == errno.EIO
            assert "secret" not in str(caught.value)


@pytest.mark.parametrize("kind", ["directory", "fifo"])
def test_only_a_regular_file_is_taken(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    with pytest.raises(NotARegularFile):
        _open(place)  # and its handle is closed, as the fixture sees


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _rewrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"X")


def _shorten(path: Path) -> None:
    os.truncate(path, 4)


def _rewrite_and_put_the_time_back(path: Path) -> None:
    before = path.stat()
    _rewrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"0123456789")
    other.replace(path)


def _link(path: Path) -> None:
    os.link(path, path.with_name("second"))


def _change_mode(path: Path) -> None:
    path.chmod(0o640)


@pytest.mark.parametrize(
    "change",
    [
        _grow,
        _rewrite,
        _shorten,
        _rewrite_and_put_the_time_back,
        _delete,
        _replace,
        _link,
        _change_mode,
    ],
)
def test_changes_are_noticed(path: Path, change: Callable[[Path], None]) -> None:
    # Its times lie in the past, so that a coarse clock cannot hide what happens now.
    with _open(path) as file:
        _until_the_clock_ticks(path.with_name("clock"), than=file.facts.ctime_ns)
        change(path)
        assert not file.is_unchanged()
        facts = file.refresh()
        assert facts == file.facts
        assert file.is_unchanged()


_FIELDS = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


@pytest.mark.parametrize("field", _FIELDS)
def test_each_of_the_five_facts_counts_by_itself(
    path: Path, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # File systems with coarse or lying clocks change one and not the other.
    with _open(path) as file:
        now = {name: getattr(path.stat(), name) for name in (*_FIELDS, "st_nlink", "st_mode")}
        with monkeypatch.context() as patch:
            patch.setattr("provenance.fs.reading.os.fstat", lambda fd: SimpleNamespace(**now))
            assert file.is_unchanged()
            now[field] += 1
            assert not file.is_unchanged()


def _until_the_clock_ticks(probe: Path, *, than: int) -> None:
    """Wait for the file system's own clock: what is changed now has another ctime."""
    probe.touch()
    while probe.stat().st_ctime_ns <= than:
        probe.chmod(0o600)


def test_reading_alone_is_no_change(path: Path) -> None:
    with _open(path) as file:
        path.read_bytes()
        assert file.is_unchanged()


def test_closing_twice_is_no_error(path: Path) -> None:
    file = _open(path)
    file.close()
    file.close()
    with pytest.raises(ReadFailed):
        file.read_at(0, 1)
