"""One JSON document: the spans of its records, and what is said of a damaged one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.containers.document import (
    Document,
    Element,
    join_chunks,
    parse_document,
)
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import SourceUnreadable

DATA = Path(__file__).parents[2] / "data" / "transcripts"
SAMPLE = (DATA / "gemini-cli" / "session-whole-json" / "full.jsonl").read_bytes()
MESSAGES = ("messages",)


def parse(data, *, limits=DEFAULT_LIMITS, arrays=(MESSAGES,)):
    return parse_document(data, limits=limits, arrays=arrays)


def whole(data, **options):
    found = parse(data, **options)
    assert isinstance(found, Document)
    return found


def codes(found):
    return [found.code] if isinstance(found, Fault) else [fault.code for fault in found.faults]


def spans(data, found, path=MESSAGES):
    return [data[one.start : one.end] for one in found.elements(path)]


def test_a_real_document():
    found = whole(SAMPLE)
    assert found.value == json.loads(SAMPLE)
    assert found.faults == ()
    assert found.end == len(SAMPLE.rstrip())
    elements = found.elements(MESSAGES)
    assert [(one.ordinal, one.line) for one in elements] == [(1, 7), (2, 13), (3, 66), (4, 72)]
    for one, message in zip(elements, found.value["messages"], strict=True):
        assert json.loads(SAMPLE[one.start : one.end]) == one.value == message
        assert SAMPLE[: one.start].count(b"\n") + 1 == one.line


def test_elements_by_their_key_path():
    data = b' {"a": {"b": [1, [2], {"c": "]"}]}, "b": [4], "c": []}\n'
    found = whole(data, arrays=[("a", "b"), ("b",), ("c",), ("absent",)])
    assert spans(data, found, ("a", "b")) == [b"1", b"[2]", b'{"c": "]"}']
    assert spans(data, found, ("b",)) == [b"4"]
    assert found.elements(("c",)) == found.elements(("absent",)) == []
    assert ("c",) in found.arrays
    assert ("absent",) not in found.arrays


def test_the_document_itself_may_be_the_array():
    data = b'[{"a":1},\n{"a":2}]'
    found = whole(data, arrays=[()])
    assert spans(data, found, ()) == [b'{"a":1}', b'{"a":2}']
    assert found.value == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("data", [b'{"messages": {"a": 1}}', b'{"messages": 1}', b"[]", b"1"])
def test_where_the_path_leads_to_no_array(data):
    found = whole(data)
    assert found.value == json.loads(data)
    assert MESSAGES not in found.arrays


def test_every_prefix_gives_its_whole_elements():
    elements = whole(SAMPLE).elements(MESSAGES)
    for length in range(len(SAMPLE.rstrip())):
        found = parse(SAMPLE[:length])
        assert codes(found) == ["invalid_line" if not length else "torn_line"]
        kept = [] if isinstance(found, Fault) else found.elements(MESSAGES)
        assert kept == [one for one in elements if one.end <= length]


def test_a_torn_document_says_where():
    found = whole(SAMPLE[:3000])
    assert found.faults == (
        Fault(
            "torn_line",
            Severity.ERROR,
            "element 4 of messages: expected its end, got the end of the document",
            line=72,
        ),
    )
    assert found.value["sessionId"] == json.loads(SAMPLE)["sessionId"]
    assert len(found.value["messages"]) == 3


def test_a_number_at_the_end_may_go_on():
    found = whole(b'{"a": "s", "messages": [1, 12', arrays=[MESSAGES])
    assert [one.value for one in found.elements(MESSAGES)] == [1]
    assert whole(b'{"a": "s", "b": 12').value == {"a": "s"}
    assert whole(b'{"a": "s", "b": "12"').value == {"a": "s", "b": "12"}


@pytest.mark.parametrize("data", [b"", b" \n\t", b"x", b"\xef\xbb\xbf", b"{", b"[", b'"', b"}"])
def test_nothing_whole_is_a_fault_alone(data):
    assert isinstance(parse(data), Fault)


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        (b'\n{"sessionId": 1}', "welded_records"),
        (b"[]", "welded_records"),
        (b"\0" * 512, "nul_line"),
        (b"\n\0", "nul_line"),
        (b"x", "invalid_line"),
        (b'"}', "invalid_line"),
    ],
)
def test_what_follows_a_document(tail, code):
    found = whole(SAMPLE + tail)
    assert codes(found) == [code]
    assert found.end == len(SAMPLE.rstrip())
    assert found.value == json.loads(SAMPLE)


def test_white_space_may_follow():
    assert whole(SAMPLE + b" \r\n\t\n").faults == ()


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (b'{"a": NaN}', "invalid_line"),
        (b'{"a": -Infinity}', "invalid_line"),
        (b'{"a": 1, "a": 2}', "invalid_line"),
        (b'{"a": {"b": 1, "b": 1}}', "invalid_line"),
        (b'{"a": "\xff"}', "invalid_line"),
        (b'{"a": "\xc0\xaf"}', "invalid_line"),
        (b'{"a": "x\ny"}', "invalid_line"),
        (b'{"a": 01}', "invalid_line"),
        (b"{'a'}", "invalid_line"),
        (b'{"a": "\0"}', "nul_line"),
        (b"[" * 600 + b"]" * 600, "record_over_limit"),
    ],
)
def test_reading_goes_on_after_a_damaged_element(damage, code):
    data = b'{"messages": [{"n": 1},\n' + damage + b',\n{"n": 3}], "b": 1}'
    found = whole(data)
    assert codes(found) == [code]
    assert found.faults[0].line == 2
    assert [one.value for one in found.elements(MESSAGES)] == [{"n": 1}, {"n": 3}]
    # What is damaged is no record, so the one after it is the second.
    assert [one.ordinal for one in found.elements(MESSAGES)] == [1, 2]
    assert found.value == {"messages": [{"n": 1}, {"n": 3}], "b": 1}
    assert [type(item) for item in found.walk(MESSAGES)] == [Element, Fault, Element]


@pytest.mark.parametrize("gap", [b"", b" ", b"\n"])
def test_elements_without_a_comma_between_are_both_given(gap):
    found = whole(b'{"messages": [{"n": 1}' + gap + b'{"n": 2}], "b": 1}')
    assert codes(found) == ["welded_records"]
    assert [one.value for one in found.elements(MESSAGES)] == [{"n": 1}, {"n": 2}]
    assert found.value["b"] == 1


@pytest.mark.parametrize("gap", [b":", b"x", b"}", b"1", b'"a"'])
def test_other_damage_between_elements_ends_the_walk(gap):
    found = whole(b'{"messages": [{"n": 1}' + gap + b'{"n": 2}], "b": 1}')
    assert codes(found) == ["invalid_line"]
    assert [one.value for one in found.elements(MESSAGES)] == [{"n": 1}]


def test_zeros_in_the_place_of_the_rest():
    found = whole(SAMPLE[:3000] + b"\0" * (len(SAMPLE) - 3000))
    assert codes(found) == ["nul_line"]
    assert len(found.elements(MESSAGES)) == 3


def test_another_document_begins_inside():
    found = whole(SAMPLE[:3000] + SAMPLE)
    assert codes(found) == ["spliced_line"]
    # The three before it; of the other one what follows the string that was cut.
    assert found.elements(MESSAGES)[:3] == whole(SAMPLE).elements(MESSAGES)[:3]
    assert len(found.elements(MESSAGES)) == 6
    # Between two elements: where the other one is an element by the grammar, the end is missing.
    cut = found.elements(MESSAGES)[1].end
    assert codes(whole(SAMPLE[:cut] + b"," + SAMPLE)) == ["torn_line"]
    assert codes(whole(SAMPLE[:cut] + SAMPLE)) == ["welded_records", "torn_line"]


def test_a_key_twice_where_we_walk_ourselves():
    found = whole(b'{"a": 1, "messages": [1], "a": 2, "messages": [2]}')
    assert codes(found) == ["invalid_line", "invalid_line"]
    assert found.value == {"a": 1, "messages": [1]}
    assert [(one.ordinal, one.value) for one in found.elements(MESSAGES)] == [(1, 1), (2, 2)]
    # Two ways to write one key.
    assert codes(parse(b'{"a": 1, "\\u0061": 2}')) == ["invalid_line"]


def test_a_byte_order_mark_is_said_and_passed_over():
    found = whole(b"\xef\xbb\xbf" + SAMPLE)
    assert codes(found) == ["invalid_line"]
    assert found.value == json.loads(SAMPLE)
    assert found.elements(MESSAGES)[0].start == whole(SAMPLE).elements(MESSAGES)[0].start + 3


def test_an_element_over_the_limit_counts_and_is_not_given():
    limits = Limits(max_foreign_record_bytes=20)
    at_limit = b'{"a": "%s"}' % (b"x" * 11)
    over = b'{"a": "%s"}' % (b"x" * 12)
    assert (len(at_limit), len(over)) == (20, 21)
    data = b'{"z": "not an element: longer than it", "messages": [%s, %s, 3]}' % (at_limit, over)
    found = whole(data, limits=limits)
    assert [(one.ordinal, one.end - one.start) for one in found.elements(MESSAGES)] == [
        (1, 20),
        (3, 1),
    ]
    assert [(fault.code, fault.ordinal) for fault in found.faults] == [("record_over_limit", 2)]
    assert found.value["z"] == "not an element: longer than it"


def test_nesting_counts_the_levels_around():
    limits = Limits(max_nesting=4)
    assert codes(parse(b'{"messages": [[[1]]]}', limits=limits)) == []
    assert codes(parse(b'{"messages": [[[[]]]]}', limits=limits)) == ["record_over_limit"]
    assert codes(parse(b'{"a": [[[1]]]}', limits=limits)) == []
    assert codes(parse(b'{"a": [[[[]]]]}', limits=limits)) == ["record_over_limit"]
    for levels in (1, 2):
        tight = Limits(max_nesting=levels)
        assert codes(parse(b"{}", limits=tight)) == []
        assert codes(parse(b'{"messages": [[]]}', limits=tight)) == ["record_over_limit"]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b"[" * 200_000 + b"]" * 200_000,
        b'{"a":' * 200_000,
        b'{"messages":' * 200_000,
        b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
        b"]" * 200_000,
        b'{"messages":[' + b"[" * 200_000,
    ],
)
def test_200_000_levels(data):
    assert codes(parse(data))


def test_200_000_levels_in_one_element():
    deep = b"[" * 200_000 + b"]" * 200_000
    found = whole(b'{"messages": [1, ' + deep + b', {"n": 3}]}')
    assert codes(found) == ["record_over_limit"]
    assert [one.value for one in found.elements(MESSAGES)] == [1, {"n": 3}]


def test_numbers_and_escapes_that_json_allows():
    found = whole(b'{"messages": [%s, "\\ud83d", "\\u0000"]}' % (b"9" * 5_000))
    assert found.faults == ()
    assert len(found.elements(MESSAGES)) == 3


def test_no_text_of_the_transcript_in_a_message():
    secret = b"s3cret"
    for data in (
        b'{"s3cret": NaN, "messages": [{"s3cret": NaN}]}',
        b'{"messages": ["s3cret", "s3cr',
        b'{"s3cret": 1, "s3cret": 2}',
    ):
        found = parse(data)
        faults = (found,) if isinstance(found, Fault) else found.faults
        assert faults
        assert not any(secret.decode() in fault.message for fault in faults)


def test_chunks_are_joined_up_to_a_bound():
    assert join_chunks([b"ab", b"", b"c"], max_bytes=3) == b"abc"
    with pytest.raises(SourceUnreadable) as caught:
        join_chunks([b"ab", b"cd"], max_bytes=3)
    assert caught.value.fault == "container_over_limit"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(), values, max_size=3),
    st.lists(values, max_size=6),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_spans_parse_to_the_same_values(others, messages, indent, is_ascii):
    document = {**others, "messages": messages}
    data = json.dumps(document, indent=indent, ensure_ascii=is_ascii).encode(
        "utf-8", "surrogatepass"
    )
    found = whole(data)
    assert found.faults == ()
    assert len(found.elements(MESSAGES)) == len(messages)
    for number, (one, message) in enumerate(
        zip(found.elements(MESSAGES), messages, strict=True), start=1
    ):
        assert json.loads(data[one.start : one.end]) == message
        assert one.ordinal == number
        assert one.line == data.count(b"\n", 0, one.start) + 1


PIECES = [b"\0", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\xff", b"\n", b"1", b"NaN", b""]


def refuse(word):
    raise ValueError(word)


@given(
    st.lists(
        st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 40), st.sampled_from(PIECES)),
        min_size=1,
        max_size=6,
    )
)
def test_no_mutation_raises(edits):
    data = SAMPLE
    for place, length, piece in edits:
        data = data[:place] + piece + data[place + length :]
    found = parse(data)
    if isinstance(found, Fault):
        return
    for one in found.elements(MESSAGES):
        assert json.loads(data[one.start : one.end]) == one.value
    try:
        json.loads(data, parse_constant=refuse)
        is_json = True
    except ValueError:
        is_json = False
    # Python's own parser knows no rule against a key twice.
    if not is_json:
        assert found.faults


@given(st.binary(max_size=200))
def test_any_bytes(data):
    parse(data, arrays=[(), MESSAGES])
    parse(b'{"messages": [' + data)
