"""JSON values out of records."""

from __future__ import annotations

from typing import Any

import pytest

from provenance.canonical import NumberText
from provenance.histories.values import arguments, as_text, plain, texts_of, whole


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'{"a":"\\ud800"}', {"a": "\ud800"}),
        (b'{"a":1e999}', {"a": "1e999"}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b"[]", None),
        (b"{", None),
        (b"\xff", None),
        (b'{"a":NaN}', None),
        (b'{"a":' + b"[" * 200_000, None),
    ],
)
def test_a_record_is_parsed_whole_or_not_at_all(raw: bytes, value: Any) -> None:
    assert whole(raw) == value


def test_what_python_cannot_hold_becomes_its_text() -> None:
    value = {"a": [NumberText("9" * 5_000), NumberText("-12"), float("inf")], "b": {"c": 1.5}}
    assert plain(value) == {"a": ["9" * 5_000, -12, "inf"], "b": {"c": 1.5}}
    assert isinstance(value["a"], list), "the caller's value is left alone"
    assert isinstance(value["a"][0], NumberText)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("a", "a"),
        ([{"text": "a"}, "b"], "a\nb"),
        ([{"text": "a"}, {"image": 1}], '[{"text":"a"},{"image":1}]'),
        ([], "[]"),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        (True, "true"),
    ],
)
def test_as_text(value: object, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a":1}', {"a": 1}),
        ('{"a":', {"arguments": '{"a":'}),
        ("[1]", {"arguments": "[1]"}),
        ('{"a":"\ud800', {"arguments": '{"a":"\ud800'}),
        ("", {}),
        (None, {}),
        ([1], {"arguments": [1]}),
    ],
)
def test_arguments_are_an_object(value: object, found: dict[str, Any]) -> None:
    assert arguments(value) == found


@pytest.mark.parametrize(
    ("content", "texts"),
    [("a", ["a"]), ("", []), (None, []), (7, []), ({"text": "a"}, ["a"]), ([7, "b", {}], ["b"])],
)
def test_texts_of(content: object, texts: list[str]) -> None:
    assert texts_of(content) == texts
