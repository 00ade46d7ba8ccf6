"""Codex rollouts: every sample, the older shapes, compressed ones, and whatever anybody writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters._codex_citations import (
    MOST_CITATIONS,
    Citations,
    find_citations,
)
from provenance.transcripts.adapters._codex_items import Talk, calls_in
from provenance.transcripts.adapters.codex import Codex
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.records import (
    Call,
    CallResult,
    Fault,
    OutputFile,
    Record,
    Reference,
    Speaker,
)
from provenance.transcripts.sources import Head, Source, SourceUnreadable
from tests.transcripts.breaking import audit

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts" / "codex"
REAL = "rollout-2025-09-25T15-12-14-019982b8-3422-79e0-8b3b-05abaf4f3c3e.jsonl"
SCHEMA = "schema-0.146-compacted.jsonl"
SYNTHETIC_SESSION = "019c0000-0000-7000-8000-000000000001"
UUID = "c3c4b301-27c8-4c70-b6e4-46b99fdf0236"
NAME = f"rollout-2025-08-18T01-16-13-{UUID}.jsonl"


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


zstd = _zstd()
needs_zstd = pytest.mark.skipif(
    zstd is None, reason="NO ZSTD: neither Python's own nor backports.zstd is here, nothing tested"
)


@contextmanager
def _source(folder: Path, name: str, limits: Limits | None = None) -> Iterator[Source]:
    with (
        TrustedRoot(folder) as root,
        root.open_file(name) as file,
        root.open_directory() as directory,
    ):
        yield Source(name=name, directory=directory, file=file, limits=limits or Limits())


def _read(folder: Path, name: str) -> tuple[list[Record], list[Fault]]:
    with _source(folder, name) as source:
        items = list(Codex().records(source))
    records = [item for item in items if isinstance(item, Record)]
    faults = [item for item in items if isinstance(item, Fault)]
    # A record over a limit keeps its place.
    lost = {fault.ordinal for fault in faults if fault.code == "record_over_limit"}
    places = [place for place in range(1, len(records) + len(lost) + 1) if place not in lost]
    assert [record.ordinal for record in records] == places
    return records, faults


def _read_bytes(
    folder: Path, data: bytes, name: str = "a.jsonl"
) -> tuple[list[Record], list[Fault]]:
    (folder / name).write_bytes(data)
    return _read(folder, name)


def _sessions(folder: Path, name: str) -> list[str]:
    with _source(folder, name) as source:
        return list(Codex().sessions(source))


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in values)


def _line(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-02T11:00:00.000Z", **more, "type": kind, "payload": payload}


def _meta(session: str = "s-1", **more: Any) -> dict[str, Any]:
    return _line("session_meta", {"id": session, "cwd": "/home/user"}, **more)


def _item(**payload: Any) -> dict[str, Any]:
    return _line("response_item", payload)


def _message(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return _item(type="message", role=role, content=[{"type": part, "text": text}])


def _call(call_id: str) -> dict[str, Any]:
    return _item(type="function_call", name="shell", arguments="{}", call_id=call_id)


def _output(call_id: str) -> dict[str, Any]:
    return _item(type="function_call_output", call_id=call_id, output="done")


def _calls(records: list[Record]) -> list[tuple[int, str]]:
    return [(record.ordinal, call.id) for record in records for call in record.calls]


def _results(records: list[Record]) -> list[tuple[int, str]]:
    return [(record.ordinal, result.call_id) for record in records for result in record.results]


def _codes(faults: list[Fault]) -> list[str]:
    return [fault.code for fault in faults]


def _head(data: bytes, name: str = "a.jsonl") -> Head:
    return Head(name=name, data=data)


# --- the samples -------------------------------------------------------------------------------


def test_it_is_a_format() -> None:
    assert isinstance(Codex(), TranscriptFormat)


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_each_sample_is_told_and_its_records_are_its_bytes(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    assert Codex().identify(_head(data[: 64 << 10], name))
    records, faults = _read(SAMPLES, name)
    for record in records:
        assert record.offset is not None
        assert data[record.offset :].startswith(record.raw + b"\n")
        assert json.loads(record.raw) == record.value
    assert all(record.is_known for record in records), {
        record.kind for record in records if not record.is_known
    }
    lines = {record.line for record in records} | {fault.line for fault in faults}
    assert lines == set(range(1, data.count(b"\n") + 1))


def test_the_real_rollout() -> None:
    records, faults = _read(SAMPLES, REAL)
    assert faults == []
    assert Counter(record.kind for record in records) == {
        "session_meta": 1,
        "response_item": 34,
        "event_msg": 23,
        "turn_context": 12,
    }
    assert {record.session for record in records} == {"019982b8-3422-79e0-8b3b-05abaf4f3c3e"}
    assert _sessions(SAMPLES, REAL) == ["019982b8-3422-79e0-8b3b-05abaf4f3c3e"]
    assert {record.native_id for record in records} == {None}
    calls, results = _calls(records), _results(records)
    assert (len(calls), len(results)) == (11, 11)
    assert {call for _, call in calls} == {result for _, result in results}
    assert records[0].time == "2025-09-25T21:12:14.126Z"
    reasoning = [r for r in records if r.value["payload"].get("type") == "reasoning"]
    assert all(r.value["payload"]["encrypted_content"] for r in reasoning)
    assert reasoning[0].text.startswith("**bravobravo")


def test_the_sample_of_all_records() -> None:
    records, faults = _read(SAMPLES, SCHEMA)
    assert faults == []
    assert Counter(record.kind for record in records) == {
        "session_meta": 7,
        "compacted": 6,
        "world_state": 5,
        "event_msg": 68,
        "response_item": 22,
        "turn_context": 9,
        "inter_agent_communication_metadata": 1,
    }
    trimmed = "[trimmed for fixture]"
    assert _calls(records) == [
        (9, "call-1"),
        (10, "call-2"),
        (12, "call-3"),
        (43, trimmed),
        (103, trimmed),
        (114, trimmed),
    ]
    assert _results(records) == [
        (11, "call-2"),
        (13, "call-3"),
        (21, "call-1"),
        (28, trimmed),
        (105, trimmed),
        (115, trimmed),
    ]
    assert Counter(record.native_id for record in records) == {None: 98, "0": 20}
    # The first header of a file is that of its session, whatever was copied into it.
    assert {record.session for record in records} == {"019fc8be-3658-7ca3-9e29-000000000000"}
    metas = [record.ordinal for record in records if record.kind == "session_meta"]
    assert metas == [1, 29, 36, 37, 42, 94, 96]
    compacted = [record for record in records if record.kind == "compacted"]
    assert [record.ordinal for record in compacted] == [26, 47, 69, 81, 89, 111]
    assert [list(Codex().references(record)) for record in compacted] == [
        [Reference(kind="replacement_history", covers=(1, record.ordinal - 1))]
        for record in compacted
    ]


def test_the_synthetic_ones() -> None:
    records, faults = _read(SAMPLES, "clean.jsonl")
    assert (len(records), faults) == (5, [])
    assert (_calls(records), _results(records)) == ([(3, "call_A")], [(4, "call_A")])
    assert [record.speaker for record in records] == [
        None,
        Speaker.USER,
        Speaker.ASSISTANT,
        Speaker.USER,
        Speaker.ASSISTANT,
    ]
    assert {record.session for record in records} == {SYNTHETIC_SESSION}
    assert [record.text for record in records] == [
        "",
        "List the files.",
        'shell\n{"command":["ls"]}',
        "README.md",
        "One file.",
    ]

    records, faults = _read(SAMPLES, "interrupted-then-compacted.jsonl")
    assert (len(records), faults) == (9, [])
    assert (_calls(records), _results(records)) == ([(3, "call_A"), (7, "call_B")], [(8, "call_B")])
    assert [record.speaker for record in records[3:6]] == [None, None, Speaker.USER]
    assert list(Codex().references(records[4])) == [
        Reference(kind="replacement_history", covers=(1, 4))
    ]

    records, faults = _read(SAMPLES, "orphan-output.jsonl")
    assert (len(records), faults) == (4, [])
    assert (_calls(records), _results(records)) == ([], [(3, "call_Z")])

    records, faults = _read(SAMPLES, "ordinal-repeat.jsonl")
    assert faults == []
    assert [record.native_id for record in records] == ["0", "1", "2", "2", "3"]


def test_the_one_without_a_header() -> None:
    records, faults = _read(SAMPLES, "no-session-meta.jsonl")
    assert len(records) == 2
    (fault,) = faults
    assert (fault.code, fault.severity) == ("header_absent", Severity.WARNING)
    assert (fault.ordinal, fault.line) == (1, 1)
    assert _sessions(SAMPLES, "no-session-meta.jsonl") == []
    assert {record.session for record in records} == {None}


def test_the_torn_line_keeps_the_ordinal_that_was_used_again() -> None:
    records, faults = _read(SAMPLES, "torn-line-then-ordinal-reused.jsonl")
    assert [(record.line, record.native_id) for record in records] == [
        (1, "0"),
        (2, "1"),
        (3, "2"),
        (5, "3"),
        (6, "4"),
    ]
    (fault,) = faults
    assert (fault.code, fault.line, fault.native_id) == ("torn_line", 4, "3")


@pytest.mark.parametrize(
    ("torn", "native_id"),
    [
        (b'{"timestamp":"t","ordinal":0,"type":"event_msg","pay', "0"),
        (b'{"timestamp":"t","ordinal":17', None),  # may go on: 170
        (b'{"timestamp":"t","type":"event_msg","payload":{"ordinal":4,', None),
        (b'{"ordinal":4,"timestamp":"t', None),
    ],
)
def test_only_an_ordinal_that_stands_whole_counts(
    tmp_path: Path, torn: bytes, native_id: str | None
) -> None:
    for end in (b"\n", b"\r\n"):
        data = _lines(_meta()).replace(b"\n", end) + torn + b"\n" + _lines(_message("user", "x"))
        _, faults = _read_bytes(tmp_path, data)
        assert [(f.code, f.native_id) for f in faults] == [("torn_line", native_id)]


# --- shapes --------------------------------------------------------------------------------------

FLAT = (
    {"id": UUID, "timestamp": "2025-08-18T01:16:13.522Z", "instructions": None, "git": {}},
    {"record_type": "state"},
    {
        "type": "message",
        "id": None,
        "role": "user",
        "content": [{"type": "input_text", "text": "a"}],
    },
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_1"},
    {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    {
        "type": "local_shell_call",
        "id": "lsh_1",
        "call_id": None,
        "status": "completed",
        "action": {"type": "exec", "command": ["ls", "-l"]},
    },
    {
        "type": "function_call_output",
        "call_id": "lsh_1",
        "output": {"content": "no", "success": False},
    },
    {"record_type": "state"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
)


def test_a_flat_rollout(tmp_path: Path) -> None:
    records, faults = _read_bytes(tmp_path, _lines(*FLAT))
    assert faults == []
    assert [record.kind for record in records] == [
        "(none)",
        "state",
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "function_call_output",
        "state",
        "message",
    ]
    assert all(record.is_known for record in records)
    assert _calls(records) == [(5, "call_1"), (7, "lsh_1")]
    assert _results(records) == [(6, "call_1"), (8, "lsh_1")]
    assert [call.name for record in records for call in record.calls] == ["shell", "local_shell"]
    assert {record.session for record in records} == {UUID}
    assert records[0].time == "2025-08-18T01:16:13.522Z"
    assert records[6].text == "ls\n-l"
    assert records[9].speaker is Speaker.ASSISTANT
    assert Codex().identify(_head(_lines(*FLAT)))


def test_a_flat_rollout_without_its_header_is_named_by_its_file(tmp_path: Path) -> None:
    data = _lines(*FLAT[2:])
    records, faults = _read_bytes(tmp_path, data, NAME)
    assert _codes(faults) == ["header_absent"]
    assert {record.session for record in records} == {UUID}
    assert _sessions(tmp_path, NAME) == [UUID]
    assert Codex().identify(_head(data, NAME))


DOCUMENT = {
    "session": {"timestamp": "2025-05-01T10:00:00.000Z", "id": UUID, "instructions": "be {kind}"},
    "items": [FLAT[2], FLAT[4], FLAT[5], FLAT[9]],
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_rollout_of_the_first_agent_is_one_document(tmp_path: Path, indent: int | None) -> None:
    name = f"rollout-2025-05-01-{UUID}.json"
    data = json.dumps(DOCUMENT, indent=indent).encode()
    records, faults = _read_bytes(tmp_path, data, name)
    assert faults == []
    assert [record.value for record in records] == DOCUMENT["items"]
    assert (_calls(records), _results(records)) == ([(2, "call_1")], [(3, "call_1")])
    for record in records:
        assert record.offset is not None
        assert data[record.offset : record.offset + len(record.raw)] == record.raw
    assert {record.session for record in records} == {UUID}
    assert _sessions(tmp_path, name) == [UUID]
    assert Codex().identify(_head(data, name))
    assert Codex().identify(_head(data, "renamed.json"))


def test_a_torn_document_gives_its_whole_items(tmp_path: Path) -> None:
    data = json.dumps(DOCUMENT).encode()[:-30]
    records, faults = _read_bytes(tmp_path, data, "a.json")
    assert (len(records), _codes(faults)) == (3, ["torn_line"])


def test_items_that_are_no_objects_are_kept(tmp_path: Path) -> None:
    data = b'{"session":{"id":"s","instructions":""},"items":[1,"x",[],null,{"type":"hologram"}]}'
    records, faults = _read_bytes(tmp_path, data, "a.json")
    assert faults == []
    assert [(r.kind, r.is_known, r.text) for r in records] == [
        ("(none)", False, ""),
        ("(none)", False, ""),
        ("(none)", False, ""),
        ("(none)", False, ""),
        ("hologram", False, ""),
    ]
    assert [list(Codex().references(record)) for record in records] == [[]] * 5


@needs_zstd
@pytest.mark.parametrize("name", [REAL, SCHEMA, "ordinal-repeat.jsonl"])
def test_a_compressed_rollout_reads_as_the_plain_one(tmp_path: Path, name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    packed = zstd.compress(data[:1000]) + zstd.compress(data[1000:])
    records, faults = _read_bytes(tmp_path, packed, f"{name}.zst")
    plain, plain_faults = _read(SAMPLES, name)
    assert [(r.raw, r.offset, r.native_id, r.calls, r.session) for r in records] == [
        (r.raw, r.offset, r.native_id, r.calls, r.session) for r in plain
    ]
    assert faults == plain_faults
    assert _sessions(tmp_path, f"{name}.zst") == _sessions(SAMPLES, name)


@needs_zstd
def test_a_cut_compressed_rollout_gives_its_whole_records_first(tmp_path: Path) -> None:
    data = (SAMPLES / SCHEMA).read_bytes()
    frames = [zstd.compress(data[:70_000]), zstd.compress(data[70_000:])]
    (tmp_path / "a.jsonl.zst").write_bytes(frames[0] + frames[1][:-10])
    seen: list[Record | Fault] = []
    with _source(tmp_path, "a.jsonl.zst") as source, pytest.raises(SourceUnreadable) as caught:
        seen.extend(Codex().records(source))
    assert caught.value.fault == "container_invalid"
    assert len(seen) == data[:70_000].count(b"\n")


@needs_zstd
def test_a_torn_line_of_a_compressed_file_is_named_without_its_ordinal(tmp_path: Path) -> None:
    data = (SAMPLES / "torn-line-then-ordinal-reused.jsonl").read_bytes()
    _, faults = _read_bytes(tmp_path, zstd.compress(data), "a.jsonl.zst")
    assert [(fault.code, fault.native_id) for fault in faults] == [("torn_line", None)]


# --- whose session -------------------------------------------------------------------------------


def test_a_fork_belongs_to_its_own_session(tmp_path: Path) -> None:
    child = _line("session_meta", {"session_id": "root", "id": "child", "forked_from_id": "parent"})
    records, faults = _read_bytes(tmp_path, _lines(child, _meta("parent"), _message("user", "x")))
    assert faults == []
    assert {record.session for record in records} == {"child"}


def test_a_fork_with_a_torn_header_is_not_its_parents(tmp_path: Path) -> None:
    torn = _lines(_line("session_meta", {"id": "child", "cwd": "/"}))[:-5] + b"\n"
    records, faults = _read_bytes(tmp_path, torn + _lines(_meta("parent")))
    assert _codes(faults) == ["torn_line"]
    assert {record.session for record in records} == {"child"}
    records, _ = _read_bytes(tmp_path, torn[:40] + b"\n" + _lines(_meta("parent")), NAME)
    assert {record.session for record in records} == {UUID}


def test_a_header_longer_than_a_head_names_the_session(tmp_path: Path) -> None:
    meta = _line(
        "session_meta", {"session_id": "s-root", "id": "s-9", "instructions": "x" * 200_000}
    )
    data = _lines(meta, _message("user", "x"))
    records, faults = _read_bytes(tmp_path, data)
    assert faults == []
    assert {record.session for record in records} == {"s-9"}
    assert _sessions(tmp_path, "a.jsonl") == ["s-9"]
    assert Codex().identify(Head(name="a.jsonl", data=data[: 64 << 10], is_whole=False))


@pytest.mark.parametrize("session", [None, 7, "", [], {"id": "x"}])
def test_a_header_without_an_id_leaves_the_name(tmp_path: Path, session: Any) -> None:
    data = _lines(_line("session_meta", {"id": session}))
    assert {r.session for r in _read_bytes(tmp_path, data, NAME)[0]} == {UUID}
    records, faults = _read_bytes(tmp_path, data)
    assert ({r.session for r in records}, faults) == ({None}, [])


@pytest.mark.parametrize(
    ("name", "session"),
    [
        (NAME, UUID),
        (NAME + ".zst", UUID),
        (f"rollout-2025-05-01-{UUID}.json", UUID),
        (f"rollout-{UUID}.jsonl", None),
        (f"other-2025-05-01-{UUID}.jsonl", None),
        ("rollout-2025-05-01-12345.jsonl", None),
        (f"rollout-2025-05-01-{UUID[:-1]}.jsonl", None),
    ],
)
def test_the_name_names_the_session(tmp_path: Path, name: str, session: str | None) -> None:
    (tmp_path / name).write_bytes(b"")
    assert _sessions(tmp_path, name) == [session] * (session is not None)


def test_an_empty_file_has_no_records_and_no_fault(tmp_path: Path) -> None:
    assert _read_bytes(tmp_path, b"") == ([], [])


# --- what is told for Codex ----------------------------------------------------------------------

NATIVE = {
    "schema_version": 1,
    "sequence": 1,
    "recorded_at": "2026-03-02T11:00:00Z",
    "session_id": "s",
    "event_id": "transcript:s:1",
    "type": "message",
    "role": "user",
    "content": "x",
}
CLAUDE = {
    "type": "user",
    "uuid": "u",
    "parentUuid": None,
    "sessionId": "s",
    "timestamp": "t",
    "message": {"role": "user", "content": "x"},
}


@pytest.mark.parametrize(
    "value",
    [
        NATIVE,
        {key: NATIVE[key] for key in ("type", "role", "content")},
        {**NATIVE, "type": "session_meta", "timestamp": "t", "payload": {}},
        CLAUDE,
        {**CLAUDE, "type": "event_msg", "payload": {}},
        {"session_id": UUID, "ts": 1754000000, "text": "hello"},
        {"id": UUID, "timestamp": "t"},
        {"id": UUID, "instructions": "x"},
        {"record_type": "state", "more": 1},
        {"type": "message", "role": "user", "content": []},
        _line("hologram", {}),
        _line("session_meta", []),
        {"type": "session_meta", "payload": {}},
        {"sessionId": "s", "projectHash": "h", "messages": []},
        {"type": "thread.started", "thread_id": "t"},
    ],
)
def test_what_is_not_told_for_codex(value: dict[str, Any]) -> None:
    assert not Codex().identify(_head(_lines(value), "a.jsonl"))


@pytest.mark.parametrize(
    "value",
    [_meta(), _message("user", "x"), _line("world_state", {}), FLAT[0], {"record_type": "state"}],
)
def test_one_telling_line_is_enough(value: dict[str, Any]) -> None:
    assert Codex().identify(_head(_lines(value)))
    assert Codex().identify(_head(b'{"torn":\n' + _lines({"other": 1}, value)))


def test_bare_items_tell_nothing_without_the_name() -> None:
    data = _lines(FLAT[2])
    assert Codex().identify(_head(data, NAME))
    assert not Codex().identify(_head(data, "messages.jsonl"))
    assert not Codex().identify(_head(_lines(NATIVE), NAME))


def test_a_document_of_something_else_is_not_told_for_codex() -> None:
    assert not Codex().identify(_head(b'{"session":{"id":1},"items":[]}', "cart.json"))
    assert not Codex().identify(_head(b"", NAME))
    assert not Codex().identify(Head(name=NAME, names=("a", "b")))


# --- records -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "is_known"),
    [
        (_line("event_msg", {"type": "hologram"}), "event_msg/hologram", False),
        (_line("response_item", {"type": "hologram"}), "response_item/hologram", False),
        (_line("event_msg", {}), "event_msg/(none)", False),
        (_line("event_msg", {"type": ["x"]}), "event_msg/(none)", False),
        (_line("event_msg", "text"), "event_msg/(none)", False),
        (_line("event_msg", {"type": "token_count"}), "event_msg", True),
        (_line("hologram", {}), "hologram", False),
        (_line("message", {}), "message", False),
        (_line("token_usage_record", {}), "token_usage_record", True),
        ({"record_type": "hologram"}, "hologram", False),
        ({"type": 7}, "(none)", False),
        ({}, "(none)", False),
    ],
)
def test_what_is_not_known_is_told_apart(
    tmp_path: Path, value: dict[str, Any], kind: str, *, is_known: bool
) -> None:
    records, _ = _read_bytes(tmp_path, _lines(_meta(), value))
    assert (records[1].kind, records[1].is_known) == (kind, is_known)


@pytest.mark.parametrize(
    ("item", "calls"),
    [
        ({"type": "function_call", "call_id": "c", "name": "n"}, (Call("c", "n"),)),
        ({"type": "custom_tool_call", "call_id": "c", "name": "n"}, (Call("c", "n"),)),
        ({"type": "local_shell_call", "call_id": "c", "id": "i"}, (Call("c", "local_shell"),)),
        ({"type": "local_shell_call", "id": "i"}, (Call("i", "local_shell"),)),
        (
            {"type": "tool_search_call", "call_id": "c", "execution": "client"},
            (Call("c", "tool_search"),),
        ),
        ({"type": "tool_search_call", "call_id": "c", "execution": "server"}, ()),
        ({"type": "function_call", "id": "fc_1", "name": "n"}, ()),
        ({"type": "function_call", "call_id": 7}, ()),
        ({"type": "function_call", "call_id": ""}, ()),
        ({"type": "function_call", "call_id": "c", "name": 7}, (Call("c", "function"),)),
        ({"type": "web_search_call", "id": "ws", "call_id": "c"}, ()),
        ({"type": "image_generation_call", "id": "ig"}, ()),
        ({"type": ["function_call"], "call_id": "c"}, ()),
    ],
)
def test_only_what_is_answered_by_an_output_is_a_call(
    item: dict[str, Any], calls: tuple[Call, ...]
) -> None:
    assert calls_in(item) == calls


@pytest.mark.parametrize(
    ("item", "results"),
    [
        ({"type": "function_call_output", "call_id": "c"}, (CallResult("c"),)),
        ({"type": "custom_tool_call_output", "call_id": "c"}, (CallResult("c"),)),
        ({"type": "mcp_tool_call_output", "call_id": "c"}, (CallResult("c"),)),
        ({"type": "tool_search_output", "call_id": "c"}, (CallResult("c"),)),
        ({"type": "tool_search_output", "call_id": "c", "execution": "server"}, ()),
        ({"type": "function_call_output"}, ()),
        ({"type": "function_call_output", "call_id": None}, ()),
    ],
)
def test_an_output_names_its_call(
    tmp_path: Path, item: dict[str, Any], results: tuple[CallResult, ...]
) -> None:
    records, _ = _read_bytes(tmp_path, _lines(_meta(), _item(**item)))
    assert records[1].results == results


def test_events_repeat_calls_and_are_none(tmp_path: Path) -> None:
    end = _line("event_msg", {"type": "exec_command_end", "call_id": "c"})
    records, _ = _read_bytes(tmp_path, _lines(_meta(), _call("c"), end, _output("c")))
    assert (_calls(records), _results(records)) == ([(2, "c")], [(4, "c")])
    assert records[2].speaker is None


@pytest.mark.parametrize(
    ("ordinal", "native_id"),
    [
        (0, "0"),
        ((1 << 64) - 1, str((1 << 64) - 1)),
        (1 << 64, None),
        (-1, None),
        (True, None),
        (1.0, None),
        ("1", None),
        (None, None),
    ],
)
def test_an_ordinal_is_a_whole_number(tmp_path: Path, ordinal: Any, native_id: str | None) -> None:
    records, _ = _read_bytes(tmp_path, _lines(_meta(ordinal=ordinal)))
    assert records[0].native_id == native_id


def test_an_ordinal_of_5000_digits_is_none(tmp_path: Path) -> None:
    data = _lines(_meta(ordinal=1)).replace(b'"ordinal":1', b'"ordinal":1' + b"0" * 5000)
    records, faults = _read_bytes(tmp_path, data)
    assert (records[0].native_id, faults) == (None, [])


# --- who speaks ----------------------------------------------------------------------------------

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
REASONING = _item(type="reasoning", summary=[], encrypted_content="x")
SEARCH = _item(type="web_search_call", id="ws")
EVENT = _line("event_msg", {"type": "token_count"})


@pytest.mark.parametrize(
    ("values", "speakers"),
    [
        # One answer makes two calls; neither shows that the other one was left behind.
        ([_call("a"), _call("b")], [ASSISTANT, None]),
        ([_call("a"), REASONING, _call("b"), SEARCH], [ASSISTANT, None, None, None]),
        ([_call("a"), _call("b"), _output("a")], [ASSISTANT, None, None]),
        ([_call("a"), _call("b"), _output("a"), _output("b")], [ASSISTANT, None, None, USER]),
        # The next answer does.
        (
            [_call("a"), _call("b"), _output("a"), _message("assistant", "x")],
            [ASSISTANT, None, None, ASSISTANT],
        ),
        ([_call("a"), _output("a"), _call("b")], [ASSISTANT, USER, ASSISTANT]),
        ([_call("a"), EVENT, _message("user", "x"), REASONING], [ASSISTANT, None, USER, ASSISTANT]),
        ([_output("z"), _message("assistant", "x")], [USER, ASSISTANT]),
        ([REASONING, _message("assistant", "x"), _call("a")], [ASSISTANT, ASSISTANT, ASSISTANT]),
        ([_message("developer", "x"), _message("system", "x")], [None, None]),
        ([_call("a"), _item(type="agent_message", author="x")], [ASSISTANT, USER]),
        ([_item(type="ghost_snapshot"), _item(type="compaction")], [None, None]),
        ([_item(type="message", role=["user"])], [None]),
    ],
)
def test_who_speaks(values: list[dict[str, Any]], speakers: list[Speaker | None]) -> None:
    talk = Talk()
    found = []
    for value in values:
        item = value["payload"] if value["type"] == "response_item" else None
        found.append(None if item is None else talk.speaker(item, calls_in(item)))
    assert found == speakers


# --- references ----------------------------------------------------------------------------------


def _references(tmp_path: Path, *values: dict[str, Any]) -> list[Reference]:
    records, _ = _read_bytes(tmp_path, _lines(*values))
    return [reference for record in records for reference in Codex().references(record)]


def test_a_compaction_stands_for_what_is_before_it(tmp_path: Path) -> None:
    kept = _line("compacted", {"message": "", "replacement_history": [{"type": "message"}]})
    plain = _line("compacted", {"message": "summary"})
    odd = _line("compacted", {"message": "", "replacement_history": "x"})
    assert _references(tmp_path, _meta(), kept, plain, odd) == [
        Reference(kind="replacement_history", covers=(1, 1)),
        Reference(kind="compacted", covers=(1, 2)),
        Reference(kind="compacted", covers=(1, 3)),
    ]
    (first,) = _references(tmp_path, kept)
    assert first.covers is None
    assert [is_there for _, is_there in first.members] == [False]


CITATION = (
    "Done.\n<oai-mem-citation>\n<citation_entries>\nMEMORY.md:12-34|note=[why [it] helped]\n"
    "rollout_summaries/x.md:1-2|note=[]\nMEMORY.md:40-41|note=[again]\nno entry\n"
    "MEMORY.md:12|note=[x]\n</citation_entries>\n<rollout_ids>\n"
    f"{UUID}\n{UUID}\n\n</rollout_ids>\n</oai-mem-citation>"
)


def test_an_answer_cites_memories(tmp_path: Path) -> None:
    references = _references(tmp_path, _meta(), _message("assistant", CITATION))
    assert [reference.file for reference in references] == [
        OutputFile("memories/MEMORY.md", beside="sessions"),
        OutputFile("memories/rollout_summaries/x.md", beside="sessions"),
        None,
    ]
    assert {(r.kind, r.is_optional) for r in references} == {("oai-mem-citation", True)}
    assert references[2].unsupported is not None
    assert UUID not in references[2].unsupported


@pytest.mark.parametrize(
    ("cited", "target", "there", "status"),
    [
        ("MEMORY.md", ".codex", True, "available"),
        ("MEMORY.md", ".codex", False, "missing"),
        ("/home/u/.codex/memories/MEMORY.md", ".codex", True, "available"),
        ("/home/u/.codex/memories/MEMORY.md", ".", True, "available"),
        ("MEMORY.md", ".", True, "available"),
        ("MEMORY.md", ".codex/sessions", True, "missing"),
        ("MEMORY.md", ".codex/sessions/2026/r.jsonl", True, "missing"),
        ("/etc/passwd", ".codex", True, "missing"),
        ("../../secret", ".codex", True, "missing"),
    ],
)
def test_a_memory_that_is_cited_is_no_alarm(
    tmp_path: Path, cited: str, target: str, there: bool, status: str
) -> None:
    text = CITATION.replace("MEMORY.md", cited)
    folder = tmp_path / ".codex" / "sessions" / "2026"
    folder.mkdir(parents=True)
    (folder / "r.jsonl").write_bytes(_lines(_meta(), _message("assistant", text)))
    if there:
        (tmp_path / ".codex" / "memories").mkdir()
        (tmp_path / ".codex" / "memories" / "MEMORY.md").write_text("what is remembered")
    (tmp_path / "secret").write_text("not to be opened")
    report = audit(tmp_path / target)
    assert str(report.references[0].status) == status
    assert [one for one in report.findings if one.severity is not Severity.INFO] == []


def test_the_same_words_of_a_user_or_an_event_cite_nothing(tmp_path: Path) -> None:
    event = _line("event_msg", {"type": "agent_message", "message": CITATION})
    assert _references(tmp_path, _meta(), _message("user", CITATION), event) == []


def test_a_flat_answer_cites_too(tmp_path: Path) -> None:
    bare = _message("assistant", CITATION)["payload"]
    assert len(_references(tmp_path, FLAT[0], bare)) == 3


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("", Citations()),
        ("<citation_entries>\na:1-2|note=[x]\n</citation_entries>", Citations()),
        ("<oai-mem-citation><thread_ids>\nt-1\r\n</thread_ids>", Citations(sessions=("t-1",))),
        ("<oai-mem-citation><rollout_ids>\nt-1", Citations()),
        (
            (
                "<oai-mem-citation><citation_entries>\n /etc/passwd:1-2|note=[x] \n"
                "../../a b:1:3-4|note=[y]\n:1-2|note=[z]\na:x-2|note=[z]\na:1-2|note=[z\n"
                "a:1-2\n</citation_entries></oai-mem-citation>"
            ),
            Citations(paths=("/etc/passwd", "../../a b:1")),
        ),
        (
            (
                "<oai-mem-citation><rollout_ids>\na\n</rollout_ids></oai-mem-citation>"
                "<oai-mem-citation><rollout_ids>\nb\n</rollout_ids></oai-mem-citation>"
            ),
            Citations(sessions=("a", "b")),
        ),
    ],
)
def test_the_syntax_of_citations(text: str, cited: Citations) -> None:
    assert find_citations(text) == cited


def test_citations_are_bounded_and_say_so(tmp_path: Path) -> None:
    lines = "".join(f"m{n}.md:1-2|note=[]\n" for n in range(MOST_CITATIONS + 1))
    text = f"<oai-mem-citation><citation_entries>\n{lines}</citation_entries></oai-mem-citation>"
    cited = find_citations(text)
    assert (len(cited.paths), cited.is_cut) == (MOST_CITATIONS, True)
    references = _references(tmp_path, _meta(), _message("assistant", text))
    assert len(references) == MOST_CITATIONS + 1
    assert references[-1].unsupported is not None


def test_citations_that_never_end_are_read_once() -> None:
    # A reader that starts again at each mark would need hours.
    assert find_citations("<oai-mem-citation>" * 300_000) == Citations()
    assert (
        find_citations("<oai-mem-citation><citation_entries>\n" + "|note=[" * 300_000)
        == Citations()
    )
    assert find_citations("<oai-mem-citation>" + ":1-2|note=[]\n" * 300_000) == Citations()


@given(
    st.text(alphabet=st.sampled_from("<>/oai-mem-citation_entries:1-2|note=[]\n "), max_size=300)
)
def test_any_text_can_be_looked_through(text: str) -> None:
    assert len(find_citations("<oai-mem-citation>" + text)) == 3


# --- hostile files -------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", [b'{"a":', b"["])
def test_a_line_200000_deep_is_a_fault_and_reading_goes_on(tmp_path: Path, opening: bytes) -> None:
    closing = b"}" if opening.startswith(b"{") else b"]"
    payload = opening * 200_000 + b"1" + closing * 200_000
    deep = b'{"timestamp":"t","type":"event_msg","payload":' + payload + b"}\n"
    for data, found in (
        (_lines(_meta()) + deep + _lines(_message("user", "x")), 2),
        (deep + _lines(_meta()), 1),
    ):
        records, faults = _read_bytes(tmp_path, data)
        assert len(records) == found
        assert _codes(faults) == ["record_over_limit"]
        assert Codex().identify(_head(data[: 64 << 10])) is (found == 2 or opening == b'{"a":')


def test_a_record_found_on_a_spliced_line_is_kept(tmp_path: Path) -> None:
    whole = _lines(_message("user", "x"))
    data = _lines(_meta()) + whole[:60] + whole
    records, faults = _read_bytes(tmp_path, data)
    assert _codes(faults) == ["spliced_line"]
    assert [record.value for record in records] == [_meta(), _message("user", "x")]


def test_welded_records_are_both_read(tmp_path: Path) -> None:
    data = _lines(_meta(), _call("a")).replace(b"\n", b"", 1)
    records, faults = _read_bytes(tmp_path, data)
    assert _codes(faults) == ["welded_records"]
    assert [record.line for record in records] == [1, 1]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "session_meta",
        "response_item",
        "event_msg",
        "compacted",
        "message",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "tool_search_call",
        "reasoning",
        "assistant",
        "user",
        "state",
        "server",
        CITATION,
    ]
)
FIELDS = st.sampled_from(
    [
        "timestamp", "type", "payload", "ordinal", "id", "call_id", "role", "content", "summary",
        "output", "action", "command", "text", "message", "replacement_history", "record_type",
        "instructions", "execution", "name", "session", "items",
    ]
)  # fmt: skip
OBJECTS = st.dictionaries(
    FIELDS,
    st.recursive(
        JSON | WORDS,
        lambda inner: st.dictionaries(FIELDS, inner, max_size=5) | st.lists(inner, max_size=3),
        max_leaves=12,
    ),
    max_size=7,
)


@given(st.lists(OBJECTS | JSON, max_size=6), st.booleans())
def test_any_json_lines_are_records_or_faults(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], has_meta: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    data = _lines(*([_meta()] if has_meta else []), *values)
    Codex().identify(_head(data))
    (folder / "a.jsonl").write_bytes(data)
    with _source(folder, "a.jsonl") as source:
        items = list(Codex().records(source))
        list(Codex().sessions(source))
    for item in items:
        if isinstance(item, Record):
            assert isinstance(item.text, str)
            assert isinstance(item.kind, str)
            list(Codex().references(item))
    objects = [value for value in values if isinstance(value, dict)]
    if not {"session", "items"} & set(objects[0] if objects else ()):
        assert [i.value for i in items if isinstance(i, Record)][has_meta:] == objects


@given(st.binary(max_size=300))
def test_any_bytes_are_records_or_faults(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.jsonl").write_bytes(_lines(_meta()) + data)
    with _source(folder, "a.jsonl") as source:
        assert isinstance(next(iter(Codex().records(source))), Record)
        list(Codex().records(source))


def test_a_folder_has_no_records(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root, root.open_directory() as directory:
        source = Source(name="x", directory=directory)
        assert list(Codex().records(source)) == list(Codex().sessions(source)) == []
