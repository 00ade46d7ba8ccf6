"""One conversation, written as each format writes it, is read as the same conversation."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.formats import NATIVE, find_format, known_formats
from provenance.transcripts.records import Record, Speaker
from provenance.transcripts.source_check import check_source
from provenance.transcripts.sources import Head

SESSION = "019c0000-0000-7000-8000-000000000001"


@dataclass(frozen=True)
class Said:
    """Somebody says something."""

    who: Speaker
    text: str


@dataclass(frozen=True)
class Asked:
    """The model calls a tool, which answers at once."""

    call: str
    tool: str
    argument: str
    answer: str


Conversation = list[Said | Asked]

_WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=9
)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """A prompt, then answers with and without calls, and prompts again."""
    talk: Conversation = []
    for turn in range(draw(st.integers(1, 3))):
        talk.append(Said(Speaker.USER, f"user {turn} {draw(_WORDS)}."))
        for _ in range(draw(st.integers(0, 2))):
            number = len(talk)
            talk.append(
                Asked(
                    f"call_{number}",
                    draw(st.sampled_from(["bash", "read_file"])),
                    f"argument {number} {draw(_WORDS)}.",
                    f"answer {number} {draw(_WORDS)}.",
                )
            )
        talk.append(Said(Speaker.ASSISTANT, f"model {turn} {draw(_WORDS)}."))
    return talk


# --- one small writer a format; each is named after what it writes -------------------------------


def _time(number: int) -> str:
    return f"2026-03-02T10:00:{number:02}.000Z"


def _lines(values: Iterable[object]) -> bytes:
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    return text.encode()


def _claude_code(folder: Path, talk: Conversation) -> Path:
    values: list[dict[str, Any]] = []

    def add(kind: str, content: object) -> None:
        number = len(values) + 1
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message["id"] = f"msg_{number}"
        values.append(
            {
                "parentUuid": values[-1]["uuid"] if values else None,
                "sessionId": SESSION,
                "type": kind,
                "message": message,
                "uuid": f"uuid-{number}",
                "timestamp": _time(number),
            }
        )

    for one in talk:
        if isinstance(one, Asked):
            call = {"type": "tool_use", "id": one.call, "name": one.tool}
            add("assistant", [{**call, "input": {"command": one.argument}}])
            result = {"type": "tool_result", "tool_use_id": one.call, "content": one.answer}
            add("user", [result])
        elif one.who is Speaker.USER:
            add("user", one.text)
        else:
            add("assistant", [{"type": "text", "text": one.text}])
    return _write(folder / f"{SESSION}.jsonl", _lines(values))


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _items(talk: Conversation) -> list[dict[str, Any]]:
    """The items of the Responses API, which two formats keep."""
    items: list[dict[str, Any]] = []
    for one in talk:
        if isinstance(one, Asked):
            arguments = json.dumps({"command": one.argument}, ensure_ascii=False)
            items += [
                {"type": "function_call", "name": one.tool, "arguments": arguments,
                 "call_id": one.call},
                {"type": "function_call_output", "call_id": one.call, "output": one.answer},
            ]  # fmt: skip
        else:
            kind = "input_text" if one.who is Speaker.USER else "output_text"
            content = [{"type": kind, "text": one.text}]
            items.append({"type": "message", "role": str(one.who), "content": content})
    return items


def _codex(folder: Path, talk: Conversation) -> Path:
    meta = {"id": SESSION, "timestamp": _time(0), "cwd": "/p", "instructions": None}
    bodies = [("session_meta", meta)] + [("response_item", item) for item in _items(talk)]
    lines = [
        {"timestamp": _time(number), "type": kind, "payload": body}
        for number, (kind, body) in enumerate(bodies)
    ]
    return _write(folder / f"rollout-2026-03-02T10-00-00-{SESSION}.jsonl", _lines(lines))


def _codex_flat(folder: Path, talk: Conversation) -> Path:
    header = {"id": SESSION, "timestamp": _time(0), "instructions": None}
    path = folder / f"rollout-2025-07-02T10-00-00-{SESSION}.jsonl"
    return _write(path, _lines([header, {"record_type": "state"}, *_items(talk)]))


def _native(folder: Path, talk: Conversation) -> Path:
    values: list[dict[str, Any]] = []

    def add(**event: object) -> None:
        number = len(values) + 1
        values.append(
            {
                "schema_version": 1,
                "sequence": number,
                "recorded_at": _time(number),
                "session_id": "s1",
                "event_id": f"transcript:s1:{number}",
                **event,
            }
        )

    for one in talk:
        if isinstance(one, Asked):
            arguments = {"command": one.argument}
            add(type="function_call", callId=one.call, name=one.tool, arguments=arguments)
            add(type="function_call_result", callId=one.call, name=one.tool, content=one.answer)
        else:
            add(type="message", role=str(one.who), content=one.text)
    return _write(folder / "s1.jsonl", _lines(values))


def _gemini_messages(talk: Conversation) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, one in enumerate(talk, 1):
        message: dict[str, Any] = {"id": f"m{number}", "timestamp": _time(number)}
        if isinstance(one, Asked):
            response = {"id": one.call, "name": one.tool, "response": {"output": one.answer}}
            call = {
                "id": one.call, "name": one.tool, "args": {"command": one.argument},
                "status": "success", "result": [{"functionResponse": response}],
            }  # fmt: skip
            message |= {"type": "gemini", "content": "", "toolCalls": [call]}
        else:
            kind = "user" if one.who is Speaker.USER else "gemini"
            message |= {"type": kind, "content": one.text}
        messages.append(message)
    return messages


_GEMINI = {"sessionId": SESSION, "projectHash": "0" * 64, "startTime": _time(0)}


def _gemini_document(folder: Path, talk: Conversation) -> Path:
    document = {**_GEMINI, "lastUpdated": _time(59), "messages": _gemini_messages(talk)}
    data = json.dumps(document, indent=2, ensure_ascii=False).encode()
    return _write(folder / "session-1.json", data)


def _gemini_lines(folder: Path, talk: Conversation) -> Path:
    return _write(folder / "session-1.jsonl", _lines([_GEMINI, *_gemini_messages(talk)]))


def _dsh(folder: Path, talk: Conversation) -> Path:
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 0, "id": SESSION, "createdAt": 1_784_973_850_091}
    ]
    for one in talk:
        if isinstance(one, Asked):
            arguments = json.dumps({"command": one.argument}, ensure_ascii=False)
            call = {"callId": one.call, "name": one.tool, "arguments": arguments}
            content = [{"type": "text", "text": one.answer}]
            rows.append({"type": "tool/call", "data": {"turn": 1, "step": 1, **call}})
            result = {"callId": one.call, "content": content, "isError": False}
            rows.append({"type": "tool/result", "data": {"turn": 1, "step": 1, **result}})
        else:
            kind = f"{one.who}/message"
            content = [{"type": "text", "text": one.text}]
            rows.append({"type": kind, "data": {"turn": 1, "step": 1, "content": content}})
    return _write(folder / "session.jsonl", _lines(rows))


def _openai_agents(folder: Path, talk: Conversation) -> Path:
    path = folder / "sessions.db"
    base = sqlite3.connect(path)
    base.executescript(
        """
        create table agent_sessions (session_id text primary key, created_at timestamp,
            updated_at timestamp);
        create table agent_messages (id integer primary key autoincrement,
            session_id text not null, message_data text not null, created_at timestamp);
        """
    )
    base.execute("insert into agent_sessions (session_id) values (?)", (SESSION,))
    for number, item in enumerate(_items(talk)):
        base.execute(
            "insert into agent_messages (session_id, message_data, created_at) values (?, ?, ?)",
            (SESSION, json.dumps(item, ensure_ascii=False), f"2026-03-02 10:00:{number:02}"),
        )
    base.commit()
    base.close()
    return path


def _openhands_events(talk: Conversation) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []

    def add(kind: str, source: str, **event: object) -> None:
        number = len(events)
        events.append(
            {
                "id": f"00000000-0000-4000-8000-{number:012}",
                "timestamp": f"2026-03-02T10:00:{number:02}.000000",
                "source": source,
                "kind": kind,
                **event,
            }
        )

    for one in talk:
        if isinstance(one, Asked):
            arguments = json.dumps({"command": one.argument}, ensure_ascii=False)
            add(
                "ActionEvent", "agent", tool_name=one.tool, tool_call_id=one.call,
                llm_response_id=f"resp-{one.call}",
                tool_call={"id": one.call, "name": one.tool, "arguments": arguments},
            )  # fmt: skip
            content = [{"type": "text", "text": one.answer}]
            add(
                "ObservationEvent", "environment", tool_name=one.tool, tool_call_id=one.call,
                action_id=events[-1]["id"], observation={"content": content},
            )  # fmt: skip
        else:
            source = "user" if one.who is Speaker.USER else "agent"
            content = [{"type": "text", "text": one.text}]
            message = {"role": str(one.who), "content": content}
            more = {} if source == "user" else {"llm_response_id": f"resp-m{len(events)}"}
            add("MessageEvent", source, llm_message=message, **more)
    return events


def _openhands_lines(folder: Path, talk: Conversation) -> Path:
    return _write(folder / "events.jsonl", _lines(_openhands_events(talk)))


def _openhands_folder(folder: Path, talk: Conversation) -> Path:
    for number, event in enumerate(_openhands_events(talk)):
        # Past 99,999 the names do not sort in the order of the events.
        name = f"event-{number + 99_995:05}-{event['id']}.json"
        _write(folder / "conversation/events" / name, json.dumps(event).encode())
    return folder / "conversation/events"


WRITERS: dict[str, tuple[str, Callable[[Path, Conversation], Path]]] = {
    "claude-code": ("claude-code", _claude_code),
    "codex": ("codex", _codex),
    "codex, flat": ("codex", _codex_flat),
    "native": ("native", _native),
    "gemini-cli, document": ("gemini-cli", _gemini_document),
    "gemini-cli, lines": ("gemini-cli", _gemini_lines),
    "dsh": ("dsh", _dsh),
    "openai-agents": ("openai-agents", _openai_agents),
    "openhands, lines": ("openhands", _openhands_lines),
    "openhands, folder": ("openhands", _openhands_folder),
}

# What the common form says: who says what, and each call with its result, in their order.
Form = list[tuple[str, ...]]


def _expected(talk: Conversation) -> Form:
    form: Form = []
    for one in talk:
        if isinstance(one, Asked):
            form += [("call", one.call, one.tool), ("result", one.call)]
        else:
            form.append(("say", str(one.who), one.text))
    return form


def _form(records: list[Record], talk: Conversation) -> Form:
    form: Form = []
    texts = [one.text for one in talk if isinstance(one, Said)]
    for record in records:
        if record.speaker is not None and record.text in texts:
            form.append(("say", str(record.speaker), record.text))
        form += [("call", one.id, one.name or "") for one in record.calls]
        form += [("result", one.call_id) for one in record.results]
    return form


@pytest.mark.parametrize("name", WRITERS)
def test_a_conversation_is_the_same_in_each_format(name: str) -> None:
    format_name, write = WRITERS[name]

    @given(conversations())
    @settings(max_examples=12)
    def check(talk: Conversation) -> None:
        records: list[Record] = []
        with TemporaryDirectory() as place:
            path = write(Path(place), talk)
            with TrustedRoot(place) as root:
                names = path.relative_to(place).parts
                candidate = Candidate(names, is_folder=path.is_dir())
                with open_candidate(root, candidate, limits=DEFAULT_LIMITS) as opened:
                    # 1. It is told without being named.
                    assert opened.format is not None
                    assert opened.format.name == format_name
                    check = check_source(
                        opened.source, opened.format, root=root, on_record=records.append
                    )
        # 2. Nothing is wrong with it.
        assert {fault.severity for fault in check.faults} <= {Severity.INFO}
        assert not {"open_call", "interrupted_call", "unknown_record_type"} & set(
            check.fault_counts
        )
        assert dict(check.unknown_types) == {}
        # 3. It says what it said.
        assert _form(records, talk) == _expected(talk)
        asked = [one for one in talk if isinstance(one, Asked)]
        assert (check.calls, check.call_results) == (len(asked), len(asked))
        _texts_are_there(records, asked)
        assert [record.ordinal for record in records] == list(range(1, len(records) + 1))
        _bytes_are_there(records, path)

    def _texts_are_there(records: list[Record], asked: list[Asked]) -> None:
        for one in asked:
            (caller,) = (rec for rec in records if any(call.id == one.call for call in rec.calls))
            (answer,) = (
                rec for rec in records if any(res.call_id == one.call for res in rec.results)
            )
            argument = json.dumps(one.argument, ensure_ascii=False)[1:-1]
            assert one.argument in caller.text or argument in caller.text
            assert one.answer in answer.text

    def _bytes_are_there(records: list[Record], path: Path) -> None:
        for record in records:
            assert record.sha256
            json.loads(record.raw)

    check()


def test_no_format_takes_what_another_one_wrote(tmp_path: Path) -> None:
    talk: Conversation = [
        Said(Speaker.USER, "go"), Asked("c", "bash", "ls", "out"), Said(Speaker.ASSISTANT, "done"),
    ]  # fmt: skip
    for index, (format_name, write) in enumerate(WRITERS.values()):
        (tmp_path / str(index)).mkdir()
        path = write(tmp_path / str(index), talk)
        if path.is_dir():
            head = Head(path.name, names=sorted(one.name for one in path.iterdir()))
        else:
            head = Head(path.name, path.read_bytes())
        found = find_format(head)
        assert found is not None
        assert found.name == format_name
        # Ours is asked last: bare items look like its oldest records.
        others = [one.name for one in known_formats().values() if one.identify(head)]
        assert set(others) - {NATIVE} == {format_name} - {NATIVE}
