"""From records to messages: real transcripts of every format, and hostile records."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import CompactionConfig, compact_context, verify_receipt
from provenance.findings import Severity
from provenance.histories import HistoryError, history_of
from provenance.messages import blocks_of, repair_tool_protocol, role_of, validate_tool_protocol
from provenance.messages.shapes import arguments_of
from provenance.transcripts.formats import format_names
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker
from tests.histories.reading import NATIVE, SAMPLES, history, items, transcripts

REAL = SAMPLES / "claude-code" / "real"
SYNTHETIC = SAMPLES / "claude-code" / "synthetic"
PATHS = list(transcripts())
SMALL = CompactionConfig(
    soft_limit=60, hard_limit=10_000_000, max_tool_result_tokens=20, keep_recent_messages=3
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_prefix_of_a_real_history_is_compacted_and_accounted_for(path: Path) -> None:
    messages = history(path).messages
    assert messages
    step = max(len(messages) // 12, 1)
    for end in (*range(1, len(messages), step), len(messages)):
        repaired, _ = repair_tool_protocol(messages[:end])
        result = compact_context(repaired, None, config=SMALL)
        validate_tool_protocol(result.messages)
        assert verify_receipt(repaired, result) == ()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_given_can_be_written_as_json_and_read_again(path: Path) -> None:
    messages = history(path).messages
    assert json.loads(json.dumps(messages, allow_nan=False)) == messages
    assert all(role_of(message) for message in messages)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_calls_and_results_of_the_records_are_those_of_the_messages(path: Path) -> None:
    name, found = items(path)
    records = [item for item in found if isinstance(item, Record)]
    known = {call.id for record in records for call in record.calls}
    known |= {result.call_id for record in records for result in record.results}
    blocks = [block for one in history_of(found, name).messages for block in blocks_of(one)]
    assert {block.call_id for block in blocks if block.call_id is not None} <= known


class TestClaudeCode:
    def test_a_clean_one_pairs_without_a_repair(self) -> None:
        found = history(REAL / "clean" / "full.jsonl")
        assert len(validate_tool_protocol(found.messages)) == 2
        assert found.left_out == {"file-history-snapshot": 3, "progress": 9, "system": 1}

    def test_meta_and_summary_records_are_left_out_and_counted(self) -> None:
        found = history(REAL / "compact-boundary" / "full.jsonl")
        assert found.left_out["meta"] == found.left_out["summary"] == 1
        assert found.left_out["compact_boundary"] == 1

    def test_a_message_has_role_and_content_alone_as_they_were_sent(self) -> None:
        path = REAL / "clean" / "full.jsonl"
        sent = [json.loads(line) for line in path.read_text().splitlines()]
        contents = [
            block
            for one in sent
            if one["type"] == "assistant"
            for block in one["message"]["content"]
        ]
        messages = history(path).messages
        assert all(set(message) == {"role", "content"} for message in messages)
        assert [
            block for one in messages if one["role"] == "assistant" for block in one["content"]
        ] == contents

    def test_the_parts_of_a_message_are_one_message_in_the_place_of_the_first(self) -> None:
        messages = history(SYNTHETIC / "split-message-non-contiguous.jsonl").messages
        assistants = [one for one in messages if one["role"] == "assistant"]
        calls = [block for one in assistants for block in blocks_of(one) if block.call_id]
        assert len(calls) == 2
        assert len(assistants) == 2
        validate_tool_protocol(messages)

    def test_six_calls_on_six_lines_are_what_they_are_on_one(self) -> None:
        many = history(SYNTHETIC / "six-parallel-calls.jsonl").messages
        one = history(SYNTHETIC / "six-parallel-calls-one-line.jsonl").messages
        assert len(validate_tool_protocol(many)) == len(validate_tool_protocol(one)) == 6
        assert len([one for one in many if one["role"] == "assistant"]) == 2

    def test_the_same_record_again_is_left_out_and_another_of_its_id_is_kept(self) -> None:
        same = history(SYNTHETIC / "duplicate-uuid-same-bytes.jsonl")
        other = history(SYNTHETIC / "duplicate-uuid-other-bytes.jsonl")
        assert same.left_out["repeated"] == 1
        assert "repeated" not in other.left_out

    def test_damage_is_counted(self) -> None:
        assert history(SYNTHETIC / "spliced-line.jsonl").left_out["damaged"] == 1

    def test_sub_agents_stay_out_unless_one_is_asked_for(self) -> None:
        lines = [
            _claude("user", "main", sessionId="s"),
            _claude("user", "side", sessionId="s", isSidechain=True, agentId="a1"),
            _claude("assistant", "more", sessionId="s", isSidechain=True, agentId="a1"),
        ]
        found = history_of(_read_lines(lines), "claude-code")
        assert [one["content"] for one in found.messages] == ["main"]
        assert (found.left_out["sub-agent"], found.session) == (2, "s")
        asked = history_of(_read_lines(lines), "claude-code", session="s.agent-a1")
        assert [one["content"] for one in asked.messages] == ["side", "more"]
        assert asked.left_out == {"other-session": 1}

    def test_a_log_of_one_sub_agent_alone_is_its_conversation(self) -> None:
        lines = [_claude("user", "side", sessionId="s", isSidechain=True, agentId="a1")]
        assert len(history_of(_read_lines(lines), "claude-code").messages) == 1

    def test_of_two_sub_agents_and_nobody_else_one_has_to_be_named(self) -> None:
        lines = [
            _claude("user", "x", sessionId="s", isSidechain=True, agentId=agent)
            for agent in ("a1", "a2")
        ]
        with pytest.raises(HistoryError, match="one of 2 sub-agents"):
            history_of(_read_lines(lines), "claude-code")

    def test_an_answer_that_the_provider_did_not_give_is_no_message(self) -> None:
        lines = [_claude("assistant", "API Error", sessionId="s", isApiErrorMessage=True)]
        found = history_of(_read_lines(lines), "claude-code")
        assert (found.messages, found.left_out) == ([], {"api-error": 1})


class TestItems:
    def test_codex_gives_the_items_of_its_lines(self) -> None:
        messages = history(SAMPLES / "codex" / "clean.jsonl").messages
        assert [one["type"] for one in messages] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
        ]

    def test_codex_flat_lines_give_the_same(self) -> None:
        items: list[dict[str, Any]] = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ]
        flat = [_record(item["type"], item) for item in items]
        new = [
            _record("response_item", {"type": "response_item", "payload": item}) for item in items
        ]
        assert history_of(flat, "codex").messages == history_of(new, "codex").messages == items

    def test_what_is_no_item_of_a_request_is_left_out(self) -> None:
        kinds = ("ghost_snapshot", "compaction", "agent_message")
        records = [
            _record("response_item", {"type": "response_item", "payload": {"type": kind}})
            for kind in kinds
        ]
        found = history_of(records, "codex")
        assert found.messages == []
        assert found.left_out == {"agent_message": 1, "ghost_snapshot": 1, "summary": 1}

    def test_a_database_gives_the_rows_of_one_session(self) -> None:
        found = history(SAMPLES / "openai-agents" / "sessions.db", "chat-1")
        assert [one.get("type", "message") for one in found.messages] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
            "message",
        ]
        assert found.session == "chat-1"
        assert found.left_out["other-session"] > 0


class TestInspect:
    def test_calls_are_where_openai_chat_has_them(self) -> None:
        found = history(SAMPLES / "inspect" / "log_message_deduplication.eval")
        assert len(validate_tool_protocol(found.messages)) == 5
        (call,) = found.messages[1]["tool_calls"]
        assert call["function"] == {"name": "bash", "arguments": '{"cmd":"ls"}'}
        assert found.left_out["model"] == 6


class TestNative:
    def test_messages_calls_and_results(self) -> None:
        messages = history(NATIVE / "clean.jsonl").messages
        assert messages[0] == {
            "role": "user",
            "content": "Check which port the service listens on.",
        }
        assert messages[1] == {
            "type": "function_call",
            "call_id": "call_01",
            "name": "read_file",
            "arguments": '{"path":"config/service.toml"}',
        }
        assert messages[2]["output"] == "[server]\nport = 8443\n"
        assert len(validate_tool_protocol(messages)) == 1


class TestCommonForm:
    def test_gemini_reads_updates_and_rewinds_as_gemini_does(self) -> None:
        found = history(SAMPLES / "gemini-cli" / "update-and-rewind.jsonl")
        assert [blocks_of(one)[0].value for one in found.messages] == [
            "Name a colour.",
            {"type": "text", "text": "Blue."},
            "Name a fruit instead.",
            {"type": "text", "text": "Pear."},
        ]
        assert (found.left_out["rewound"], found.left_out["updated"]) == (2, 1)

    def test_a_rewind_to_nobody_drops_all_and_a_replaced_history_is_the_new_one(self) -> None:
        def said(number: int) -> Record:
            return _record("user", {"id": f"m{number}", "type": "user", "content": f"t{number}"})

        rewind = _record("$rewindTo", {"$rewindTo": "nobody"})
        found = history_of([said(1), said(2), rewind, said(3)], "gemini-cli")
        assert [one["content"] for one in found.messages] == ["t3"]
        new = _record("$set", {"$set": {"messages": [{"id": "n", "type": "user", "content": "n"}]}})
        found = history_of([said(1), new, said(4)], "gemini-cli")
        assert [one["content"] for one in found.messages] == ["n", "t4"]

    def test_gemini_has_call_and_result_in_one_message(self) -> None:
        messages = history(SAMPLES / "gemini-cli" / "session-whole-json" / "full.jsonl").messages
        assert len(validate_tool_protocol(messages)) == 1
        (result,) = messages[2]["content"]
        assert result["content"].startswith("Successfully overwrote file")

    def test_openhands_has_arguments_and_texts(self) -> None:
        messages = history(SAMPLES / "openhands" / "events.jsonl").messages
        call = next(b for one in messages for b in blocks_of(one) if b.kind.value == "tool_call")
        assert call.name == "terminal"
        assert "command" in arguments_of(call)

    def test_dsh_leaves_checkpoints_out(self) -> None:
        found = history(SAMPLES / "dsh" / "compaction-recovery" / "session.jsonl")
        assert found.left_out["summary"] == 1
        assert len(validate_tool_protocol(found.messages)) == 1

    def test_a_format_from_outside_tells_who_spoke_what_was_called_and_answered(self) -> None:
        records = [
            _record("say", {"text": "Look."}, speaker=Speaker.USER, say=lambda v: v["text"]),
            _record("do", {"x": {"id": "c1", "args": {"path": "a"}}}, calls=(Call("c1", "read"),)),
            _record("got", {"call_id": "c1", "output": "text"}, results=(CallResult("c1"),)),
            _record("tick", {}),
        ]
        found = history_of(records, "somebody-elses")
        assert found.messages == [
            {"role": "user", "content": "Look."},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "text"}],
            },
        ]
        assert found.left_out == {"tick": 1}


class TestBounds:
    def test_too_much_is_refused_before_it_is_all_in_memory(self) -> None:
        records = (_record("user", {}, raw=b"x" * 100) for _ in range(1_000))
        with pytest.raises(HistoryError, match="expected at most 250 bytes"):
            history_of(records, "claude-code", most_bytes=250)
        assert sum(1 for _ in records) == 997

    def test_reasons_are_bounded(self) -> None:
        records = [_record(f"kind-{number}", {}) for number in range(500)]
        left_out = history_of(records, "claude-code").left_out
        assert len(left_out) <= 101
        assert sum(left_out.values()) == 500

    def test_a_session_that_nobody_has_is_refused(self) -> None:
        with pytest.raises(HistoryError, match="expected one of the transcript"):
            history_of([_record("user", {}, session="a")], "claude-code", session="b")

    def test_a_fault_that_hides_nothing_is_not_counted(self) -> None:
        faults = [
            Fault("no_final_newline", Severity.INFO, "x"),
            Fault("torn_line", Severity.ERROR, "x"),
        ]
        assert history_of(faults, "native").left_out == {"damaged": 1}


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["message", "tool_use", "tool_result", "c1", "user", "assistant", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type", "role", "content", "id", "call_id", "tool_use_id", "message", "payload",
                    "data", "tool_calls", "toolCalls", "result", "output", "arguments", "text",
                    "llm_message", "observation", "thought", "$set", "$rewindTo", "surfaceOp",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)  # fmt: skip
_KINDS = [
    "user", "assistant", "message", "function_call", "function_call_result", "reasoning", "gemini",
    "response_item", "message/assistant", "message/tool", "MessageEvent", "ActionEvent",
    "ObservationEvent", "user/message", "assistant/message", "tool/result", "$set",
]  # fmt: skip


@given(
    format_name=st.sampled_from([*format_names(), "somebody-elses"]),
    kind=st.sampled_from(_KINDS),
    value=_JSON,
    speaker=st.sampled_from([None, *Speaker]),
)
def test_no_record_makes_it_fail(
    format_name: str, kind: str, value: Any, speaker: Speaker | None
) -> None:
    record = _record(
        kind,
        value,
        raw=json.dumps(value).encode(),
        speaker=speaker,
        calls=(Call("c1", "ls"),),
        results=(CallResult("c1"),),
        native_id="n",
        message_id="m",
    )
    messages = history_of([record, record], format_name).messages
    json.dumps(messages, allow_nan=False)
    repaired, _ = repair_tool_protocol(messages)
    assert verify_receipt(repaired, compact_context(repaired, None, config=SMALL)) == ()


def _record(kind: str, value: Any, **more: Any) -> Record:
    return Record(ordinal=1, kind=kind, value=value, **({"raw": b"{}"} | more))


def _claude(kind: str, text: str, **more: object) -> bytes:
    value = {"type": kind, "message": {"role": kind, "content": text}, "uuid": text, **more}
    return json.dumps(value).encode()


def _read_lines(lines: list[bytes]) -> list[Record | Fault]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
        return items(path)[1]
