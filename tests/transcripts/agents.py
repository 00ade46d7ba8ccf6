"""Small transcripts of other agents, as their own programs write them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SESSION = "7ff09f19-e477-46a6-88d9-7bd15f890b16"


def claude_record(number: int, *, session: str = SESSION, **more: Any) -> dict[str, Any]:
    """A record of Claude Code; its uuid and parent follow from its number."""
    role = "user" if number % 2 else "assistant"
    message: dict[str, Any] = {"role": role, "content": f"text {number}"}
    if role == "assistant":
        message = {
            "id": f"msg_{number}",
            "role": role,
            "content": [{"type": "text", "text": f"text {number}"}],
        }
    return {
        "parentUuid": uuid(number - 1) if number > 1 else None,
        "isSidechain": False,
        "sessionId": session,
        "type": role,
        "message": message,
        "uuid": uuid(number),
        "timestamp": f"2026-03-02T10:00:{number:02}.000Z",
    } | more


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def line(record: object) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def claude(count: int, *, session: str = SESSION) -> bytes:
    """A sound transcript of so many records."""
    return b"".join(line(claude_record(n, session=session)) for n in range(1, count + 1))


def agents_database(path: Path, rows: Sequence[tuple[str, str]]) -> None:
    """A database of the OpenAI Agents SDK; each row is a session and its message's JSON."""
    base = sqlite3.connect(path)
    base.executescript(
        "create table agent_sessions (session_id text primary key, created_at timestamp"
        " default current_timestamp, updated_at timestamp default current_timestamp);"
        "create table agent_messages (id integer primary key autoincrement, session_id text not"
        " null, message_data text not null, created_at timestamp default current_timestamp,"
        " foreign key (session_id) references agent_sessions (session_id) on delete cascade);"
    )
    for session in dict.fromkeys(session for session, _ in rows):
        base.execute("insert into agent_sessions (session_id) values (?)", (session,))
    base.executemany("insert into agent_messages (session_id, message_data) values (?, ?)", rows)
    base.commit()
    base.close()
