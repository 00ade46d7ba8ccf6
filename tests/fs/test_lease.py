"""Read leases: nobody writes unseen while one is held, nobody waits for it, no signal kills."""

from __future__ import annotations

import errno
import mmap
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.fs import ReadLease
from tests.trees import run_python, without_privileges

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")

if sys.platform == "linux":
    import fcntl

_WRITER = """
import os, sys
print("about to open", flush=True)
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
print("opened", flush=True)
os.write(fd, b"x")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(bytes(2 << 20))
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        pytest.skip(f"this file system grants no lease: {errno.errorcode.get(error.errno or 0)}")
    finally:
        os.close(fd)
    return path


@pytest.fixture
def handle(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield fd
    os.close(fd)


def _holds(fd: int) -> bool:
    return fcntl.fcntl(fd, fcntl.F_GETLEASE, 0) == fcntl.F_RDLCK


def test_a_lease_is_taken_and_let_go(handle: int) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGIO, signal.SIGURG)}
    with ReadLease.on(handle) as lease:
        assert lease.is_held()
        assert _holds(handle)
    assert not lease.is_held()
    assert not _holds(handle)
    lease.release()
    assert {number: signal.getsignal(number) for number in before} == before


def test_an_open_writer_means_no_lease(path: Path, handle: int) -> None:
    with path.open("r+b"), ReadLease.on(handle) as lease:
        assert not lease.is_held()
    with ReadLease.on(handle) as lease:
        assert lease.is_held()


def test_a_shared_mapping_means_no_lease_even_after_its_handle_is_closed(
    path: Path, handle: int
) -> None:
    with path.open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE)
    with mapping, ReadLease.on(handle) as lease:
        assert not lease.is_held()


def test_readers_do_not_disturb(path: Path, handle: int) -> None:
    with ReadLease.on(handle) as lease:
        path.read_bytes()
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
            assert lease.is_held()


def test_a_writer_breaks_the_lease_and_gets_in(path: Path, handle: int) -> None:
    with ReadLease.on(handle) as lease:
        assert lease.is_held()
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            while lease.is_held():  # a hang here is a writer that breaks nothing
                pass
            assert not lease.is_held()
            assert not _holds(handle)
            out, _ = writer.communicate()
    assert out.split("\n")[1] == "opened"
    assert writer.returncode == 0


def test_truncation_by_name_breaks_the_lease(path: Path, handle: int) -> None:
    with ReadLease.on(handle) as lease:
        thread = threading.Thread(target=os.truncate, args=(path, 5))
        thread.start()
        while lease.is_held():
            pass
        thread.join()
    assert path.stat().st_size == 5


def test_the_break_kills_nobody_whatever_the_program_does_with_sigio(path: Path) -> None:
    script = """
import os, signal, subprocess, sys
from provenance.fs import ReadLease
path, writer = sys.argv[1:]
signal.signal(signal.SIGIO, signal.SIG_DFL)   # its default is to end the process
fd = os.open(path, os.O_RDONLY)
with ReadLease.on(fd) as lease:
    assert lease.is_held()
    child = subprocess.Popen([sys.executable, "-c", writer, path], stdout=subprocess.DEVNULL)
    while lease.is_held():
        pass
assert child.wait() == 0
assert signal.getsignal(signal.SIGIO) == signal.SIG_DFL
assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL
print("alive")
"""
    assert run_python(script, path, _WRITER).stdout == "alive\n"


def test_a_handler_of_the_embedding_program_is_left_alone(handle: int) -> None:
    heard: list[int] = []

    def hear(number: int, frame: object) -> None:
        heard.append(number)

    before = signal.signal(signal.SIGURG, hear)
    try:
        with ReadLease.on(handle) as lease:
            assert not lease.is_held()
            assert not _holds(handle)
        assert signal.getsignal(signal.SIGURG) is hear
    finally:
        signal.signal(signal.SIGURG, before)
    assert heard == []


def test_a_handler_that_is_not_pythons_is_left_alone(
    handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    with ReadLease.on(handle) as lease:
        assert not lease.is_held()


def test_a_program_that_ignores_the_signal_may_have_a_lease(handle: int) -> None:
    before = signal.signal(signal.SIGURG, signal.SIG_IGN)
    try:
        with ReadLease.on(handle) as lease:
            assert lease.is_held()
        assert signal.getsignal(signal.SIGURG) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGURG, before)


def test_another_thread_may_take_and_release(path: Path, handle: int) -> None:
    held: list[bool] = []

    def work() -> None:
        with ReadLease.on(handle) as lease:
            held.append(lease.is_held())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert held == [True]
    assert not _holds(handle)


def test_a_child_that_inherited_the_handle_keeps_no_lease(path: Path, handle: int) -> None:
    release, wait = os.pipe()
    with ReadLease.on(handle) as lease:
        assert lease.is_held()
        child = os.fork()
        if child == 0:
            os.close(wait)
            os.read(release, 1)  # until the parent has closed its end
            os._exit(0)
        os.close(release)
    try:
        assert not _holds(handle)
        writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # would be refused by a lease
        os.close(writer)
    finally:
        os.close(wait)
        os.waitpid(child, 0)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EINVAL, errno.ENOLCK, errno.EAGAIN])
def test_a_refusal_means_no_lease_and_no_error(
    handle: int, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with ReadLease.on(handle) as lease:
        assert not lease.is_held()


def test_a_writer_that_is_just_closing_is_waited_for(
    path: Path, handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer: list[int] = [os.open(path, os.O_WRONLY)]
    real = fcntl.fcntl

    def close_the_writer_after_the_first_refusal(*arguments: int) -> object:
        try:
            return real(*arguments)
        except BlockingIOError:
            if writer:
                os.close(writer.pop())
            raise

    monkeypatch.setattr(fcntl, "fcntl", close_the_writer_after_the_first_refusal)
    with ReadLease.on(handle) as lease:
        assert not writer
        assert lease.is_held()


def test_nothing_is_held_on_what_is_no_file(tmp_path: Path) -> None:
    for fd in (-1, 10_000):
        with ReadLease.on(fd) as lease:
            assert not lease.is_held()
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with ReadLease.on(folder) as lease:
            assert not lease.is_held()
    finally:
        os.close(folder)


def test_a_handle_that_is_closed_meanwhile_is_no_error(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    lease = ReadLease.on(fd)
    assert lease.is_held()
    os.close(fd)
    assert not lease.is_held()
    lease.release()


def test_somebody_elses_file_gives_no_lease_to_the_unprivileged(open_folder: Path) -> None:
    command = without_privileges()
    if not command:
        pytest.skip("needs root: a file of another user")
    path = open_folder / "file"
    path.write_bytes(bytes(2 << 20))
    script = """
import os, sys
from provenance.fs import ReadLease
with ReadLease.on(os.open(sys.argv[1], os.O_RDONLY)) as lease:
    print(lease.is_held())
"""
    assert run_python(script, path, prefix=command).stdout == "False\n"


@pytest.mark.parametrize("magic", [0x65735546, 0x6969, 0xFE534D42, 0x01021997, None])
def test_where_others_write_unseen_by_this_kernel_there_is_no_lease(
    handle: int, monkeypatch: pytest.MonkeyPatch, magic: int | None
) -> None:
    # FUSE, NFS, SMB, 9p, and what is not known.
    monkeypatch.setattr("provenance.fs._linux.file_system_type", lambda fd: magic)
    with ReadLease.on(handle) as lease:
        assert not lease.is_held()
        assert not _holds(handle)
