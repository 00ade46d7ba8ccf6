"""Digests and line counts of segments do not depend on how the bytes came."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.segments import SEGMENT_BYTES, ContentDigester, ContentFacts, describe


def _expected(data: bytes) -> ContentFacts:
    pieces = [data[at : at + SEGMENT_BYTES] for at in range(0, len(data), SEGMENT_BYTES)]
    counts = [piece.count(b"\n") for piece in pieces]
    if data and not data.endswith(b"\n"):
        counts[-1] += 1
    return ContentFacts(
        hashlib.sha256(data).hexdigest(),
        blake3(data).hexdigest(),
        len(data),
        tuple(blake3(piece).hexdigest() for piece in pieces),
        tuple(counts),
    )


@pytest.mark.parametrize(
    "size",
    [0, 1, SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 3 * SEGMENT_BYTES],
)
@pytest.mark.parametrize("unit", [b"a", b"\n", b"line\n", b"\r\n"])
def test_the_facts_are_those_of_the_definition(size: int, unit: bytes) -> None:
    data = (unit * (size // len(unit) + 1))[:size]
    assert describe(data) == _expected(data)


@given(st.binary(max_size=64), st.lists(st.integers(0, 2 * SEGMENT_BYTES), max_size=4))
def test_the_pieces_do_not_matter(unit: bytes, cuts: list[int]) -> None:
    data = (unit or b"\n") * (2 * SEGMENT_BYTES // max(1, len(unit)))
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    digester = ContentDigester()
    for start, end in itertools.pairwise(places):
        digester.update(data[start:end])
        digester.update(b"")
    assert digester.finish() == _expected(data)


def test_the_line_counts_add_up_to_the_lines() -> None:
    assert describe(b"a\nb").segment_lines == (2,)
    assert describe(b"a\nb\n").segment_lines == (2,)
    assert describe(b"a\n" * SEGMENT_BYTES).segment_lines == (SEGMENT_BYTES // 2,) * 2
    assert describe(b"a" * SEGMENT_BYTES + b"\n").segment_lines == (0, 1)
