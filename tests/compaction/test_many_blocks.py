"""The work for one message grows with its blocks, and not with their square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, compact_context, verify_receipt
from provenance.messages import estimate_tokens
from tests.messages.builders import chat_call, gives, thinking_block, tool_result, tool_use, user


def steps(work: Callable[[], object]) -> int:
    """How many functions are called, those of C included."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def anthropic(count: int) -> list[Any]:
    calls = [tool_use(f"c{number}", path=f"{number % 7}.py") for number in range(count)]
    results = [tool_result(f"c{number}", "x" * 400) for number in range(count)]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def thinking(count: int) -> list[Any]:
    said, given = anthropic(count)
    return [
        {**said, "content": [one for call in said["content"] for one in (thinking_block(), call)]},
        given,
    ]


def chat(count: int) -> list[Any]:
    ids = [f"c{number}" for number in range(count)]
    return [
        {"role": "assistant", "tool_calls": [*map(chat_call, ids)]},
        *gives("chat", *ids, content="x" * 400),
    ]


def spill(_text: str, /, *, tool: str | None, call_id: str | None) -> Any:
    return SimpleNamespace(pointer=f"memory:{call_id}")


@pytest.mark.parametrize("turn", [anthropic, thinking, chat])
@pytest.mark.parametrize("settings", [{}, {"read_tools": {"read": "path"}}, {"soft_limit": 1}])
@pytest.mark.parametrize("store", [None, spill])
def test_twice_the_blocks_are_twice_the_work(turn: Any, settings: Any, store: Any) -> None:
    def work(count: int) -> tuple[int, int]:
        original = [user(), *turn(count), user(), user()]
        limits = {"soft_limit": estimate_tokens(original) * 9 // 10, "max_tool_result_tokens": 50}
        config = CompactionConfig(**{**limits, "keep_recent_messages": 3, **settings})
        made: list[Any] = []
        compacting = steps(
            lambda: made.append(compact_context(original, None, config=config, spill=store))
        )
        verifying = steps(lambda: verify_receipt(original, made[0]))
        assert verify_receipt(original, made[0]) == ()
        assert made[0].receipt.removed
        return compacting, verifying

    for few, many in zip(work(150), work(300), strict=True):
        assert many < 3 * few


def test_a_receipt_in_another_order_is_no_more_work() -> None:
    """Counting a message again for each entry would be."""
    original = [user(), *chat(40), user(), user()]
    config = CompactionConfig(soft_limit=1, keep_recent_messages=1)
    receipt = compact_context(original, None, config=config).receipt
    mixed = sorted(receipt.removed, key=lambda one: (one.block, one.message))
    calls = [one for one in mixed if one.kind == "tool_call"]
    results = [one for one in mixed if one.kind != "tool_call"]
    turns = [one for pair in zip(calls, results, strict=False) for one in pair]

    class Counting:
        messages = 0

        def count_text(self, text: str, /) -> int:
            return len(text)

        def count_block(self, _block: object, /) -> int:
            type(self).messages += 1
            return 1

        def count_message(self, _message: object, /) -> int:
            return 5

        def count_messages(self, messages: Any, /) -> int:
            return 5 * len(messages)

    forged = SimpleNamespace(
        messages=[], receipt=SimpleNamespace(**{**_fields(receipt), "removed": tuple(turns)})
    )
    assert verify_receipt(original, forged, counter=Counting()) != ()
    assert Counting.messages <= 2 * len(calls)


def _fields(receipt: Any) -> dict[str, Any]:
    return {name: getattr(receipt, name) for name in receipt.__slots__}
