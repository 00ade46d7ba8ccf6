"""One text for one JSON value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.canonical import CanonicalJsonError, NumberText, canonical_json
from tests.transcripts.lines import json_values


def _by_the_standard_library(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@given(json_values(max_leaves=20))
def test_the_text_is_that_of_the_standard_library(value: Any) -> None:
    assert canonical_json(value) == _by_the_standard_library(value)


@given(json_values(max_leaves=20), st.integers(min_value=1, max_value=60))
def test_a_bounded_text_begins_like_the_whole(value: Any, most: int) -> None:
    whole = canonical_json(value)
    assert canonical_json(value, max_chars=most)[:most] == whole[:most]


def test_a_bound_ends_the_work_soon() -> None:
    assert len(canonical_json(["x"] * 100_000, max_chars=10)) < 20


def test_a_number_keeps_its_text() -> None:
    digits = "9" * 5_000
    assert canonical_json({"a": [NumberText(digits), NumberText("1e999")]}) == (
        f'{{"a":[{digits},1e999]}}'
    )


def test_depth_costs_no_recursion() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert canonical_json(value) == "[" * 100_001 + "]" * 100_001


class _Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: 2}, "expected keys of type str"),
        ({_Text("a"): 2}, "expected keys of type str"),
        ([float("nan")], "expected a finite one, got nan"),
        ([float("-inf")], "expected a finite one, got -inf"),
        ([10**5_000], "expected fewer digits"),
        ([(1,)], "got tuple"),
        ([b"x"], "got bytes"),
        ([_Text("a")], "got _Text"),
        ([object()], "got object"),
    ],
)
def test_what_is_no_json_value_is_refused(value: Any, message: str) -> None:
    with pytest.raises(CanonicalJsonError, match=message):
        canonical_json(value)
