"""Values that no harness should have: a fine result or an error with a type, and no crash."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.compaction import (
    CompactionConfig,
    Receipt,
    compact_context,
    dedup_file_reads,
    generate_summary,
    prune_old_messages,
    truncate_tool_results,
    verify_receipt,
)
from provenance.messages import HeuristicCounter, ToolProtocolError, repair_tool_protocol
from tests.messages.builders import histories, hostile, tool_result, tool_use, user

CONFIG = CompactionConfig(
    soft_limit=1,
    hard_limit=10**9,
    max_tool_result_tokens=1,
    keep_recent_messages=2,
    summary_keep_recent=1,
    read_tools={"read": "path"},
    summary_timeout=None,
)


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def holds_itself() -> Any:
    value: dict[str, Any] = {"type": "text", "text": "x"}
    value["self"] = value
    return value


def compact(messages: Any) -> None:
    result = compact_context(messages, None, summarizer=lambda _text: "s", config=CONFIG)
    assert verify_receipt(messages, result, counter=HeuristicCounter()) == ()
    assert Receipt.from_json(result.receipt.to_json()) == result.receipt


ODD: list[Any] = [
    None,
    "text",
    7,
    {},
    [],
    {"role": None},
    {"role": "user"},
    {"role": "user", "content": None},
    {"role": "user", "content": []},
    {"role": "user", "content": [None, 7, "x", {}, []]},
    {"role": ["user"], "content": "x"},
    {"content": "x"},
    {"role": "user", "content": {"type": "text"}},
    {"role": "user", "content": b"bytes"},
    {"role": "user", "content": "half \ud800 pair"},
    {"role": "user", "content": [{"type": "text", "text": "\udfff"}]},
    {"role": "user", "content": [{"type": "x", "n": math.nan, "i": math.inf, "f": -0.0}]},
    {"role": "user", "content": [{"type": "x", "n": 10**5_000, "m": 2**64, "l": -(2**63) - 1}]},
    {"role": "user", "content": [{"type": "x", "deep": deep(20_000)}]},
    {"role": "user", "content": [{"type": "x", 7: "key", None: 1, ("a", 1): 2}]},
    {"role": "user", "content": [{"type": "x", "\ud800": 1, "é": 2, "𝒳": 3, "\ue000": 4}]},
    {"role": "user", "content": [holds_itself()]},
    {"role": "user", "content": (user(),)},
    {"role": "assistant", "content": None, "tool_calls": None},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "assistant", "content": "", "refusal": "no", "audio": {"id": "a"}},
    {"type": "reasoning", "summary": None},
    {"type": "item_reference", "id": "x"},
    {"type": 7, "role": 7, "content": 7},
    object(),
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_message_is_kept_or_removed_like_any_other(odd: Any) -> None:
    compact([odd])
    compact([user(), odd, *[user(str(n)) for n in range(5)]])
    compact([*[user(str(n)) for n in range(5)], odd])


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_result_or_argument_does_no_harm(odd: Any) -> None:
    messages = [
        user(),
        {"role": "assistant", "content": [tool_use("c1", path=odd)]},
        {"role": "user", "content": [tool_result("c1", odd)]},
        *[user(str(number)) for number in range(5)],
    ]
    compact(messages)


@pytest.mark.parametrize("messages", [None, 7, "text", b"x", {}, {"role": "user"}, iter([]), {1}])
def test_what_is_no_sequence_is_refused(messages: Any) -> None:
    for run in (
        compact_context,
        lambda m, _: truncate_tool_results(m),
        lambda m, _: dedup_file_reads(m),
        lambda m, _: prune_old_messages(m),
        lambda m, _: generate_summary(m, summarizer=None),
    ):
        with pytest.raises(ToolProtocolError):
            run(messages, None)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    messages=st.lists(
        st.one_of(hostile, histories().filter(bool).flatmap(st.sampled_from)), max_size=8
    )
)
def test_whatever_comes_is_compacted_or_refused_with_a_type(messages: list[Any]) -> None:
    with contextlib.suppress(ToolProtocolError):
        compact(messages)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(messages=histories())
def test_whatever_was_repaired_is_compacted(messages: list[Any]) -> None:
    repaired, _ = repair_tool_protocol(messages)
    compact(repaired)
