"""Unpacking zstd: whole, damaged, exploding, and without the library."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.fs.root import TrustedRoot
from provenance.transcripts.containers.compressed import (
    DEFAULT_BOUNDS,
    UnpackBounds,
    is_compressed,
    unpack,
)
from provenance.transcripts.sources import HEAD_BYTES, Head, Source, SourceUnreadable, read_head

MAGIC = b"\x28\xb5\x2f\xfd"
BOUNDED = ("container_over_limit", "container_unsupported")
TEXT = b"".join(b'{"line":%d,"text":"some words that repeat"}\n' % n for n in range(20_000))


def _library() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


zstd = _library()
needs_zstd = pytest.mark.skipif(
    zstd is None, reason="NO ZSTD: neither Python's own nor backports.zstd is here, nothing tested"
)


def _skippable(data: bytes, nibble: int = 0) -> bytes:
    return bytes([0x50 + nibble]) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def _pack(data: bytes, *, checksum: bool = True) -> bytes:
    return bytes(
        zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: int(checksum)})
    )


def _raw_frame(*blocks: bytes, window_byte: int = 0) -> bytes:
    """A frame written by hand: raw blocks, no checksum, no size."""
    parts = [MAGIC, b"\x00", bytes([window_byte])]
    for index, block in enumerate(blocks):
        is_last = index == len(blocks) - 1
        parts.append((is_last | len(block) << 3).to_bytes(3, "little") + block)
    return b"".join(parts)


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _failing(chunks: list[bytes], bounds: UnpackBounds = DEFAULT_BOUNDS) -> tuple[bytes, str, str]:
    """What came out first, the fault, and its message."""
    out: list[bytes] = []
    with pytest.raises(SourceUnreadable) as caught:
        out.extend(unpack(chunks, bounds=bounds))
    return b"".join(out), caught.value.fault, str(caught.value)


def _outcome(chunks: list[bytes]) -> bytes | str:
    """What came out of the whole, or the fault."""
    try:
        return b"".join(unpack(chunks))
    except SourceUnreadable as error:
        return error.fault


@contextmanager
def _source(folder: Path, data: bytes) -> Iterator[Source]:
    (folder / "a.jsonl.zst").write_bytes(data)
    with (
        TrustedRoot(folder) as root,
        root.open_file("a.jsonl.zst") as file,
        root.open_directory() as directory,
    ):
        yield Source(name="a.jsonl.zst", directory=directory, file=file)


@needs_zstd
@given(st.binary(max_size=5_000), st.integers(1, 600))
def test_what_was_packed_comes_out_however_it_is_cut(data: bytes, size: int) -> None:
    assert b"".join(unpack(_cut(_pack(data), size))) == data


@needs_zstd
@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 100), st.data())
def test_frames_follow_one_another_with_skipped_ones_between(
    parts: list[bytes], size: int, data: st.DataObject
) -> None:
    packed = b""
    for part in parts:
        if data.draw(st.booleans()):
            packed += _skippable(data.draw(st.binary(max_size=40)), data.draw(st.integers(0, 15)))
        packed += _pack(part, checksum=data.draw(st.booleans()))
    assert b"".join(unpack(_cut(packed, size))) == b"".join(parts)


@needs_zstd
def test_a_frame_without_data_gives_nothing_and_is_no_end() -> None:
    assert b"".join(unpack([_pack(b""), _pack(b"x"), _pack(b"")])) == b"x"


def test_no_bytes_are_no_frames() -> None:
    assert list(unpack([])) == list(unpack([b"", b""])) == []


@needs_zstd
@pytest.mark.parametrize("level", [1, 3, 19])
def test_every_level_comes_out(level: int) -> None:
    assert b"".join(unpack([zstd.compress(TEXT, level)])) == TEXT


@needs_zstd
@given(st.data())
def test_a_file_cut_anywhere_gives_what_is_whole_and_says_so(data: st.DataObject) -> None:
    packed = _pack(TEXT[:4000]) + _skippable(b"note") + _pack(TEXT[4000:8000])
    whole = {0, len(_pack(TEXT[:4000])), len(packed)}
    whole.add(len(_pack(TEXT[:4000])) + len(_skippable(b"note")))
    end = data.draw(st.integers(0, len(packed)))
    if end in whole:
        assert TEXT.startswith(b"".join(unpack([packed[:end]])))
        return
    out, fault, message = _failing([packed[:end]])
    assert fault == "container_invalid"
    assert "end of the file" in message
    assert TEXT.startswith(out)
    if end > len(_pack(TEXT[:4000])):
        assert out[:4000] == TEXT[:4000]


@needs_zstd
def test_what_stands_whole_before_a_cut_is_given_first() -> None:
    noise = random.Random(1).randbytes(1 << 20)
    out, fault, _ = _failing(_cut(_pack(noise)[:-100_000], 1000))
    assert fault == "container_invalid"
    assert len(out) >= 800_000
    assert noise.startswith(out)


@needs_zstd
@pytest.mark.parametrize(
    "garbage", [b"{", b'{"a":1}\n', b"\0" * 8, b"\x28\xb5\x2f\xfe", b"\x50\x2a"]
)
def test_other_bytes_after_a_frame_are_damage(garbage: bytes) -> None:
    out, fault, message = _failing([_pack(b"whole") + garbage])
    assert (out, fault) == (b"whole", "container_invalid")
    assert garbage.decode("latin-1") not in message


@needs_zstd
def test_a_wrong_checksum_is_damage_and_a_missing_one_is_not() -> None:
    packed = bytearray(_pack(b"evidence"))
    packed[-1] ^= 1
    _, fault, message = _failing([bytes(packed)])
    assert fault == "container_invalid"
    assert "checksum" in message
    assert b"".join(unpack([_pack(b"evidence", checksum=False)])) == b"evidence"


@needs_zstd
@given(st.data())
def test_any_changed_byte_gives_another_text_or_our_error(data: st.DataObject) -> None:
    packed = bytearray(_pack(TEXT[:2000]))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    outcome = _outcome([bytes(packed)])
    assert outcome in (TEXT[:2000], "container_invalid", *BOUNDED)


@needs_zstd
@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_give_bytes_or_our_error(tail: bytes) -> None:
    outcome = _outcome([MAGIC + tail])
    assert isinstance(outcome, bytes) or outcome in ("container_invalid", *BOUNDED)


@needs_zstd
@pytest.mark.parametrize(("window_byte", "is_allowed"), [(17 << 3, True), (17 << 3 | 1, False)])
def test_a_window_over_the_bound_is_refused(window_byte: int, *, is_allowed: bool) -> None:
    frame = _raw_frame(b"text", window_byte=window_byte)
    if is_allowed:
        assert b"".join(unpack([frame])) == b"text"
        return
    out, fault, message = _failing([frame])
    assert (out, fault) == (b"", "container_over_limit")
    assert str(1 << 27) in message


@needs_zstd
def test_a_frame_of_one_segment_is_bound_by_the_size_it_claims() -> None:
    # Flags: one segment, 8 bytes of size.
    claims = MAGIC + b"\xe0" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    tracemalloc.start()
    _, fault, _ = _failing([claims])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fault == "container_over_limit"
    assert peak < 1 << 20


@needs_zstd
def test_a_bomb_stops_at_the_bound_in_little_memory() -> None:
    bomb = _pack(b"\0" * (64 << 20))
    assert len(bomb) < 10_000
    bounds = UnpackBounds(free_bytes=8 << 20, max_ratio=100)
    size = 0
    tracemalloc.start()
    with pytest.raises(SourceUnreadable) as caught:
        for piece in unpack([bomb], bounds=bounds):
            size += len(piece)
            assert len(piece) <= 256 << 10
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.fault == "container_over_limit"
    assert 7 << 20 < size <= 8 << 20
    assert peak < 4 << 20


@needs_zstd
def test_what_repeats_a_lot_is_no_bomb() -> None:
    assert sum(map(len, unpack([_pack(b"\0" * (64 << 20))]))) == 64 << 20


@needs_zstd
def test_the_ratio_counts_what_was_read_so_far() -> None:
    noise = random.Random(2).randbytes(10_000)
    bounds = UnpackBounds(free_bytes=1, max_ratio=2)
    assert b"".join(unpack([_pack(noise)], bounds=bounds)) == noise
    assert _failing([_pack(b"a" * 10_000)], bounds)[1] == "container_over_limit"


@needs_zstd
def test_many_tiny_frames_come_out() -> None:
    frames = _raw_frame(b"") * 20_000 + _raw_frame(b"end")
    assert b"".join(unpack([frames])) == b"end"


def test_a_frame_that_needs_a_dictionary_is_unsupported() -> None:
    frame = MAGIC + b"\x01\x00" + b"\x07" + b"\x01\x00\x00"
    assert _failing([frame])[1] == "container_unsupported"


def test_a_dictionary_of_number_0_is_none() -> None:
    if zstd is None:
        pytest.skip("NO ZSTD: nothing tested")
    assert list(unpack([MAGIC + b"\x01\x00" + b"\x00" + b"\x01\x00\x00"])) == []


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_library")
def test_without_the_library_the_extra_is_named() -> None:
    _, fault, message = _failing([_raw_frame(b"x")])
    assert fault == "container_unsupported"
    assert "ctxaudit-provenance[zstd]" in message


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (MAGIC, True),
        (MAGIC + b"more", True),
        (_skippable(b"x"), True),
        (_skippable(b"x", 15), True),
        (MAGIC[:3], False),
        (b"\x60\x2a\x4d\x18", False),
        (b'{"a":1}', False),
        (b"", False),
        (b"\x1f\x8b\x08", False),
    ],
)
def test_a_file_is_told_by_its_first_bytes(head: bytes, *, expected: bool) -> None:
    assert is_compressed(head) is expected


@needs_zstd
def test_a_source_unpacks_what_begins_as_zstd(tmp_path: Path) -> None:
    with _source(tmp_path, _pack(TEXT)) as source:
        assert b"".join(source.chunks()) == TEXT


def test_a_source_gives_other_bytes_as_they_are(tmp_path: Path) -> None:
    for data in (TEXT, b"", b"x", MAGIC[:3]):
        with _source(tmp_path, data) as source:
            assert b"".join(source.chunks()) == data


@needs_zstd
def test_a_head_is_unpacked_and_bounded(tmp_path: Path) -> None:
    with _source(tmp_path, _pack(TEXT)) as source:
        assert source.file is not None
        head = read_head(source.file, "a.jsonl.zst")
    assert (head.data, head.is_whole) == (TEXT[:HEAD_BYTES], False)
    with _source(tmp_path, _pack(TEXT[:100])) as source:
        assert source.file is not None
        assert read_head(source.file, "b") == Head(name="b", data=TEXT[:100], is_whole=True)


@pytest.mark.parametrize("size", [0, 1, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1])
def test_a_plain_head_says_whether_it_is_all(tmp_path: Path, size: int) -> None:
    with _source(tmp_path, TEXT[:size]) as source:
        assert source.file is not None
        head = read_head(source.file, "a")
    assert head == Head(name="a", data=TEXT[: min(size, HEAD_BYTES)], is_whole=size <= HEAD_BYTES)


@needs_zstd
def test_a_damaged_head_is_what_is_whole_of_it(tmp_path: Path) -> None:
    with _source(tmp_path, _pack(TEXT[:100]) + b"garbage") as source:
        assert source.file is not None
        assert read_head(source.file, "a") == Head(name="a", data=TEXT[:100], is_whole=False)
    with _source(tmp_path, _pack(TEXT)[:20]) as source:
        assert source.file is not None
        with pytest.raises(SourceUnreadable):
            read_head(source.file, "a")


@needs_zstd
def test_a_head_is_not_looked_for_behind_a_huge_skipped_frame(tmp_path: Path) -> None:
    with _source(tmp_path, _skippable(bytes(1 << 20)) + _pack(TEXT)) as source:
        assert source.file is not None
        assert read_head(source.file, "a") == Head(name="a", data=b"", is_whole=False)
        assert b"".join(source.chunks()) == TEXT


@pytest.mark.usefixtures("without_library")
def test_a_head_without_the_library_says_what_is_missing(tmp_path: Path) -> None:
    with _source(tmp_path, _raw_frame(b"x")) as source:
        assert source.file is not None
        with pytest.raises(SourceUnreadable) as caught:
            read_head(source.file, "a")
    assert caught.value.fault == "container_unsupported"
