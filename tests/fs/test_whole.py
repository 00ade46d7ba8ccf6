"""Whole files: what the operator names is read within limits and written in one step."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from provenance.fs import (
    BoundaryRefused,
    FileTooLarge,
    NotARegularFile,
    OpenFile,
    ReadFailed,
    SourceAbsent,
    SourceChanged,
    WriteFailed,
    atomic_write,
    read_operator_file,
    read_whole,
)
from tests.trees import CHECKOUT, run_python


def test_reading_what_the_operator_named(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("f")
    assert read_operator_file(path, max_bytes=10) == b"0123456789"
    assert read_operator_file(str(tmp_path / "link"), max_bytes=10) == b"0123456789"
    with pytest.raises(FileTooLarge):
        read_operator_file(path, max_bytes=9)
    with pytest.raises(SourceAbsent):
        read_operator_file(tmp_path / "nothing", max_bytes=9)
    with pytest.raises(SourceAbsent):
        read_operator_file(path / "below", max_bytes=9)
    with pytest.raises(NotARegularFile):
        read_operator_file(tmp_path, max_bytes=9)
    with pytest.raises(NotARegularFile):
        read_operator_file("a\0b", max_bytes=9)


def test_links_that_lead_to_each_other_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BoundaryRefused, match="expected a file, got links that lead to each other"):
        read_operator_file(tmp_path / "a", max_bytes=9)


def test_the_size_is_looked_at_before_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    def refuse(*_: object) -> bytes:
        raise AssertionError("was read")

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", refuse)
        with pytest.raises(FileTooLarge):
            read_operator_file(path, max_bytes=1 << 20)


def test_a_pipe_is_read_to_its_end_and_no_further_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def feed(data: bytes) -> threading.Thread:
        def work() -> None:
            with path.open("wb", buffering=0) as file:
                try:
                    file.write(data)
                except BrokenPipeError:
                    return

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    for data, limit in ((b"x" * 200_000, 200_000), (b"x" * 200_001, 200_000), (b"", 0)):
        thread = feed(data)
        if len(data) > limit:
            with pytest.raises(FileTooLarge):
                read_operator_file(path, max_bytes=limit)
        else:
            assert read_operator_file(path, max_bytes=limit) == data
        thread.join()


def test_an_endless_device_ends_at_the_limit() -> None:
    with pytest.raises(FileTooLarge):
        read_operator_file("/dev/zero", max_bytes=3 << 20)


def test_a_file_that_says_it_is_empty_is_still_bounded() -> None:
    # Files of /proc have no size, and more bytes than that.
    assert read_operator_file("/proc/self/stat", max_bytes=4096)
    with pytest.raises(FileTooLarge):
        read_operator_file("/proc/self/stat", max_bytes=3)


def test_errors_hold_no_path(tmp_path: Path) -> None:
    for call in (
        lambda: read_operator_file(tmp_path / "secret" / "x", max_bytes=1),
        lambda: atomic_write(tmp_path / "secret" / "x", b"x"),
    ):
        with pytest.raises((SourceAbsent, WriteFailed)) as caught:
            call()
        assert "secret" not in str(caught.value)
        assert str(tmp_path) not in str(caught.value)


def test_reading_whole_from_a_handle(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    with OpenFile(os.open(path, os.O_RDONLY)) as file:
        assert read_whole(file, max_bytes=10) == b"0123456789"
        with pytest.raises(FileTooLarge):
            read_whole(file, max_bytes=9)


class _Changing(OpenFile):
    """A file that is written to each time it is read, so many times."""

    __slots__ = ("changes", "path")

    def read_at(self, offset: int, size: int) -> bytes:
        data = super().read_at(offset, size)
        if self.changes > 0:
            self.changes -= 1
            with self.path.open("ab") as file:
                file.write(b"+")
        return data


@pytest.mark.parametrize(("changes", "attempts"), [(0, 1), (2, 3), (3, 3), (9, 3)])
def test_a_file_that_changes_is_read_again_so_many_times(
    tmp_path: Path, changes: int, attempts: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    with _Changing(os.open(path, os.O_RDONLY)) as file:
        file.changes, file.path = changes, path
        if changes >= attempts:
            with pytest.raises(SourceChanged):
                read_whole(file, max_bytes=100, attempts=attempts)
        else:
            assert read_whole(file, max_bytes=100, attempts=attempts) == b"x" + b"+" * changes


def test_a_file_that_grows_over_its_limit_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    with _Changing(os.open(path, os.O_RDONLY)) as file:
        file.changes, file.path = 5, path
        with pytest.raises(FileTooLarge):
            read_whole(file, max_bytes=1, attempts=9)


def test_writing_a_new_file_and_over_an_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report"
    before = os.umask(0o027)
    try:
        atomic_write(path, b"one")
        assert path.read_bytes() == b"one"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640  # the operator's umask decides
        atomic_write(path, b"two" * 10**6)
        assert path.read_bytes() == b"two" * 10**6
        atomic_write(path, b"")
        assert path.read_bytes() == b""
    finally:
        os.umask(before)
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_an_old_files_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"one")
    path.chmod(mode)
    atomic_write(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_is_followed_to_its_target(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "report"
    target.write_bytes(b"one")
    link = tmp_path / "link"
    link.symlink_to("real/report")
    atomic_write(link, b"two")
    assert link.is_symlink()
    assert target.read_bytes() == b"two"
    dangling = tmp_path / "dangling"
    dangling.symlink_to("real/new")
    atomic_write(dangling, b"three")
    assert dangling.is_symlink()
    assert (tmp_path / "real" / "new").read_bytes() == b"three"
    assert sorted(os.listdir(tmp_path / "real")) == ["new", "report"]


def test_a_fifo_is_written_through(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    atomic_write(path, b"x" * 300_000)
    reader.join()
    assert got == [b"x" * 300_000]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_through() -> None:
    before = os.stat("/dev/null")
    atomic_write("/dev/null", b"x")
    after = os.stat("/dev/null")
    assert (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)
    if os.path.exists("/dev/full"):
        with pytest.raises(WriteFailed) as caught:
            atomic_write("/dev/full", b"x")
        assert caught.value.errno == errno.ENOSPC


_TO_STDOUT = """
import sys
from provenance.fs import atomic_write
print("before", flush=True)
atomic_write(sys.argv[1], b"report\\n")
print("after", flush=True)
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_through_when_it_is_a_pipe(name: str) -> None:
    if not os.path.exists(name):
        pytest.skip(f"{name} does not exist here")
    assert run_python(_TO_STDOUT, name).stdout == "before\nreport\nafter\n"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_is_never_replaced_when_it_is_a_file(
    tmp_path: Path, name: str, mode: str
) -> None:
    if name == "link":
        (tmp_path / "link").symlink_to("/dev/stdout")
        name = str(tmp_path / "link")
    out = tmp_path / "out"
    out.write_bytes(b"old\n")
    with out.open(mode) as file:
        subprocess.run(
            [sys.executable, "-c", _TO_STDOUT, name],
            stdout=file,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            check=True,
        )
        assert os.fstat(file.fileno()).st_nlink == 1
    old = b"old\n" if mode == "ab" else b""
    assert out.read_bytes() == old + b"before\nreport\nafter\n"


def test_a_folder_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed):
        atomic_write(tmp_path, b"x")
    with pytest.raises(WriteFailed):
        atomic_write(tmp_path / "nothing" / "f", b"x")
    with pytest.raises(WriteFailed):
        atomic_write("a\0b", b"x")


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_refusing_disk_leaves_the_old_file(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "at /secret")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(WriteFailed) as caught:
            atomic_write(path, b"new")
    assert caught.value.errno == errno.ENOSPC
    assert "secret" not in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report"]


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report"]


def test_a_failing_device_is_a_failed_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")

    def refuse(*_: object) -> bytes:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", refuse)
        with pytest.raises(ReadFailed) as caught:
            read_operator_file(path, max_bytes=10)
    assert caught.value.errno == errno.EIO
