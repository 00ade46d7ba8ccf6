"""The JSON text of blocks: that of the standard library, its length without the text."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, UserDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages._json_text import _pieces, json_length, json_text, plain_encoding

_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    st.sampled_from('"\\/\b\f\n\r\t\x00\x1f\x7f\x80é好🙂\ud800\udc00\u2028')
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats()
    | st.sampled_from([1e16, 1e-7, -1e22, 5e-324, 1.7976931348623157e308, 2.0**63, -0.0])
    | _TEXT
)
_KEYS = _TEXT | st.none() | st.booleans() | st.integers() | st.floats()
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(_TEXT, inner, max_size=5)
        | st.dictionaries(_KEYS, inner, max_size=5)
        | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=20,
)


@given(_JSON)
def test_text_and_length_are_those_of_the_standard_library(value: object) -> None:
    expected = json.dumps(value, ensure_ascii=False)
    assert json_text(value) == expected
    assert json_length(value) == len(expected)
    assert "".join(_pieces(value)) == expected  # what is used where the fast way is closed


class _Pair(NamedTuple):
    a: int
    b: str


class _Word(StrEnum):
    ONE = "o\nne"


class _Number(IntEnum):
    TWO = 2


class _Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        _Pair(1, "x"),
        _Word.ONE,
        _Number.TWO,
        {"a": _Number.TWO, _Word.ONE: _Word.ONE},
        _Text("“x"),
        [_Text("x")],
        {_Text("x"): 1},
        OrderedDict(b=1, a=2),
        {1: "a", "1": "b", False: "c", None: "d", 1.5: "e"},
        {math.inf: 1, math.nan: 2},
        [math.inf, -math.inf, math.nan],
        2**300,
        [[], {}, (), [[]], [{}]],
        "\ud83d\ude42",
    ],
)
def test_what_only_looks_like_json_is_printed_alike(value: object) -> None:
    expected = json.dumps(value, ensure_ascii=False)
    assert json_text(value) == expected
    assert json_length(value) == len(expected)
    assert "".join(_pieces(value)) == expected


class _Colour(Enum):
    RED = "red"


class _Model:
    def model_dump(self, **_: object) -> dict[str, Any]:
        return {"a": [1, "é"]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (MappingProxyType({"a": (1,)}), '{"a": [1]}'),
        ([UserDict({"a": 1})], '[{"a": 1}]'),
        ({(1, 2): 3}, '{"(1, 2)": 3}'),
        (Decimal("1.5"), None),
        (datetime(2026, 1, 1, tzinfo=UTC), None),
        (b"bytes", None),
        ({1, 2}, None),
        (_Colour.RED, None),
        (object(), None),
        (int, None),
    ],
)
def test_what_the_standard_library_cannot_print_has_a_text(value: object, text: str | None) -> None:
    printed = json_text(value)
    assert text is None or printed == text
    assert json_length(value) == len(printed)


def test_an_sdk_object_anywhere_is_what_it_stands_for() -> None:
    assert json_text({"x": [_Model()]}) == '{"x": [{"a": [1, "é"]}]}'
    assert json_length({"x": [_Model()]}) == len('{"x": [{"a": [1, "é"]}]}')


def test_what_holds_itself_is_null_there() -> None:
    items: list[Any] = [1]
    items.append({"up": items})
    assert json_text(items) == '[1, {"up": null}]'
    assert json_length(items) == len('[1, {"up": null}]')


def test_what_stands_twice_side_by_side_is_printed_twice() -> None:
    shared: dict[object, object] = {"a": math.nan}
    assert json_text([shared, shared, {(): shared}]) == (
        '[{"a": NaN}, {"a": NaN}, {"()": {"a": NaN}}]'
    )


@pytest.mark.parametrize("leaf", [1, "\ud800"])
def test_depth_costs_no_recursion(leaf: object) -> None:
    value: object = leaf
    for _ in range(50_000):
        value = {"k": [value]}
    # {"k": [ and ]} around the leaf; a lone surrogate is two quotes and itself
    assert json_length(value) == 50_000 * 9 + (1 if leaf == 1 else 3)
    assert len(json_text(value)) == json_length(value)


@pytest.mark.parametrize("offset", [0, -1])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_too_long_to_print_has_about_its_length(offset: int, sign: int) -> None:
    number = sign * (10**5_000 + offset)
    assert abs(json_length([number]) - 5_002) <= 2
    assert len(json_text([number])) == json_length([number])


@pytest.mark.parametrize(
    "value",
    [
        "é",
        "這\n😀",
        {"type": "text", "text": "é"},
        {"b": ["é", {"a": "😀"}, [], {}], "a": [1, None, True, "x"]},
        [2**53, -(2**63)],
        "x" * 5_000,
        {"b": "x" * 5_000, "a": ["é", {"c": "😀" * 5_000}]},
        ["x" * 5_000, "é", {"a": "é"}],
    ],
)
def test_plain_values_are_encoded_once_in_any_script(value: Any) -> None:
    printed = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = len(json.dumps(value, ensure_ascii=False)), printed.encode()
    assert plain_encoding(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"é": 1},
        [{"a": {"é": 1}}],
        {1: "a"},
        {"a": "\ud800"},
        {"a": 1.5},
        ("a",),
        ["é", ("é",)],
        {"a": b"x"},
        {"é": "x" * 5_000},
        {"a": "x" * 5_000, "b": [{"é": 1}]},
    ],
)
def test_what_is_printed_in_several_ways_is_not_plain(value: Any) -> None:
    assert plain_encoding(value) is None
