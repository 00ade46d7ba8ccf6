"""Windows: exact slices that put together give the artifact again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.failures import WindowError
from provenance.artifacts.windows import Window, WindowCutter

_DIGEST = "0" * 64
# Few characters, of one to four bytes, and everything that only looks like a line end.
_TEXTS = st.text(alphabet=st.sampled_from("a\n\r\u2028\x85é語😀\x00"), max_size=60)


def _cut(
    data: bytes,
    *,
    offset: int = 0,
    limit: int = 2000,
    skip_bytes: int = 0,
    max_bytes: int = 1 << 20,
    block: int = 1 << 20,
) -> Window:
    cutter = WindowCutter(offset=offset, limit=limit, skip_bytes=skip_bytes, max_bytes=max_bytes)
    for start in range(0, len(data), block):
        cutter.feed(bytearray(data[start : start + block]))
    return cutter.finish(_DIGEST)


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@given(_TEXTS, st.integers(0, 30), st.integers(1, 30), st.integers(1, 9))
def test_a_window_is_the_lines_asked_for(text: str, offset: int, limit: int, block: int) -> None:
    window = _cut(text.encode(), offset=offset, limit=limit, block=block)
    lines = _lines(text)
    assert window.text == "".join(lines[offset : offset + limit])
    assert (window.offset, window.total_lines, window.sha256) == (offset, len(lines), _DIGEST)
    assert window.next_offset == (offset + limit if offset + limit < len(lines) else None)
    assert not window.truncated
    assert window.cut_line is None


@given(_TEXTS, st.integers(1, 5), st.integers(4, 12), st.integers(1, 9))
def test_windows_put_together_are_the_artifact(
    text: str, limit: int, max_bytes: int, block: int
) -> None:
    data = text.encode()
    parts: list[str] = []
    place: tuple[int, int] | None = (0, 0)
    while place is not None:
        offset, skip = place
        window = _cut(
            data, offset=offset, limit=limit, skip_bytes=skip, max_bytes=max_bytes, block=block
        )
        assert len(window.text.encode()) <= max_bytes
        parts.append(window.text)
        if window.cut_line is not None:
            assert window.truncated
            place = (window.cut_line, window.cut_bytes)
            assert place > (offset, skip)
        else:
            assert window.next_offset is None or window.next_offset > offset
            place = None if window.next_offset is None else (window.next_offset, 0)
    assert "".join(parts) == text


@given(_TEXTS, st.integers(4, 12))
def test_who_follows_the_next_offset_alone_comes_to_an_end(text: str, max_bytes: int) -> None:
    offset: int | None = 0
    seen = 0
    while offset is not None:
        window = _cut(text.encode(), offset=offset, limit=3, max_bytes=max_bytes)
        offset = window.next_offset
        seen += 1
        assert seen <= len(text) + 1


def test_an_offset_behind_the_end_is_empty_and_knows_the_lines() -> None:
    assert _cut(b"a\nb", offset=2) == Window("", 2, 2, _DIGEST)
    assert _cut(b"a\nb\n", offset=2) == Window("", 2, 2, _DIGEST)
    assert _cut(b"", offset=0) == Window("", 0, 0, _DIGEST)
    assert _cut(b"", offset=10**30).total_lines == 0


def test_a_window_over_the_bound_ends_after_a_line() -> None:
    window = _cut(b"one\ntwo\nthree\n", max_bytes=10)
    assert (window.text, window.truncated, window.next_offset) == ("one\ntwo\n", True, 2)
    assert window.cut_line is None


def test_a_line_over_the_bound_is_cut_between_characters() -> None:
    data = "éééééé\nend".encode()
    window = _cut(data, max_bytes=5)
    assert (window.text, window.truncated, window.next_offset) == ("éé", True, 1)
    assert (window.cut_line, window.cut_bytes) == (0, 4)
    following = _cut(data, max_bytes=5, skip_bytes=8)
    assert (following.text, following.truncated, following.next_offset) == ("éé\n", True, 1)


def test_a_window_that_just_fits_is_not_truncated() -> None:
    assert not _cut(b"12345678", max_bytes=8).truncated
    assert _cut(b"12345678\n", max_bytes=8).truncated
    assert not _cut(b"1234567\nx", limit=1, max_bytes=8).truncated


@pytest.mark.parametrize("skip", [1, 7, 8, 100])
def test_a_skip_to_no_place_in_the_line_is_refused(skip: int) -> None:
    with pytest.raises(WindowError, match="skip_bytes"):
        _cut("éé\nabc\n".encode(), skip_bytes=skip)


def test_a_skip_inside_the_line_is_taken() -> None:
    assert _cut(b"abc\ndef\n", offset=1, skip_bytes=2, block=1).text == "f\n"
    assert _cut(b"abc\ndef\n", offset=1, skip_bytes=3).text == "\n"
    assert _cut(b"abc\ndef", offset=1, skip_bytes=3).text == ""


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", None, float("nan")])
@pytest.mark.parametrize("name", ["offset", "limit", "skip_bytes", "max_bytes"])
def test_a_number_that_is_none_is_refused(name: str, value: object) -> None:
    numbers: dict[str, object] = {"offset": 0, "limit": 1, "skip_bytes": 0, "max_bytes": 4}
    with pytest.raises(WindowError, match=name) as caught:
        WindowCutter(**{**numbers, name: value})  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)


def test_the_least_values_are_taken_and_the_next_lower_refused() -> None:
    WindowCutter(offset=0, limit=1, skip_bytes=0, max_bytes=4)
    with pytest.raises(WindowError, match="limit"):
        WindowCutter(offset=0, limit=0)
    with pytest.raises(WindowError, match="max_bytes"):
        WindowCutter(offset=0, limit=1, max_bytes=3)
