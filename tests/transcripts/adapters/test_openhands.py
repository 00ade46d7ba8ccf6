"""OpenHands: one file an event, or lines of them; the order, the pairs and what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import BackendName, Directory, TrustedRoot
from provenance.fs.directory import Entry
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.adapters.openhands import OpenHands
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.records import Call, CallResult, Fault, Record, Reference, Speaker
from provenance.transcripts.sources import Head, Source
from tests.trees import is_root

_FORMAT = OpenHands()
_DATA = "tests/data/transcripts/openhands"
_ID = "0123abcd-0000-0000-0000-00000000000"


@pytest.fixture
def events(tmp_path: Path) -> Path:
    folder = tmp_path / "conv-1" / "events"
    folder.mkdir(parents=True)
    return folder


def _event(number: int, **fields: object) -> dict[str, object]:
    return {
        "id": f"{_ID}{number}",
        "timestamp": "2026-03-02T14:00:00.000000",
        "source": "user",
        "kind": "MessageEvent",
        **fields,
    }


def _put(folder: Path, number: int, **fields: object) -> Path:
    path = folder / f"event-{number:05d}-{_ID}{number}.json"
    path.write_text(json.dumps(_event(number, **fields)))
    return path


@contextmanager
def _opened(
    path: Path, *, limits: Limits = DEFAULT_LIMITS, backend: BackendName = "auto"
) -> Iterator[Source]:
    """Open a folder of events below its tree's root, or a file of lines."""
    with TrustedRoot(path.parent, backend=backend) as root:
        if path.is_dir():
            with root.open_directory(path.name) as folder:
                yield Source(path.name, folder, None, limits, (path.parent.name,))
        else:
            with root.open_directory() as folder, folder.open_file(path.name) as file:
                yield Source(path.name, folder, file, limits)


def _read(
    path: Path, *, limits: Limits = DEFAULT_LIMITS, backend: BackendName = "auto"
) -> tuple[list[Record], list[Fault]]:
    with _opened(path, limits=limits, backend=backend) as source:
        found = list(_FORMAT.records(source))
    return (
        [item for item in found if isinstance(item, Record)],
        [item for item in found if isinstance(item, Fault)],
    )


def _codes(faults: list[Fault]) -> list[tuple[str, Severity]]:
    return [(fault.code, fault.severity) for fault in faults if fault.code != _ABSENT]


def _references(event: dict[str, object]) -> list[Reference]:
    return list(_FORMAT.references(Record(ordinal=1, kind="x", raw=b"", value=event)))


_ABSENT = "event_indices_absent"


def test_the_real_sample(checkout: Path) -> None:
    path = checkout / _DATA / "events.jsonl"
    with path.open("rb") as file:
        assert _FORMAT.identify(Head("notes.txt", file.read(65536)))
    records, faults = _read(path)
    assert faults == []
    assert [(record.ordinal, record.line) for record in records] == [(n, n) for n in range(1, 11)]
    calls = [(record.ordinal, call) for record in records for call in record.calls]
    assert calls == [
        (4, Call("chatcmpl-tool-9d0341c7a033ae28", "terminal")),
        (9, Call("chatcmpl-tool-9fa678118a57807d", "terminal")),
    ]
    results = [(record.ordinal, result.call_id) for record in records for result in record.results]
    assert results == [
        (5, "chatcmpl-tool-9d0341c7a033ae28"),
        (7, "chatcmpl-tool-9051d3d10f914188"),
        (10, "chatcmpl-tool-9fa678118a57807d"),
    ]
    kinds = [record.kind for record in records]
    assert kinds.count("ConversationStateUpdateEvent") == 5
    assert all(record.is_known and record.parent is None for record in records)
    assert [record.ordinal for record in records if record.speaker is None] == [1, 2, 3, 6, 8]
    # The action that record 7 names is not in the file.
    ids = {record.native_id for record in records}
    named = {
        record.ordinal: reference.records[0] in ids
        for record in records
        for reference in _FORMAT.references(record)
    }
    assert named == {5: True, 7: False, 10: True}
    with _opened(path) as source:
        assert list(_FORMAT.sessions(source)) == []
    data = path.read_bytes()
    for record in records:
        assert record.offset is not None
        assert data[record.offset : record.offset + len(record.raw)] == record.raw


def test_the_order_is_that_of_the_numbers(
    checkout: Path, tmp_path: Path, backend: BackendName
) -> None:
    path = Path(shutil.copytree(checkout / _DATA / "conversation", tmp_path / "conv")) / "events"
    assert sorted(os.listdir(path))[2].startswith("event-00002")
    assert sorted(os.listdir(path))[3].startswith("event-100000")
    records, faults = _read(path, backend=backend)
    numbers = [(record.member or "").split("-")[1] for record in records]
    assert numbers == ["00000", "00001", "00002", "99999", "100000"]
    assert [record.ordinal for record in records] == [1, 2, 3, 4, 5]
    assert {record.session for record in records} == {"conv"}
    calls = [(record.ordinal, call) for record in records for call in record.calls]
    assert calls == [(2, Call("call-oh-1", "terminal")), (4, Call("call-oh-2", "terminal"))]
    assert [record.results for record in records] == [
        (), (), (CallResult("call-oh-1"),), (), (CallResult("call-oh-2"),),
    ]  # fmt: skip
    assert [record.text for record in records] == [
        "List the files.", "", "README.md", "", "/workspace/project",
    ]  # fmt: skip
    assert [record.message_id for record in records] == [None, "resp-1", None, "resp-2", None]
    ids = {record.native_id for record in records}
    references = [one for record in records for one in _FORMAT.references(record)]
    assert [one.kind for one in references] == ["action_id", "action_id"]
    assert all(one.records[0] in ids for one in references)
    assert [(fault.code, fault.severity) for fault in faults] == [(_ABSENT, Severity.INFO)]
    assert faults[0].message == "number: expected each in turn, got 99996 absent (gaps: 1)"
    with _opened(path) as source:
        assert list(_FORMAT.sessions(source)) == ["conv"]
    assert records[0].raw == (path / (records[0].member or "")).read_bytes()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["event-00000-0123abcd.json"], True),
        ([".eventlog.lock", "event-100000-0123abcd-ef01.json"], True),
        (["event-0000-0123abcd.json"], False),
        (["event-00000-.json"], False),
        (["event-00000-0123abcd.jsonl"], False),
        (["event-٠٠٠٠٠-0123abcd.json"], False),
        (["base_state.json", "events"], False),
        ([], False),
    ],
)
def test_a_folder_is_told_by_its_names(names: list[str], expected: bool) -> None:
    assert _FORMAT.identify(Head("anything", names=names)) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"kind": "TokenEvent"}, True),
        ({"kind": "hologram"}, False),
        ({"source": "nobody"}, False),
        ({"source": ["user"]}, False),
        ({"timestamp": None}, False),
        ({"id": 5}, False),
    ],
)
def test_lines_are_told_by_an_event(change: dict[str, object], expected: bool) -> None:
    data = b'{"other": 1}\n' + json.dumps(_event(1, **change)).encode() + b"\n"
    assert _FORMAT.identify(Head("a.txt", data)) is expected


@pytest.mark.parametrize(
    ("name", "above", "session"),
    [
        ("events", ("tree", "conv-7"), "conv-7"),
        ("conv-7", ("tree",), "conv-7"),
        ("events", (), "events"),
    ],
)
def test_the_session_is_the_folder(
    events: Path, name: str, above: tuple[str, ...], session: str
) -> None:
    _put(events, 0)
    with TrustedRoot(events) as root, root.open_directory() as directory:
        source = Source(name, directory, None, DEFAULT_LIMITS, above)
        assert list(_FORMAT.sessions(source)) == [session]
        (record,) = _FORMAT.records(source)
    assert isinstance(record, Record)
    assert record.session == session


@pytest.mark.parametrize(
    ("root", "names", "session"),
    [
        ("conv-1/events", (), "conv-1"),
        ("conv-1", ("events",), "conv-1"),
        (".", ("conv-1", "events"), "conv-1"),
        ("link", (), "conv-1"),
        ("conv-2", (), "conv-2"),
        (".", ("conv-2",), "conv-2"),
    ],
)
def test_the_session_is_the_same_whichever_folder_is_the_root(
    events: Path, tmp_path: Path, root: str, names: tuple[str, ...], session: str
) -> None:
    _put(events, 0)
    (tmp_path / "conv-2").mkdir()
    _put(tmp_path / "conv-2", 0)
    (tmp_path / "link").symlink_to(events)
    candidate = Candidate(names, is_folder=True)
    with (
        TrustedRoot(tmp_path / root) as top,
        open_candidate(top, candidate, limits=DEFAULT_LIMITS) as opened,
    ):
        assert isinstance(opened.format, OpenHands)
        assert list(_FORMAT.sessions(opened.source)) == [session]
        records = [one for one in _FORMAT.records(opened.source) if isinstance(one, Record)]
    assert {record.session for record in records} == {session}


def test_one_number_for_two_files(events: Path) -> None:
    _put(events, 0)
    (events / "event-00000-ffffffff.json").write_text(json.dumps(_event(0, id="ffffffff")))
    (events / "event-000-eeeeeeee.json").write_text(json.dumps(_event(0, id="eeeeeeee")))
    _put(events, 1)
    records, faults = _read(events)
    assert [record.ordinal for record in records] == [1, 2, 3, 4]
    assert _codes(faults) == [("duplicate_index", Severity.ERROR)] * 2
    assert {fault.member for fault in faults} < {record.member for record in records}


def test_names_that_only_look_like_an_events(events: Path) -> None:
    _put(events, 0)
    for name in ("event-x-0123.json", "event-٣-0123abcd.json", "event-1.json"):
        (events / name).write_text("{}")
    for name in (".eventlog.lock", ".eventlog-count-1.marker", "event-00001-x.json.tmp", "a.json"):
        (events / name).write_text("")
    records, faults = _read(events)
    assert len(records) == 1
    assert _codes(faults) == [("event_name_invalid", Severity.WARNING)] * 3


def test_a_name_that_is_not_utf8_is_shown_as_text(events: Path) -> None:
    (events / os.fsdecode(b"event-00000-\xff.json")).write_text(json.dumps(_event(0)))
    (events / os.fsdecode(b"event-\xff.json")).write_text("")
    records, faults = _read(events)
    assert [record.member for record in records] == ["event-00000-\ufffd.json"]
    assert [(fault.code, fault.member) for fault in faults] == [
        ("event_id_mismatch", "event-00000-\ufffd.json"),
        ("event_name_invalid", "event-\ufffd.json"),
    ]


def test_an_id_that_is_not_that_of_the_name(events: Path) -> None:
    _put(events, 0)
    _put(events, 1, id="other-id")
    records, faults = _read(events)
    assert [record.native_id for record in records] == [f"{_ID}0", "other-id"]
    assert [(fault.code, fault.ordinal) for fault in faults] == [("event_id_mismatch", 2)]


def test_a_link_is_not_followed(events: Path, backend: BackendName) -> None:
    _put(events, 0)
    secret = events.parent / "secret.json"
    secret.write_text(json.dumps(_event(1)))
    (events / f"event-00001-{_ID}1.json").symlink_to(secret)
    _put(events, 2)
    records, faults = _read(events, backend=backend)
    assert [record.native_id for record in records] == [f"{_ID}0", f"{_ID}2"]
    assert _codes(faults) == [("ownership_boundary", Severity.ERROR)]
    assert faults[0].member == f"event-00001-{_ID}1.json"


def test_what_is_no_file(events: Path) -> None:
    (events / "event-00000-0123abcd.json").mkdir()
    os.mkfifo(events / "event-00001-0123abcd.json")
    _put(events, 2)
    records, faults = _read(events)
    assert [record.native_id for record in records] == [f"{_ID}2"]
    assert _codes(faults) == [("transcript_not_a_file", Severity.ERROR)] * 2


def test_a_file_that_vanishes(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(events, 0)
    listed = Directory.entries
    gone = Entry(f"event-00001-{_ID}1.json", "file")
    monkeypatch.setattr(Directory, "entries", lambda self: (*listed(self), gone))
    records, faults = _read(events)
    assert len(records) == 1
    assert _codes(faults) == [("source_disappeared", Severity.WARNING)]


@pytest.mark.skipif(is_root(), reason="root may read everything")
def test_a_file_that_may_not_be_read(events: Path) -> None:
    _put(events, 0).chmod(0)
    assert _codes(_read(events)[1]) == [("filesystem_denied", Severity.WARNING)]


def test_a_file_over_the_limit_keeps_its_place(events: Path) -> None:
    long = _put(events, 0, summary="x" * 3000)
    _put(events, 1)
    size = long.stat().st_size
    records, faults = _read(events, limits=Limits(max_foreign_record_bytes=size - 1))
    assert [record.ordinal for record in records] == [2]
    assert [(fault.code, fault.ordinal) for fault in faults] == [("record_over_limit", 1)]
    for ending in ("", "\n", "\r\n"):
        long.write_text(json.dumps(_event(0, summary="x" * 3000)) + ending)
        records, faults = _read(events, limits=Limits(max_foreign_record_bytes=size))
        assert (len(records), faults) == (2, [])
        assert len(records[0].raw) == size


def test_a_large_file_is_read(events: Path) -> None:
    _put(events, 0, summary="x" * (2 << 20))
    records, faults = _read(events)
    assert (len(records), faults) == (1, [])
    assert len(records[0].text) == 2 << 20


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "invalid_line"),
        (b"[]", "invalid_line"),
        (b'{"a": 1', "torn_line"),
        (b'{"a": 1, "b": tru', "torn_line"),
        (b"\0" * 300, "nul_line"),
        (b'\xef\xbb\xbf{"a": 1}', "invalid_line"),
        (b'{"a": "\xff"}', "invalid_line"),
        (b'{"a": 1, "a": 2}', "invalid_line"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "record_over_limit"),
    ],
)
def test_a_file_that_holds_no_event(events: Path, data: bytes, code: str) -> None:
    _put(events, 0).write_bytes(data)
    _put(events, 1)
    records, faults = _read(events)
    assert [record.native_id for record in records] == [f"{_ID}1"]
    assert [fault.code for fault in faults] == [code]
    assert faults[0].member == f"event-00000-{_ID}0.json"
    assert faults[0].session == "conv-1"


def test_two_events_in_one_file_are_both_given(events: Path) -> None:
    path = _put(events, 0)
    first, second = json.dumps(_event(0)), json.dumps(_event(7))
    path.write_text(first + second)
    _put(events, 1)
    records, faults = _read(events)
    assert [(record.native_id, record.ordinal, record.offset) for record in records] == [
        (f"{_ID}0", 1, 0), (f"{_ID}7", 2, len(first)), (f"{_ID}1", 3, 0),
    ]  # fmt: skip
    assert [(fault.code, fault.ordinal) for fault in faults] == [("welded_records", 1)]


def test_an_event_beside_a_hole_is_given(events: Path) -> None:
    _put(events, 0).write_bytes(b"\0" * 64 + json.dumps(_event(0)).encode())
    records, faults = _read(events)
    assert [(record.native_id, record.offset) for record in records] == [(f"{_ID}0", 64)]
    assert [(fault.code, fault.ordinal) for fault in faults] == [("nul_line", 1)]


def test_a_line_that_nests_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    deep = '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}"
    path.write_text(f"{json.dumps(_event(0))}\n{deep}\n{json.dumps(_event(1))}\n")
    records, faults = _read(path)
    assert [record.line for record in records] == [1, 3]
    assert [(fault.code, fault.line) for fault in faults] == [("record_over_limit", 2)]


def test_welded_lines_are_two_events(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(_event(0)) + json.dumps(_event(1)) + "\n")
    records, faults = _read(path)
    assert [record.native_id for record in records] == [f"{_ID}0", f"{_ID}1"]
    assert [fault.code for fault in faults] == ["welded_records"]


@pytest.mark.parametrize(
    ("fields", "speaker", "calls", "results"),
    [
        ({"kind": "MessageEvent", "source": "agent"}, Speaker.ASSISTANT, (), ()),
        ({"kind": "MessageEvent", "source": "environment"}, None, (), ()),
        (
            {"kind": "ActionEvent", "source": "agent", "tool_call": {"id": "c", "name": "n"}},
            Speaker.ASSISTANT,
            (Call("c", "n"),),
            (),
        ),
        ({"kind": "ActionEvent", "source": "agent"}, Speaker.ASSISTANT, (), ()),
        (
            {"kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "c"},
            Speaker.USER,
            (),
            (CallResult("c"),),
        ),
        (
            {"kind": "UserRejectObservation", "source": "environment", "tool_call_id": "c"},
            Speaker.USER,
            (),
            (CallResult("c"),),
        ),
        ({"kind": "SystemPromptEvent", "source": "agent"}, None, (), ()),
        ({"kind": "PauseEvent", "source": "user"}, None, (), ()),
        ({"kind": "hologram", "tool_call_id": "c"}, None, (), ()),
        ({"kind": 5, "tool_call_id": "c"}, None, (), ()),
    ],
)
def test_what_an_event_is(
    events: Path,
    fields: dict[str, object],
    speaker: Speaker | None,
    calls: tuple[Call, ...],
    results: tuple[CallResult, ...],
) -> None:
    _put(events, 0, **fields)
    (record,) = _read(events)[0]
    assert (record.speaker, record.calls, record.results) == (speaker, calls, results)
    assert record.is_known == (fields["kind"] not in ("hologram", 5))
    assert record.kind == (fields["kind"] if isinstance(fields["kind"], str) else "(none)")


@pytest.mark.parametrize(
    ("parent", "expected"), [("e1", "e1"), ("__root__", None), ("", None), (5, None), (None, None)]
)
def test_parents(events: Path, parent: object, expected: str | None) -> None:
    _put(events, 0, parent_id=parent)
    assert _read(events)[0][0].parent == expected


def test_one_call_of_another_agent_is_told_of_several_times(events: Path) -> None:
    def told(number: int, call: str, status: object) -> None:
        _put(events, number, kind="ACPToolCallEvent", source="agent", tool_call_id=call,
             status=status, tool_kind="edit")  # fmt: skip

    told(0, "a", "pending")
    told(1, "a", "in_progress")
    told(2, "b", "completed")
    told(3, "a", "failed")
    told(4, "a", "failed")
    told(5, "c", None)
    records, _ = _read(events)
    assert [[call.id for call in record.calls] for record in records] == [
        ["a"], [], ["b"], [], [], ["c"],
    ]  # fmt: skip
    assert [[one.call_id for one in record.results] for record in records] == [
        [], [], ["b"], ["a"], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("forgotten", "expected"),
    [
        (["e1", "e2", "e1"], ("e1", "e2")),
        (["e1", 5, None, ["e2"], ""], ("e1",)),
        ([], None),
        ("e1", None),
        ({"e1": 1}, None),
    ],
)
def test_what_a_summary_stands_for(forgotten: object, expected: tuple[str, ...] | None) -> None:
    event = _event(1, kind="Condensation", forgotten_event_ids=forgotten, summary="In short.")
    found = _references(event)
    if expected is None:
        assert found == []
    else:
        assert found == [Reference(kind="forgotten_event_ids", records=expected)]
    assert _references({**event, "kind": "MessageEvent"}) == []


def test_the_text_of_a_summary(events: Path) -> None:
    _put(events, 0, kind="Condensation", source="environment", summary="In short.")
    (record,) = _read(events)[0]
    assert (record.text, record.speaker) == ("In short.", None)


_NOTICE = (
    "start<response clipped><NOTE>Due to the max output limit, only part of the full response has "
    "been shown to you. The complete output has been saved to {} - you can use other tools to view "
    "the full content (truncated part starts around line 3).</NOTE>end"
)


@pytest.mark.parametrize(
    ("folder", "said", "expected"),
    [
        ("/w/obs", "/w/obs/terminal_output_0123abcd.txt", "/w/obs/terminal_output_0123abcd.txt"),
        ("/w/obs/", "/w/obs/terminal_output_0123abcd.txt", "/w/obs/terminal_output_0123abcd.txt"),
        ("/w/obs", "/w/observations/terminal_output_0123abcd.txt", None),
        ("/w/obs", "/etc/passwd", None),
        (None, "/w/obs/terminal_output_0123abcd.txt", None),
        ("/w/obs/terminal_output_0123abcd.txt", "", "/w/obs/terminal_output_0123abcd.txt"),
        ("/w/obs", "", None),
    ],
)
def test_the_file_of_a_whole_output(folder: object, said: str, expected: str | None) -> None:
    text = _NOTICE.format(said) if said else "short"
    event = _event(
        1,
        kind="ObservationEvent",
        observation={"content": [{"text": text}], "full_output_save_dir": folder},
    )
    found = [one.file.path for one in _references(event) if one.file is not None]
    assert found == ([] if expected is None else [expected])


def test_thousands_of_events_in_bounded_memory(events: Path) -> None:
    count = 3000
    for number in range(count):
        _put(events, number, summary="x" * 2000)
    with _opened(events) as source:
        tracemalloc.start()
        try:
            seen = 0
            for item in _FORMAT.records(source):
                assert isinstance(item, Record)
                seen += 1
                assert item.ordinal == seen
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert seen == count
    # The names take some; the events together would take 6 MB.
    assert peak < 3_000_000


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    [
        "id", "kind", "source", "timestamp", "parent_id", "tool_call_id", "tool_name", "tool_call",
        "observation", "llm_message", "action_id", "llm_response_id", "forgotten_event_ids",
        "summary", "status", "thought", "error",
    ]
)  # fmt: skip
_KINDS = st.sampled_from(
    ["ActionEvent", "ObservationEvent", "MessageEvent", "Condensation", "ACPToolCallEvent"]
)
_INNER = st.dictionaries(
    st.sampled_from(["content", "full_output_save_dir", "id", "name", "arguments", "text"]), _JSON
)
_EVENTS = st.dictionaries(_FIELDS, _JSON | _INNER, max_size=8).flatmap(
    lambda event: st.one_of(st.just(event), _KINDS.map(lambda kind: {**event, "kind": kind}))
)


@given(st.lists(_EVENTS | _JSON, max_size=6))
def test_nothing_that_an_event_holds_raises(values: list[object]) -> None:
    objects = [value for value in values if isinstance(value, dict)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "events")
        folder.mkdir()
        for number, value in enumerate(values):
            (folder / f"event-{number:05d}-0123abcd.json").write_text(json.dumps(value))
        lines = Path(name, "events.jsonl")
        lines.write_text("".join(f"{json.dumps(value)}\n" for value in values))
        for records, _ in (_read(folder), _read(lines)):
            assert [json.loads(record.raw) for record in records] == objects
            for record in records:
                assert isinstance(record.text, str)
                list(_FORMAT.references(record))
