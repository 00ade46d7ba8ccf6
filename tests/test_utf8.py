"""UTF-8, piece by piece: the same verdict as Python's strict decoder, however the bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.utf8 import Utf8Check, head_text

_HOSTILE = st.sampled_from(
    [
        b"a", b"\x00", b"\x7f", b"\x80", b"\xbf", b"\xc0", b"\xc0\x80", b"\xc1\xbf", b"\xc2",
        b"\xc3\xa9", b"\xe0\x80\x80", b"\xe0\xa0", b"\xe2\x82\xac", b"\xed\x9f\xbf",
        b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xee\x80\x80", b"\xef\xbf\xbf", b"\xf0\x80\x80\x80",
        b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5",
        b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xef\xbb\xbf",
    ]
)  # fmt: skip
_BYTES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(_HOSTILE, max_size=12).map(b"".join),
)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        return False
    return True


def _check(pieces: list[bytes]) -> bool:
    check = Utf8Check()
    fed = [check.feed(piece) for piece in pieces]
    # Once it cannot be UTF-8 any more, it stays so.
    assert fed == sorted(fed, reverse=True)
    finished = check.finish()
    assert not finished or all(fed)
    return finished


@given(_BYTES, st.lists(st.integers(0, 60), max_size=12))
@example(b"\xed\xa0\x80", [1, 2])
@example(b"\xe2\x82\xac", [0, 1, 1, 2, 3])
@example(b"\xc3a", [1])
@example(b"\xc3", [])
@example(b"", [0])
def test_any_cut_gives_the_strict_decoders_verdict(data: bytes, cuts: list[int]) -> None:
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(borders)]
    assert _check(pieces) is _is_utf8(data)
    assert _check([bytes([byte]) for byte in data]) is _is_utf8(data)


@given(_BYTES)
def test_bytearrays_are_not_kept(data: bytes) -> None:
    check = Utf8Check()
    block = bytearray(data)
    check.feed(block)
    block.clear()  # a buffer that is still exported could not be resized
    assert check.finish() is _is_utf8(data)


@pytest.mark.parametrize("character", ["é", "€", "😀"])
@pytest.mark.parametrize("border", [32 << 10, 256 << 10, 2 << 20])
def test_characters_across_a_border_of_blocks(character: str, border: int) -> None:
    encoded = character.encode()
    for before in range(1, len(encoded)):
        data = b"\xc3\xa9" * ((border - before) // 2)
        data += b"a" * (border - before - len(data)) + encoded
        assert _check([data])
        assert _check([data[:border], data[border:]])
        assert not _check([data[:border]])
        assert not _check([data[:border], b"a", data[border:]])
        assert not _check([data[:border], data[border:-1]])


def test_all_two_byte_starts_agree_with_the_decoder() -> None:
    for first, second in itertools.product(range(0x80, 0x100), range(0x70, 0x100, 3)):
        for tail in (b"", b"\x80", b"\x80\x80"):
            data = bytes([first, second]) + tail
            assert _check([data[:1], data[1:]]) is _is_utf8(data)


@given(st.text(max_size=40), st.integers(-2, 45))
@example("😀" * 10, 3)
@example("a" * 10 + "😀", 10)
@example("", 0)
def test_a_head_is_the_first_characters_whole(text: str, characters: int) -> None:
    clean = text.encode("utf-8", "replace").decode()
    data = clean.encode()
    expected = clean[: max(characters, 0)]
    assert head_text(data, characters) == expected
    # Also of a head of the bytes, as a reader that keeps only what it needs has it.
    assert head_text(data[: 4 * max(characters, 0)], characters) == expected


@given(_BYTES, st.integers(0, 30))
def test_a_head_of_any_bytes_is_bounded_text_without_surrogates(
    data: bytes, characters: int
) -> None:
    text = head_text(data, characters)
    assert len(text) <= characters
    text.encode("utf-8", "strict")


def test_a_head_of_damaged_bytes() -> None:
    """A character that is cut short counts where the data ends, not where the head of it does."""
    assert head_text(b"ab\xf0\x9f", 9) == "ab\ufffd"
    assert head_text(b"abc\xf0\x9f\x98\x80", 1) == "a"
    assert head_text(b"\xc3\xa9" * 2, 1) == "\u00e9"
    assert head_text(b"\xf0\x9f\x98", 1) == "\ufffd"
    assert head_text(b"\xff\xff\xff\xf0", 4) == "\ufffd" * 4


def test_nothing_is_asked_of_a_head_of_no_characters() -> None:
    assert head_text(b"\xff" * 10, 0) == ""
