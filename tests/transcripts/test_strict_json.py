"""Strict JSON: the standard library's decoder, our own for what is deep, and no third opinion."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from provenance.canonical import NumberText
from provenance.transcripts import strict_json
from provenance.transcripts.strict_json import NotStrictJson, is_nesting_at_most, parse_strict
from tests.transcripts.lines import json_values, mutated, render


def _both(data: bytes) -> tuple[object, object]:
    """What each of the two parsers says; the refusal counts as an answer."""
    answers: list[object] = []
    for parse in (strict_json._decode, strict_json._parse_without_recursion):
        try:
            answers.append(repr(parse(data.decode())))
        except (NotStrictJson, json.JSONDecodeError):
            answers.append("refused")
    return answers[0], answers[1]


@given(st.data())
def test_the_two_parsers_are_one(data: st.DataObject) -> None:
    rnd = data.draw(st.randoms(use_true_random=False))
    text = render(data.draw(json_values()), rnd, twice=rnd.choice([0, 0.1]), wild=0.4)
    line = text.encode()
    if data.draw(st.booleans()):
        line = data.draw(mutated(line))
    try:
        line.decode()
    except UnicodeDecodeError:
        assume(False)
    one, other = _both(line)
    assert one == other


@given(st.text(alphabet='{}[]",:\\ \r\n\t0123456789.eE+-truefalsn\ufeff\u00e9NaI', max_size=12))
def test_the_two_parsers_are_one_on_scraps(text: str) -> None:
    one, other = _both(text.encode())
    assert one == other


@given(json_values(), st.randoms(use_true_random=False))
def test_what_is_json_is_read_as_it_was_meant(value: Any, rnd: Any) -> None:
    data = render(value, rnd, wild=0.4).encode()
    expected = json.loads(data, parse_int=_expected_integer)
    assert repr(parse_strict(data, max_nesting=100)) == repr(expected)


def _expected_integer(text: str) -> object:
    return int(text) if len(text) <= 18 else NumberText(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "nul", "nulll", "01", "1.", ".5", "+1", "1e", "-", "--1", "1_0", "0x1", "1 2",
        "NaN", "Infinity", "-Infinity", "nan", "[1,]", "[,1]", "[1 2]", "[", "]", "{", "}", "[}",
        '{"a"}', '{"a":}', '{"a":1,}', '{"a":1 "b":2}', "{a:1}", "{1:2}", "{'a':1}", '{"a":1}{}',
        '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"a":{"b":1,"b":1}}]', '{"":0,"":0}',
        '"', '"\\x"', '"\\u12G4"', '"\\u 123"', '"\\u+123"', '"\\u1_23"', '"\t"', '"\n"', '"\x00"',
        '"\x1f"', "\ufeff1", "\x0b1", "\x0c1", "1\x00", "\u00a01", "/**/1", "\u0661", "[\u0661]",
        '"a', '"a\\', '"a\\"', "tru", "True", "undefined", "[1]]",
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_by_both(text: str) -> None:
    assert _both(text.encode()) == ("refused", "refused")
    with pytest.raises(NotStrictJson) as caught:
        parse_strict(text.encode(), max_nesting=10)
    assert caught.value.code == "not_strict_json"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("1E+5", 1e5),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, NumberText("9" * 19)),
        ("-" + "9" * 5_000, NumberText("-" + "9" * 5_000)),
        ("1e999", NumberText("1e999")),
        ("-1e999", NumberText("-1e999")),
        ("1e-999", 0.0),
        ("9" * 400 + ".5", NumberText("9" * 400 + ".5")),
        ('"\\ud83d"', "\ud83d"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\u0000\\/\\b\\f"', "\x00/\b\f"),
        ('"\x7f\u2028\u0085"', "\x7f\u2028\u0085"),
        ("\r\n\t [ ]\r", []),
        ('{"a":{"a":1}}', {"a": {"a": 1}}),
        ('[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}]),
    ],
)
def test_what_is_legal_however_odd(text: str, value: object) -> None:
    assert parse_strict(text.encode(), max_nesting=3) == value
    assert _both(text.encode()) == (repr(value), repr(value))


def test_digits_do_not_depend_on_the_interpreters_limit() -> None:
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        assert parse_strict(b"9" * 1_000, max_nesting=1) == NumberText("9" * 1_000)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("levels", [1, 2, 99, 100, 101, 500, 2_000])
def test_the_deepest_allowed_and_one_more(levels: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        for inner in (b'"[[{{"', b'"\\\\"', b'"\\"[["', b"1"):
            data = opening * levels + inner + closing * levels
            parse_strict(data, max_nesting=levels)
            with pytest.raises(NotStrictJson, match="levels"):
                parse_strict(b"[" + data + b"]", max_nesting=levels)


@pytest.mark.parametrize("depth", [0, 900])
def test_the_callers_own_depth_does_not_matter(depth: int) -> None:
    def call(left: int) -> object:
        return call(left - 1) if left else parse_strict(b"[" * 90 + b"]" * 90, max_nesting=500)

    assert isinstance(call(depth), list)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000 + b"]" * 200_000,
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000,
        b"[" * 600 + b"]" * 600,
    ],
)
def test_depth_is_refused_before_a_parser_sees_it(data: bytes) -> None:
    with pytest.raises(NotStrictJson, match="at most 500 levels"):
        parse_strict(data, max_nesting=500)


def test_any_depth_that_is_allowed_is_parsed() -> None:
    value = parse_strict(b"[" * 200_000 + b"]" * 200_000, max_nesting=200_000)
    depth = 0
    while isinstance(value, list) and value:
        value = value[0]
        depth += 1
    assert depth == 199_999
    with pytest.raises(NotStrictJson):
        parse_strict(b"[" * 1_000 + b"1,]" + b"]" * 999, max_nesting=1_000)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


@given(json_values(max_leaves=20), st.randoms(use_true_random=False), st.integers(1, 6))
def test_nesting_is_what_it_is(value: Any, rnd: Any, levels: int) -> None:
    data = render(value, rnd, wild=0.3).encode()
    assert is_nesting_at_most(data, levels) == (_depth(value) <= levels)
