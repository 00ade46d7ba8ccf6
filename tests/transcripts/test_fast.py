"""The fast check accepts nothing that the strict judge refuses, and says the same of the rest."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.canonical import NumberText
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts import fast
from provenance.transcripts.envelope import Note, judge_line
from provenance.transcripts.fast import BlockChecker, KnownRecord, Record, field_of
from tests.transcripts.lines import SESSION, blocks, compact, record, render, spaced

Said = tuple[list[dict[str, Any]], Reason | None, list[tuple[int, Note]]]


def _plain(value: Any) -> Any:
    """The value with every number as the text or the float that it stands for."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, NumberText):
        return ("number", value.text)
    if type(value) is int:
        return ("number", str(value))
    return (type(value).__name__, value)


def _as_dict(found: Record) -> dict[str, Any]:
    if isinstance(found, KnownRecord):
        members = msgspec.structs.asdict(found)
        return {name: item for name, item in members.items() if item is not msgspec.UNSET}
    return found


def judge_all(data: bytes, first: int, limits: Limits) -> Said:
    """What the strict judge alone says of whole lines."""
    lines = data.split(b"\n")
    if data.endswith(b"\n"):
        lines.pop()
    good: list[dict[str, Any]] = []
    notes: list[tuple[int, Note]] = []
    for number, line in enumerate(lines, first):
        judgement = judge_line(line, number, SESSION, limits=limits)
        if judgement.record is None:
            return good, judgement.reason, notes
        good.append(judgement.record)
        notes += [(number, note) for note in judgement.notes]
    return good, None, notes


def assert_same(data: bytes, *, first: int = 1, limits: Limits = DEFAULT_LIMITS) -> None:
    good, reason, notes = judge_all(data, first, limits)
    said = BlockChecker(SESSION, limits).check(data, first)
    assert said.reason == reason
    assert said.notes == notes
    # Key by key, so that order of members does not count; -0 is 0 for both.
    assert [_plain(_as_dict(found)) for found in said.records] == [_plain(one) for one in good]


@given(data=st.data(), first=st.sampled_from([1, 9, 10**17]))
def test_the_fast_check_and_the_strict_judge_say_the_same(data: st.DataObject, first: int) -> None:
    assert_same(data.draw(blocks(first)), first=first)


@given(data=st.data(), levels=st.integers(min_value=1, max_value=4))
def test_they_agree_on_nesting(data: st.DataObject, levels: int) -> None:
    assert_same(data.draw(blocks()), limits=Limits(max_nesting=levels))


@given(data=st.data())
@example(data=b'{"a":1}\n')
def test_an_acceptance_without_the_judge_is_one_of_the_judge(data: Any) -> None:
    """The same, but the judge may not help: what is accepted here is accepted by speed alone."""
    block = data if isinstance(data, bytes) else data.draw(blocks())
    block += b"" if block.endswith(b"\n") else b"\n"
    verdict = fast.BlockVerdict([], None, [])
    with mock.patch.object(fast, "judge_line", side_effect=AssertionError):
        accepted = BlockChecker(SESSION, DEFAULT_LIMITS)._accept(block, 1, verdict)
    good, reason, notes = judge_all(block, 1, DEFAULT_LIMITS)
    if accepted:
        assert reason is None
        assert verdict.notes == notes
        assert len(verdict.records) == len(good)
    else:
        assert not verdict.records
        assert not verdict.notes


_HARD = [
    b'{"a":1,"a":1}',
    b'{"a":1,"\\u0061":2}',
    b'{"a":{"b":1,"b":2}}',
    b'{"a":[{"b":1,"b":2}]}',
    # A lost key's colon must not be made up for by an escaped one.
    b'{"a":1,"a":1,"b":"\\u003a"}',
    b'{"a":1,"a":1,"b":"\\u003A"}',
    b'{"a":"::::","a":"\\u003a\\u003a\\u003a\\u003a\\u003a"}',
    b'{"a":"\\u003a","a":""}',
    b'{"\\u003a":1,"a":1,"a":1}',
    b'{"a":1,"a":1,"b":"\\\\u003a"}',
    b'{"sequence":1,"sequence":1}',
    b'{"sequence":2,"sequence":1}',
    b'{"session_id":"s2","session_id":"s1"}',
    b'{"a":NaN}',
    b'{"a":Infinity}',
    b'{"a":-Infinity}',
    b'{"a":1e999}',
    b'{"a":-0}',
    b'{"a":1.0}',
    b'{"a":1E400,"b":123456789012345678901234567890}',
    b'{"a":' + b"9" * 5000 + b"}",
    b'{"sequence":' + b"9" * 5000 + b"}",
    b'{"sequence":1.0}',
    b'{"sequence":1e0}',
    b'{"sequence":true}',
    b'{"sequence":"1"}',
    b'{"sequence":null}',
    b'{"sequence":01}',
    b'{"a":"\\ud83d"}',
    b'{"a":"\\ud83d\\ud83d\\ude00"}',
    b'{"a":"\\udc00"}',
    b'{"a":"\xff"}',
    b'{"a":"\xed\xa0\x80"}',
    b'{"a":"\xc0\xaf"}',
    b'\xef\xbb\xbf{"a":1}',
    b'{"a":1}\x00',
    b'\x0c{"a":1}',
    b'{"a":"\t"}',
    b'{"a":"\r"}',
    b'{"a":1}\r',
    b'{"a":1}\r\r',
    b'\r{\r"a"\r:\r1\r}\r',
    b'{"a":1}{"b":2}',
    b'{"a":1} {"b":2}',
    b'{"a":1},{"b":2}',
    b"{}",
    b"[]",
    b"null",
    b"",
    b" ",
    b"\r",
    b'{"a":1',
    b'"a":1}',
    b"{'a':1}",
    b'{"a":1,}',
    b'{"a" : 1, "b" :2}',
    b'{"a":"b" }',
    b'{"":1,"":2}',
    b'{"a":"\\x"}',
    b'{"a":"\\u 123"}',
    b'{"a":"\\u+123"}',
    b'{"a":1_0}',
    b'{"recorded_at":0}',
    b'{"recorded_at":"2026-03-02t09:01:00z"}',
    b'{"recorded_at":"2026-03-02T09:01:00Z\\n"}',
    b'{"recorded_at":"2026-03-02T09:01:00Z\\n2026-03-02T09:01:00Z"}',
    b'{"schema_version":1.0}',
    b'{"schema_version":true}',
]


@pytest.mark.parametrize("line", _HARD)
@pytest.mark.parametrize("end", [b"\n", b""])
def test_hard_cases(line: bytes, end: bytes) -> None:
    assert_same(line + end)
    # The same members in a record that has all the rest, as our writer and as others print it.
    if line.startswith(b'{"') and line.endswith(b"}"):
        for sound in (compact(record(1)), spaced(record(1))):
            assert_same(sound[:-1] + b"," + line[1:] + end)
            assert_same(line[:-1] + b"," + sound[1:] + end)


@pytest.mark.parametrize("further", [{}, {"novel": [1]}])
@pytest.mark.parametrize(
    "change",
    [
        {"sequence": True},
        {"sequence": 1.0},
        {"sequence": "1"},
        {"sequence": 2},
        {"session_id": "s2"},
        {"session_id": None},
        {"event_id": "transcript:s1:01"},
        {"event_id": ["transcript:s1:1"]},
        {"schema_version": True},
        {"schema_version": 1.0},
        {"schema_version": 2},
        {"recorded_at": 0},
        {"recorded_at": 1772442060},
        {"recorded_at": 1.5},
        {"recorded_at": None},
        {"recorded_at": "2026-03-02T09:01:00"},
        {"recorded_at": "2026-02-30T09:01:00Z"},
        {"recorded_at": "20260302T0901Z"},
    ],
)
def test_each_field_of_the_envelope(change: dict[str, object], further: dict[str, object]) -> None:
    for style in (compact, spaced):
        changed = style(record(1) | change | further)
        assert_same(changed + b"\n")
        assert_same(changed + b"\n" + style(record(2) | further) + b"\n")


def test_bytes_that_are_no_utf8_reach_no_parser() -> None:
    # A parser may pass over what it does not need without looking at its bytes.
    verdict = fast.BlockVerdict([], None, [])
    checker = BlockChecker(SESSION, DEFAULT_LIMITS)
    line = compact(record(1, content="x"))
    with mock.patch.object(fast, "parse_lines", side_effect=AssertionError):
        assert not checker._accept(line.replace(b'"x"', b'"\xff"') + b"\n", 1, verdict)
        with pytest.raises(AssertionError):
            checker._accept(line + b"\n", 1, verdict)


@pytest.mark.parametrize("style", ["compact", "spaced"])
@pytest.mark.parametrize("place", [1, 2, 40, 99, 100])
def test_one_line_in_doubt_among_many(style: str, place: int) -> None:
    lines = [
        compact(record(number, content="é")) if style == "compact" else spaced(record(number))
        for number in range(1, 101)
    ]
    for other in (
        compact(record(place, content="\ud83d")),
        compact(record(place, content="x", further={"a": [1.5e300, {"b": 10**25}]})),
        b'{"content":1e999}',
        b"{",
        compact(record(place + 1)),
    ):
        lines[place - 1] = other
        assert_same(b"\n".join(lines) + b"\n")


def test_a_record_over_two_lines_is_none() -> None:
    # White space between members may be a line end in JSON, but never in a transcript. As many
    # records as lines: one of them takes two lines, two share one.
    first = compact(record(1))
    assert_same(first[:-1] + b"\n}\n")
    two = b'{"a":{}\n}\n{"b":1}{"c":1}\n'
    assert_same(two)
    assert BlockChecker(SESSION, DEFAULT_LIMITS).check(two, 1).records == []
    assert_same(b'{"a":1}\n\n{"b":1}{"c":1}\n')


_MANY = range(1, 60)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([compact(record(n, content=f"é {n}")) for n in _MANY], id="our writer's"),
        pytest.param([spaced(record(n, content='é "x": 1')) for n in _MANY], id="json.dumps"),
        pytest.param([compact(record(n, novel={"a": [n]})) for n in _MANY], id="novel fields"),
        pytest.param([spaced(record(n, novel={"a": [n]})) for n in _MANY], id="novel, spaced"),
        pytest.param([compact(record(n)) + b"\r" for n in _MANY], id="CR LF"),
        pytest.param([spaced(record(n, content="a<b \\u003c")) for n in _MANY], id="escaped <"),
        pytest.param(
            [json.dumps({"content": n}).encode() for n in _MANY], id="without an envelope"
        ),
        pytest.param([compact(record(n, content="[" * 900)) for n in _MANY], id="many brackets"),
    ],
)
def test_usual_lines_never_meet_the_judge(lines: list[bytes]) -> None:
    """Speed rests on it: the judge costs several times as much."""
    data = b"\n".join(lines) + b"\n"
    assert_same(data)
    with mock.patch.object(fast, "judge_line", side_effect=AssertionError("asked the judge")):
        said = BlockChecker(SESSION, DEFAULT_LIMITS).check(data, 1)
    assert len(said.records) == len(lines)


def test_many_blocks_in_doubt_and_then_none() -> None:
    """The ways that are skipped for a while are taken up again, and the answers stay right."""
    checker = BlockChecker(SESSION, DEFAULT_LIMITS)
    number = 1
    for turn in range(60):
        odd = turn % 20 < 8
        lines = [
            compact(record(n, content="\ud83d" if odd else "x")).replace(
                b"\xed\xa0\xbd", b"\\ud83d"
            )
            for n in range(number, number + 30)
        ]
        said = checker.check(b"\n".join(lines) + b"\n", number)
        assert said.reason is None
        assert [field_of(found, "sequence") for found in said.records] == list(
            range(number, number + 30)
        )
        number += 30
    assert checker.check(b'{"a":1,"a":2}\n', number).reason is Reason.TRANSCRIPT_INVALID_JSON


def test_deep_lines_are_no_danger() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    for line in (deep, b'{"a":' + deep + b"}", b"[" * 1000, b'{"a":' * 999 + b"1" + b"}" * 999):
        assert_same(line + b"\n")
    roomy = Limits(max_nesting=1_000_000)
    assert_same(b'{"a":' + deep + b"}\n", limits=Limits(max_nesting=200_000))
    said = BlockChecker(SESSION, roomy).check(b'{"a":' + deep + b"}\n", 1)
    assert said.reason is None


@pytest.mark.parametrize("levels", [499, 500, 501])
def test_the_nesting_limit_counts_the_record_as_level_one(levels: int) -> None:
    inner = b"[" * (levels - 1) + b"]" * (levels - 1)
    said = BlockChecker(SESSION, DEFAULT_LIMITS).check(b'{"a":' + inner + b"}\n", 1)
    assert (said.reason is None) == (levels <= 500)


@given(data=st.data())
def test_rendering_means_what_was_rendered(data: st.DataObject) -> None:
    """The generator itself: without a repeated member the grammar is kept."""
    value = data.draw(st.builds(record, st.just(1)))
    text = render(value, data.draw(st.randoms(use_true_random=False)), wild=0.5)
    assert json.loads(text) == value


def test_field_of() -> None:
    said = BlockChecker(SESSION, DEFAULT_LIMITS).check(
        compact(record(1)) + b"\n" + compact(record(2, novel=1)) + b"\n", 1
    )
    known = BlockChecker(SESSION, DEFAULT_LIMITS).check(compact(record(1)) + b"\n", 1).records[0]
    assert isinstance(known, KnownRecord)
    for found in (*said.records, known):
        assert field_of(found, "type") == "message"
        assert field_of(found, "content") is msgspec.UNSET
        assert field_of(found, "nothing") is msgspec.UNSET
