"""Both back ends give one answer for whatever stands where a component belongs."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from provenance.fs import (
    AccessRefused,
    BackendName,
    BoundaryRefused,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    UnsafePlatform,
    _backends,
    _linux,
)
from provenance.fs._backends import Backend, Openat2Backend, WalkBackend, choose_backend
from tests.trees import is_root

_READ = os.O_RDONLY
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


class _Opener:
    """One back end on one directory."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self._backend = backend
        self._folder = folder

    def __call__(self, name: str, flags: int = _READ, mode: int = 0) -> int:
        top = os.open(self._folder, _DIRECTORY)
        try:
            return self._backend.open_at(top, name, flags, mode)
        finally:
            os.close(top)


@pytest.fixture
def opener(backend: BackendName, tmp_path: Path) -> _Opener:
    chosen: Backend = Openat2Backend() if backend == "openat2" else WalkBackend()
    return _Opener(chosen, tmp_path)


def _link_to(target: str) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(target)


def _socket(place: Path) -> None:
    # Bound by a short relative name: the address of a socket holds 107 bytes only.
    here = os.open(place.parent, _DIRECTORY)
    before = os.open(".", _DIRECTORY)
    os.fchdir(here)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(place.name)
    finally:
        os.fchdir(before)
        os.close(before)
        os.close(here)


def _device(kind: int, major: int, minor: int) -> Callable[[Path], None]:
    return lambda place: os.mknod(place, kind | 0o666, os.makedev(major, minor))


_LINKS = {
    "link_to_a_file": _link_to("inside.txt"),
    "link_to_a_folder": _link_to("folder"),
    "link_outside": _link_to("../outside"),
    "link_absolute": _link_to("/etc/hostname"),
    "link_dangling": _link_to("nothing-here"),
    "link_to_itself": _link_to("victim"),
    "link_to_here": _link_to("."),
    "link_up": _link_to(".."),
    "link_into_proc": _link_to("/proc/self/exe"),
    "link_to_a_handle": _link_to("/proc/self/fd/0"),
    "link_with_a_slash": _link_to("folder/"),
}

_OTHERS = {
    "fifo": os.mkfifo,
    "socket": _socket,
    "null": _device(stat.S_IFCHR, 1, 3),
    "zero": _device(stat.S_IFCHR, 1, 5),
    "no_such_char_device": _device(stat.S_IFCHR, 250, 77),
    "no_such_block_device": _device(stat.S_IFBLK, 250, 77),
}


def _make(tmp_path: Path, make: Callable[[Path], None], kind: str) -> None:
    (tmp_path / "inside.txt").write_bytes(b"inside")
    (tmp_path / "folder").mkdir()
    (tmp_path.parent / "outside").mkdir(exist_ok=True)
    try:
        make(tmp_path / "victim")
    except PermissionError:
        assert not is_root()
        pytest.skip(f"{kind}: only root makes device nodes")


@pytest.mark.parametrize("kind", _LINKS)
@pytest.mark.parametrize("flags", [_READ, _DIRECTORY, os.O_RDWR | os.O_APPEND])
def test_a_link_is_the_boundary(opener: _Opener, tmp_path: Path, kind: str, flags: int) -> None:
    _make(tmp_path, _LINKS[kind], kind)
    with pytest.raises(BoundaryRefused):
        opener("victim", flags)


@pytest.mark.parametrize("kind", _OTHERS)
def test_what_is_neither_file_nor_folder(opener: _Opener, tmp_path: Path, kind: str) -> None:
    _make(tmp_path, _OTHERS[kind], kind)
    # Opening must not hang; whoever reads looks at the handle next and finds no regular file.
    try:
        fd = opener("victim")
    except NotARegularFile:
        return
    try:
        assert not stat.S_ISREG(os.fstat(fd).st_mode)
    finally:
        os.close(fd)


@pytest.mark.parametrize("kind", ["fifo", "socket", "null"])
def test_what_is_no_folder_is_absent_where_a_folder_belongs(
    opener: _Opener, tmp_path: Path, kind: str
) -> None:
    _make(tmp_path, _OTHERS[kind], kind)
    with pytest.raises((SourceAbsent, NotARegularFile)):
        opener("victim", _DIRECTORY)


def test_a_file_where_a_folder_belongs_is_absent(opener: _Opener, tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"x")
    with pytest.raises(SourceAbsent):
        opener("victim", _DIRECTORY)


def test_nothing_is_absent(opener: _Opener) -> None:
    for flags in (_READ, _DIRECTORY, os.O_RDWR):
        with pytest.raises(SourceAbsent):
            opener("victim", flags)


def test_a_folder_opened_for_writing_is_no_file(opener: _Opener, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    with pytest.raises(NotARegularFile):
        opener("victim", os.O_RDWR | os.O_APPEND)


def test_a_name_in_use_is_told_apart_when_creating(opener: _Opener, tmp_path: Path) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("nothing-here")
    for name in ("file", "link"):
        with pytest.raises(FileExistsError):
            opener(name, flags, 0o600)
    assert not (tmp_path / "nothing-here").exists()
    fd = opener("new", flags, 0o600)
    os.close(fd)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_handles_do_not_block_and_are_not_inherited(opener: _Opener, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    fd = opener("file")
    try:
        assert not os.get_inheritable(fd)
        assert not os.get_blocking(fd)
        assert os.pread(fd, 10, 0) == b"x"
    finally:
        os.close(fd)


def test_a_closed_directory_is_a_failed_read(backend: BackendName, tmp_path: Path) -> None:
    top = os.open(tmp_path, _DIRECTORY)
    os.close(top)
    chosen: Backend = Openat2Backend() if backend == "openat2" else WalkBackend()
    with pytest.raises(ReadFailed) as caught:
        chosen.open_at(top, "name", _READ)
    assert caught.value.errno == errno.EBADF


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_call_that_is_filtered_falls_back_to_the_walk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    def refuse(dir_fd: int, name: bytes, address: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_linux, "open_at", refuse)
    top = os.open(tmp_path, _DIRECTORY)
    try:
        assert choose_backend("auto", probe_fd=top).name == "walk"
        with pytest.raises(UnsafePlatform):
            choose_backend("openat2", probe_fd=top)
        # Also where the filter comes after the choice: the answer is the walk's.
        (tmp_path / "file").write_bytes(b"x")
        (tmp_path / "link").symlink_to("file")
        os.close(Openat2Backend().open_at(top, "file", _READ))
        with pytest.raises(BoundaryRefused):
            Openat2Backend().open_at(top, "link", _READ)
    finally:
        os.close(top)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EACCES])
def test_another_refusal_does_not_mean_that_the_call_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    def refuse(dir_fd: int, name: bytes, address: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_linux, "open_at", refuse)
    top = os.open(tmp_path, _DIRECTORY)
    try:
        assert choose_backend("auto", probe_fd=top).name == "openat2"
        kind = AccessRefused if number == errno.EACCES else ReadFailed
        (tmp_path / "file").write_bytes(b"x")
        with pytest.raises(kind):
            Openat2Backend().open_at(top, "file", _READ)
    finally:
        os.close(top)


def test_without_mount_ids_the_walk_is_refused_on_linux(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_linux, "mount_id", lambda fd: None)
    top = os.open(tmp_path, _DIRECTORY)
    try:
        with pytest.raises(UnsafePlatform):
            choose_backend("walk", probe_fd=top)
        # Should it be lost after the choice, nothing is opened on trust.
        (tmp_path / "file").write_bytes(b"x")
        with pytest.raises(ReadFailed):
            WalkBackend().open_at(top, "file", _READ)
    finally:
        os.close(top)


def test_without_o_nofollow_or_directory_handles_the_walk_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    top = os.open(tmp_path, _DIRECTORY)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "O_NOFOLLOW", 0)
            with pytest.raises(UnsafePlatform):
                choose_backend("walk", probe_fd=top)
        monkeypatch.setattr(os, "supports_dir_fd", set())
        with pytest.raises(UnsafePlatform):
            choose_backend("walk", probe_fd=top)
    finally:
        os.close(top)


def test_without_linux_the_device_number_stands_for_the_mount(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # As on macOS: no openat2, no mount id.
    monkeypatch.setattr(_linux, "is_linux", lambda: False)
    (tmp_path / "file").write_bytes(b"x")
    top = os.open(tmp_path, _DIRECTORY)
    try:
        backend = choose_backend("auto", probe_fd=top)
        assert backend.name == "walk"
        os.close(backend.open_at(top, "file", _READ))
        assert _backends._mount_of(top) == os.fstat(top).st_dev
        root = os.open("/", _DIRECTORY)
        try:
            if os.stat("/proc").st_dev != os.fstat(root).st_dev:
                with pytest.raises(BoundaryRefused):
                    backend.open_at(root, "proc", _DIRECTORY)
        finally:
            os.close(root)
    finally:
        os.close(top)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="backend"):
        choose_backend("openat3")  # type: ignore[arg-type]
    assert choose_backend("walk").name == "walk"


def test_a_mount_below_a_directory_is_the_boundary(backend: BackendName) -> None:
    if os.stat("/proc").st_dev == os.stat("/").st_dev:
        pytest.skip("/proc is no mount here")
    chosen: Backend = Openat2Backend() if backend == "openat2" else WalkBackend()
    top = os.open("/", _DIRECTORY)
    try:
        with pytest.raises(BoundaryRefused):
            chosen.open_at(top, "proc", _DIRECTORY)
    finally:
        os.close(top)


def test_both_ways_to_a_mount_id_agree(tmp_path: Path) -> None:
    if not _linux.is_linux():
        pytest.skip("Linux only")
    for place in (tmp_path, Path("/proc"), Path("/")):
        fd = os.open(place, _DIRECTORY)
        try:
            by_call, by_proc = _linux._mount_id_by_statx(fd), _linux._mount_id_by_proc(fd)
        finally:
            os.close(fd)
        assert by_proc is not None
        assert by_call in (None, by_proc)
        assert _linux.mount_id(-1) is None


def test_threads_may_open_at_once(opener: _Opener, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(200):
            os.close(opener("file"))
            try:
                wrong.append(opener("link"))
            except BoundaryRefused:
                continue

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_link_that_turns_into_a_directory_meanwhile_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # O_NOFOLLOW|O_DIRECTORY answers ENOTDIR for a link. Where a directory stands there by the time
    # that is looked into, "absent" would be untrue of either.
    (tmp_path / "folder").mkdir()
    (tmp_path / "victim").symlink_to("folder")
    stat_, swaps = os.stat, [1]

    def swap_first(name: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        if swaps:
            swaps.pop()
            (tmp_path / "victim").unlink()
            (tmp_path / "folder").rename(tmp_path / "victim")
        return stat_(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    top = os.open(tmp_path, _DIRECTORY)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", swap_first)
            os.close(WalkBackend().open_at(top, "victim", _DIRECTORY))
        assert not swaps
    finally:
        os.close(top)


def test_a_name_that_never_rests_is_no_proof_of_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "victim").symlink_to("folder")
    looks = []

    def always_a_directory(name: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        looks.append(name)
        return os.fstat(dir_fd)

    top = os.open(tmp_path, _DIRECTORY)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", always_a_directory)
            with pytest.raises(ReadFailed):
                WalkBackend().open_at(top, "victim", _DIRECTORY)
    finally:
        os.close(top)
    assert 1 < len(looks) < 100
