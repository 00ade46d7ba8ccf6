"""Canonical JSON: RFC 8785, the defined rest, and the fast way that must not differ."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import CanonicalFormError, canonical_bytes, digest_of
from provenance.compaction.canonical_form import canonical_block
from provenance.messages.shapes import blocks_of, to_json_value
from provenance.messages.tokens import HeuristicCounter, count_blocks, plain_costs
from tests.messages.builders import histories

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(codec=None, exclude_categories=()), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=4), inner, max_size=4),
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        # RFC 8785, section 3.2.3: the order of UTF-16 units.
        (
            {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7},
            '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
        ),
        # Section 3.2.2.2 and 3.2.2.3.
        (
            [333333333.33333329, 1e30, 4.50, 2e-3, 1e-27],
            "[333333333.3333333,1e+30,4.5,0.002,1e-27]",
        ),
        ('€$\x0f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        (
            [-0.0, 0.0, 1e21, 1e-7, 123456789012345680000.0],
            "[0,0,1e+21,1e-7,123456789012345680000]",
        ),
        # What RFC 8785 cannot express.
        ([2**53, 2**53 + 1, -(2**64)], "[9007199254740992,9007199254740993,-18446744073709551616]"),
        ("a\ud800b", '"a\\ud800b"'),
        ("a\\\ud800b", '"a\\\\\\ud800b"'),
        ({"\udfff": None}, '{"\\udfff":null}'),
        (10**5_000, "1" + "0" * 5_000),
    ],
    ids=itertools.count(),
)
def test_the_bytes(value: Any, text: str) -> None:
    assert canonical_bytes(value) == text.encode()
    assert canonical_block(value) == text.encode()


@given(value=values)
def test_the_fast_way_gives_the_same_bytes(value: Any) -> None:
    assert canonical_block(value) == canonical_bytes(to_json_value(value))


@given(value=values)
def test_it_parses_back(value: Any) -> None:
    # A large fraction is printed as a whole number, so all are read as fractions.
    printed = json.loads(canonical_bytes(value), parse_int=float)
    assert printed == json.loads(json.dumps(value), parse_int=float)


@given(messages=histories())
def test_plain_costs_and_digests_are_the_ordinary_ones(messages: list[Any]) -> None:
    counter = HeuristicCounter()
    for message in messages:
        blocks = blocks_of(message)
        found = plain_costs(message, blocks)
        if found is not None:
            costs, canonical = found
            assert costs == count_blocks(message, counter=counter)
            assert canonical == [canonical_bytes(to_json_value(one.value)) for one in blocks]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {1: 2}, {1, 2}, object()])
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(CanonicalFormError):
        canonical_bytes([value])
    assert len(digest_of(value)) == 64
