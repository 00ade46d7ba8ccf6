"""Finding what a file mentions: nothing is missed for its spelling."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.retention.mentions import MentionFinder, StoredNames

_FULL = "0123456789abcdef" * 4
_STORED = [("s1", "log.txt"), ("s1", "b"), ("s2", "log.txt"), ("s-1.x", "a_b-c.d")]


def _found(data: bytes, piece: int = 1 << 20) -> set[tuple[str, str]]:
    finder = MentionFinder(StoredNames(_STORED))
    for start in range(0, len(data), piece):
        finder.feed(data[start : start + piece])
    return finder.found


@pytest.mark.parametrize(
    "text",
    [
        f"artifact:s1:log.txt:{_FULL}",
        f"artifact:s1:log.txt:{_FULL[:12]}",
        f"artifact:s1:log.txt:{_FULL.upper()}",
        # Other bytes under the name: it is the one that was meant, and evidence of a change.
        f"artifact:s1:log.txt:{'f' * 64}",
        f"(see artifact:s1:log.txt:{_FULL}).",
        f"xartifact:s1:log.txt:{_FULL}yz",
        f"artifact:artifact:s1:log.txt:{_FULL}",
        f"artifact:s1:{_FULL[:12]}:artifact:s1:log.txt:{_FULL}",
        json.dumps({"a": json.dumps({"b": f"artifact:s1:log.txt:{_FULL}"})}),
        f"artifact:s1:log.txt:{_FULL}".replace("a", "\\u0061"),
        f"artifact:s1:log.txt:{_FULL}".replace(":", "\\\\\\u003A"),
        f"artifact:s1:log.txt:{_FULL}".encode("utf-16").decode("latin-1"),
        # A digest that is none, a short one, no digest.
        "artifact:s1:log.txt:0123456789a",
        "artifact:s1:log.txt:01234567",
        "artifact:s1:log.txt",
        "It is artifact:s1:log.txt.",
        f"artifact:s1:log.txt:{_FULL}".replace("a", "\\u005cu0061"),
        f"artifact:s1:log.txt:{_FULL}".replace(":", "%3A"),
        f"artifact:s1:log.txt:{_FULL}".replace(":", "%253a"),
        f"artifact:s1:log.txt:{_FULL}".replace(":", "\\u00253A"),
    ],
)
def test_a_pointer_is_found_however_it_is_spelled(text: str) -> None:
    assert ("s1", "log.txt") in _found(text.encode("latin-1"))


@pytest.mark.parametrize(
    "text",
    [
        "artifact:s1:log",
        "100% artifact s1 log.txt 5%3",
        f"artifact:s1:log.txt2:{_FULL}",
        f"artifact:s11:log.txt:{_FULL}",
        f"artefact:s1:log.txt:{_FULL}",
        "log.txt in s1",
        _FULL,
    ],
)
def test_the_nearest_that_is_no_citation(text: str) -> None:
    assert _found(text.encode()) == set()


@pytest.mark.parametrize(
    "text",
    [
        "tool-results/./log.txt",
        "tool-results//.\\/./log.txt",
        "s1%2Ftool-results%2flog.txt",
        "/x/s1/tool-results/log.txt",
        "tool-results\\/log.txt.",
        "C:\\s1\\\\tool-results\\\\log.txt",
    ],
)
def test_a_path_cites_that_name_in_each_session(text: str) -> None:
    assert _found(text.encode()) == {("s1", "log.txt"), ("s2", "log.txt")}


@given(st.sampled_from(_STORED), st.binary(max_size=40), st.integers(1, 60), st.booleans())
def test_where_the_pieces_are_cut_does_not_matter(
    name: tuple[str, str], noise: bytes, piece: int, escaped: bool
) -> None:
    pointer = f"artifact:{name[0]}:{name[1]}:{_FULL}"
    if escaped:
        pointer = "".join(f"\\u{ord(char):04x}" for char in pointer)
    assert name in _found(noise + b" " + pointer.encode() + noise, piece)


def test_a_pointer_longer_than_a_piece_may_be_escaped_throughout() -> None:
    name = ("s" * 200, "f" * 200)
    finder = MentionFinder(StoredNames([name]))
    text = "".join(f"\\\\\\\\u{ord(char):04x}" for char in f"artifact:{name[0]}:{name[1]}:{_FULL}")
    for char in text:
        finder.feed(char.encode())
    assert finder.found == {name}


def test_long_runs_cost_no_more_than_their_length() -> None:
    for noise in (
        b"\\" * (1 << 20) + b"u00",
        b"tool-results" + b"/" * (1 << 20),
        b"artifact:" * 99_999,
        b"tool-results" + b"/." * (1 << 19),
        b"%25" * (1 << 18),
        b"artifact:s1:" + b"." * (1 << 20),
    ):
        assert _found(noise + b"\\u0061") == set()
