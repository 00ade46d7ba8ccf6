"""The judge of one line: each rule, its order, and what is tolerated."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.canonical import NumberText
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts.envelope import (
    ENVELOPE_FIELDS,
    evidence_of,
    excerpt_of,
    is_zoned_time,
    judge_line,
    printable,
    record_size,
)
from tests.transcripts.lines import compact, json_values, record

_BAD = Reason.TRANSCRIPT_INVALID_JSON
_SEQUENCE = Reason.TRANSCRIPT_SEQUENCE_MISMATCH
_SESSION = Reason.TRANSCRIPT_SESSION_MISMATCH
_EVENT_ID = Reason.TRANSCRIPT_EVENT_ID_MISMATCH


def _judge(line: bytes, sequence: int = 3, **limits: int) -> Reason | None:
    judgement = judge_line(line, sequence, "s1", limits=Limits(**limits))
    assert (judgement.reason is None) == (judgement.record is not None)
    return judgement.reason


def _codes(**event: object) -> list[str]:
    made = record(3) | event
    made = {key: value for key, value in made.items() if value != "absent"}
    judgement = judge_line(compact(made), 3, "s1", limits=DEFAULT_LIMITS)
    assert judgement.reason is None
    return [note.code for note in judgement.notes]


def test_a_sound_line() -> None:
    judgement = judge_line(compact(record(3)), 3, "s1", limits=DEFAULT_LIMITS)
    assert judgement == (None, record(3), ())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sequence": 2}, _SEQUENCE),
        ({"sequence": 4}, _SEQUENCE),
        ({"sequence": "3"}, _SEQUENCE),
        ({"sequence": 3.0}, _SEQUENCE),
        ({"sequence": None}, _SEQUENCE),
        ({"sequence": [3]}, _SEQUENCE),
        ({"session_id": "s2"}, _SESSION),
        ({"session_id": "S1"}, _SESSION),
        ({"session_id": "s1 "}, _SESSION),
        ({"session_id": None}, _SESSION),
        ({"session_id": ["s1"]}, _SESSION),
        ({"event_id": "transcript:s1:4"}, _EVENT_ID),
        ({"event_id": "transcript:s1:03"}, _EVENT_ID),
        ({"event_id": "transcript:s1:\u0663"}, _EVENT_ID),
        ({"event_id": "transcript:s2:3"}, _EVENT_ID),
        ({"event_id": "s1:3"}, _EVENT_ID),
        ({"event_id": None}, _EVENT_ID),
        ({"event_id": 3}, _EVENT_ID),
    ],
)
def test_each_rule_of_the_envelope(change: dict[str, object], reason: Reason) -> None:
    assert _judge(compact(record(3) | change)) is reason


@pytest.mark.parametrize("number", [b"3.0", b"3e0", b"30e-1", b"true", b"03", b"9" * 5_000])
def test_a_sequence_that_only_equals_the_number(number: bytes) -> None:
    line = compact(record(3)).replace(b'"sequence":3', b'"sequence":' + number)
    assert _judge(line) is (_BAD if number == b"03" else _SEQUENCE)


def test_true_is_not_one() -> None:
    assert _judge(compact(record(1) | {"sequence": True}), 1) is _SEQUENCE


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", _BAD),
        (b" \t", _BAD),
        (b"\r", _BAD),
        (b"\x00" * 300, _BAD),
        (b"\xef\xbb\xbf{}", _BAD),
        (b'{"a":NaN}', _BAD),
        (b'{"a":{"b":1,"b":1}}', _BAD),
        (b"{}{}", _BAD),
        (b"[]", Reason.TRANSCRIPT_RECORD_NOT_OBJECT),
        (b"3", Reason.TRANSCRIPT_RECORD_NOT_OBJECT),
        (b'"{}"', Reason.TRANSCRIPT_RECORD_NOT_OBJECT),
        (b"null", Reason.TRANSCRIPT_RECORD_NOT_OBJECT),
        (b'{"a":"\xff"}', Reason.SOURCE_NOT_UTF8),
        (b'{"a":"\xc0\xaf"}', Reason.SOURCE_NOT_UTF8),
        (b'{"a":"\xed\xa0\x80"}', Reason.SOURCE_NOT_UTF8),
        (b'{"a":"\xf4\x90\x80\x80"}', Reason.SOURCE_NOT_UTF8),
        (b"{\xe2\x82", Reason.SOURCE_NOT_UTF8),
    ],
)
def test_each_rule_before_the_envelope(line: bytes, reason: Reason) -> None:
    assert _judge(line) is reason


def test_the_order_of_the_rules() -> None:
    """One line breaks them all; each is mended in turn."""
    limit = 200
    line = b'[NaN,"\xff' + b"x" * limit
    assert _judge(line, max_record_bytes=limit) is Reason.TRANSCRIPT_RECORD_TOO_LARGE
    assert _judge(b'[NaN,"\xff', max_record_bytes=limit) is Reason.SOURCE_NOT_UTF8
    assert _judge(b"[NaN]", max_record_bytes=limit) is _BAD
    assert _judge(b"[[[]]]", max_nesting=2) is _BAD
    assert _judge(b"[]") is Reason.TRANSCRIPT_RECORD_NOT_OBJECT
    wrong = {"sequence": 1, "session_id": "s2", "event_id": "x"}
    assert _judge(compact(wrong)) is _SEQUENCE
    assert _judge(compact(wrong | {"sequence": 3})) is _SESSION
    assert _judge(compact(wrong | {"sequence": 3, "session_id": "s1"})) is _EVENT_ID


@pytest.mark.parametrize(
    ("end", "extra"), [(b"", 0), (b"\n", 0), (b"\r\n", 0), (b"\r\r\n", 1), (b"\r", 0)]
)
def test_the_limit_does_not_count_the_lines_end(end: bytes, extra: int) -> None:
    line = compact(record(3))
    assert record_size(line + end) == len(line) + extra
    assert _judge(line + end, max_record_bytes=len(line) + extra) is None
    reason = _judge(line + end, max_record_bytes=len(line) + extra - 1)
    assert reason is Reason.TRANSCRIPT_RECORD_TOO_LARGE


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r\r\n", b"\r"])
def test_the_evidence_is_the_line_without_its_end(end: bytes) -> None:
    line = compact(record(3, content="ends in \u2028 and space "))
    assert evidence_of(line + end) == line
    assert evidence_of(b"\r \r" + end) == b"\r "  # never anything but the end


def test_what_is_absent_is_one_note() -> None:
    assert _codes(sequence="absent") == ["envelope_field_absent"]
    judgement = judge_line(b'{"schema_version":1}', 9, "s1", limits=DEFAULT_LIMITS)
    assert judgement.reason is None
    assert [tuple(note) for note in judgement.notes] == [
        (
            "envelope_field_absent",
            "sequence, session_id, event_id: expected in the envelope, got none",
        ),
        ("recorded_at_invalid", judgement.notes[1].message),
    ]


@pytest.mark.parametrize("version", ["absent", 2, 0, True, 1.0, "1", None, 10**30])
def test_another_schema_version_is_a_note(version: object) -> None:
    assert _codes(schema_version=version) == ["schema_version_unknown"]


@pytest.mark.parametrize("moment", ["absent", None, 0, "", "2026-03-02T09:01:00", ["x"]])
def test_a_bad_time_is_a_note(moment: object) -> None:
    assert _codes(recorded_at=moment) == ["recorded_at_invalid"]


def test_notes_hold_nothing_of_the_line() -> None:
    made = {"schema_version": "SECRET", "recorded_at": "SECRET"}
    judgement = judge_line(compact(made), 1, "s1", limits=DEFAULT_LIMITS)
    assert len(judgement.notes) == 3
    assert "SECRET" not in str(judgement.notes)


_GOOD_TIMES = [
    "2026-03-02T09:01:00Z",
    "2026-03-02T09:01:00.1+00:00",
    "2026-03-02T09:01:00.123456789012345-23:59",
    "2026-03-02T09:01:00,5+05",
    "2026-03-02T09:01+0530",
    "2026-03-02 09:01:00Z",
    "2026-03-02t09:01:00z",
    "20260302T090100Z",
    "2024-02-29T23:59:59Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999999Z",
]
_BAD_TIMES = [
    "",
    "2026-03-02",
    "2026-03-02T09:01:00",
    "2026-02-29T09:01:00Z",
    "2026-04-31T09:01:00Z",
    "2026-13-01T09:01:00Z",
    "2026-00-01T09:01:00Z",
    "2026-01-00T09:01:00Z",
    "0000-01-01T00:00:00Z",
    "2026-03-02T24:00:00Z",
    "2026-03-02T09:60:00Z",
    "2026-03-02T23:59:60Z",
    "2026-03-02T09:01:00+24:00",
    "2026-03-02T09:01:00.Z",
    "2026-03-02T09:01:00Z ",
    " 2026-03-02T09:01:00Z",
    "2026-03-02T09:01:00Z\n",
    "2026-03-02X09:01:00Z",
    "2026-0302T09:01:00Z",
    "\u0662\u0660\u0662\u0666-03-02T09:01:00Z",
    "2026-W10-1T09:01:00Z",
    "1772442060",
    "9" * 100_000,
]


@pytest.mark.parametrize("moment", _GOOD_TIMES)
def test_times(moment: str) -> None:
    assert is_zoned_time(moment)


@pytest.mark.parametrize("moment", [*_BAD_TIMES, None, 0, 1.5, b"2026-03-02T09:01:00Z", []])
def test_what_is_no_time(moment: object) -> None:
    assert not is_zoned_time(moment)


@given(st.datetimes(timezones=st.timezones()), st.booleans())
def test_what_python_prints_is_a_time(moment: datetime, utc: bool) -> None:
    shown = moment.astimezone(UTC) if utc and 1 < moment.year < 9999 else moment
    offset = shown.utcoffset()
    assert offset is not None
    if offset % timedelta(minutes=1):
        return  # offsets of seconds, as before the railways, are not in ISO 8601
    assert is_zoned_time(shown.replace(tzinfo=timezone(offset)).isoformat())


_ZonedTimes = list[Annotated[datetime, msgspec.Meta(tz=True)]]


@given(st.data())
def test_the_fast_reading_of_times_accepts_no_more(data: st.DataObject) -> None:
    text = list(data.draw(st.sampled_from([*_GOOD_TIMES, *_BAD_TIMES[:-1]])))
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(text)))
        text[place : place + data.draw(st.integers(0, 1))] = data.draw(
            st.sampled_from("0123456789TtZz +-:.,W/\n\u0660")
        )
    moment = "".join(text)
    try:
        msgspec.convert([moment], _ZonedTimes)
    except msgspec.ValidationError:
        return
    assert is_zoned_time(moment)


def test_the_excerpt_is_the_content_where_that_is_text() -> None:
    made = record(1, content="h\u00e9llo \U0001f600 world")
    assert excerpt_of(made, 7) == "h\u00e9llo \U0001f600"
    assert excerpt_of(made, 2_000) == made["content"]
    assert excerpt_of(made, 0) is None
    assert excerpt_of(record(1, content=""), 5) == ""


def test_else_it_is_json_with_sorted_keys() -> None:
    content = {"b": [1, None, True], "a": {"d": "\u00e9", "c": NumberText("1e999")}}
    assert excerpt_of(record(1, content=content), 99) == (
        '{"a":{"c":1e999,"d":"\u00e9"},"b":[1,null,true]}'
    )
    assert excerpt_of(record(1, content=None), 99) == "null"
    assert excerpt_of(record(1, content=[1, 2]), 3) == "[1,"


def test_without_content_it_is_the_event() -> None:
    made = record(1, name="read_file", arguments={"path": "x"})
    assert excerpt_of(made, 99) == (
        '{"arguments":{"path":"x"},"name":"read_file","type":"message"}'
    )
    assert not set(ENVELOPE_FIELDS) & set(json.loads(excerpt_of(made, 99) or ""))


@pytest.mark.parametrize("text", ["\ud83d", "a\udc00b", "\ud83d\ud83d"])
def test_a_lone_surrogate_shows_as_the_replacement_character(text: str) -> None:
    shown = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert printable(text) == shown
    assert excerpt_of(record(1, content=text), 9) == shown
    assert excerpt_of(record(1, content=[text]), 9) == f'["{shown}"]'


@given(json_values(), st.integers(min_value=1, max_value=30))
@example("\ud83d" * 40, 7)
def test_an_excerpt_can_always_be_printed(content: Any, most: int) -> None:
    excerpt = excerpt_of(record(1, content=content), most)
    assert excerpt is not None
    assert len(excerpt) <= most
    excerpt.encode()
