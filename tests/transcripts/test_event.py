"""What a caller may append."""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from provenance.canonical import NumberText, canonical_json
from provenance.errors import CallerError
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.envelope import ENVELOPE_FIELDS
from provenance.transcripts.event import EventError, EventFieldError, EventTypeError, plain_event
from tests.transcripts.lines import json_values


def _plain(event: Any, **limits: int) -> dict[str, object]:
    return plain_event(event, limits=Limits(**limits))


def _is_text(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_text(key) and _is_text(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_text, value))
    return not isinstance(value, str) or value.isascii() or not _surrogates(value)


def _surrogates(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


@given(json_values(max_leaves=20))
def test_a_json_value_is_copied_as_it_is_or_refused_for_a_lone_surrogate(value: Any) -> None:
    if not _is_text(value):
        with pytest.raises(EventError, match="lone surrogate"):
            _plain({"a": value})
        return
    copied = _plain({"a": value})
    assert canonical_json(copied) == canonical_json({"a": value})


def test_the_copy_is_a_copy() -> None:
    inner = {"b": [1]}
    copied = _plain({"a": inner})
    inner["b"].append(2)
    assert copied == {"a": {"b": [1]}}


class _Color(enum.StrEnum):
    RED = "red"


class _Number(enum.IntEnum):
    ONE = 1


class _Float(float):
    def __repr__(self) -> str:
        return "not a number's text"


class _Own(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        return {"x": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["x"])

    def __len__(self) -> int:
        return 1


def test_subclasses_become_what_they_stand_for() -> None:
    copied = _plain(
        OrderedDict(
            {
                _Color.RED: _Color.RED,
                "n": _Number.ONE,
                "f": _Float(1.5),
                "t": (1, (2,)),
                "m": _Own(),
            }
        )
    )
    assert canonical_json(copied) == '{"f":1.5,"m":{"x":1},"n":1,"red":"red","t":[1,[2]]}'
    assert _plain(MappingProxyType({"a": True, "b": None, "z": -0.0})) == {
        "a": True,
        "b": None,
        "z": -0.0,
    }


@pytest.mark.parametrize("name", ENVELOPE_FIELDS)
def test_the_envelope_is_the_writers(name: str) -> None:
    with pytest.raises(EventFieldError, match=rf"event\.{name}: expected no such field"):
        _plain({"type": "message", name: 1})
    assert _plain({"content": {name: 1}}) == {"content": {name: 1}}


class _Sneaky(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _cycle() -> dict[str, object]:
    event: dict[str, object] = {}
    event["a"] = [{"b": event}]
    return event


def _cyclic_list() -> dict[str, object]:
    items: list[object] = []
    items.append(items)
    return {"a": items}


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        (None, EventTypeError, "event: expected a mapping, got NoneType"),
        ([("a", 1)], EventTypeError, "event: expected a mapping, got list"),
        ("x", EventTypeError, "event: expected a mapping, got str"),
        ({1: 2}, EventTypeError, r"event\[1\]: expected a key of type str, got int"),
        ({None: 2}, EventTypeError, "expected a key of type str, got NoneType"),
        ({"a": {(): 1}}, EventTypeError, "expected a key of type str, got tuple"),
        ({"a": b"x"}, EventTypeError, r"event\.a: expected a JSON value, got bytes"),
        ({"a": {1, 2}}, EventTypeError, r"event\.a: expected a JSON value, got set"),
        ({"a": [object()]}, EventTypeError, r"event\.a\[0\]: expected a JSON value, got object"),
        ({"a": iter([])}, EventTypeError, "expected a JSON value, got list_iterator"),
        ({"a": [1, {"b": float("nan")}]}, EventError, r"event\.a\[1\]\.b: expected a finite"),
        ({"a": float("inf")}, EventError, "expected a finite number, got inf"),
        ({"a": [NumberText("1e400")]}, EventError, r"event\.a\[0\]: expected a number that a 64"),
        ({"a": NumberText('1,"b":2')}, EventError, r"event\.a: expected a number"),
        ({"a": NumberText("9" * 5_000)}, EventError, r"event\.a: expected an integer that prints"),
        ({"a": "\ud83d"}, EventError, r"event\.a: expected Unicode text, got a lone surrogate"),
        ({"\udc00": 1}, EventError, "expected Unicode text, got a lone surrogate"),
        ({"a": 10**5_000}, EventError, "expected an integer that prints"),
        ({"a": 1, _Sneaky("a"): 2}, EventError, "expected distinct keys, got one twice"),
        ({_Sneaky("sequence"): 2}, EventFieldError, "event.sequence: expected no such field"),
        (_cycle(), EventError, r"event\.a\[0\]\.b: expected a tree"),
        (_cyclic_list(), EventError, r"event\.a\[0\]: expected a tree"),
    ],
)
def test_refusals(event: Any, error: type[EventError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        _plain(event)
    assert isinstance(caught.value, CallerError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).isascii()


def test_a_part_that_is_used_twice_is_no_cycle() -> None:
    shared = {"x": [1]}
    assert _plain({"a": shared, "b": [shared, shared]}) == {
        "a": {"x": [1]},
        "b": [{"x": [1]}, {"x": [1]}],
    }


def test_what_unfolds_to_more_than_a_record_ends_early() -> None:
    value: list[object] = ["x"]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(EventError, match="at most 1048576 bytes"):
        _plain({"a": value})
    text = "x" * 500_000
    with pytest.raises(EventError, match="at most 1048576 bytes"):
        _plain({"a": [text] * 1_000_000})
    with pytest.raises(EventError, match="at most 1048576 bytes"):
        _plain({"a": 1 << 40_000_000})


@pytest.mark.parametrize("levels", [2, 500])
def test_levels(levels: int) -> None:
    value: object = 1
    for _ in range(levels - 1):
        value = [value]
    _plain({"a": value}, max_nesting=levels)
    with pytest.raises(EventError, match=f"at most {levels} levels"):
        _plain({"a": [value]}, max_nesting=levels)


def test_depth_is_no_danger() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EventError, match="at most 500 levels"):
        _plain({"a": value})
    _plain({"a": [[[]]]}, max_nesting=DEFAULT_LIMITS.max_nesting)


def test_a_long_way_to_the_fault_is_shown_short() -> None:
    value: object = b"x"
    for number in range(100):
        value = {f"key{number}" + "k" * 100: value}
    with pytest.raises(EventTypeError) as caught:
        _plain(value)
    assert len(str(caught.value)) < 500
    assert "..." in str(caught.value)
