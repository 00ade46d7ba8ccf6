"""Where JSON values end, by brackets and quotes alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.transcripts.containers.json_scan import (
    begins_again,
    end_of_space,
    end_of_string,
    end_of_value,
)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"{}", 2),
        (b"[]x", 2),
        (b'{"a": "]}"} ', 11),
        (b'["\\"]", 1]', 10),
        (b'"a\\\\", 1', 5),
        (b"12,", 2),
        (b"true]", 4),
        (b'{"a": [}', None),
        (b'{"a": "', None),
        (b'["\\"', None),
        (b'"', None),
        (b"", None),
        (b",", None),
        (b"]", None),
    ],
)
def test_the_end_of_a_value(text, end):
    assert end_of_value(text, 0) == end


def test_strings_and_space():
    assert end_of_string(b'x"\\u00e9"', 1) == 9
    assert end_of_string(b"x", 0) is None
    assert end_of_space(b"\t\r\n x", 0) == 4
    assert end_of_space(b"\x0bx", 0) == 0


def test_an_object_that_begins_again():
    data = b'{"id": 1, "a": "xx{"id": 2}'
    assert begins_again(data, 0, len(data))
    assert begins_again(b"\xef\xbb\xbf \n" + data, 10, len(data) + 5)
    assert not begins_again(data, 0, 20)
    assert not begins_again(b'{"id": 1, "a": {"ie": 2}}', 0, 25)
    assert not begins_again(b"[1]", 0, 3)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([b"", b",", b"}", b"]", b" "]),
)
def test_the_end_of_what_json_writes(value, tail):
    text = json.dumps(value).encode()
    assert end_of_value(b"x" + text + tail, 1) == len(text) + 1


@given(st.binary(max_size=60))
def test_any_bytes(data):
    end = end_of_value(data, 0)
    assert end is None or 0 < end <= len(data)
