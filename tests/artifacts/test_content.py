"""What a store takes, and what it refuses before anything is written."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.content import (
    check_note,
    check_session,
    checked_chunks,
    encode_content,
)
from provenance.artifacts.failures import ContentRefused, SpillArgumentError


@given(st.text())
def test_text_becomes_utf8_or_is_refused(text: str) -> None:
    try:
        expected = text.encode()
    except UnicodeEncodeError:
        with pytest.raises(ContentRefused, match="surrogates"):
            encode_content(text, text=True)
        return
    assert encode_content(text, text=True) == encode_content(text, text=False) == expected
    assert encode_content(expected, text=True) == expected


@given(st.binary(max_size=20), st.lists(st.integers(0, 20), max_size=4))
def test_bytes_pass_a_text_store_exactly_where_they_are_utf8(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    chunks = [data[a:b] for a, b in itertools.pairwise(places)]
    assert b"".join(checked_chunks(chunks, text=False)) == data
    try:
        data.decode()
    except UnicodeDecodeError:
        with pytest.raises(ContentRefused):
            encode_content(data, text=True)
        with pytest.raises(ContentRefused):
            list(checked_chunks(chunks, text=True))
    else:
        assert encode_content(data, text=True) == data
        assert b"".join(checked_chunks(chunks, text=True)) == data


def test_other_kinds_of_bytes_are_taken_and_other_types_not() -> None:
    assert encode_content(bytearray(b"a"), text=True) == b"a"
    assert encode_content(memoryview(b"abc")[::2], text=True) == b"ac"
    for content in (None, 1, ["a"], object()):
        with pytest.raises(TypeError, match="content"):
            encode_content(content, text=True)
    with pytest.raises(TypeError, match="content"):
        list(checked_chunks(["a"], text=True))  # type: ignore[list-item]


def test_the_bound_counts_bytes() -> None:
    assert encode_content("éé", text=True, max_bytes=4) == "éé".encode()
    with pytest.raises(ContentRefused, match="at most 3"):
        encode_content("éé", text=True, max_bytes=3)
    assert list(checked_chunks([b"ab", b"cd"], text=True, max_bytes=4))
    with pytest.raises(ContentRefused, match="at most 3"):
        list(checked_chunks([b"ab", b"cd"], text=True, max_bytes=3))


@pytest.mark.parametrize(
    "session", ["transcripts", "states", "seals", "States", "", "..", "a/b", "é", "a" * 201, "a\n"]
)
def test_a_session_that_can_hold_no_artifacts_is_refused(session: str) -> None:
    with pytest.raises(SpillArgumentError, match="session_id"):
        check_session(session)


@pytest.mark.parametrize("session", ["s1", "transcript", "state.1", "a" * 200])
def test_any_other_session_is_taken(session: str) -> None:
    assert check_session(session) == session


def test_a_session_is_text() -> None:
    with pytest.raises(TypeError, match="session_id"):
        check_session(b"s1")


def test_a_note_keeps_its_text() -> None:
    assert check_note("tool", None) is None
    assert check_note("tool", "é\n") == "é\n"
    assert check_note("call_id", "c" * 8192) == "c" * 8192
    assert check_note("call_id", "a\ud800b") == "a\ufffdb"
    with pytest.raises(SpillArgumentError, match="call_id"):
        check_note("call_id", "c" * 8193)
    with pytest.raises(TypeError, match="tool"):
        check_note("tool", 1)
