"""Files of lines that somebody else wrote: any bytes, any cuts, any limit."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.canonical import NumberText
from provenance.limits import Limits
from provenance.transcripts.lines import Line, judge_json, read_json_lines
from provenance.transcripts.records import Fault

_OWN_CODES = {
    "welded_records", "torn_line", "spliced_line", "nul_line", "invalid_line",
    "record_over_limit", "no_final_newline",
}  # fmt: skip
_RECORDS = st.dictionaries(
    st.sampled_from(["type", "a", "é", '"q"', "u\u2028"]),
    st.one_of(
        st.integers(), st.text(max_size=6), st.none(), st.lists(st.floats(-9, 9), max_size=2),
        st.just({"in": [{}]}),
    ),
    max_size=3,
)  # fmt: skip
_PIECES = st.one_of(
    st.binary(max_size=12),
    _RECORDS.map(lambda value: json.dumps(value, ensure_ascii=False).encode()),
    _RECORDS.map(lambda value: json.dumps(value).encode() + b"\n"),
    st.sampled_from(
        [
            b"\n", b"\n\n", b"\r\n", b"\r", b"\0\0", b"{}", b"{}\n", b"}{", b'{"a":1}{"b":2}\n',
            b'{"a":"xx{"b":1}\n', b"\xef\xbb\xbf", b'{"a":', b'"', b"\xc3", b"[]", b"NaN",
            b'{"a":1,"a":2}', b"{" * 20, b'{"a":' * 9, b"0.1e", b"\\u00", b"\xe2\x80\xa8",
        ]
    ),
)  # fmt: skip
_FILES = st.lists(_PIECES, max_size=10).map(b"".join)
_LIMITS = st.sampled_from([1, 2, 9, 10, 30, 1 << 26])


def _read(
    chunks: Sequence[bytes],
    *,
    longest: int = 1 << 26,
    levels: int = 500,
    keeps: bool = True,
    partial: Any = None,
) -> list[Line | Fault]:
    limits = Limits(max_foreign_record_bytes=longest, max_nesting=levels)
    return list(
        read_json_lines(chunks, limits=limits, is_record=lambda value: keeps, partial=partial)
    )


def _cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(marks)]


def _as_json(value: object) -> object:
    """Read numbers as `json.loads` does, those too that are kept as their text."""
    if isinstance(value, NumberText):
        return json.loads(value.text)
    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, list) else value


@example(data=b'{}{"type": -100000000000000000}', keeps=False, longest=1 << 26)
@given(_FILES, st.booleans(), _LIMITS)
def test_any_bytes_give_whole_records_that_stand_where_they_say(
    data: bytes, keeps: bool, longest: int
) -> None:
    items = _read([data], keeps=keeps, longest=longest)
    lines = [one for one in items if isinstance(one, Line)]
    for line in lines:
        assert data[line.offset : line.offset + len(line.raw)] == line.raw
        assert json.loads(line.raw) == _as_json(line.value)
        assert line.line == data.count(b"\n", 0, line.offset) + 1
        assert not line.raw.endswith((b"\n", b"\r\n"))
        assert len(line.raw) <= longest
    over = {one.ordinal for one in items if _is(one, "record_over_limit")}
    places = [one.ordinal for one in lines]
    assert places == [n for n in range(1, len(lines) + len(over) + 1) if n not in over]
    assert len(over) == sum(_is(one, "record_over_limit") for one in items)
    for one in items:
        if isinstance(one, Fault):
            assert one.code in _OWN_CODES
            assert one.line is not None
            assert "\n" not in one.message
            assert one.native_id is one.session is one.member is None
    assert [one.line for one in items] == sorted(one.line or 0 for one in items)


def _is(item: Line | Fault, code: str) -> bool:
    return isinstance(item, Fault) and item.code == code


@given(_FILES, st.lists(st.integers(0, 1 << 20), max_size=6), st.booleans(), _LIMITS)
def test_where_the_pieces_are_cut_decides_nothing(
    data: bytes, places: list[int], keeps: bool, longest: int
) -> None:
    whole = _read([data], keeps=keeps, longest=longest)
    assert _read(_cut(data, places), keeps=keeps, longest=longest) == whole
    one_by_one = [data[place : place + 1] for place in range(len(data))]
    assert _read(one_by_one, keeps=keeps, longest=longest) == whole


@given(_FILES)
def test_every_line_is_a_record_or_a_fault(data: bytes) -> None:
    """The judge that stands beside: Python's own parser, line for line."""
    items = _read([data], keeps=False)
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, text in enumerate(lines, 1):
        here = [one for one in items if one.line == number and not _is(one, "no_final_newline")]
        faults = [one for one in here if isinstance(one, Fault)]
        if _strict(text) is not None:
            assert (len(here), faults) == (1, [])
        else:
            assert len(faults) == 1
            if b"\0" in text:
                assert faults[0].code == "nul_line"


def _strict(text: bytes) -> dict[str, Any] | None:
    def no_constant(name: str) -> None:
        raise ValueError(name)

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(found)) != len(found):
            raise ValueError("a key twice")
        return dict(found)

    try:
        value = json.loads(text.decode(), parse_constant=no_constant, object_pairs_hook=pairs)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


# --- one line of each sort ----------------------------------------------------------------------


def _codes(*chunks: bytes, **how: Any) -> list[object]:
    return [one.code if isinstance(one, Fault) else one.value for one in _read(chunks, **how)]


def test_an_empty_file_holds_nothing_and_a_lone_line_end_an_empty_line() -> None:
    assert _codes(b"") == _codes() == []
    assert _codes(b"\n") == _codes(b"\r\n") == ["invalid_line"]
    assert _codes(b"\n\n") == ["invalid_line"] * 2


def test_lines_end_at_a_newline_and_nowhere_else() -> None:
    data = '{"a":"x\u2028y\u2029z\x85"}\n{"b":\r1}\r\n{"c":1}\r'.encode()
    items = _read([data])
    assert [one.line for one in items] == [1, 2, 3, 3]
    assert [one.raw for one in items if isinstance(one, Line)][1:] == [b'{"b":\r1}', b'{"c":1}']
    assert _is(items[-1], "no_final_newline")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a":1}', [{"a": 1}, "no_final_newline"]),
        (b'{"a":1}{"b":2}', ["welded_records", {"a": 1}, {"b": 2}, "no_final_newline"]),
        (b'{"a":"x{"b":1}', ["spliced_line", {"b": 1}, "no_final_newline"]),
        (b'\0\0{"a":1}', ["nul_line", {"a": 1}, "no_final_newline"]),
        # What is no record wants no line end: an appender welds nothing to it.
        (b'{"a', ["torn_line"]),
        (b"[]", ["invalid_line"]),
        (b"\0\0", ["nul_line"]),
        (b'{"a":1}\n{"a', [{"a": 1}, "torn_line"]),
        (b'{"a":1}\n\0', [{"a": 1}, "nul_line"]),
    ],
)
def test_a_line_end_is_missed_after_a_record_alone(data: bytes, said: list[object]) -> None:
    assert _codes(data) == said


def test_the_place_of_each_record_on_a_damaged_line() -> None:
    data = '{"é":1} {"a":2}\n\0\0{"b":3}\0{"c":4}\n{"x":"é{"d":5}\n'.encode()
    found = [
        (one.ordinal, one.line, one.offset, data[one.offset : one.offset + len(one.raw)])
        for one in _read([data])
        if isinstance(one, Line)
    ]
    assert found == [
        (1, 1, 0, '{"é":1}'.encode()), (2, 1, 9, b'{"a":2}'), (3, 2, 19, b'{"b":3}'),
        (4, 2, 27, b'{"c":4}'), (5, 3, 43, b'{"d":5}'),
    ]  # fmt: skip


def test_what_is_not_known_as_a_record_is_not_taken_from_a_damaged_line() -> None:
    assert _codes(b'{"a":"x{"b":1}\n', keeps=False) == ["spliced_line"]
    assert _codes(b'\0{"b":1}\n', keeps=False) == ["nul_line"]
    assert _codes(b'\xef\xbb\xbf{"b":1}\n', keeps=False) == ["invalid_line"]
    # Records that are whole, one behind the other, are what the writer meant.
    assert _codes(b'{"a":1}{"b":1}\n', keeps=False) == ["welded_records", {"a": 1}, {"b": 1}]


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("size", [19, 20, 21, 22, 23])
def test_a_record_at_the_limit_and_one_byte_over_it(size: int, end: bytes) -> None:
    record = b'{"a":"' + b"x" * (size - 8) + b'"}'
    assert len(record) == size
    data = b'{"b":1}\n' + record + end
    data += b'{"c":1}\n' if end else b""
    for cuts in ([], range(len(data))):
        items = _read(_cut(data, list(cuts)), longest=20)
        told = [
            one.code if isinstance(one, Fault) else one.raw for one in items
            if not _is(one, "no_final_newline")
        ]  # fmt: skip
        middle: object = record if size <= 20 else "record_over_limit"
        assert told == [b'{"b":1}', middle, *([b'{"c":1}'] if end else [])]
        ordinals = [one.ordinal for one in items if not _is(one, "no_final_newline")]
        assert ordinals == [1, 2, 3][: len(told)]


def test_nul_bytes_over_the_limit_are_still_nul_bytes() -> None:
    data = b"{}\n" + b"\0" * 50 + b"\n{}\n"
    for cuts in ([], range(len(data))):
        items = _read(_cut(data, list(cuts)), longest=20)
        assert [one.line for one in items if isinstance(one, Line)] == [1, 3]
        assert [one.code for one in items if isinstance(one, Fault)] == ["nul_line"]


def test_nul_bytes_over_the_limit_take_no_place() -> None:
    data = b"{}\n" + b"\0" * 50 + b"\n{}\n"
    assert [one.ordinal for one in _read([data], longest=20)] == [1, None, 2]


@pytest.mark.parametrize("levels", [1, 2, 500])
def test_nesting_at_the_limit_and_one_deeper(levels: int) -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)

    for depth, said in ((levels, "sound"), (levels + 1, "record_over_limit")):
        (item,) = _read([nested(depth) + b"\n"], levels=levels)
        assert ("sound" if isinstance(item, Line) else item.code) == said
        assert item.ordinal == 1
    # Brackets in a text are no nesting.
    (item,) = _read([b'{"a":"' + b"[" * 2_000 + b'"}\n'], levels=levels)
    assert isinstance(item, Line)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"[" * 200_000 + b"]" * 200_000, "record_over_limit"),
        (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "record_over_limit"),
        (b'{"type":"user","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "record_over_limit"),
        (b'{"a":' * 200_000, "record_over_limit"),
        (b"[" * 200_000, "record_over_limit"),
        (b'{"a":"' + b"[" * 200_000, "torn_line"),
        (b"}" * 200_000, "invalid_line"),
    ],
    ids=["arrays", "objects", "in a record", "torn objects", "torn arrays", "text", "closing"],
)
def test_lines_of_200_000_levels(line: bytes, code: str) -> None:
    items = _read([b"{}\n", line, b"\n{}\n"])
    assert [one.code for one in items if isinstance(one, Fault)] == [code]
    assert sum(isinstance(one, Line) for one in items) == 2


def _endless(megabytes: int) -> Iterator[bytes]:
    yield b'{"a":1}\n{"b":"'
    piece = b"x" * (1 << 18)
    for _ in range(4 * megabytes):
        yield piece


@pytest.mark.parametrize("end", [b"", b'"}\n{"c":1}\n'])
def test_a_line_of_200_mb_needs_no_more_memory_than_the_limit(end: bytes) -> None:
    def chunks() -> Iterator[bytes]:
        yield from _endless(200)
        yield end

    limits = Limits(max_foreign_record_bytes=1 << 20)
    tracemalloc.start()
    try:
        items = list(read_json_lines(chunks(), limits=limits, is_record=bool))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    said = [one.code if isinstance(one, Fault) else one.value for one in items]
    assert said == [{"a": 1}, "record_over_limit", *([{"c": 1}] if end else [])]
    assert [one.ordinal for one in items] == [1, 2, 3][: len(items)]


def test_the_default_limit_is_64_mib() -> None:
    assert Limits().max_foreign_record_bytes == 64 << 20


# --- a decoder that passes over fields ----------------------------------------------------------


_PARTIAL = msgspec.json.Decoder(dict[str, Any])


@given(_FILES, st.lists(st.integers(0, 1 << 20), max_size=4))
def test_a_partial_decoder_changes_no_verdict_but_on_keys_that_stand_twice(
    data: bytes, places: list[int]
) -> None:
    def told(items: list[Line | Fault]) -> list[object]:
        return [one[:4] if isinstance(one, Line) else one for one in items]

    if re.search(rb'"a":1,"a":2', data) is None:
        whole = told(_read([data]))
        assert told(_read(_cut(data, places), partial=_PARTIAL)) == whole


def test_what_stands_around_a_line_does_not_decide_what_it_is() -> None:
    twice = b'{"a":1,"a":2}\n'
    (alone,) = _read([twice], partial=_PARTIAL)
    for neighbour in (b"\n", b'{"t', b"{}{}\n"):
        first = _read([twice + neighbour], partial=_PARTIAL)[0]
        assert type(first) is type(alone)


# --- one object out of some bytes ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"a":1}', {"a": 1}),
        (b' \n{"a":1}\t\r\n', {"a": 1}),
        (b'{"a":"\\ud83d"}', {"a": "\ud83d"}),
        (b"", "invalid_line"),
        (b"  ", "invalid_line"),
        (b"[]", "invalid_line"),
        (b'"text"', "invalid_line"),
        (b"NaN", "invalid_line"),
        (b'{"a":NaN}', "invalid_line"),
        (b'{"a":1,"a":1}', "invalid_line"),
        (b'\xef\xbb\xbf{"a":1}', "invalid_line"),
        (b'{"a":"\xff"}', "invalid_line"),
        (b'{"a":"' + b"x" * 100, "record_over_limit"),
        (b'{"a":"x', "torn_line"),
        (b'{"a":"x{"b":1}', "spliced_line"),
        (b'{"a":1\0}', "nul_line"),
        (b'{"a":{"a":{"a":{}}}}', "record_over_limit"),
    ],
)
def test_one_object_is_judged_as_a_line_is(raw: bytes, said: object) -> None:
    found = judge_json(raw, limits=Limits(max_foreign_record_bytes=60, max_nesting=3))
    if isinstance(found, Fault):
        assert (found.ordinal, found.line) == (None, None)
        assert found.code == said
    else:
        assert found == said


@pytest.mark.parametrize("raw", [b'{"a":1}{"b":2}', b'{"a":1} {"b":2}'])
def test_two_objects_are_not_one(raw: bytes) -> None:
    found = judge_json(raw, limits=Limits())
    assert isinstance(found, Fault)
    assert found.code == "welded_records"


@given(st.binary(max_size=40) | _FILES)
def test_no_bytes_raise(raw: bytes) -> None:
    found = judge_json(raw, limits=Limits())
    assert isinstance(found, Fault) == (_strict(raw) is None)
