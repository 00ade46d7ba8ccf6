"""A lock on a folder: many read, one removes, and nothing is written for it."""

from __future__ import annotations

import errno
import fcntl
import os
import pickle
from pathlib import Path

import pytest

from provenance.fs import Directory, FolderGuard, LockTimeout, TrustedRoot, WriteFailed


@pytest.fixture
def folder(tmp_path: Path):  # type: ignore[no-untyped-def]
    with TrustedRoot(tmp_path) as root, root.open_directory() as opened:
        yield opened


def test_readers_are_many_and_who_removes_is_alone(folder: Directory, tmp_path: Path) -> None:
    with (
        FolderGuard.among_readers(folder, timeout_seconds=0) as one,
        FolderGuard.among_readers(folder, timeout_seconds=0),
    ):
        assert one.is_held()
        with pytest.raises(LockTimeout):
            FolderGuard.alone(folder, timeout_seconds=0)
    with FolderGuard.alone(folder, timeout_seconds=0):
        for take in (FolderGuard.alone, FolderGuard.among_readers):
            with pytest.raises(LockTimeout):
                take(folder, timeout_seconds=0)
    FolderGuard.alone(folder, timeout_seconds=0).close()
    assert list(tmp_path.iterdir()) == []


def test_it_waits_by_the_stopwatch_it_is_given(folder: Directory) -> None:
    ticks = iter(range(10))
    with FolderGuard.alone(folder, timeout_seconds=0), pytest.raises(LockTimeout):
        FolderGuard.alone(folder, timeout_seconds=3, stopwatch=lambda: next(ticks))
    assert next(ticks) == 4


def test_it_is_let_go_where_a_child_inherited_it(folder: Directory) -> None:
    reader, writer = os.pipe()
    guard = FolderGuard.alone(folder, timeout_seconds=0)
    child = os.fork()
    if child == 0:
        os.read(reader, 1)  # lives until told to end
        os._exit(0)
    guard.close()
    guard.close()
    try:
        FolderGuard.alone(folder, timeout_seconds=0).close()
    finally:
        os.write(writer, b".")
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.EBADF, errno.ENOLCK])
def test_where_there_are_no_locks_reading_goes_on_and_removing_does_not(
    folder: Directory, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "x")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert not FolderGuard.among_readers(folder, timeout_seconds=0).is_held()
    with pytest.raises(WriteFailed, match="locks folders"):
        FolderGuard.alone(folder, timeout_seconds=0)


def test_another_process_gets_none_of_it(folder: Directory) -> None:
    with FolderGuard.alone(folder, timeout_seconds=0) as guard:
        assert not pickle.loads(pickle.dumps(guard)).is_held()
