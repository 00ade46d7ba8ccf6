"""Numbers in a row, said in few words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.transcripts.ranges import ranges_of, say_numbers


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([], ""),
        ([5], "5"),
        ([5, 6], "5 to 6"),
        ([5, 7], "5, 7"),
        ([7, 6], "7, 6"),
        ([5, 5], "5, 5"),
        (range(1, 1_000_000), "1 to 999999"),
        (range(1, 33, 2), "1, 3, 5, 7, 9, 11, 13, 15 and 8 more"),
    ],
)
def test_what_is_said(numbers, said):
    assert say_numbers(numbers) == said


@given(st.lists(st.integers()))
def test_ranges_hold_the_same_numbers(numbers):
    ranges = ranges_of(numbers)
    assert [number for first, last in ranges for number in range(first, last + 1)] == numbers
