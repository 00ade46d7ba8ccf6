"""Histories of real agents, compacted at every prefix: receipts hold, providers would accept."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, compact_context
from provenance.messages import (
    HeuristicCounter,
    ToolProtocolError,
    check_provider_rules,
    repair_tool_protocol,
    validate_tool_protocol,
)
from tests.compaction.builders import assert_sound

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"
_MOST_PREFIXES = 60


def _json_lines(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue  # a damaged line; others are tested on those
        if isinstance(value, dict):
            yield value


def _claude_code(path: Path) -> list[Any]:
    """The messages of a session as they were sent: lines of one answer are one message."""
    messages: list[Any] = []
    last_id: object = None
    for record in _json_lines(path):
        message = record.get("message")
        if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        sent = {name: message[name] for name in ("role", "content") if name in message}
        answer_id = message.get("id")
        if answer_id is not None and answer_id == last_id and isinstance(sent["content"], list):
            messages[-1]["content"] += sent["content"]
        else:
            messages.append(sent)
        last_id = answer_id
    return messages


def _codex(path: Path) -> list[Any]:
    return [
        record["payload"]
        for record in _json_lines(path)
        if record.get("type") == "response_item" and isinstance(record.get("payload"), dict)
    ]


def _sessions_of_openai_agents(path: Path) -> dict[str, list[Any]]:
    sessions: dict[str, list[Any]] = {}
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT session_id, message_data FROM agent_messages ORDER BY id")
        for session, data in rows:
            with contextlib.suppress(ValueError):  # a damaged row
                sessions.setdefault(session, []).append(json.loads(data))
    finally:
        connection.close()
    return sessions


def _histories() -> dict[str, tuple[str, list[Any]]]:
    found: dict[str, tuple[str, list[Any]]] = {}
    for path in sorted((_DATA / "claude-code").rglob("*.jsonl")):
        name = "/".join(path.relative_to(_DATA).parts[1:])
        found[name] = ("anthropic", _claude_code(path))
    for path in sorted((_DATA / "codex").glob("*.jsonl")):
        found[path.name] = ("openai-responses", _codex(path))
    for session, items in _sessions_of_openai_agents(
        _DATA / "openai-agents" / "sessions.db"
    ).items():
        found[f"openai-agents/{session}"] = ("openai-responses", items)
    return {name: one for name, one in found.items() if len(one[1]) >= 2}


HISTORIES = _histories()


def test_there_are_histories_of_each_agent() -> None:
    assert len(HISTORIES) >= 20
    assert {provider for provider, _ in HISTORIES.values()} == {"anthropic", "openai-responses"}
    assert sum(len(messages) for _, messages in HISTORIES.values()) >= 300


@pytest.mark.parametrize("name", sorted(HISTORIES))
@pytest.mark.parametrize("percent", [100, 60, 0])
def test_every_prefix_is_compacted(name: str, percent: int) -> None:
    provider, messages = HISTORIES[name]
    step = max(1, len(messages) // _MOST_PREFIXES)
    for length in range(1, len(messages) + 1, step):
        prefix = messages[:length]
        try:
            validate_tool_protocol(prefix)
        except ToolProtocolError:
            # In the middle of a turn, or damaged: what a harness repairs before it goes on.
            prefix, _ = repair_tool_protocol(prefix)
        soft = max(1, HeuristicCounter().count_messages(prefix) * percent // 100)
        config = CompactionConfig(
            soft_limit=soft,
            hard_limit=10**9,
            max_tool_result_tokens=100,
            keep_recent_messages=5,
            summary_keep_recent=3,
            read_tools={"Read": "file_path"},
            summary_timeout=None,
        )
        result = compact_context(
            prefix, None, summarizer=lambda _text: "They worked.", config=config
        )
        assert_sound(prefix, result)
        before = {problem.rule for problem in check_provider_rules(prefix, provider)}
        after = {problem.rule for problem in check_provider_rules(result.messages, provider)}
        assert after <= before, (name, length)
