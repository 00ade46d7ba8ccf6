"""Damage is told by its kind; what stands whole beside it is kept; the work is linear."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts import damage
from provenance.transcripts.damage import Judged, judge
from tests.trees import run_python


def _judge(text: bytes, *, keeps: bool = True, **limits: int) -> Judged:
    return judge(text, limits=Limits(**limits), is_record=lambda value: keeps)


def _said(text: bytes, **how: Any) -> tuple[str | None, list[bytes]]:
    judged = _judge(text, **how)
    if judged.fault is not None:
        assert judged.fault.severity is Severity.ERROR
        assert judged.fault.ordinal is judged.fault.line is None
    for start, raw, value in judged.found:
        assert text[start : start + len(raw)] == raw
        assert json.loads(raw) == value
    return (judged.fault.code if judged.fault else None), [raw for _, raw, _ in judged.found]


# Each kind, and what only looks like it.
@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        # A record: white space around it, and what damage looks like inside a text.
        (b'{"a":1}', None, [b'{"a":1}']),
        (b'{"a":1}\r', None, [b'{"a":1}']),
        (b' {"a":1} ', None, [b' {"a":1} ']),
        (b'{"a":"}{"}', None, [b'{"a":"}{"}']),
        (b'{"a":"{\\"b\\":1}"}', None, [b'{"a":"{\\"b\\":1}"}']),
        (b'{"a":"\\u0000"}', None, [b'{"a":"\\u0000"}']),
        (b'{"a":"\\ud83d"}', None, [b'{"a":"\\ud83d"}']),
        # Two in one.
        (b'{"a":1}{"b":2}', "welded_records", [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1} \t{"b":2}\r', "welded_records", [b'{"a":1}', b'{"b":2}']),
        (b"{}{}{}", "welded_records", [b"{}", b"{}", b"{}"]),
        ('{"é":1}{"b":2}'.encode(), "welded_records", ['{"é":1}'.encode(), b'{"b":2}']),
        (b'{"a":1},{"b":2}', "invalid_line", [b'{"a":1}']),
        (b'{"a":1}[{"b":2}]', "invalid_line", [b'{"a":1}']),
        (b'{"a":1}x', "invalid_line", [b'{"a":1}']),
        (b'{"a":1}}', "invalid_line", [b'{"a":1}']),
        (b"[1][2]", "invalid_line", []),
        (b'{"a":1}{"b":NaN}', "invalid_line", [b'{"a":1}']),
        (b'{"a":1}{"b":1,"b":2}', "invalid_line", [b'{"a":1}']),
        # Cut short: behind a weld, in a character, in an escape, in a word, in a number.
        (b"{", "torn_line", []),
        (b'{"', "torn_line", []),
        (b'{"a', "torn_line", []),
        (b'{"a"', "torn_line", []),
        (b'{"a":', "torn_line", []),
        (b'{"a":1', "torn_line", []),
        (b'{"a":1,', "torn_line", []),
        (b'{"a":-', "torn_line", []),
        (b'{"a":tru', "torn_line", []),
        (b'{"a":nul', "torn_line", []),
        (b'{"a":"x\\', "torn_line", []),
        (b'{"a":"x\\u00', "torn_line", []),
        (b'{"a":"x\xc3', "torn_line", []),
        (b'{"a":"x\xf0\x9f\x98', "torn_line", []),
        (b'{"a":{"b":1}', "torn_line", []),
        (b'{"a":[{"b":1}', "torn_line", []),
        (b'{"a":1}{"b":', "torn_line", [b'{"a":1}']),
        (b'{"a":1}{', "torn_line", [b'{"a":1}']),
        (b'{"a":trux', "invalid_line", []),
        (b'{"a":"x\\u00zz', "invalid_line", []),
        (b'{"a":"x\\q', "invalid_line", []),
        (b'{"a":"x\xff', "invalid_line", []),
        (b'["a', "invalid_line", []),
        (b'"a', "invalid_line", []),
        (b"tru", "invalid_line", []),
        # Another begins inside: whole, cut short, in a key, behind an escape's backslash.
        (b'{"a":"xx{"b":1}', "spliced_line", [b'{"b":1}']),
        (b'{"a":"xx{"b":1', "spliced_line", []),
        (b'{"a":"xx{"b":"{\\"c', "spliced_line", []),
        (b'{"a{"b":1}', "spliced_line", [b'{"b":1}']),
        (b'{"a":1,{"b":1}', "spliced_line", [b'{"b":1}']),
        (b'{{"b":1}', "spliced_line", [b'{"b":1}']),
        (b'{"a":"x\\{"b":1}', "spliced_line", [b'{"b":1}']),
        ('{"a":"é{"b":1}'.encode(), "spliced_line", [b'{"b":1}']),
        (b'{"a":{"b":"x{"c":{"d":1}}', "spliced_line", [b'{"c":{"d":1}}']),
        (b'{"a":1}{"b":"x{"c":1}', "spliced_line", [b'{"a":1}', b'{"c":1}']),
        # What follows may be the rest of the record that it was written into.
        (b'{"a":"x{"b":1}y","c":2}', "spliced_line", [b'{"b":1}']),
        (b'{"a":"x{"b":1y', "invalid_line", []),
        # White space does not hide what stands behind it.
        (b' {"a":1}{"b":1}', "welded_records", [b'{"a":1}', b'{"b":1}']),
        (b'\0\0{"a":1}{"b":1}', "nul_line", [b'{"a":1}', b'{"b":1}']),
        (b'\0\0 {"a":1}', "nul_line", [b'{"a":1}']),
        (b'x{"b":1}', "invalid_line", []),
        (b'{"a":"x"y"}', "invalid_line", []),
        # Holes.
        (b"\0", "nul_line", []),
        (b"\0\0\0", "nul_line", []),
        (b'\0\0{"a":1}', "nul_line", [b'{"a":1}']),
        (b'{"a":1}\0\0', "nul_line", [b'{"a":1}']),
        (b'{"a":1}\0{"b":2}', "nul_line", [b'{"a":1}', b'{"b":2}']),
        (b'{"a":"\0"}', "nul_line", []),
        (b"\0[1]", "nul_line", []),
        (b'\0{"a":1,"a":2}', "nul_line", []),
        # Anything else.
        (b"", "invalid_line", []),
        (b" \t\r", "invalid_line", []),
        (b"[]", "invalid_line", []),
        (b"3", "invalid_line", []),
        (b'"text"', "invalid_line", []),
        (b"null", "invalid_line", []),
        (b"NaN", "invalid_line", []),
        (b'{"a":NaN}', "invalid_line", []),
        (b'{"a":1,"a":2}', "invalid_line", []),
        (b"{'a':1}", "invalid_line", []),
        (b'{"a":01}', "invalid_line", []),
        (b'{"a":"\t"}', "invalid_line", []),
        (b'{"a":"\xc0\xaf"}', "invalid_line", []),
        (b'{"a":"\xed\xa0\xbd"}', "invalid_line", []),
        (b'\xef\xbb\xbf{"a":1}', "invalid_line", [b'{"a":1}']),
        (b"\xef\xbb\xbf", "invalid_line", []),
        (b"\xef\xbb\xbf[]", "invalid_line", []),
    ],
)
def test_each_kind_and_the_nearest_miss(text: bytes, code: str | None, found: list[bytes]) -> None:
    assert _said(text) == (code, found)


@pytest.mark.parametrize("cut", [b'{"a":12.', b'{"a":[-0.', b'{"a":5e', b'{"a":1.5E+', b'{"a":1e-'])
def test_a_number_that_was_cut_is_torn_too(cut: bytes) -> None:
    assert _said(cut) == ("torn_line", [])


def test_a_record_that_begins_anywhere_inside_another_is_kept() -> None:
    first = b'{"uuid":"a","list":[1,{"x":"y"}],"message":{"role":"user","text":"a b"},"n":12}'
    second = b'{"uuid":"b","message":{"role":"user","text":"c"}}'

    def is_record(value: dict[str, Any]) -> bool:
        return "uuid" in value

    for cut in range(1, len(first)):
        judged = judge(first[:cut] + second, limits=DEFAULT_LIMITS, is_record=is_record)
        assert judged.fault is not None
        assert judged.fault.code == "spliced_line", first[:cut]
        assert [raw for _, raw, _ in judged.found] == [second]


def test_the_last_part_of_a_record_that_lacks_its_end_is_no_record() -> None:
    whole = b'{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user"}}'
    for end in range(1, len(whole)):
        judged = judge(whole[:end], limits=DEFAULT_LIMITS, is_record=lambda value: True)
        assert (judged.fault and judged.fault.code, judged.found) == ("torn_line", ())


def test_what_only_looks_like_a_record_inside_is_torn() -> None:
    judged = judge(b'{"uuid":"a","message":{"n":1}', limits=DEFAULT_LIMITS,
                   is_record=lambda value: "uuid" in value)  # fmt: skip
    assert (judged.fault and judged.fault.code, judged.found) == ("torn_line", ())


def test_two_records_behind_a_splice_are_both_kept() -> None:
    assert _said(b'{"a":"x{"b":1}{"c":1}') == ("spliced_line", [b'{"b":1}', b'{"c":1}'])


_TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from('{}[]",:\\ab\u2028é😀'), st.characters(codec="utf-8")),
    max_size=12,
)
_NO_FLOATS = st.recursive(
    st.one_of(_TEXTS, st.integers(-9, 10**9), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)
    ),
    max_leaves=10,
)
_OBJECTS = st.dictionaries(_TEXTS, _NO_FLOATS, min_size=1, max_size=4)


@given(_OBJECTS, st.booleans(), st.data())
def test_a_record_that_was_cut_anywhere_is_torn(
    value: dict[str, Any], is_ascii: bool, data: st.DataObject
) -> None:
    whole = json.dumps(value, ensure_ascii=is_ascii).encode()
    if b"\0" in whole:
        return
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    assert _said(cut) == ("torn_line", [])


@given(st.lists(_OBJECTS, min_size=2, max_size=5), st.sampled_from(["", " ", "\t"]))
def test_records_without_a_line_end_between_are_all_kept(
    values: list[dict[str, Any]], between: str
) -> None:
    texts = [json.dumps(value, ensure_ascii=False).encode() for value in values]
    code, found = _said(between.encode().join(texts), keeps=False)
    assert (code, found) == ("welded_records", texts)


@given(_OBJECTS, st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_what_stands_between_holes_is_kept(value: dict[str, Any], holes: list[int]) -> None:
    text = json.dumps(value).encode()
    line = b"".join(b"\0" * size + text for size in holes)
    assert _said(line) == ("nul_line", [text] * len(holes))
    assert _said(line, keeps=False) == ("nul_line", [])


@given(st.binary(max_size=60), st.booleans())
def test_no_bytes_raise_and_no_message_holds_them(text: bytes, keeps: bool) -> None:
    judged = _judge(b'{"secret-marker":"' + text, keeps=keeps)
    assert judged.fault is None or "secret-marker" not in judged.fault.message


def test_size_comes_before_everything() -> None:
    assert _said(b"\0" * 21, max_foreign_record_bytes=20) == ("record_over_limit", [])
    assert _said(b"\0" * 20, max_foreign_record_bytes=20) == ("nul_line", [])
    assert _said(b'{"a":"' + b"x" * 12 + b'"}\r', max_foreign_record_bytes=20)[0] is None
    assert _said(b'{"a":"' + b"x" * 13 + b'"}\r', max_foreign_record_bytes=20)[0] is not None


def test_a_caller_that_has_used_up_the_stack() -> None:
    """A parser that recurses needs room that the caller may not have left."""
    line = b'{"a":' * 400 + b'"x'
    verdicts: list[str | None] = []

    def deep(levels: int) -> None:
        if levels:
            deep(levels - 1)
        else:
            verdicts.append(_said(line)[0])

    limit = sys.getrecursionlimit()
    for levels in (0, limit - 250):
        deep(levels)
    assert verdicts == ["torn_line", "torn_line"]


def test_nesting_that_a_quote_hides_prints_nothing() -> None:
    script = """
from provenance.limits import Limits
from provenance.transcripts.damage import judge
line = b'{"a":"x{"b":1}' + b'{"c":' * 20_000
print(judge(line, limits=Limits(), is_record=bool).fault.code)
"""
    done = run_python(script)
    assert done.stdout in ("spliced_line\n", "record_over_limit\n")
    assert done.stderr == ""


# --- work ---------------------------------------------------------------------------------------


class _Counted(str):
    """A text that counts how many characters are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> str:  # type: ignore[override]
        found = super().__getitem__(key)
        _Counted.copied += len(found)
        return found


def _copied(text: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    decode = damage._decode

    def counting(raw: bytes) -> tuple[str, bool] | None:
        decoded = decode(raw)
        return None if decoded is None else (_Counted(decoded[0]), decoded[1])

    monkeypatch.setattr(damage, "_decode", counting)
    _Counted.copied = 0
    _judge(text)
    monkeypatch.undo()
    return _Counted.copied


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":"' + b'x{"' * 20_000,
        b'{"a' * 20_000,
        b'{"a":' * 400 + b'{"b' * 20_000,
        b'{"a":"' + b'\\"' * 20_000 + b'{"b":1',
        b'{"a":1' + b" " * 60_000 + b"x",
        b'{"a":' + b"1" * 60_000,
    ],
    ids=["quotes", "keys", "nested", "escapes", "spaces", "digits"],
)
def test_the_work_grows_no_faster_than_the_text(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So many places where another record may begin are tried, each at most once to its end.
    assert _copied(text, monkeypatch) <= 20 * len(text)


def test_many_welded_records_are_no_more_work_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"{}" * 2_000
    assert _copied(text, monkeypatch) <= 20 * len(text)


def test_the_places_that_are_tried_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    scan = damage._scan

    def counting(text: str, place: int) -> Any:
        nonlocal tried
        tried += 1
        return scan(text, place)

    monkeypatch.setattr(damage, "_scan", counting)
    _judge(b'{"a":"x",' + b'{"a":"x","b"y,' * 5_000)
    assert tried <= 20
