from __future__ import annotations

import contextlib
import json
import pickle
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters.inspect_log import InspectLog
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.records import (
    Call,
    CallResult,
    Fault,
    Pooled,
    Record,
    Reference,
    Speaker,
)
from provenance.transcripts.sources import HEAD_BYTES, Head, Source, SourceUnreadable
from tests.transcripts.containers.zips import Part, make_zip

FORMAT = InspectLog()
SAMPLE = Path(__file__).parents[2] / "data/transcripts/inspect/log_message_deduplication.eval"
MEMBER = "samples/0_epoch_1.json"
HASH = "0123456789abcdef" * 2

MESSAGES: list[Any] = [
    {"id": "m1", "role": "system", "content": "Be good."},
    {"id": "m2", "role": "user", "content": "Look."},
    {
        "id": "m3",
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Yes."}],
        "tool_calls": [{"id": "c1", "function": "bash", "arguments": {}}],
    },
    {"id": "m4", "role": "tool", "tool_call_id": "c1", "content": "out"},
]
EVENTS: list[Any] = [
    {"uuid": "e1", "event": "span_begin", "timestamp": "2025-10-06T10:15:43+00:00", "id": "s1",
     "parent_id": "s0", "span_id": "s1"},
    {"uuid": "e2", "event": "model", "timestamp": "2025-10-06T10:15:44+00:00",
     "output": {"choices": [{"message": {"role": "assistant", "content": "Yes.",
                                         "tool_calls": [{"id": "c1", "function": "bash"}]}}]}},
    {"uuid": "e3", "event": "tool", "id": "c1", "result": "out", "message_id": "m4"},
]  # fmt: skip
HEADER = {"version": 2, "status": "success", "eval": {}}


def sample(**changed: Any) -> dict[str, Any]:
    return {"id": 7, "epoch": 2, "messages": MESSAGES, "events": EVENTS} | changed


def to_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()


def log_of(members: dict[str, Any], *, header: bool = True) -> bytes:
    parts = [Part("_journal/start.json", to_bytes(HEADER))]
    parts += [Part(name, to_bytes(value)) for name, value in members.items()]
    if header:
        parts.append(Part("header.json", to_bytes(HEADER)))
    return make_zip(parts)


class Reading:
    """What a source gave."""

    def __init__(self, items: list[Record | Fault], sessions: list[str]) -> None:
        self.records = [item for item in items if isinstance(item, Record)]
        self.faults = [item for item in items if isinstance(item, Fault)]
        self.codes = [fault.code for fault in self.faults]
        self.sessions = sessions
        self.pooled: list[Pooled] = []

    @property
    def counts(self) -> tuple[int, int, int]:
        calls = sum(len(record.calls) for record in self.records)
        return len(self.records), calls, sum(len(record.results) for record in self.records)

    def references(self, kind: str) -> list[Reference]:
        found = (one for record in self.records for one in FORMAT.references(record))
        return [one for one in found if one.kind == kind]

    def members(self, kind: str) -> list[tuple[str, bool]]:
        return [member for one in self.references(kind) for member in one.members]


@contextlib.contextmanager
def source_of(folder: Path, data: bytes, limits: Limits) -> Iterator[Source]:
    (folder / "a.eval").write_bytes(data)
    with (
        TrustedRoot(folder) as root,
        root.open_directory() as directory,
        directory.open_file("a.eval") as file,
    ):
        yield Source("a.eval", directory, file, limits)


def read(folder: Path, data: bytes, limits: Limits = Limits()) -> Reading:  # noqa: B008
    with source_of(folder, data, limits) as source:
        found = Reading(list(FORMAT.records(source)), list(FORMAT.sessions(source)))
        found.pooled = list(FORMAT.pooled_parts(source))
        return found


def read_one(folder: Path, value: Any) -> Reading:
    """Read a log of one sample; its bytes, or its value."""
    return read(folder, log_of({"samples/7_epoch_2.json": value}))


# --- the real sample: the facts of shared/data/README.md


def test_the_real_sample_has_the_facts_that_are_known_of_it(tmp_path: Path) -> None:
    found = read(tmp_path, SAMPLE.read_bytes())
    assert found.faults == []
    assert found.sessions == ["0_epoch_1"]
    assert found.counts == (12 + 42, 5, 5)
    assert {record.session for record in found.records} == {"0_epoch_1"}
    assert [record.ordinal for record in found.records] == list(range(1, 55))
    assert all(record.is_known for record in found.records)
    events = found.records[12:]
    assert len({record.native_id for record in events}) == 42
    assert all(record.time is not None and record.parent is None for record in events)
    assert found.members("attachment") == [("ddc588d90e1c276163c3a0eec966c6af", True)] * 7
    assert found.members("message_pool")[-1] == ("message_pool[0:11]", True)
    assert all(is_there for _, is_there in found.members("message_pool"))
    ids = {record.native_id for record in found.records[:12]}
    named = [one.records[0] for one in found.references("message_id")]
    assert len(named) == 5
    assert set(named) < ids


def test_the_bytes_of_a_record_are_those_of_its_member(tmp_path: Path) -> None:
    found = read(tmp_path, SAMPLE.read_bytes())
    with zipfile.ZipFile(SAMPLE) as theirs:
        data = theirs.read(MEMBER)
    value = json.loads(data)
    for record, expected in zip(found.records, value["messages"] + value["events"], strict=True):
        assert record.offset is not None
        assert data[record.offset : record.offset + len(record.raw)] == record.raw
        assert json.loads(record.raw) == record.value == expected
        assert (record.member, record.line) == (MEMBER, None)


def test_the_format_is_of_the_shape_that_is_asked_for() -> None:
    assert isinstance(FORMAT, TranscriptFormat)
    assert FORMAT.name == "inspect"
    assert FORMAT.has_separate_sessions


# --- telling the format


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SAMPLE.read_bytes()[:HEAD_BYTES], True),
        (SAMPLE.read_bytes()[:100], True),
        (log_of({}), True),
        (make_zip([Part("samples/1_epoch_1.json", b"{}")]), True),
        (make_zip([Part("a", b"x" * 999), Part("header.json", b"{}")]), True),
        (make_zip([Part("word/document.xml", b"_journal/start.json header.json")]), False),
        (make_zip([Part("xheader.json", b"{}")]), False),
        (make_zip([]), False),
        (b"", False),
        (b"PK\x03\x04" * 1000, False),
        (to_bytes({"version": 2, "status": "success", "eval": {}, "samples": []}), True),
        (json.dumps({"version": 2, "status": "error", "eval": {}}, indent=2).encode(), True),
        (to_bytes({"version": 2, "status": "success", "evaluation": {}}), False),
        (to_bytes({"type": "user", "version": 2, "status": "success", "eval": {}}), False),
    ],
)
def test_identify(data: bytes, expected: bool) -> None:
    for name in ("a.eval", "a.json", "no-suffix"):
        assert FORMAT.identify(Head(name=name, data=data)) is expected
    assert not FORMAT.identify(Head(name="a.eval", names=["header.json"]))


# --- records


def test_messages_and_events_become_records(tmp_path: Path) -> None:
    found = read_one(tmp_path, sample())
    assert found.faults == []
    assert found.counts == (7, 1, 1)
    assert [(one.kind, one.native_id, one.speaker) for one in found.records] == [
        ("message/system", "m1", None),
        ("message/user", "m2", Speaker.USER),
        ("message/assistant", "m3", Speaker.ASSISTANT),
        ("message/tool", "m4", None),
        ("span_begin", "e1", None),
        ("model", "e2", None),
        ("tool", "e3", None),
    ]
    assert found.records[2].calls == (Call("c1", "bash"),)
    assert found.records[3].results == (CallResult("c1"),)
    assert [one.text for one in found.records] == [
        "Be good.", "Look.", "Hm.\nYes.", "out", "", "Yes.", "out",
    ]  # fmt: skip
    assert found.records[4].time == "2025-10-06T10:15:43+00:00"


@pytest.mark.parametrize("messages", [[], None, "absent", 7, {}])
def test_without_messages_calls_are_those_of_the_events(tmp_path: Path, messages: Any) -> None:
    value = sample(messages=messages)
    if messages == "absent":
        del value["messages"]
    found = read_one(tmp_path, value)
    assert found.counts == (3, 1, 1)
    assert found.records[1].calls == (Call("c1", "bash"),)
    assert found.records[1].speaker is Speaker.ASSISTANT
    assert found.records[2].results == (CallResult("c1"),)


def test_a_tool_that_still_runs_has_no_result(tmp_path: Path) -> None:
    events = [EVENTS[1], EVENTS[2] | {"pending": True}]
    assert read_one(tmp_path, sample(messages=[], events=events)).counts == (2, 1, 0)


def test_events_before_messages_come_first(tmp_path: Path) -> None:
    value = {"events": EVENTS, "id": 7, "epoch": 2, "messages": MESSAGES}
    found = read_one(tmp_path, value)
    assert [one.native_id for one in found.records] == ["e1", "e2", "e3", "m1", "m2", "m3", "m4"]
    assert [one.ordinal for one in found.records] == list(range(1, 8))
    assert found.counts == (7, 1, 1)


def test_what_nobody_knows_is_kept(tmp_path: Path) -> None:
    found = read_one(
        tmp_path,
        sample(messages=[{"role": "oracle"}, 7, "x", None], events=[{"event": "hologram"}, []]),
    )
    assert found.faults == []
    assert [(one.kind, one.is_known) for one in found.records] == [
        ("message/oracle", False), ("(none)", False), ("(none)", False), ("(none)", False),
        ("hologram", False), ("(none)", False),
    ]  # fmt: skip
    assert [one.raw for one in found.records[1:4]] == [b"7", b'"x"', b"null"]


def test_each_sample_is_a_session_with_ordinals_of_its_own(tmp_path: Path) -> None:
    members = {
        "samples/a/b_epoch_1.json": sample(id="a/b", epoch=1),
        "samples/é x_epoch_2.json": sample(id="é x"),
        "samples/7_epoch_2.json": sample(),
    }
    found = read(tmp_path, log_of(members))
    assert found.faults == []
    assert found.sessions == ["a/b_epoch_1", "é x_epoch_2", "7_epoch_2"]
    assert [(one.session, one.ordinal) for one in found.records] == [
        (session, ordinal) for session in found.sessions for ordinal in range(1, 8)
    ]


def test_a_record_can_be_sent_to_another_process(tmp_path: Path) -> None:
    for record in read(tmp_path, SAMPLE.read_bytes()).records:
        again = pickle.loads(pickle.dumps(record))
        assert again.raw == record.raw
        assert list(FORMAT.references(again)) == list(FORMAT.references(record))


# --- what a log says of itself


def test_a_sample_under_the_name_of_another_is_a_warning(tmp_path: Path) -> None:
    found = read_one(tmp_path, sample(epoch=3))
    assert [(one.code, one.severity) for one in found.faults] == [
        ("inspect_sample_mismatch", Severity.WARNING)
    ]
    assert found.counts == (7, 1, 1)
    value = sample()
    del value["epoch"]
    assert read_one(tmp_path, value).faults == []


def test_a_sample_that_is_no_object_is_an_error(tmp_path: Path) -> None:
    found = read_one(tmp_path, [1, 2])
    assert (found.codes, found.counts) == (["inspect_sample_invalid"], (0, 0, 0))


@pytest.mark.parametrize("name", ["summaries.json", "_journal/summaries/1.json"])
def test_a_sample_that_the_summary_names_alone_is_a_warning(tmp_path: Path, name: str) -> None:
    summary = [{"id": 7, "epoch": 2}, {"id": "8", "epoch": 1}, {"id": None}, 5]
    found = read(tmp_path, log_of({"samples/7_epoch_2.json": sample(), name: summary}))
    assert [(one.code, one.session, one.member) for one in found.faults] == [
        ("inspect_sample_absent", "8_epoch_1", name)
    ]


def test_a_log_without_its_end_is_information(tmp_path: Path) -> None:
    found = read(tmp_path, log_of({"samples/7_epoch_2.json": sample()}, header=False))
    assert [(one.code, one.severity) for one in found.faults] == [
        ("inspect_log_unfinished", Severity.INFO)
    ]


def test_another_archive_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        read(tmp_path, make_zip([Part("word/document.xml", b"<x/>")]))
    assert caught.value.fault == "container_invalid"


# --- references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"attachment://{HASH}", [(HASH, True)]),
        ("attachment://" + "f" * 32, [("f" * 32, False)]),
        ("attachment://12", [("12", False)]),
        (f"see attachment://{HASH} there", [(HASH, True)]),
        ("see attachment://12 there", []),
        ("attachment://", []),
        ("attachment://" + "f" * 33 + " and more", []),
        (f"https://{HASH}", []),
    ],
)
def test_attachments_are_there_or_not(
    tmp_path: Path, text: str, expected: list[tuple[str, bool]]
) -> None:
    message = {"role": "user", "content": [{"deep": [{"er": text}]}, text]}
    event = {"event": "info", "data": text}
    value = sample(messages=[message], events=[event], attachments={HASH: "x"})
    assert read_one(tmp_path, value).members("attachment") == expected * 2


@pytest.mark.parametrize(
    ("refs", "expected"),
    [
        ([[0, 2]], [("message_pool[0:2]", True)]),
        ([[0, 1], [1, 3]], [("message_pool[0:1]", True), ("message_pool[1:3]", False)]),
        ([[-1, 1]], [("message_pool[-1:1]", False)]),
        ([[2, 1]], [("message_pool[2:1]", False)]),
        ([[0, 10**17]], [("message_pool[0:100000000000000000]", False)]),
        ([[0, 10**5000]], [("message_pool[?]", False)]),
        ([[0]], [("message_pool[?]", False)]),
        ([[True, 1]], [("message_pool[?]", False)]),
        ("all", [("message_pool[?]", False)]),
        ([], []),
        (None, []),
    ],
)
@pytest.mark.parametrize("is_newer", [False, True])
def test_ranges_lie_in_the_pool_or_not(
    tmp_path: Path, refs: Any, expected: list[tuple[str, bool]], is_newer: bool
) -> None:
    pool = {"message_pool": [1, 2], "call_pool": [1, 2]}
    if is_newer:
        pool = {"events_data": {"messages": [1, 2], "calls": [1, 2]}}  # type: ignore[dict-item]
    event = {"event": "model", "input_refs": refs, "call": {"call_refs": refs}}
    text = json.dumps(sample(events=[event]) | pool) if not _is_long(refs) else None
    if text is None:  # too long for `json.dumps`
        text = json.dumps(sample(events=[event | {"input_refs": 0, "call": {"call_refs": 0}}]))
        text = text.replace('refs": 0', 'refs": [[0, 1' + "0" * 5000 + "]]")
    found = read_one(tmp_path, text.encode())
    assert found.members("message_pool") == expected
    assert found.members("call_pool") == [
        (name.replace("message", "call"), is_there) for name, is_there in expected
    ]


def _is_long(refs: Any) -> bool:
    return isinstance(refs, list) and any(len(ref) == 2 and ref[1] >= 10**18 for ref in refs)


def test_attachments_of_the_pool_are_told_once_by_who_uses_them_first(tmp_path: Path) -> None:
    pool = [{"content": f"attachment://{digit * 32}"} for digit in "0123"]
    events = [
        {"event": "model", "input_refs": [[0, 2]]},
        {"event": "model", "input_refs": [[0, 3]]},
        {"event": "model", "input_refs": [[0, 99]]},
    ]
    value = sample(events=events, message_pool=pool, attachments={"1" * 32: ""})
    found = read_one(tmp_path, value)
    assert [one.members for one in found.references("attachment")] == [
        (("0" * 32, False), ("1" * 32, True)),
        (("2" * 32, False),),
        (("3" * 32, False),),
    ]


def test_the_message_of_an_event_may_be_gone(tmp_path: Path) -> None:
    references = read_one(tmp_path, sample()).references("message_id")
    assert references == [Reference(kind="message_id", records=("m4",), is_optional=True)]


# --- damage


def test_a_damaged_sample_leaves_the_others(tmp_path: Path) -> None:
    parts = [
        Part("header.json", to_bytes(HEADER)),
        Part("samples/1_epoch_1.json", to_bytes(sample(id=1, epoch=1)), crc=1),
        Part("samples/../2_epoch_1.json", to_bytes(sample(id="../2", epoch=1))),
        Part("samples/3_epoch_1.json", to_bytes(sample(id=3, epoch=1)), flags=0x801),
        Part("samples/7_epoch_2.json", to_bytes(sample())),
    ]
    found = read(tmp_path, make_zip(parts))
    assert sorted(found.codes) == [
        "archive_member_invalid", "archive_member_unsupported", "archive_name_unsafe",
    ]  # fmt: skip
    assert {record.session for record in found.records} == {"7_epoch_2"}
    invalid = next(one for one in found.faults if one.code == "archive_member_invalid")
    assert (invalid.session, invalid.member) == ("1_epoch_1", "samples/1_epoch_1.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.eval"]


def test_a_damaged_record_leaves_the_others(tmp_path: Path) -> None:
    text = to_bytes(sample()).replace(b'"Look."', b"NaN").replace(b'"span_begin"', b"\x00")
    found = read_one(tmp_path, text)
    # A sample and a message both begin with `id`: the first may look spliced.
    assert found.codes in (["invalid_line", "nul_line"], ["spliced_line", "nul_line"])
    assert [one.native_id for one in found.records] == ["m1", "m3", "m4", "e2", "e3"]
    assert {(one.session, one.member, one.line) for one in found.faults} == {
        ("7_epoch_2", "samples/7_epoch_2.json", None)
    }


def test_a_record_over_the_limit_keeps_its_place(tmp_path: Path) -> None:
    messages = [MESSAGES[0], {"role": "user", "content": "x" * 2000}, MESSAGES[1]]
    events = [EVENTS[0], {"event": "info", "data": "x" * 2000}, EVENTS[2]]
    data = log_of({"samples/7_epoch_2.json": sample(messages=messages, events=events)})
    found = read(tmp_path, data, Limits(max_foreign_record_bytes=1500))
    assert [(one.code, one.ordinal) for one in found.faults] == [
        ("record_over_limit", 2), ("record_over_limit", 5),
    ]  # fmt: skip
    assert [one.ordinal for one in found.records] == [1, 3, 4, 6]


@pytest.mark.parametrize("where", ["messages", "events", "message", "metadata"])
def test_deep_json_is_a_fault(tmp_path: Path, where: str) -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    text = {
        "messages": to_bytes(sample()).replace(to_bytes(MESSAGES), deep),
        "events": to_bytes(sample()).replace(to_bytes(EVENTS), deep),
        "message": to_bytes(sample()).replace(b'"Look."', deep),
        "metadata": to_bytes(sample(metadata=0)).replace(b'"metadata": 0', b'"metadata": ' + deep),
    }[where]
    assert deep in text
    found = read_one(tmp_path, text)
    assert found.codes == ["record_over_limit"]
    assert len(found.records) == {"messages": 3, "events": 4, "message": 6, "metadata": 7}[where]
    assert read_one(tmp_path, deep).codes == ["record_over_limit"]


def test_a_bomb_in_a_sample_is_over_the_limit(tmp_path: Path) -> None:
    found = read_one(tmp_path, b'{"messages": [' + b" " * (20 << 20))
    assert found.codes == ["archive_member_over_limit"]


# --- Zstandard: what Inspect writes since 2026


def test_a_log_that_is_packed_with_zstandard_is_read(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    with zipfile.ZipFile(SAMPLE) as theirs:
        content = {name: theirs.read(name) for name in theirs.namelist()}
    parts = [
        Part(name, data, method=93, packed=zstd.compress(data)) for name, data in content.items()
    ]
    again, first = read(tmp_path, make_zip(parts)), read(tmp_path, SAMPLE.read_bytes())
    assert again.faults == []
    assert [one.raw for one in again.records] == [one.raw for one in first.records]


# --- samples in chunks: version 3


def chunked(**changed: Any) -> dict[str, Any]:
    """The same sample in chunks; None leaves a member out."""
    folder = "samples/7_epoch_2/"
    pool = [*MESSAGES[:2], {"id": "old", "role": "assistant", "tool_calls": [{"id": "c0"}]}]
    members = {
        "events/2.json": EVENTS[2:],
        "events/0.json": [EVENTS[0], EVENTS[1] | {"input_refs": [[0, 3]]}],
        "events/stats.json": {},
        "events/uuids.json": ["e1", "e2", "e3"],
        "skeleton.json": {},
        "messages/10.json": [],
        "messages/3.json": [*MESSAGES[2:], {"role": "user", "content": "attachment://1"}]
        + [{"role": "user", "content": "attachment://2"}] * 4,
        "messages/0.json": pool,
        "attachments/0.json": ["one", "two"],
        "calls/0.json": [{}],
        "sample.json": {"id": 7, "epoch": 2, "message_refs": [[0, 2], [3, 7]]},
    } | {name.replace("__", "/") + ".json": value for name, value in changed.items()}
    return {folder + name: value for name, value in members.items() if value is not None}


def test_a_sample_in_chunks_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, log_of(chunked()))
    assert found.faults == []
    assert found.sessions == ["7_epoch_2"]
    # The call of the message that is no longer in the conversation does not count.
    assert found.counts == (10 + 3, 1, 1)
    assert [one.ordinal for one in found.records] == list(range(1, 14))
    assert [one.native_id for one in found.records[-3:]] == ["e1", "e2", "e3"]
    assert found.members("attachment") == [("1", True)] + [("2", False)] * 4
    assert found.members("message_pool") == [("message_pool[0:3]", True)]
    assert found.records[0].member == "samples/7_epoch_2/messages/0.json"


@pytest.mark.parametrize(
    ("changed", "codes", "records"),
    [
        ({"sample": None}, ["inspect_sample_invalid"], 13),
        ({"sample": {"id": 8, "epoch": 2}}, ["inspect_sample_mismatch"], 13),
        ({"sample": b"{"}, ["torn_line"], 13),
        ({"messages__0": None}, ["inspect_chunk_absent"], 10),
        ({"messages__0": b"[1, 2"}, ["torn_line"], 11),
        ({"events__2": None, "events__5": []}, ["inspect_chunk_absent"], 12),
        ({"attachments__0": b"nothing"}, ["invalid_line"], 13),
        ({"messages__900000000000000": []}, ["inspect_chunk_absent"], 13),
        ({"attachments__900000000000000": []}, ["inspect_chunk_absent"], 13),
        ({"sample": {"id": 7, "epoch": 2, "message_refs": [[0, 10**17], 5, [[]]]}}, [], 13),
    ],
)
def test_damaged_chunks_are_faults(
    tmp_path: Path, changed: dict[str, Any], codes: list[str], records: int
) -> None:
    found = read(tmp_path, log_of(chunked(**changed)))
    assert found.codes == codes
    assert len(found.records) == records
    assert {one.session for one in found.faults} <= {"7_epoch_2"}


def test_a_sample_in_both_shapes_is_read_once(tmp_path: Path) -> None:
    found = read(tmp_path, log_of(chunked() | {"samples/7_epoch_2.json": sample()}))
    assert (found.codes, found.counts) == (["inspect_sample_repeated"], (7, 1, 1))


# --- the whole JSON document


def document(*samples: Any) -> bytes:
    return json.dumps({**HEADER, "samples": samples}, indent=1).encode()


def test_a_whole_document_is_read(tmp_path: Path) -> None:
    data = document(sample(), sample(epoch=3))
    found = read(tmp_path, data)
    assert found.faults == []
    assert found.sessions == ["7_epoch_2", "7_epoch_3"]
    assert found.counts == (14, 2, 2)
    for record in found.records:
        assert record.offset is not None
        assert data[record.offset :].startswith(record.raw)
        assert record.line == data.count(b"\n", 0, record.offset) + 1
        assert record.member is None


def test_samples_of_one_id_are_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path, document(sample(), sample(), sample(), {}, {}))
    assert found.codes == ["inspect_sample_repeated"] * 2
    assert found.sessions == ["7_epoch_2", "7_epoch_2-2", "7_epoch_2-3"]


@pytest.mark.parametrize("cut", [20, 200, 700, 1500])
def test_a_torn_document_gives_what_is_whole(tmp_path: Path, cut: int) -> None:
    data = document(sample(), sample(epoch=3))
    found = read(tmp_path, data[: len(data) - cut])
    assert found.codes == ["torn_line"]
    assert found.counts[0] in (7, 0)


def test_a_deep_document_is_a_fault(tmp_path: Path) -> None:
    data = document(sample()).replace(b'"Look."', b"[" * 200_000 + b"]" * 200_000)
    assert set(read(tmp_path, data).codes) == {"record_over_limit"}


# --- anything at all

# --- what events share


SHARED: dict[str, Any] = {
    "message_pool": [{"role": "user"}, {"role": "tool"}],
    "call_pool": [{"request": 1}],
    "attachments": {"b2": "caf\u00e9", "a1": [1.50]},
}
POOLED = [
    Pooled("7_epoch_2", "messages", b'{"role": "user"}'),
    Pooled("7_epoch_2", "messages", b'{"role": "tool"}'),
    Pooled("7_epoch_2", "calls", b'{"request": 1}'),
    Pooled("7_epoch_2", "attachments", '["b2","caf\u00e9"]'.encode()),
    Pooled("7_epoch_2", "attachments", b'["a1",[1.5]]'),
]
NEWER = {
    "events_data": {"messages": SHARED["message_pool"], "calls": SHARED["call_pool"]},
    "attachments": SHARED["attachments"],
}


@pytest.mark.parametrize("shared", [SHARED, NEWER])
def test_what_events_share_is_given_beside_them(tmp_path: Path, shared: dict[str, Any]) -> None:
    assert read_one(tmp_path, sample(**shared)).pooled == POOLED
    document = {**HEADER, "samples": [sample(**shared), sample(id=8), sample(**shared)]}
    found = read(tmp_path, to_bytes(document))
    again = [one._replace(session="7_epoch_2-2") for one in POOLED]
    assert found.pooled == POOLED + again
    assert {one.session for one in found.pooled} <= {one.session for one in found.records}


def test_pools_in_both_places_are_all_given(tmp_path: Path) -> None:
    found = read_one(tmp_path, sample(**SHARED, events_data={"messages": [{"x": 1}]}))
    told = [one.data for one in found.pooled if one.pool == "messages"]
    assert told == [b'{"x": 1}', b'{"role": "user"}', b'{"role": "tool"}']


def test_what_is_damaged_says_nothing_of_pools(tmp_path: Path) -> None:
    twice = to_bytes(sample(**SHARED))[:-1] + b', "message_pool": [{"role": "x"}]}'
    assert read_one(tmp_path, twice).pooled == []
    assert read_one(tmp_path, to_bytes(sample(**SHARED))[:-1]).pooled == []


def test_pools_in_chunks(tmp_path: Path) -> None:
    below = "samples/7_epoch_2"
    members = {
        f"{below}/sample.json": {"id": 7, "epoch": 2},
        f"{below}/messages/0.json": MESSAGES,
        f"{below}/calls/0.json": [{"n": 1}],
        f"{below}/attachments/0.json": ["a", "b"],
        f"{below}/attachments/2.json": ["c"],
        f"{below}/attachments/9.json": ["nobody knows which"],
    }
    found = read(tmp_path, log_of(members)).pooled
    assert [(one.pool, one.data) for one in found] == [
        ("calls", b'{"n": 1}'),
        ("attachments", b'"a"'),
        ("attachments", b'"b"'),
        ("attachments", b'"c"'),
    ]


def test_the_pools_of_the_real_sample(tmp_path: Path) -> None:
    found = read(tmp_path, SAMPLE.read_bytes()).pooled
    assert Counter(one.pool for one in found) == {"messages": 11, "attachments": 1}
    assert {one.session for one in found} == {"0_epoch_1"}


KEYS = [
    *("id", "role", "content", "tool_calls", "tool_call_id", "event", "output", "choices"),
    *("message", "call", "input_refs", "call_refs", "message_id", "uuid", "timestamp", "function"),
    *("text", "messages"),
]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(max_size=3)
    | st.sampled_from(["assistant", "tool", "model", "c1", f"attachment://{HASH}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(json_values, max_size=3), st.lists(json_values, max_size=3), json_values)
def test_any_values_are_records(
    tmp_path: Path, messages: list[Any], events: list[Any], other: Any
) -> None:
    value = sample(messages=messages, events=events, attachments=other, events_data=other)
    found = read_one(tmp_path, value)
    assert found.faults == []
    assert [json.loads(one.raw) for one in found.records] == messages + events
    for record in found.records:
        assert isinstance(record.text, str)
        assert all(isinstance(one, Reference) for one in FORMAT.references(record))
    assert Counter(one.session for one in found.records).keys() <= {"7_epoch_2"}


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_bytes_raise_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    changed = bytearray(SAMPLE.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        low = data.draw(st.sampled_from([0, len(changed) - 500]))
        changed[data.draw(st.integers(low, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SourceUnreadable):
        found = read(tmp_path, bytes(changed))
        # Every sample has a checksum: it is whole, or it is not given.
        assert len(found.records) in (0, 54)
        assert found.faults or found.counts == (54, 5, 5)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_members_raise_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    changed = bytearray(to_bytes(sample()))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    found = read_one(tmp_path, bytes(changed))
    assert len(found.records) <= 7 + 2
    document_found = read(tmp_path, b'{"samples": [' + bytes(changed) + b"]}")
    assert all(isinstance(one.session, str) for one in document_found.records)
