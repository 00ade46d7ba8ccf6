"""The sessions of the OpenAI Agents SDK: rows, their places, and what is wrong with them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import BoundaryRefused
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.adapters._openai_items import calls_of, kind_of, results_of
from provenance.transcripts.adapters.openai_agents import OpenAIAgents
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker
from provenance.transcripts.sources import Head, SourceUnreadable, read_head
from tests.transcripts.containers.databases import MESSAGES, SESSIONS, add, make, opened, snapshot

_FORMAT = OpenAIAgents()


@pytest.fixture
def sample(checkout: Path, tmp_path: Path) -> Path:
    name = "tests/data/transcripts/openai-agents/sessions.db"
    return Path(shutil.copy(checkout / name, tmp_path / "sessions.db"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "a.db", SESSIONS, MESSAGES, "INSERT INTO agent_sessions (session_id) "
                "VALUES ('s1')")  # fmt: skip


@contextmanager
def _writer(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        yield made


def _read(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Record], list[Fault]]:
    with opened(path, limits=limits) as source:
        found = list(_FORMAT.records(source))
    return (
        [item for item in found if isinstance(item, Record)],
        [item for item in found if isinstance(item, Fault)],
    )


def _sessions(path: Path) -> list[str]:
    with opened(path) as source:
        return list(_FORMAT.sessions(source))


def _identified(path: Path) -> bool:
    with opened(path) as source:
        assert source.file is not None
        return _FORMAT.identify(read_head(source.file, source.name))


def test_the_sample(sample: Path) -> None:
    before = snapshot(sample.parent)
    assert _identified(sample)
    assert _sessions(sample) == ["chat-1", "chat-2", "chat-3"]
    records, faults = _read(sample)
    places = [(record.session, record.ordinal, record.native_id) for record in records]
    assert places == [
        ("chat-1", 1, "1"),
        ("chat-1", 2, "2"),
        ("chat-1", 3, "3"),
        ("chat-1", 4, "4"),
        ("chat-2", 1, "5"),
        ("chat-2", 2, "6"),
        ("chat-2", 3, "8"),
        ("chat-1", 5, "12"),
        ("chat-3", 1, "13"),
    ]
    calls = [(record.native_id, call) for record in records for call in record.calls]
    assert calls == [("2", Call("call_1", "read_config")), ("6", Call("call_2", "start"))]
    assert [record.results for record in records if record.results] == [(CallResult("call_1"),)]
    assert [record.speaker for record in records[:4]] == [
        Speaker.USER, Speaker.ASSISTANT, Speaker.USER, Speaker.ASSISTANT,
    ]  # fmt: skip
    assert [record.text for record in records[:4]] == [
        "Which port?", '{"key":"port"}', "8443", "8443",
    ]  # fmt: skip
    assert all(record.is_known for record in records)
    assert (records[0].time, records[-1].time) == ("2026-03-02T16:00:01Z", "2026-03-02T16:00:13Z")
    assert records[0].raw == b'{"role": "user", "content": "Which port?"}'
    # The same JSON id stands in three of them; it is nobody's address.
    assert sum(record.value.get("id") == "__fake_id__" for record in records) == 3
    assert [(f.code, f.severity, f.native_id, f.session, f.ordinal) for f in faults] == [
        ("torn_line", Severity.ERROR, "7", "chat-2", None),
        ("session_row_absent", Severity.WARNING, "13", "chat-3", None),
        ("row_ids_absent", Severity.INFO, None, None, None),
    ]
    assert faults[-1].message == "row id: expected each in turn, got 3 absent (gaps: 1)"
    assert snapshot(sample.parent) == before


def test_rows_that_are_still_in_the_log(path: Path) -> None:
    make(path, "PRAGMA journal_mode=WAL")
    with _writer(path) as writer:
        add(writer, ['{"role": "user", "content": "the last row"}'])
        assert b"the last row" not in path.read_bytes()
        before = snapshot(path.parent)
        records, faults = _read(path)
        assert ([record.text for record in records], faults) == (["the last row"], [])
        assert snapshot(path.parent) == before


def test_a_database_whose_tables_are_still_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with _writer(path) as writer:
        # As the SDK begins one: this is what a running agent's file looks like.
        for statement in ("PRAGMA journal_mode=WAL", SESSIONS, MESSAGES):
            writer.execute(statement)
        add(writer, ['{"role": "user", "content": "x"}'])
        assert b"agent_messages" not in path.read_bytes()
        assert _identified(path)
        assert len(_read(path)[0]) == 1
        assert _sessions(path) == ["s1"]


def test_another_programs_log_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with _writer(path) as writer:
        for statement in ("PRAGMA journal_mode=WAL", "CREATE TABLE visits (id)"):
            writer.execute(statement)
        assert _identified(path)
        records, faults = _read(path)
        assert (
            records,
            [(fault.code, fault.severity) for fault in faults],
        ) == ([], [("tables_absent", Severity.INFO)])
        assert _sessions(path) == []
    assert not _identified(path)
    with pytest.raises(SourceUnreadable) as caught:
        _read(path)
    assert caught.value.fault == "container_invalid"
    with pytest.raises(SourceUnreadable):
        _sessions(path)


def test_a_locked_database(path: Path) -> None:
    with _writer(path) as writer:
        add(writer, ['{"role": "user", "content": "committed"}'])
        writer.execute("BEGIN EXCLUSIVE")
        add(writer, ['{"role": "user", "content": "not yet"}'])
        assert [record.text for record in _read(path)[0]] == ["committed"]


def test_a_log_that_is_a_link(path: Path) -> None:
    path.with_name("a.db-wal").symlink_to("/etc/hostname")
    with pytest.raises(BoundaryRefused):
        _read(path)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.db", b"", False),
        ("agent_sessions.db", b"CREATE TABLE agent_sessions CREATE TABLE agent_messages", False),
        ("a.db", b'{"agent_messages": 1, "agent_sessions": 2}', False),
    ],
)
def test_what_is_none(name: str, data: bytes, expected: bool) -> None:
    assert _FORMAT.identify(Head(name=name, data=data)) is expected


def test_a_database_that_only_talks_about_the_tables(tmp_path: Path) -> None:
    path = make(
        tmp_path / "a.db",
        "CREATE TABLE notes (words)",
        "INSERT INTO notes VALUES ('agent_messages and agent_sessions')",
    )
    assert not _identified(path)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("", "invalid_line"),
        ("[1]", "invalid_line"),
        ('{"role": "user", "content": NaN}', "invalid_line"),
        ('{"a": 1, "a": 2}', "invalid_line"),
        ('{"a": 1', "torn_line"),
        (b'{"a": "\xff"}', "invalid_line"),
        (b'{"a": 1}\0\0', "nul_line"),
        (5, "invalid_line"),
        (2.5, "invalid_line"),
    ],
)
def test_a_row_that_is_no_item(path: Path, data: object, code: str) -> None:
    with _writer(path) as writer:
        writer.execute("DROP TABLE agent_messages")
        writer.execute(MESSAGES.replace("message_data TEXT NOT NULL", "message_data"))
        add(writer, [data, '{"role": "user", "content": "after"}'])
    records, faults = _read(path)
    assert [(record.ordinal, record.native_id) for record in records] == [(1, "2")]
    assert [(f.code, f.native_id, f.session, f.ordinal) for f in faults] == [
        (code, "1", "s1", None)
    ]


def test_two_items_in_one_row_are_both_given(path: Path) -> None:
    items = ['{"role": "user", "content": "one"}', '{"role": "user", "content": "two"}']
    with _writer(path) as writer:
        add(writer, ["".join(items), items[0]])
    records, faults = _read(path)
    assert [(record.ordinal, record.native_id, record.text) for record in records] == [
        (1, "1", "one"), (2, None, "two"), (3, "2", "one"),
    ]  # fmt: skip
    assert [(f.code, f.ordinal, f.native_id, f.session) for f in faults] == [
        ("welded_records", 1, "1", "s1")
    ]


@pytest.mark.parametrize("data", ['{"a":' + "[" * 200_000 + "]" * 200_000 + "}", "[" * 200_000])
def test_a_row_that_nests_too_deep(path: Path, data: str) -> None:
    with _writer(path) as writer:
        add(writer, [data, '{"role": "user", "content": "after"}'])
    records, faults = _read(path)
    assert [(record.ordinal, record.native_id) for record in records] == [(2, "2")]
    assert [(fault.code, fault.ordinal, fault.native_id) for fault in faults] == [
        ("record_over_limit", 1, "1")
    ]


def test_an_item_in_a_blob_is_an_item(path: Path) -> None:
    with _writer(path) as writer:
        add(writer, [b'{"role": "user", "content": "x"}'])
    records, faults = _read(path)
    assert ([record.text for record in records], faults) == (["x"], [])


@pytest.mark.parametrize("session", [None, 5, 1.5, b"s1", "bad"])
def test_a_session_that_is_no_text(path: Path, session: object) -> None:
    with _writer(path) as writer:
        writer.execute("DROP TABLE agent_messages")
        writer.execute(MESSAGES.replace("session_id TEXT NOT NULL", "session_id"))
        add(writer, ['{"role": "user"}'], session)
        if session == "bad":
            writer.execute("UPDATE agent_messages SET session_id = CAST(x'ff' AS TEXT)")
    records, faults = _read(path)
    assert records == []
    assert [(fault.code, fault.native_id, fault.session) for fault in faults] == [
        ("invalid_line", "1", None)
    ]
    assert _sessions(path) == ["s1"]


def test_a_row_over_the_limit_keeps_its_place(path: Path) -> None:
    with _writer(path) as writer:
        add(writer, ['{"a": 1}', json.dumps({"a": "x" * 200}), '{"a": 3}'])
        add(writer, [json.dumps({"a": "x" * (2 << 20)}), '{"a": 5}'])
    records, faults = _read(path, limits=Limits(max_foreign_record_bytes=100))
    assert [(record.ordinal, record.native_id) for record in records] == [
        (1, "1"), (3, "3"), (5, "5"),
    ]  # fmt: skip
    assert [(f.code, f.ordinal, f.native_id, f.session) for f in faults] == [
        ("record_over_limit", 2, "2", "s1"),
        ("record_over_limit", 4, "4", "s1"),
    ]
    assert _read(path)[1] == []


@pytest.mark.parametrize(
    ("deleted", "message"),
    [
        ("id IN (1, 2)", "got 2 absent (gaps: 1)"),
        ("id IN (2, 3, 5)", "got 3 absent (gaps: 2)"),
        ("id = 6", "got 1 absent (gaps: 1)"),
        ("id > 0", "got 6 absent (gaps: 1)"),
        ("id < 0", None),
    ],
)
def test_deleted_rows_are_counted(path: Path, deleted: str, message: str | None) -> None:
    with _writer(path) as writer:
        add(writer, ['{"role": "user"}'] * 6)
        writer.execute(f"DELETE FROM agent_messages WHERE {deleted}")
    faults = _read(path)[1]
    if message is None:
        assert faults == []
    else:
        assert [fault.message.partition(", ")[2] for fault in faults] == [message]


def test_without_a_count_of_sqlites_own_the_end_is_not_known(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", SESSIONS, MESSAGES.replace(" AUTOINCREMENT", ""))
    make(path, "INSERT INTO agent_sessions (session_id) VALUES ('s1')")
    with _writer(path) as writer:
        add(writer, ['{"role": "user"}'] * 3)
        writer.execute("DELETE FROM agent_messages WHERE id = 3")
    assert _read(path)[1] == []


def test_a_session_without_a_row_is_named_once(path: Path) -> None:
    with _writer(path) as writer:
        add(writer, ["no json", '{"role": "user"}', '{"role": "user"}'], "ghost")
        add(writer, ['{"role": "user"}'])
    records, faults = _read(path)
    assert [(fault.code, fault.native_id) for fault in faults] == [
        ("session_row_absent", "1"),
        ("invalid_line", "1"),
    ]
    assert [(record.session, record.ordinal) for record in records] == [
        ("ghost", 1), ("ghost", 2), ("s1", 1),
    ]  # fmt: skip
    assert _sessions(path) == ["s1", "ghost"]


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2026-03-02 16:00:01", "2026-03-02T16:00:01Z"),
        ("2026-03-02 16:00:01.25", "2026-03-02T16:00:01.25Z"),
        ("2026-03-02T16:00:01+01:00", "2026-03-02T16:00:01+01:00"),
        ("2026-03-02 16:00:01 ", "2026-03-02 16:00:01 "),
        ("٢٠٢٦-03-02 16:00:01", "٢٠٢٦-03-02 16:00:01"),
        ("x" * 65, None),
        (None, None),
        (5, None),
        (b"2026-03-02 16:00:01", None),
    ],
)
def test_times(path: Path, time: object, expected: str | None) -> None:
    with _writer(path) as writer:
        writer.execute("DROP TABLE agent_messages")
        writer.execute(MESSAGES.replace("created_at TIMESTAMP", "created_at"))
        add(writer, ['{"role": "user"}'])
        writer.execute("UPDATE agent_messages SET created_at = ?", (time,))
    assert [record.time for record in _read(path)[0]] == [expected]


_PAIRS = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("computer_call", "computer_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("tool_search_call", "tool_search_output"),
    ("program", "program_output"),
]


@pytest.mark.parametrize(("call", "output"), _PAIRS)
def test_calls_and_their_results(path: Path, call: str, output: str) -> None:
    with _writer(path) as writer:
        add(writer, [json.dumps({"type": kind, "call_id": "c"}) for kind in (call, output)])
    first, second = _read(path)[0]
    assert (first.calls, first.results, first.speaker) == ((Call("c"),), (), Speaker.ASSISTANT)
    assert (second.calls, second.results, second.speaker) == ((), (CallResult("c"),), Speaker.USER)
    assert first.is_known
    assert second.is_known
    assert calls_of({"type": call, "call_id": None}) == ()
    assert results_of({"type": output, "call_id": 5}) == ()


def test_the_result_of_a_local_shell_may_name_its_call_otherwise() -> None:
    item = {"type": "local_shell_call_output", "id": "c"}
    assert results_of(item) == (CallResult("c"),)
    assert results_of({**item, "id": "__fake_id__"}) == ()
    assert results_of({"type": "function_call_output", "id": "c"}) == ()


@pytest.mark.parametrize(
    ("item", "kind", "speaker", "known"),
    [
        ({"role": "user"}, "message", Speaker.USER, True),
        ({"role": "assistant", "type": None}, "message", Speaker.ASSISTANT, True),
        ({"role": "system"}, "message", None, True),
        ({"role": "developer", "type": "message"}, "message", None, True),
        ({"type": "reasoning", "summary": []}, "reasoning", Speaker.ASSISTANT, True),
        ({"type": "web_search_call"}, "web_search_call", Speaker.ASSISTANT, True),
        ({"type": "mcp_call", "output": "x"}, "mcp_call", Speaker.ASSISTANT, True),
        ({"type": "mcp_approval_response"}, "mcp_approval_response", Speaker.USER, True),
        ({"type": "compaction"}, "compaction", None, True),
        ({"__enc__": 1, "payload": "x"}, "encrypted", None, True),
        ({"type": "hologram", "role": "user"}, "hologram", None, False),
        ({"type": 5, "role": "user"}, "(none)", None, False),
        ({"role": 5}, "(none)", None, False),
        ({}, "(none)", None, False),
    ],
)
def test_kinds(
    path: Path, item: dict[str, object], kind: str, speaker: Speaker | None, known: bool
) -> None:
    with _writer(path) as writer:
        add(writer, [json.dumps(item)])
    (record,) = _read(path)[0]
    assert (record.kind, record.speaker, record.is_known) == (kind, speaker, known)
    assert (record.calls, record.results) == ((), ())


def test_an_item_that_is_kept_elsewhere(path: Path) -> None:
    with _writer(path) as writer:
        add(writer, ['{"type": "item_reference", "id": "msg_1"}', '{"role": "user"}'])
    first, second = _read(path)[0]
    (reference,) = _FORMAT.references(first)
    assert reference.unsupported is not None
    assert reference.is_optional
    assert list(_FORMAT.references(second)) == []


def test_thousands_of_sessions(path: Path) -> None:
    with _writer(path) as writer:
        writer.execute("BEGIN")
        for number in range(3000):
            add(writer, ['{"role": "user"}'] * 2, f"s{number}")
        writer.execute("COMMIT")
    records, faults = _read(path)
    assert len(records) == 6000
    assert {record.ordinal for record in records} == {1, 2}
    assert {fault.code for fault in faults} == {"session_row_absent"}
    assert len(faults) == 2999


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    [
        "type",
        "role",
        "id",
        "call_id",
        "name",
        "content",
        "summary",
        "output",
        "arguments",
        "__enc__",
    ]
)
_KINDS = st.sampled_from([*dict(_PAIRS), *dict(_PAIRS).values(), "message", "item_reference"])
_ITEMS = st.dictionaries(_FIELDS, _JSON | _KINDS, max_size=6)


@given(st.lists(_ITEMS | _JSON, max_size=8), st.lists(st.binary(max_size=40), max_size=4))
def test_nothing_that_a_row_holds_raises(items: list[object], blobs: list[bytes]) -> None:
    rows = [json.dumps(item) for item in items] + blobs
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder, "a.db"), SESSIONS, MESSAGES)
        with _writer(path) as writer:
            add(writer, rows)
        records, faults = _read(path)
        objects = [item for item in items if isinstance(item, dict)]
        assert [json.loads(record.raw) for record in records[: len(objects)]] == objects
        assert len(records) + len([f for f in faults if f.code != "session_row_absent"]) == len(
            rows
        )
        for record in records:
            assert isinstance(record.text, str)
            assert kind_of(record.value) == record.kind
            list(_FORMAT.references(record))
        assert os.listdir(folder) == ["a.db"]
