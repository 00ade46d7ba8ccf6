"""What a row of a DeepSeek Harness log holds: its kind, call, result, time and text.

Guarantees: pure; nothing raises, whatever the fields hold, and nothing recurses.

Example:
    >>> packed_count({"dt": [5], "texts": ["a", "b"]}, "texts")
    2
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeGuard

from provenance.transcripts.fields import dict_of, dicts_in, text_of, texts_in

__all__ = [
    "HEADER",
    "KNOWN_EVENTS",
    "PACKED",
    "blocks_of",
    "bounds_of",
    "is_header",
    "is_number",
    "is_own",
    "is_record",
    "number_of",
    "packed_count",
    "result_id_of",
    "text_in_row",
    "time_of",
]

HEADER = "session"
# Which list holds the events of a packed row, one element each.
PACKED = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
KNOWN_EVENTS = frozenset(
    {
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/attempt",
        "assistant/chunk",
        "assistant/message",
        "command/done",
        "command/run",
        "compact/end",
        "compact/prune",
        "compact/start",
        "compact/summary",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "llm/retry",
        "llm/retry-started",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/descriptor",
        "system/message",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/code-dispatch",
        "tool/code-dispatch-start",
        "tool/result",
        "turn/end",
        "turn/start",
        "user/message",
        "web/deepseek-search-llm-request",
    }
)
_FURTHEST = 1 << 53
# Where a message, a chunk or a block of one holds text.
_TEXT_KEYS = ("text", "name", "arguments", "argumentsDelta")


def is_header(value: dict[str, Any]) -> bool:
    """Say whether a row is the header of a log."""
    # Other formats begin with a `session` too; only here its time is a number.
    return (
        value.get("type") == HEADER
        and text_of(value, "id") is not None
        and number_of(value, "createdAt") is not None
    )


def is_own(value: dict[str, Any]) -> bool:
    """Say whether a row is of this format and no other."""
    if is_header(value):
        return True
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and (kind in KNOWN_EVENTS or kind in PACKED)
        and isinstance(value.get("data"), dict)
    )


def is_record(value: dict[str, Any]) -> bool:
    """Say whether what stands on a damaged line is a row."""
    return is_own(value) or (
        isinstance(value.get("type"), str) and isinstance(value.get("data"), dict)
    )


def number_of(value: dict[str, Any], key: str) -> int | None:
    """Give a field that is a whole number, else None."""
    found = value.get(key)
    return found if is_number(found) else None


def is_number(found: object) -> TypeGuard[int]:
    """Say whether it is a whole number that JavaScript, which writes these logs, holds exactly."""
    return type(found) is int and -_FURTHEST < found < _FURTHEST


def bounds_of(span: dict[str, Any]) -> list[int]:
    """Give both ends of a span; what lies between them may be any sequences, or none."""
    ends = [end for key in ("start", "end") if (end := number_of(span, key)) is not None]
    return ends[:1] if len(ends) == 2 and ends[0] == ends[1] else ends


def packed_count(data: dict[str, Any], key: str) -> int:
    """Give how many events a packed row stands for; 0 where it does not fit together."""
    events, times = data.get(key), data.get("dt")
    if not isinstance(events, list) or not isinstance(times, list):
        return 0
    is_sound = len(times) == len(events) - 1 and all(isinstance(one, str) for one in events)
    return len(events) if is_sound else 0


def blocks_of(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the blocks of a message; older logs have no `message` around them."""
    yield from dicts_in(dict_of(data, "message").get("content", data.get("content")))


def result_id_of(data: dict[str, Any]) -> str | None:
    """Give the call that a result is of; logs name it in several places."""
    found = text_of(data, "callId") or text_of(
        dict_of(dict_of(data, "message"), "source"), "callId"
    )
    if found is not None:
        return found
    for block in blocks_of(data):
        if (found := text_of(block, "toolCallId")) is not None:
            return found
    return None


def time_of(value: dict[str, Any], key: str) -> str | None:
    """Give a time in milliseconds as ISO 8601; 0 is what a scrubbed log says."""
    milliseconds = number_of(value, key)
    if not milliseconds:
        return None
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds")


def text_in_row(value: Any) -> str:  # noqa: ANN401 - a parsed record
    """Give what a row says."""
    if not isinstance(value, dict):
        return ""
    data = dict_of(value, "data")
    parts: list[str] = []
    for key in ("texts", "args"):
        parts += [packed] if (packed := "".join(texts_in(data.get(key)))) else []
    for block in (*blocks_of(data), *dicts_in(data.get("summary")), dict_of(data, "chunk")):
        for inner in (block, *dicts_in(block.get("content"))):
            parts += [text for key in _TEXT_KEYS if (text := text_of(inner, key))]
    parts += [text for key in ("name", "arguments", "title") if (text := text_of(data, key))]
    return "\n".join(parts)
