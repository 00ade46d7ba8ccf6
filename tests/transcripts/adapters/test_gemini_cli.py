"""Gemini CLI's sessions, as one document and as lines."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters.gemini_cli import GeminiCli
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.faults import Tally
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker
from provenance.transcripts.sources import Source, SourceUnreadable, read_head

DATA = Path(__file__).parents[2] / "data" / "transcripts" / "gemini-cli"
WHOLE = DATA / "session-whole-json" / "full.jsonl"
LINES = DATA / "update-and-rewind.jsonl"
ADAPTER = GeminiCli()
META = {"sessionId": "s1", "projectHash": "h1", "startTime": "2026-01-01T00:00:00Z"}


@contextmanager
def source_at(path, **options):
    with (
        TrustedRoot(path.parent) as root,
        root.open_directory() as folder,
        root.open_file(path.name) as file,
    ):
        yield Source(name=path.name, directory=folder, file=file, **options)


def read(path, **options):
    with source_at(path, **options) as source:
        return list(ADAPTER.records(source))


def split(items):
    return (
        [item for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Fault)],
    )


def lines(tmp_path, *values, name="a.jsonl"):
    path = tmp_path / name
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    return path


def document(tmp_path, *messages, **members):
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps({**META, **members, "messages": list(messages)}).encode())
    return path


def identify(path):
    with source_at(path) as source:
        return ADAPTER.identify(read_head(source.file, source.name))


def sessions(path):
    with source_at(path) as source:
        return list(ADAPTER.sessions(source))


def message(number, kind="user", **members):
    return {
        "id": f"m{number}",
        "timestamp": f"2026-01-01T00:00:0{number}Z",
        "type": kind,
        "content": f"c{number}",
        **members,
    }


def test_it_is_a_format():
    assert isinstance(ADAPTER, TranscriptFormat)
    assert (ADAPTER.name, ADAPTER.suffixes) == ("gemini-cli", (".json", ".jsonl"))


# The facts of the samples.


def test_the_whole_document():
    data = WHOLE.read_bytes()
    assert identify(WHOLE)
    session = "fa4593e0-f7e1-4dd1-b656-da95fb4d60fa"
    assert sessions(WHOLE) == [session]
    records, faults = split(read(WHOLE))
    assert faults == []
    assert [record.ordinal for record in records] == [1, 2, 3, 4]
    assert [record.line for record in records] == [7, 13, 66, 72]
    assert [record.kind for record in records] == ["user", "gemini", "user", "gemini"]
    assert {record.session for record in records} == {session}
    assert all(record.is_known and not record.supersedes for record in records)
    for record, expected in zip(records, json.loads(data)["messages"], strict=True):
        assert data[record.offset : record.offset + len(record.raw)] == record.raw
        assert json.loads(record.raw) == record.value == expected
        assert (record.native_id, record.time) == (expected["id"], expected["timestamp"])
    call = "write_file-1768075225055-902f304bae8ae"
    assert [record.calls for record in records] == [(), (Call(call, "write_file"),), (), ()]
    assert [record.results for record in records] == [(), (CallResult(call),), (), ()]
    assert [record.speaker for record in records] == [Speaker.USER, Speaker.ASSISTANT] * 2
    assert 'write to test-gemini.txt "hello, gemini" only' in records[0].text
    assert "Successfully overwrote file" in records[1].text
    assert [list(ADAPTER.references(record)) for record in records] == [[]] * 4
    digest = json.loads(data)["projectHash"]
    assert digest == hashlib.sha256(b"/home/user/project").hexdigest()
    recorded = (WHOLE.parent / "content_hash.txt").read_text().strip()
    assert recorded == "sha256:" + hashlib.sha256(data).hexdigest()


def test_updates_and_a_rewind():
    assert identify(LINES)
    assert sessions(LINES) == ["4b1d0a8e-0000-4000-8000-000000000001"]
    items = read(LINES)
    records, faults = split(items)
    assert [record.ordinal for record in records] == list(range(1, 11))
    assert [record.line for record in records] == list(range(1, 11))
    assert [record.kind for record in records] == [
        "session_metadata",
        "user",
        "gemini",
        "gemini",
        "user",
        "gemini",
        "$rewindTo",
        "$set",
        "user",
        "gemini",
    ]
    assert [record.native_id for record in records] == [
        None,
        "m1",
        "m2",
        "m2",
        "m3",
        "m4",
        None,
        None,
        "m5",
        "m6",
    ]
    assert [record.ordinal for record in records if record.supersedes] == [4]
    assert [(fault.code, fault.severity, fault.ordinal, fault.line) for fault in faults] == [
        ("record_updated", Severity.INFO, 4, 4),
        ("rewound_records", Severity.INFO, 7, 7),
    ]
    assert faults[0].native_id == "m2"
    assert faults[0].message == "message: written again, in the place of record 3"
    assert faults[1].message == (
        "rewind: records 5 to 6: in the bytes, no longer in the conversation"
    )
    assert records[5].calls == (Call("call-1", "write_file"),)
    assert records[5].results == (CallResult("call-1"),)
    assert {record.session for record in records} == {"4b1d0a8e-0000-4000-8000-000000000001"}
    # A fault about a record stands behind it.
    assert items.index(faults[0]) == items.index(records[3]) + 1


@pytest.mark.parametrize("path", [WHOLE, LINES], ids=["document", "lines"])
def test_the_samples_have_no_other_fault(path):
    tally = Tally()
    for record in split(read(path))[0]:
        tally.add(record)
    assert list(tally.faults()) == []
    assert (tally.calls, tally.results) == (1, 1)


# Which shape it is.


def test_prompts_alone_are_no_session(tmp_path):
    path = tmp_path / "logs.json"
    prompt = {"sessionId": "s", "messageId": 0, "type": "user", "message": "m", "timestamp": "t"}
    path.write_bytes(json.dumps([prompt, prompt], indent=2).encode())
    assert not identify(path)
    with pytest.raises(SourceUnreadable) as caught:
        read(path)
    assert caught.value.fault == "container_invalid"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"messages": []}',
        b'{"messages": [{"type": "user", "content": "c"}]}',
        b'{"sessionId": "s", "uuid": "u", "type": "user"}\n',
        b'{"sessionId": 1, "projectHash": "h", "messages": []}',
        b'{"sessionId": "s", "projectHash": "h"',
        b'{"$set": 1}\n{"$rewindTo": 2}\n{"id": "x", "type": "user"}\n',
        b'{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}\n',
        b"\0" * 100,
        b"[" * 60_000,
    ],
)
def test_what_is_no_session(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_bytes(text)
    # One that is cut off in its first line shows enough to be told by.
    assert identify(path) is (b'"h"' in text and b'"messages"' not in text)


def test_a_document_of_one_line_is_none_of_lines(tmp_path):
    path = document(tmp_path, message(1), message(2, "gemini"))
    assert b"\n" not in path.read_bytes()
    assert identify(path)
    records, faults = split(read(path))
    assert [(record.ordinal, record.line) for record in records] == [(1, 1), (2, 1)]
    assert faults == []


def test_metadata_with_an_empty_list_of_messages_begins_lines(tmp_path):
    path = lines(tmp_path, {**META, "messages": []}, message(1), message(2, "gemini"))
    assert identify(path)
    records, _ = split(read(path))
    assert [record.kind for record in records] == ["session_metadata", "user", "gemini"]


def test_a_document_whose_messages_come_late(tmp_path):
    path = document(tmp_path, message(1), summary="x" * 200_000)
    assert identify(path)
    assert [record.native_id for record in split(read(path))[0]] == ["m1"]


def test_lines_without_metadata(tmp_path):
    path = lines(tmp_path, message(1), message(2, "gemini"))
    assert identify(path)
    assert sessions(path) == []
    records, faults = split(read(path))
    assert len(records) == 2
    assert [(fault.code, fault.severity, fault.ordinal) for fault in faults] == [
        ("header_absent", Severity.WARNING, 1)
    ]


def test_a_torn_document_gives_its_whole_first_messages(tmp_path):
    path = tmp_path / "session-1.json"
    path.write_bytes(WHOLE.read_bytes()[:3000])
    assert identify(path)
    assert sessions(path) == ["fa4593e0-f7e1-4dd1-b656-da95fb4d60fa"]
    items = read(path)
    records, faults = split(items)
    assert [record.ordinal for record in records] == [1, 2, 3]
    assert [fault.code for fault in faults] == ["torn_line"]
    assert "document" in faults[0].message
    assert items[-1] is faults[0]


def test_a_message_that_is_no_object(tmp_path):
    records, faults = split(read(document(tmp_path, message(1), "text", message(2))))
    assert [(record.ordinal, record.native_id) for record in records] == [(1, "m1"), (2, "m2")]
    assert [fault.code for fault in faults] == ["invalid_line"]


def test_a_message_over_the_limit_has_its_ordinal(tmp_path):
    path = document(tmp_path, 1, message(1), message(2, content="x" * 900), message(3))
    records, faults = split(read(path, limits=Limits(max_foreign_record_bytes=500)))
    assert [record.ordinal for record in records] == [1, 3]
    assert [(fault.code, fault.ordinal) for fault in faults] == [
        ("invalid_line", None),
        ("record_over_limit", 2),
    ]


def test_one_id_twice_in_a_document_is_no_update(tmp_path):
    records, faults = split(read(document(tmp_path, message(1), message(1))))
    assert faults == []
    assert not any(record.supersedes for record in records)


def test_damaged_lines_are_named_and_read_over(tmp_path):
    path = tmp_path / "a.jsonl"
    good = [json.dumps(value).encode() for value in (META, message(1), message(2))]
    path.write_bytes(b"\n".join([good[0], good[1] + good[2], b"\0" * 9 + good[2], good[1][:20]]))
    records, faults = split(read(path))
    assert [record.native_id for record in records] == [None, "m1", "m2", "m2"]
    assert [fault.code for fault in faults] == [
        "welded_records",
        "nul_line",
        "record_updated",
        "torn_line",
    ]


# Calls and results.


@pytest.mark.parametrize(
    ("call", "has_result"),
    [
        ({"status": "success"}, True),
        ({"status": "error"}, True),
        ({"status": "cancelled"}, True),
        ({"status": "executing"}, False),
        ({"status": "awaiting_approval", "result": None}, False),
        ({"status": "executing", "result": []}, False),
        ({"result": [{"functionResponse": {}}]}, True),
        ({"status": ["success"]}, False),
        ({}, False),
    ],
)
def test_a_call_has_a_result_once_it_is_finished(tmp_path, call, has_result):
    path = document(tmp_path, message(1, "gemini", toolCalls=[{"id": "c1", "name": "n", **call}]))
    [record] = split(read(path))[0]
    assert record.calls == (Call("c1", "n"),)
    assert record.results == ((CallResult("c1"),) if has_result else ())


def test_an_update_that_brings_the_result_is_one_call(tmp_path):
    call = {"id": "c1", "name": "n", "status": "executing"}
    path = lines(
        tmp_path,
        META,
        message(1, "gemini", toolCalls=[call]),
        message(2, "info"),
        message(1, "gemini", toolCalls=[{**call, "status": "success"}]),
    )
    tally = Tally()
    records, faults = split(read(path))
    for record in records:
        tally.add(record)
    assert list(tally.faults()) == []
    assert [fault.code for fault in faults] == ["record_updated"]


# What lines mean for the conversation.


def changes(tmp_path, *values):
    faults = split(read(lines(tmp_path, META, *values)))[1]
    return [(fault.code, fault.severity.value, fault.message) for fault in faults]


def test_a_rewind_takes_every_version_of_a_message(tmp_path):
    found = changes(
        tmp_path, message(1), message(2), message(1), message(3), {"$rewindTo": "m1"}, message(4)
    )
    assert found[1:] == [
        (
            "rewound_records",
            "info",
            "rewind: records 2 to 5: in the bytes, no longer in the conversation",
        )
    ]


def test_a_rewind_to_what_is_not_there(tmp_path):
    found = changes(tmp_path, message(1), {"$rewindTo": "m9"}, {"$rewindTo": "m1"})
    assert [one[:2] for one in found] == [("rewind_target_absent", "warning")] * 2
    assert "m9" not in found[0][2]
    assert "record 2: in the bytes" in found[0][2]
    # Gemini CLI drops everything then, so the second one finds nothing either.
    assert "no record leaves" in found[1][2]


def test_a_message_written_again_after_a_rewind_may_be_rewound(tmp_path):
    found = changes(tmp_path, message(1), {"$rewindTo": "m1"}, message(1), {"$rewindTo": "m1"})
    assert [one[0] for one in found] == ["rewound_records", "record_updated", "rewound_records"]
    assert "record 4:" in found[2][2]


def test_messages_of_a_set_replace_the_conversation(tmp_path):
    found = changes(
        tmp_path,
        message(1),
        message(2, "gemini"),
        message(3),
        {"$set": {"messages": [message(9), message(3), 7, {"id": 1}]}},
        {"$rewindTo": "m9"},
    )
    assert [one[:2] for one in found] == [("history_replaced", "info"), ("rewound_records", "info")]
    assert "now the 2 messages here; records 2 to 3: in the bytes" in found[0][2]
    assert "record 4: in the bytes" in found[1][2]


def test_other_sets_change_nothing(tmp_path):
    assert (
        changes(tmp_path, message(1), {"$set": {"messages": 1}}, {"$set": {"summary": "x"}}) == []
    )


# Outputs in files.


def saved(text, key="output"):
    response = {"functionResponse": {"id": "c1", "response": {key: text}}}
    return message(1, "gemini", toolCalls=[{"id": "c1", "result": [response]}])


def files(tmp_path, value):
    [record] = split(read(document(tmp_path, value)))[0]
    return [(one.kind, one.file.path, one.file.head) for one in ADAPTER.references(record)]


def test_an_output_that_was_saved_to_a_file(tmp_path):
    text = (
        "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: "
        "/home/user/a b/tool-outputs/session-s1/run_1.txt\nOutput: first\n\n"
        "... [9 characters omitted] ...\n\nlast"
    )
    path = "/home/user/a b/tool-outputs/session-s1/run_1.txt"
    assert files(tmp_path, saved(text)) == [("tool_output_file", path, b"Output: first")]


def test_an_output_that_was_masked_later(tmp_path):
    text = (
        "<tool_output_masked>\nfirst\n\n... [TRUNCATED] ...\nlast\n\n"
        "Output too large. Full output available at: /t/x.txt\n</tool_output_masked>"
    )
    assert files(tmp_path, saved(text)) == [("tool_output_file", "/t/x.txt", None)]
    twice = text.replace("first", "For full output see: /t/y.txt\nfor full output see: /t/z.txt")
    assert [path for _, path, _ in files(tmp_path, saved(twice))] == ["/t/y.txt", "/t/x.txt"]
    assert files(tmp_path, message(1, content=saved(text)["toolCalls"][0]["result"]))


def test_a_masked_output_in_a_set(tmp_path):
    text = "<tool_output_masked>\nOutput too large. Full output available at: /t/x.txt\n"
    path = lines(tmp_path, META, {"$set": {"messages": [saved(text), saved(text)]}})
    record = split(read(path))[0][1]
    assert [one.file.path for one in ADAPTER.references(record)] == ["/t/x.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "a program that prints: For full output see: /t/x.txt",
        "Output too large. Nothing was kept",
        "Output too large. For full output see: \n",
        "",
    ],
)
def test_what_names_no_file(tmp_path, text):
    assert files(tmp_path, saved(text)) == []


def test_half_a_character_at_the_cut(tmp_path):
    text = "Output too large. Showing first 1 and last 1. For full output see: /x\na\ud83d\n\n... ["
    assert files(tmp_path, saved(text, "error")) == [("tool_output_file", "/x", b"a")]


# Hostile files.


def read_all(path):
    items = read(path)
    for record in split(items)[0]:
        assert isinstance(record.text, str)
        list(ADAPTER.references(record))
    identify(path)
    sessions(path)
    return items


@pytest.mark.parametrize("deep", [b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000])
def test_200_000_levels(tmp_path, deep):
    path = tmp_path / "a.json"
    for text in (
        deep,
        b'{"sessionId":"s","projectHash":"h","messages":[{"id":"m"},' + deep + b"]}",
        json.dumps(META).encode() + b"\n" + deep + b'\n{"id":"m","type":"user"}\n',
    ):
        path.write_bytes(text)
        assert any(isinstance(item, Fault) for item in read_all(path))


NAMES = [
    "$rewindTo",
    "$set",
    "args",
    "content",
    "functionResponse",
    "id",
    "messages",
    "name",
    "output",
    "projectHash",
    "response",
    "result",
    "sessionId",
    "startTime",
    "status",
    "summary",
    "text",
    "thoughts",
    "timestamp",
    "toolCalls",
    "type",
]
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("m1"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=15,
)
no_fixture_check = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(hostile, max_size=5))
@no_fixture_check
def test_fields_of_any_type(tmp_path, values):
    read_all(lines(tmp_path, META, *values))
    items = read_all(document(tmp_path, *values))
    assert len(split(items)[0]) == sum(isinstance(value, dict) for value in values)


@given(st.sampled_from([WHOLE, LINES]), st.data())
@no_fixture_check
def test_no_mutation_raises(tmp_path, path, data):
    text = path.read_bytes()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 60, len(text))))
    piece = data.draw(st.sampled_from([b"", b"\0", b"{", b"}", b'"', b"\n", b"\xff", b"]", b"1"]))
    target = tmp_path / "a.jsonl"
    target.write_bytes(text[:start] + piece + text[end:])
    # As a whole it may be none of ours any more; nothing else is raised.
    with suppress(SourceUnreadable):
        read_all(target)
