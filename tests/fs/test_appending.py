"""Appending: one write a line, whole or not at all, one writer at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.fs import AppendFile, LockTimeout, TrustedRoot, WriteFailed
from tests.trees import CHECKOUT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log"


def _open(path: Path) -> AppendFile:
    with TrustedRoot(path.parent) as root, root.open_directory() as folder:
        return folder.open_append(path.name)


@pytest.fixture
def log(path: Path) -> Iterator[AppendFile]:
    with _open(path) as log:
        log.append(b"first\n")
        yield log


def test_reading_and_facts(log: AppendFile, path: Path) -> None:
    assert log.size() == 6
    assert log.read_at(0, 100) == b"first\n"
    assert log.read_at(6, 1) == b""
    assert log.inode() == path.stat().st_ino
    log.truncate(2)
    log.sync()
    assert path.read_bytes() == b"fi"


def test_each_append_is_one_write(
    log: AppendFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, sizes = os.write, []

    def note(fd: int, data: bytes) -> int:
        sizes.append(len(data))
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", note)
        log.append(b"x" * (3 << 20))
        log.append(b"second\n", sync=False)
    assert sizes == [3 << 20, 7]
    assert path.stat().st_size == 6 + sum(sizes)


@pytest.mark.parametrize("taken", [0, 1, 6])
def test_a_short_write_is_taken_back(
    log: AppendFile, path: Path, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, data[:taken]))
        with pytest.raises(WriteFailed) as caught:
            log.append(b"second\n")
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"first\n"
    log.append(b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_refusing_disk_leaves_the_log_as_it_was(
    log: AppendFile, path: Path, call: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "at /secret")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(WriteFailed) as caught:
            log.append(b"second\n")
    assert caught.value.errno == number
    assert "secret" not in str(caught.value)
    assert path.read_bytes() == b"first\n"


def test_the_position_does_not_matter(log: AppendFile, path: Path) -> None:
    os.lseek(log.fd, 0, os.SEEK_SET)
    with path.open("ab") as other:
        other.write(b"theirs\n")
    log.append(b"ours\n")
    assert path.read_bytes() == b"first\ntheirs\nours\n"


def test_a_lock_keeps_other_handles_out(log: AppendFile, path: Path) -> None:
    with _open(path) as other, log.lock():
        with pytest.raises(LockTimeout), other.lock(timeout_seconds=0):
            pytest.fail("two held the lock")
        with pytest.raises(LockTimeout), other.lock(timeout_seconds=0.01):
            pytest.fail("two held the lock")
    with _open(path) as other, other.lock(timeout_seconds=0):
        pass


def test_a_lock_is_let_go_by_an_exception_too(log: AppendFile, path: Path) -> None:
    with pytest.raises(KeyError), log.lock():
        raise KeyError
    with _open(path) as other, other.lock(timeout_seconds=0):
        pass


def test_a_lock_keeps_other_threads_out(path: Path) -> None:
    # Each thread with its own handle, as each writer has: nothing may be lost or interleaved.
    def work() -> None:
        for _ in range(25):
            with _open(path) as log, log.lock():
                count = len(log.read_at(0, 10**6).split(b"\n")) - 1
                log.append(b"%d\n" % count, sync=False)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == b"".join(b"%d\n" % number for number in range(100))


_COUNTER = """
import sys
from provenance.fs import TrustedRoot
with TrustedRoot(sys.argv[1]) as root, root.open_directory() as folder:
    for _ in range(50):
        with folder.open_append("log") as log, log.lock():
            count = len(log.read_at(0, 10**6).split(b"\\n")) - 1
            log.append(b"%d\\n" % count, sync=False)
"""


def test_a_lock_keeps_other_processes_out(path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _COUNTER, str(path.parent)],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        for _ in range(3)
    ]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert path.read_bytes() == b"".join(b"%d\n" % number for number in range(150))


_HOLDER = """
import sys
from provenance.fs import TrustedRoot
with TrustedRoot(sys.argv[1]) as root, root.open_directory() as folder:
    with folder.open_append("log") as log, log.lock():
        print("held", flush=True)
        sys.stdin.read()
"""


def test_a_killed_holder_leaves_no_lock(log: AppendFile, path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path.parent)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTimeout), log.lock(timeout_seconds=0):
            pytest.fail("two held the lock")
        holder.kill()
        holder.communicate()
    with log.lock(timeout_seconds=0):
        pass


def test_waiting_for_a_lock_ends_when_it_is_free(
    log: AppendFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(path) as other:
        held = other.lock()
        held.__enter__()

        def free(seconds: float) -> None:
            held.__exit__(None, None, None)
            monkeypatch.undo()

        monkeypatch.setattr("provenance.fs.locking.time.sleep", free)
        with log.lock():
            pass


def test_a_file_system_without_locks_is_said_to_be_one(
    log: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        with pytest.raises(WriteFailed) as caught, log.lock():
            pytest.fail("held a lock that does not exist")
    assert caught.value.errno == errno.ENOLCK


def test_closing_twice_is_no_error(path: Path) -> None:
    log = _open(path)
    log.close()
    log.close()
