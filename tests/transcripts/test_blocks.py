"""Cutting a file into blocks of whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.fs import OpenFile, ReadFailed
from provenance.transcripts.blocks import BLOCK_BYTES, Block, find_longer_line, read_blocks
from provenance.transcripts.envelope import record_size


@contextmanager
def _file(path: Path, data: bytes) -> Iterator[OpenFile]:
    path.write_bytes(data)
    with OpenFile(os.open(path, os.O_RDONLY)) as file:
        yield file


def _expected(data: bytes, limit: int) -> tuple[bytes, bool]:
    """The lines up to the first that is too long, and whether there is one."""
    good = b""
    for line in data.splitlines(keepends=True) if b"\r" not in data else _split(data):
        if record_size(line) > limit:
            return good, True
        good += line
    return good, False


def _split(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + [piece for piece in pieces[-1:] if piece]


_DATA = st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bb", b"c" * 9, b"d" * 30])).map(
    b"".join
)


@given(data=_DATA, limit=st.integers(1, 40), size=st.integers(1, 50))
def test_blocks_are_the_lines_of_the_file(
    data: bytes, limit: int, size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "blocks"
    good, is_oversize = _expected(data, limit)
    with _file(path, data) as file:
        found = list(read_blocks(file, max_record_bytes=limit, block_bytes=size))
    assert b"".join(block.data for block in found) == good
    for block in found[:-1]:
        assert block.data.endswith(b"\n")
        assert block.too_long == b""
    assert all(block.data or block.too_long for block in found)
    last = found[-1] if found else Block(b"")
    assert bool(last.too_long) == is_oversize
    if is_oversize:
        # Enough to show it, and not much more; it is what follows in the file.
        assert data[len(good) :].startswith(last.too_long)
        assert record_size(last.too_long) > limit
        assert len(last.too_long) <= limit + 2


@pytest.mark.parametrize("before", [b"", b"a\n", b"abc\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 8, 9, 11, 12])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\r\r\n"])
@pytest.mark.parametrize("over", [0, 1])
def test_the_longest_allowed_line_wherever_a_read_ends(
    tmp_path: Path, before: bytes, size: int, end: bytes, over: int
) -> None:
    limit = 5
    line = b"x" * (limit + over)
    with _file(tmp_path / "f", before + line + end) as file:
        found = list(read_blocks(file, max_record_bytes=limit, block_bytes=size))
    whole = b"".join(block.data for block in found)
    if over or end == b"\r\r\n":
        assert whole == before
        assert (line + end).startswith(found[-1].too_long)
        assert record_size(found[-1].too_long) > limit
    else:
        assert whole == before + line + end
        assert not found[-1].too_long


@given(data=_DATA, length=st.integers(0, 40))
def test_the_first_longer_line(data: bytes, length: int) -> None:
    data += b"\n"
    start = 0
    expected = -1
    for line in data.split(b"\n")[:-1]:
        if len(line) > length:
            expected = start
            break
        start += len(line) + 1
    assert find_longer_line(data, length) == expected


def test_a_line_longer_than_a_block(tmp_path: Path) -> None:
    line = b"x" * (3 * BLOCK_BYTES) + b"\n"
    with _file(tmp_path / "f", b"a\n" + line + b"b") as file:
        found = list(read_blocks(file, max_record_bytes=4 * BLOCK_BYTES))
    assert found == [Block(b"a\n"), Block(line), Block(b"b")]


def test_an_empty_file_has_no_blocks(tmp_path: Path) -> None:
    with _file(tmp_path / "f", b"") as file:
        assert list(read_blocks(file, max_record_bytes=9)) == []


@pytest.mark.parametrize("size", [1, 2, 3, 4, 99])
def test_what_is_added_after_the_opening_is_not_read(tmp_path: Path, size: int) -> None:
    path = tmp_path / "f"
    with _file(path, b"a\nb") as file:
        with path.open("ab") as more:
            more.write(b"c\nd\n")
        found = list(read_blocks(file, max_record_bytes=9, block_bytes=size))
    assert found == [Block(b"a\n"), Block(b"b")]


def test_a_file_that_is_cut_meanwhile_ends(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with _file(path, b"a\nb\nc\n") as file:
        blocks = read_blocks(file, max_record_bytes=9, block_bytes=2)
        assert next(blocks) == Block(b"a\n")
        os.truncate(path, 3)
        assert list(blocks) == [Block(b"b")]


def test_a_long_line_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = OpenFile.read_at
    reached = []

    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        reached.append(offset + size)
        return read(self, offset, size)

    monkeypatch.setattr(OpenFile, "read_at", read_at)
    with _file(tmp_path / "f", b"x" * (10 * BLOCK_BYTES)) as file:
        (block,) = read_blocks(file, max_record_bytes=100)
    assert block == Block(b"", b"x" * 102)
    assert max(reached) <= BLOCK_BYTES


def test_a_failure_of_the_disk_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        raise ReadFailed("source: expected to read, got EIO", 5)

    with _file(tmp_path / "f", b"a\n") as file:
        monkeypatch.setattr(OpenFile, "read_at", read_at)
        with pytest.raises(ReadFailed):
            list(read_blocks(file, max_record_bytes=9))
