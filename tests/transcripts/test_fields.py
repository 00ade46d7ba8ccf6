"""Fields of JSON that anybody may have written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from provenance.transcripts.fields import dict_of, dicts_in, list_of, text_of, texts_in
from tests.transcripts.lines import json_values

_ODD = [None, True, 0, 1.5, "", "text", [], ["a"], {}, {"a": 1}]


@pytest.mark.parametrize("value", _ODD)
def test_what_is_of_another_type_is_absent(value: Any) -> None:
    holder = {"key": value}
    assert text_of(holder, "key") == (value if isinstance(value, str) and value else None)
    assert dict_of(holder, "key") == (value if isinstance(value, dict) else {})
    assert list_of(holder, "key") == (value if isinstance(value, list) else [])


def test_what_is_not_there_is_absent() -> None:
    assert text_of({}, "key") is None
    assert dict_of({}, "key") == {}
    assert list_of({}, "key") == []


def test_only_objects_and_texts_of_a_list_are_given_in_order() -> None:
    mixed = [{"a": 1}, "x", None, ["y"], {}, "", 3]
    assert list(dicts_in(mixed)) == [{"a": 1}, {}]
    assert list(texts_in(mixed)) == ["x", ""]
    for value in (None, "abc", {"a": "b"}, 3):
        assert list(dicts_in(value)) == []
        assert list(texts_in(value)) == []


@given(json_values())
def test_nothing_raises(value: Any) -> None:
    holder = {"key": value}
    assert text_of(holder, "key") is None or text_of(holder, "key") == value
    for found in dicts_in(dict_of(holder, "key").get("a")):
        assert isinstance(found, dict)
    assert all(isinstance(one, str) for one in texts_in(list_of(holder, "key")))
