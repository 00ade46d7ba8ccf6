"""Layer 3: what stays, and what goes with what."""

from __future__ import annotations

from typing import Any

import pytest

from provenance.compaction import CompactionConfig, prune_old_messages
from provenance.messages import HeuristicCounter, check_provider_rules, validate_tool_protocol
from tests.compaction.builders import reads, talk, untouched
from tests.messages.builders import (
    SHAPES,
    asks,
    assistant,
    gives,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)


def test_the_first_message_and_the_six_most_recent_stay() -> None:
    messages = talk(20)
    same = untouched(messages)
    left, saved = prune_old_messages(messages)
    assert left == [messages[0], *messages[-6:]]
    counter = HeuristicCounter()
    assert saved == counter.count_messages(messages) - counter.count_messages(left)
    assert same()


@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_where_nothing_lies_between_nothing_goes(count: int) -> None:
    messages = talk(count)
    assert prune_old_messages(messages) == (messages, 0)


@pytest.mark.parametrize("recent", [0, 1, 2, 19, 20, 99])
def test_how_many_stay_can_be_set(recent: int) -> None:
    messages = talk(20)
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=recent))
    assert left == [messages[0], *messages[max(1, 20 - recent) :]]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_interaction_that_crosses_the_cut_goes_whole(shape: str) -> None:
    messages = [user("first"), *talk(6), *asks(shape, "c1"), *talk(3), *gives(shape, "c1")]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=3))
    assert left == [messages[0], *messages[-3:-1]]


@pytest.mark.parametrize("shape", ["chat", "responses"])
@pytest.mark.parametrize("recent", [1, 2, 6])
def test_results_that_fill_the_window_keep_their_calls(shape: str, recent: int) -> None:
    names = [f"c{number}" for number in range(9)]
    messages = [user("first"), *talk(6), *asks(shape, *names)]
    for name in names:
        messages += gives(shape, name)
    config = CompactionConfig(keep_recent_messages=recent)
    left, _ = prune_old_messages(messages, config=config)
    kept = validate_tool_protocol(left)
    assert list(kept) == names[-recent:]
    assert left[0] == messages[0]
    assert left[-recent:] == messages[-recent:]


def test_a_history_never_becomes_empty() -> None:
    messages = [*asks("chat", "z"), *gives("chat", "z"), *asks("chat", *"abcdef")]
    for name in "abcdef":
        messages += gives("chat", name)
    left, _ = prune_old_messages(messages)
    assert list(validate_tool_protocol(left)) == list("abcdef")


def test_text_beside_a_crossing_result_stays() -> None:
    messages = [user("first"), *talk(4), *asks("anthropic", "c1", "c2"), *talk(2)]
    messages.append({"role": "user", "content": [text_block("mind"), tool_result("c2")]})
    messages.append({"role": "user", "content": [tool_result("c1")]})
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=2))
    assert left == [messages[0], {"role": "user", "content": [text_block("mind")]}]


def test_a_call_of_the_first_message_goes_with_its_result() -> None:
    first = {"role": "assistant", "content": [text_block("Look."), tool_use("c1")]}
    messages = [first, {"role": "user", "content": [tool_result("c1")]}, *talk(8)]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=2))
    assert left == [{"role": "assistant", "content": [text_block("Look.")]}, *messages[-2:]]


def test_six_parallel_calls_are_cut_one_by_one() -> None:
    ids = [f"c{number}" for number in range(6)]
    messages = [user("first"), *asks("chat", *ids), *gives("chat", *ids), assistant()]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=4))
    # Three results stay behind the cut, their calls do not: all six go.
    assert left == [messages[0], assistant()]


def test_instructions_at_the_beginning_stay_with_the_request_behind_them() -> None:
    messages = [{"role": "system", "content": "Be brief."}, *talk(20)]
    left, _ = prune_old_messages(messages)
    assert left == [*messages[:2], *messages[-6:]]


def test_reasoning_stays_with_its_call() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    messages: list[Any] = [
        user(), *talk(4), thought, *asks("responses", "c1"), *gives("responses", "c1")
    ]  # fmt: skip
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=2))
    assert left == [messages[0], *messages[-3:]]
    assert check_provider_rules(left, "openai-responses") == ()


def test_thinking_in_a_message_of_its_own_stays_with_the_rest_of_its_turn() -> None:
    messages = [
        user(),
        *talk(4),
        {"role": "assistant", "content": [thinking_block()]},
        {"role": "assistant", "content": [text_block("I look.")]},
        {"role": "assistant", "content": [tool_use("c1")]},
        {"role": "user", "content": [tool_result("c1")]},
    ]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=2))
    assert left == [messages[0], *messages[-4:]]


def test_a_call_of_the_server_stays_with_its_result() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    messages = [
        user(),
        *talk(4),
        {"role": "assistant", "content": [call]},
        user("Go on."),
        {"role": "assistant", "content": [found, text_block("So.")]},
        user(),
    ]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=2))
    assert left == [messages[0], messages[5], *messages[-2:]]
    assert check_provider_rules(left, "anthropic") == ()


def test_an_old_style_function_call_stays_with_its_answer() -> None:
    messages = [
        user(),
        *talk(4),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "3"},
    ]
    left, _ = prune_old_messages(messages, config=CompactionConfig(keep_recent_messages=1))
    assert left == [messages[0], *messages[-2:]]


def test_thousands_of_interactions_are_dropped_in_one_pass() -> None:
    messages = reads("anthropic", 5_000, size=20)
    left, _ = prune_old_messages(messages)
    assert left == [messages[0], *messages[-6:]]
