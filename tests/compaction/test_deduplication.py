"""Layer 2: which reads go, and what stays beside them."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, compact_context, dedup_file_reads
from provenance.messages import HeuristicCounter
from tests.compaction.builders import assert_sound, untouched
from tests.messages.builders import (
    assistant,
    chat_call,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

_DEEP: object = functools.reduce(lambda inner, _: [inner], range(2_000), "line")
READ = CompactionConfig(read_tools={"read": "path"})


def read(call_id: str, path: str, content: str = "text") -> list[Any]:
    return [
        {"role": "assistant", "content": [tool_use(call_id, path=path)]},
        {"role": "user", "content": [tool_result(call_id, content, _read_path=path)]},
    ]


def named(call_id: str, **arguments: Any) -> list[Any]:
    return [
        {"role": "assistant", "content": [tool_use(call_id, **arguments)]},
        {"role": "user", "content": [tool_result(call_id, "text")]},
    ]


def test_only_the_latest_read_of_a_file_stays() -> None:
    messages = [user(), *read("a", "x.py"), *read("b", "y.py"), *read("c", "x.py"), assistant()]
    same = untouched(messages)
    left, saved = dedup_file_reads(messages)
    assert left == [user(), *read("b", "y.py"), *read("c", "x.py"), assistant()]
    counter = HeuristicCounter()
    assert saved == counter.count_messages(messages) - counter.count_messages(left) > 0
    assert same()


def test_files_read_once_stay() -> None:
    messages = [user(), *read("a", "x.py"), *read("b", "x.pyi")]
    assert dedup_file_reads(messages) == (messages, 0)


def test_siblings_of_an_older_read_stay() -> None:
    messages = [
        user(),
        {
            "role": "assistant",
            "content": [text_block("Both."), tool_use("a", path="x.py"), tool_use("b", "ls")],
        },
        {
            "role": "user",
            "content": [
                tool_result("b", "names"),
                tool_result("a", "old", _read_path="x.py"),
                text_block("hurry"),
            ],
        },
        *read("c", "x.py"),
    ]
    left, _ = dedup_file_reads(messages)
    assert left[1]["content"] == [text_block("Both."), tool_use("b", "ls")]
    assert left[2]["content"] == [tool_result("b", "names"), text_block("hurry")]
    assert left[3:] == messages[3:]


def test_parallel_reads_of_one_file_leave_the_later_result() -> None:
    messages = [
        {"role": "assistant", "content": [tool_use("a"), tool_use("b")]},
        {
            "role": "user",
            "content": [
                tool_result("b", "1", _read_path="x"),
                tool_result("a", "2", _read_path="x"),
            ],
        },
    ]
    left, _ = dedup_file_reads(messages)
    assert left[0]["content"] == [tool_use("a")]


@pytest.mark.parametrize("shape", ["chat", "responses"])
def test_reads_are_known_by_the_tool_and_its_argument(shape: str) -> None:
    messages: list[Any] = [user()]
    for one in ("a", "b"):
        if shape == "chat":
            call = chat_call(one, "open", file="x.py")
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": one, "content": "text"})
        else:
            arguments = '{"file": "x.py"}'
            messages += [
                {"type": "function_call", "call_id": one, "name": "open", "arguments": arguments},
                {"type": "function_call_output", "call_id": one, "output": "text"},
            ]
    config = CompactionConfig(read_tools={"open": "file"})
    assert dedup_file_reads(messages) == (messages, 0)
    left, _ = dedup_file_reads(messages, config=config)
    assert left == [messages[0], *messages[3:]]


@pytest.mark.parametrize(
    ("older", "later", "goes"),
    [
        ({"path": "x"}, {"path": "x"}, True),
        ({"path": "x", "offset": 1}, {"path": "x", "offset": 1}, True),
        ({"path": "x", "offset": 1}, {"path": "x"}, True),
        ({"path": "x", "limit": None}, {"path": "x"}, True),
        ({"path": "x"}, {"path": "x", "limit": 10}, False),
        ({"path": "x", "offset": 1}, {"path": "x", "offset": 9}, False),
        ({"path": "x", "description": "see a"}, {"path": "x", "description": "look again"}, True),
        ({"path": "x", "quiet": True}, {"path": "x"}, True),
        ({"path": "x"}, {"path": "x", "range": [1, 20]}, False),
        ({"path": "x"}, {"path": "x", "lines": "1-20"}, False),
        ({"path": "x", "lines": "L3"}, {"path": "x", "lines": "L4:9"}, False),
        ({"path": "x"}, {"path": "x", "mode": "outline"}, False),
        ({"path": "x", "symbol": "one"}, {"path": "x", "symbol": "other"}, False),
        ({"path": "x"}, {"path": "x", "range": {"start": 1, "end": 20}}, False),
        ({"path": "x"}, {"path": "x", "lines": "10-20, 30-40"}, False),
        ({"path": "x", "lines": "lines 1 to 50"}, {"path": "x", "lines": "lines 51 to 99"}, False),
        ({"path": "x", "symbol": "class A"}, {"path": "x", "symbol": "class B"}, False),
        ({"path": "x"}, {"path": "x", "outline": True}, False),
        ({"path": "x", "offset": 0}, {"path": "x", "offset": 0, "reason": "to see more"}, True),
        ({"path": "x", "range": {}, "lines": [], "at": ""}, {"path": "x"}, True),
        ({"path": "x"}, {"path": "x", "range": {}, "lines": [], "at": ""}, True),
        ({"path": "x"}, {"path": "x", "cached": False, "note": None}, True),
        ({"path": "x"}, {"path": "x", "range": _DEEP}, False),
        ({"path": "x"}, {"path": "y"}, False),
        ({"path": ""}, {"path": ""}, False),
        ({"path": 7}, {"path": 7}, False),
    ],
)
def test_a_part_of_a_file_replaces_neither_the_whole_nor_another_part(
    older: dict[str, Any], later: dict[str, Any], goes: bool
) -> None:
    messages = [user(), *named("a", **older), *named("b", **later)]
    left, _ = dedup_file_reads(messages, config=READ)
    assert len(left) == (3 if goes else 5)


@pytest.mark.parametrize("reading", [named, read])
def test_a_read_that_failed_replaces_nothing(reading: Any) -> None:
    messages = [user(), *reading("a", path="x"), *reading("b", path="x")]
    messages[-1]["content"][0]["is_error"] = True
    assert dedup_file_reads(messages, config=READ) == (messages, 0)


def test_thinking_that_led_to_an_older_read_alone_goes_with_it() -> None:
    messages = [user(), *read("a", "x"), *read("b", "x")]
    messages[1]["content"].insert(0, thinking_block())
    result = compact_context(messages, None, config=CompactionConfig(soft_limit=1))
    assert [one.kind for one in result.receipt.removed] == ["thinking", "tool_call", "tool_result"]
    assert_sound(messages, result)


def test_thinking_that_led_to_something_else_too_stays() -> None:
    messages = [user(), *read("a", "x"), *read("b", "x")]
    messages[1]["content"] = [thinking_block(), text_block("I look."), *messages[1]["content"]]
    left, _ = dedup_file_reads(messages)
    assert left[1]["content"] == [thinking_block(), text_block("I look.")]
