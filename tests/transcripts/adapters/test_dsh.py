"""DeepSeek Harness: rows, the events they stand for, and what they cite."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.transcripts.adapters._dsh_sequences import Seen, Sequences, members
from provenance.transcripts.adapters.dsh import Dsh
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.faults import Tally
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker
from provenance.transcripts.sources import Source, read_head

DATA = Path(__file__).parents[2] / "data" / "transcripts" / "dsh"
FRESH = DATA / "fresh-round-trip" / "session.jsonl"
COMPACTED = DATA / "compaction-recovery" / "session.jsonl"
ADAPTER = Dsh()
HEADER = {"type": "session", "version": 0, "id": "s1", "createdAt": 1_700_000_000_000}


@contextmanager
def source_at(path):
    with (
        TrustedRoot(path.parent) as root,
        root.open_directory() as folder,
        root.open_file(path.name) as file,
    ):
        yield Source(name=path.name, directory=folder, file=file)


def read(path):
    with source_at(path) as source:
        return list(ADAPTER.records(source))


def split(items):
    return (
        [item for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Fault)],
    )


def log(tmp_path, *rows):
    path = tmp_path / "session.jsonl"
    path.write_bytes(
        b"".join(
            (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows
        )
    )
    return path


def identify(path):
    with source_at(path) as source:
        return ADAPTER.identify(read_head(source.file, source.name))


def sessions(path):
    with source_at(path) as source:
        return list(ADAPTER.sessions(source))


def event(kind="turn/start", data=None, **members):
    return {"type": kind, "data": data or {}, **members}


def packed(amount, **members):
    data = {"turn": 1, "step": 1, "index": 0, "dt": [1] * (amount - 1), "texts": ["x"] * amount}
    return {"type": "text-chunks", "data": data, **members}


def cited(record):
    return [(one.kind, one.members) for one in ADAPTER.references(record)]


def test_it_is_a_format():
    assert isinstance(ADAPTER, TranscriptFormat)
    assert (ADAPTER.name, ADAPTER.suffixes) == ("dsh", (".jsonl", ".jsonl.zst"))


# The facts of the samples.


def test_a_fresh_round_trip():
    assert identify(FRESH)
    assert sessions(FRESH) == ["{{sessionId}}"]
    data = FRESH.read_bytes()
    records, faults = split(read(FRESH))
    assert [record.ordinal for record in records] == list(range(1, 32))
    assert [record.line for record in records] == list(range(1, 32))
    assert [record.raw for record in records] == data.splitlines()
    assert all(record.is_known for record in records)
    assert {record.session for record in records} == {"{{sessionId}}"}
    by_line = {record.line: record for record in records}
    # Header and 30 rows that stand for 94 events, 0 to 93.
    assert by_line[1].native_id is None
    assert by_line[2].native_id == "0"
    assert by_line[31].native_id == "93"
    assert {line: by_line[line].native_id for line in (8, 10, 21)} == {
        8: "6-22",
        10: "24-50",
        21: "61-83",
    }
    assert [(fault.code, fault.severity, fault.line, fault.message) for fault in faults] == [
        ("packed_records", Severity.INFO, 8, "row: 17 events in one, sequences 6 to 22"),
        ("packed_records", Severity.INFO, 10, "row: 27 events in one, sequences 24 to 50"),
        ("packed_records", Severity.INFO, 21, "row: 23 events in one, sequences 61 to 83"),
    ]
    call = "call_00_BYXlxjFaalMg95YVqEeF2495"
    assert [record.line for record in records if record.calls] == [16]
    assert [record.line for record in records if record.results] == [17]
    assert by_line[16].calls == (Call(call, "bash"),)
    assert by_line[17].results == (CallResult(call),)
    assert (by_line[16].native_id, by_line[17].native_id) == ("56", "57")
    assert cited(by_line[17]) == [("sourceEventSeqs", (("56", True),))]
    assert cited(by_line[15]) == [("sourceEventSeqs", (("5 to 54", True),))]
    assert cited(by_line[4]) == [("messageSeqs", (("1", True),))]
    assert by_line[3].speaker is Speaker.USER
    assert by_line[15].speaker is Speaker.ASSISTANT
    assert "The user wants me to run" in by_line[8].text
    assert "WEB_E2E_OK" in by_line[17].text
    assert by_line[1].time == "2026-07-25T10:04:10.091+00:00"


def test_a_compaction():
    assert identify(COMPACTED)
    records, faults = split(read(COMPACTED))
    assert faults == []
    assert len(records) == 32
    assert [record.native_id for record in records] == [None, *map(str, range(31))]
    by_sequence = {record.native_id: record for record in records}
    assert [record.native_id for record in records if record.calls] == ["14"]
    assert [record.native_id for record in records if record.results] == ["15"]
    assert by_sequence["14"].line == 16
    kinds = {number: by_sequence[number].kind for number in ("19", "20", "22")}
    assert kinds == {
        "19": "compaction/start",
        "20": "compaction/summary",
        "22": "compaction/end",
    }
    replacing = by_sequence["21"]
    assert (replacing.kind, replacing.line) == ("user/message", 23)
    assert cited(replacing) == [
        ("sourceEventSeqs", (("19 to 20", True), ("4", True))),
        ("shadowedSeqs", (("4", True),)),
    ]
    assert cited(by_sequence["20"]) == [("shadowedSeqs", (("4", True),))]
    assert "durable compaction premise" in by_sequence["20"].text
    # A time of 0 is what a scrubbed log says.
    assert records[0].time is None


@pytest.mark.parametrize("path", [FRESH, COMPACTED], ids=["fresh", "compacted"])
def test_the_samples_have_no_other_fault(path):
    tally = Tally()
    for record in split(read(path))[0]:
        tally.add(record)
    assert list(tally.faults()) == []
    assert (tally.calls, tally.results) == (1, 1)


# Which files are of the format.


@pytest.mark.parametrize(
    ("row", "is_own"),
    [
        (HEADER, True),
        ({**HEADER, "version": 3}, True),
        (event("turn/start"), True),
        (packed(3), True),
        ({**HEADER, "createdAt": "2026-01-01"}, False),
        ({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}, False),
        ({**HEADER, "id": 7}, False),
        ({"type": "turn/start", "data": 1}, False),
        ({"type": "message", "data": {}}, False),
        ({"type": ["turn/start"], "data": {}}, False),
        ({}, False),
    ],
)
def test_what_is_of_the_format(tmp_path, row, is_own):
    assert identify(log(tmp_path, row)) is is_own


def test_a_log_without_its_header(tmp_path):
    path = log(tmp_path, event(), event("turn/end"))
    assert sessions(path) == []
    records, faults = split(read(path))
    assert [record.native_id for record in records] == ["0", "1"]
    assert [record.session for record in records] == [None, None]
    assert [(fault.code, fault.severity, fault.ordinal) for fault in faults] == [
        ("header_absent", Severity.WARNING, 1)
    ]


def test_an_unknown_event_is_kept(tmp_path):
    records, faults = split(read(log(tmp_path, HEADER, event("hologram"), {"data": 1}, event())))
    assert [(record.kind, record.is_known) for record in records[1:]] == [
        ("hologram", False),
        ("(none)", False),
        ("turn/start", True),
    ]
    assert [record.native_id for record in records[1:]] == ["0", "1", "2"]
    assert faults == []


# Sequences.


def test_rows_that_say_their_sequence_are_believed(tmp_path):
    rows = [
        HEADER,
        event(seq=0, time=1_700_000_000_001),
        packed(3, seq0=1, time0=1_700_000_000_002),
        event(seq=4),
    ]
    records, faults = split(read(log(tmp_path, *rows)))
    assert [record.native_id for record in records] == [None, "0", "1-3", "4"]
    assert [fault.code for fault in faults] == ["packed_records"]
    assert [record.time for record in records] == [
        "2023-11-14T22:13:20.000+00:00",
        "2023-11-14T22:13:20.001+00:00",
        "2023-11-14T22:13:20.002+00:00",
        None,
    ]


def test_a_gap_in_the_sequences(tmp_path):
    rows = [HEADER, event(seq=0), event(seq=5, sourceEventSeqs=[0, 2, 4]), event()]
    rows.append(event(sourceEventSeqs=[0, 1, 2, 3, 4, 5, 6, 7, 8]))
    records, faults = split(read(log(tmp_path, *rows)))
    assert [record.native_id for record in records[1:]] == ["0", "5", "6", "7"]
    assert [(fault.code, fault.severity, fault.message) for fault in faults] == [
        (
            "sequence_gap",
            Severity.WARNING,
            "sequence: expected 1, got 5: 4 events are missing",
        )
    ]
    assert cited(records[2]) == [("sourceEventSeqs", (("0", True), ("2", False), ("4", False)))]
    assert cited(records[4]) == [
        (
            "sourceEventSeqs",
            (("0", True), ("1 to 4", False), ("5 to 6", True), ("7 to 8", False)),
        )
    ]


def test_a_sequence_that_was_used_again(tmp_path):
    rows = [HEADER, event(seq=0), event(seq=1), event("turn/end", seq=1), event()]
    tally = Tally()
    records, faults = split(read(log(tmp_path, *rows)))
    for record in records:
        tally.add(record)
    assert [record.native_id for record in records[1:]] == ["0", "1", "1", "2"]
    assert faults == []
    assert [fault.code for fault in tally.faults()] == ["conflicting_id"]


@pytest.mark.parametrize("said", [True, 1.0, "1", -1, None, [1], 2**53, 10**30])
def test_a_sequence_of_another_type_is_not_believed(tmp_path, said):
    records, faults = split(read(log(tmp_path, HEADER, event(seq=said))))
    assert records[1].native_id == "0"
    assert faults == []


@pytest.mark.parametrize(
    "damage", [b'{"type":"turn/st', b"\0" * 40, b"not json", b'{"type":"a","type":"b"}']
)
def test_after_a_damaged_row_nothing_is_known_of_sequences(tmp_path, damage):
    rows = [HEADER, event(), damage, event(sourceEventSeqs=[0]), packed(3)]
    records, faults = split(read(log(tmp_path, *rows)))
    assert [record.native_id for record in records] == [None, "0", None, None]
    assert [one.unsupported is not None for one in ADAPTER.references(records[2])] == [True]
    assert faults[-1].message == "row: 3 events in one"
    # Until a row says it.
    rows.append(event(seq=9, sourceEventSeqs=[0, 8]))
    records, faults = split(read(log(tmp_path, *rows)))
    assert records[-1].native_id == "9"
    assert faults[-1].code == "sequence_gap"
    assert cited(records[-1]) == [("sourceEventSeqs", (("0", True), ("8", False)))]


def test_welded_rows_are_all_there(tmp_path):
    welded = json.dumps(event()).encode() + json.dumps(event("turn/end")).encode()
    records, faults = split(read(log(tmp_path, HEADER, welded, event())))
    assert [record.native_id for record in records[1:]] == ["0", "1", "2"]
    assert [fault.code for fault in faults] == ["welded_records"]


@pytest.mark.parametrize(
    "change",
    [
        {"texts": []},
        {"texts": ["a", 1, "c"]},
        {"texts": "abc"},
        {"texts": None},
        {"dt": [1]},
        {"dt": 1},
        {"dt": [1, 2, 3]},
    ],
)
def test_a_packed_row_that_does_not_fit_together(tmp_path, change):
    row = packed(3)
    row["data"].update(change)
    records, faults = split(read(log(tmp_path, HEADER, event(), row, event())))
    assert [(fault.code, fault.severity) for fault in faults] == [
        ("packed_row_invalid", Severity.ERROR)
    ]
    assert [record.native_id for record in records[1:]] == ["0", None, None]


def test_a_packed_row_of_one_event(tmp_path):
    records, _ = split(read(log(tmp_path, HEADER, packed(1), event())))
    assert [record.native_id for record in records[1:]] == ["0", "1"]


# Calls.


def test_a_call_in_a_message_alone_is_counted_with_its_result(tmp_path):
    blocks = [{"type": "tool-call", "id": "c1", "name": "n"}, {"type": "tool-call", "id": "c2"}]
    path = log(
        tmp_path,
        HEADER,
        event("assistant/message", {"message": {"content": blocks}}),
        event("tool/call", {"callId": "c1", "name": "n"}),
        event("tool/result", {"callId": "c1"}),
        event("tool/result", {"message": {"source": {"callId": "c2"}}}),
        event("tool/result", {"message": {"content": [{"toolCallId": "c9"}]}}),
    )
    records, _ = split(read(path))
    assert [record.calls for record in records[1:]] == [
        (),
        (Call("c1", "n"),),
        (),
        (Call("c2"),),
        (),
    ]
    tally = Tally()
    for record in records:
        tally.add(record)
    assert [(fault.code, fault.ordinal) for fault in tally.faults()] == [("orphan_result", 6)]


# References.


def test_what_is_not_there_yet_is_absent(tmp_path):
    path = log(
        tmp_path, HEADER, event(), event(sourceEventSeqs=[0, 1, 2, -1, True, "0", 1.0, 2**53])
    )
    records, _ = split(read(path))
    assert cited(records[2]) == [
        ("sourceEventSeqs", (("0", True), ("1 to 2", False), ("-1", False)))
    ]


def test_a_range_alone_names_its_ends(tmp_path):
    path = log(
        tmp_path,
        HEADER,
        event(),
        event("compaction/summary", {"shadowedRange": {"start": 0, "end": 9}}),
        event("user/message", surfaceOp={"op": "replace", "start": 1, "end": 1}),
        event("user/message", surfaceOp="append", sourceEventSeqs=[]),
        event("user/message", surfaceOp={"op": "other", "start": 1, "end": 1}),
    )
    records, _ = split(read(path))
    assert [cited(record) for record in records[2:]] == [
        [("shadowedSeqs", (("0", True), ("9", False)))],
        [("shadowedSeqs", (("1", True),))],
        [],
        [],
    ]


def test_many_runs_are_summed_up():
    found = members(list(range(0, 10_000, 2)), Seen(5_000))
    assert len(found) == 66
    assert found[:2] == (("0", True), ("2", True))
    assert found[-2:] == (("2436 of 128 to 4998", True), ("2500 of 5000 to 9998", False))
    assert members(list(range(10_000)), Seen(10_000)) == (("0 to 9999", True),)


numbers = st.integers(-2, 40)


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 40), st.integers(1, 4)), max_size=12),
    st.lists(numbers),
)
def test_members_agree_with_a_set(taken, asked):
    sequences, seen = Sequences(), set()
    for said, count in taken:
        first, _ = sequences.take(said, count)
        if said is None or said >= (max(seen) + 1 if seen else 0):
            seen |= set(range(first, first + count))
    # Rows whose sequence lies behind (used again) fill no gap here.
    now = sequences.now()
    found = members(asked, now)
    if len(found) <= 64:
        spelled = []
        for name, is_there in found:
            first, _, last = name.partition(" to ")
            spelled += [(number, is_there) for number in range(int(first), int(last or first) + 1)]
        assert spelled == [(number, now.holds(number)) for number in asked]
    assert all(now.holds(number) for number in seen)


# Hostile files.


def read_all(path):
    items = read(path)
    for record in split(items)[0]:
        assert isinstance(record.text, str)
        for reference in ADAPTER.references(record):
            assert len(reference.members) <= 66
    identify(path)
    sessions(path)
    return items


def test_200_000_levels(tmp_path):
    deep = b'{"data":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    items = read_all(log(tmp_path, HEADER, deep, event()))
    assert [item.code for item in items if isinstance(item, Fault)] == ["record_over_limit"]


NAMES = [
    "args",
    "callId",
    "chunk",
    "content",
    "createdAt",
    "data",
    "dt",
    "end",
    "id",
    "message",
    "messageSeqs",
    "name",
    "op",
    "seq",
    "seq0",
    "shadowedRange",
    "shadowedSeqs",
    "source",
    "sourceEventSeqs",
    "start",
    "summary",
    "surfaceOp",
    "text",
    "texts",
    "time",
    "time0",
    "toolCallId",
    "type",
]
KINDS = ["session", "text-chunks", "tool-call-chunks", "tool/call", "tool/result", "user/message"]
hostile = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=15,
)
rows = st.dictionaries(st.sampled_from(NAMES), hostile, max_size=5)
no_fixture_check = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(st.tuples(st.sampled_from(KINDS), rows), max_size=5))
@no_fixture_check
def test_fields_of_any_type(tmp_path, values):
    path = log(tmp_path, HEADER, *({**row, "type": kind} for kind, row in values))
    assert len(split(read_all(path))[0]) == len(values) + 1


@given(st.sampled_from([FRESH, COMPACTED]), st.data())
@no_fixture_check
def test_no_mutation_raises(tmp_path, path, data):
    text = path.read_bytes()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 60, len(text))))
    piece = data.draw(st.sampled_from([b"", b"\0", b"{", b"}", b'"', b"\n", b"\xff", b"]", b"1"]))
    target = tmp_path / "session.jsonl"
    target.write_bytes(text[:start] + piece + text[end:])
    read_all(target)
