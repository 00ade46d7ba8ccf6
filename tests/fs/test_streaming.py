"""Streaming: every byte once, in order, in bounded memory, on one thread or on two."""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.fs import OpenFile, ReadFailed, streaming
from provenance.fs.streaming import BLOCK_BYTES, stream

_ALONE = 256 << 10
_SIZES = [0, 1, _ALONE - 1, _ALONE, _ALONE + 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1,
          4 * BLOCK_BYTES, 4 * BLOCK_BYTES + 12_345]  # fmt: skip


def _pattern(size: int) -> bytes:
    block = hashlib.shake_256(b"pattern").digest(9973)  # a prime: no block looks like another
    return (block * (size // len(block) + 1))[:size]


def _open(path: Path) -> OpenFile:
    return OpenFile(os.open(path, os.O_RDONLY))


@pytest.fixture(params=[True, False], ids=["two_threads", "one_thread"])
def threads(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("size", _SIZES)
def test_every_byte_once_and_in_order(tmp_path: Path, size: int, threads: bool) -> None:
    data = _pattern(size)
    (tmp_path / "file").write_bytes(data)
    seen, taken = hashlib.sha256(), hashlib.sha256()
    lengths: list[int] = []

    def inspect(block: bytearray) -> bool:
        seen.update(block)
        lengths.append(len(block))
        return True

    with _open(tmp_path / "file") as file:
        assert stream(file, inspect=inspect, consume=taken.update, threads=threads)
    assert seen.digest() == taken.digest() == hashlib.sha256(data).digest()
    assert sum(lengths) == size
    assert max(lengths, default=0) <= BLOCK_BYTES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.binary(max_size=100), block=st.integers(1, 40))
def test_any_size_of_block(tmp_path: Path, threads: bool, data: bytes, block: int) -> None:
    (tmp_path / "file").write_bytes(data)
    taken: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "BLOCK_BYTES", block)
        patch.setattr(streaming, "_BLOCK_ALONE_BYTES", block)
        with _open(tmp_path / "file") as file:
            assert stream(
                file,
                inspect=lambda seen: True,
                consume=lambda view: taken.append(bytes(view)),
                threads=threads,
            )
    assert b"".join(taken) == data


def test_an_inspection_that_says_no_ends_the_reading(tmp_path: Path, threads: bool) -> None:
    (tmp_path / "file").write_bytes(bytes(5 * BLOCK_BYTES))
    seen: list[int] = []
    taken: list[int] = []

    def inspect(block: bytearray) -> bool:
        seen.append(len(block))
        return len(seen) < 3

    with _open(tmp_path / "file") as file:
        assert not stream(
            file, inspect=inspect, consume=lambda view: taken.append(len(view)), threads=threads
        )
    assert len(seen) == 3
    assert len(taken) <= 2  # the refused block itself is never consumed


def test_a_shorter_file_is_not_whole(tmp_path: Path, threads: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(3 * BLOCK_BYTES))
    with _open(path) as file:
        os.truncate(path, BLOCK_BYTES + 1)
        assert not stream(
            file, inspect=lambda block: True, consume=lambda view: None, threads=threads
        )


def test_a_growing_file_ends_where_it_ended_at_opening(tmp_path: Path, threads: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    taken = 0

    def consume(view: memoryview) -> None:
        nonlocal taken
        taken += len(view)

    def inspect(block: bytearray) -> bool:
        with path.open("ab") as file:
            file.write(b"x" * 1000)
        return True

    with _open(path) as file:
        assert stream(file, inspect=inspect, consume=consume, threads=threads)
    assert taken == 1000


class _Boom(Exception):
    pass


@pytest.mark.parametrize("where", ["inspect", "consume"])
@pytest.mark.parametrize("kind", [_Boom, KeyboardInterrupt])
def test_an_exception_reaches_the_caller_and_leaves_no_thread(
    tmp_path: Path, threads: bool, where: str, kind: type[BaseException]
) -> None:
    (tmp_path / "file").write_bytes(bytes(8 * BLOCK_BYTES))
    before = set(threading.enumerate())

    def boom(*_: object) -> bool:
        raise kind

    with _open(tmp_path / "file") as file, pytest.raises(kind):
        stream(
            file,
            inspect=boom if where == "inspect" else lambda block: True,
            consume=boom if where == "consume" else lambda view: None,  # type: ignore[arg-type]
            threads=threads,
        )
    assert set(threading.enumerate()) <= before


def test_a_refusing_device_reaches_the_caller(
    tmp_path: Path, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(bytes(3 * BLOCK_BYTES))
    preadv = os.preadv

    def refuse(fd: int, buffers: list[memoryview], at: int) -> int:
        if at >= BLOCK_BYTES:
            raise OSError(errno.EIO, "no")
        return preadv(fd, buffers, at)

    monkeypatch.setattr(os, "preadv", refuse)
    with _open(tmp_path / "file") as file, pytest.raises(ReadFailed) as caught:
        stream(file, inspect=lambda block: True, consume=lambda view: None, threads=threads)
    assert caught.value.errno == errno.EIO


def test_where_no_thread_is_to_be_had_the_caller_reads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _pattern(3 * BLOCK_BYTES + 5)
    (tmp_path / "file").write_bytes(data)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    taken = hashlib.sha256()
    with _open(tmp_path / "file") as file:
        assert stream(file, inspect=lambda block: True, consume=taken.update)
    assert taken.digest() == hashlib.sha256(data).digest()


def test_memory_is_bounded(tmp_path: Path, threads: bool) -> None:
    import tracemalloc

    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    with _open(path) as opened:
        tracemalloc.start()
        try:
            assert stream(
                opened, inspect=lambda block: True, consume=lambda view: None, threads=threads
            )
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 4 * BLOCK_BYTES
