"""The estimate, by its formula, in every shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.shapes import blocks_of
from provenance.messages.tokens import (
    HeuristicCounter,
    RequestTokens,
    TokenCounter,
    count_blocks,
    count_request,
    estimate_tokens,
)


def _block_tokens(block: object) -> int:
    return len(json.dumps(block, ensure_ascii=False)) // 4


def test_one_user_message_of_200_characters_is_54() -> None:
    assert estimate_tokens([{"role": "user", "content": "x" * 200}]) == 54


@pytest.mark.parametrize(
    ("length", "tokens"), [(0, 4), (1, 4), (3, 4), (4, 5), (7, 5), (8, 6), (199, 53), (203, 54)]
)
def test_a_quarter_is_rounded_down(length: int, tokens: int) -> None:
    assert estimate_tokens([{"role": "user", "content": "好" * length}]) == tokens


def test_each_message_and_each_block_is_rounded_on_its_own() -> None:
    seven = {"role": "user", "content": "x" * 7}
    assert estimate_tokens([seven] * 4) == 4 * 5
    block = {"type": "text", "text": "xy"}  # 30 characters
    assert estimate_tokens([{"role": "user", "content": [block, block]}]) == 4 + 7 + 7


CALL = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "ä.py", "n": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "“é”"}]}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": "好"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
REASONING = {"type": "reasoning", "id": "r1", "summary": [], "content": [{"text": "hm"}]}


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "assistant", "content": [CALL]}, 4 + _block_tokens(CALL)),
        ({"role": "user", "content": [RESULT, CALL]}, 4 + sum(map(_block_tokens, [RESULT, CALL]))),
        ({"role": "user", "content": (RESULT,)}, 4 + _block_tokens(RESULT)),
        (
            {"role": "assistant", "content": "12345678", "tool_calls": [CHAT_CALL, CHAT_CALL]},
            4 + 2 + 2 * _block_tokens(CHAT_CALL),
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            4 + _block_tokens(CHAT_CALL),
        ),
        (
            {"role": "assistant", "content": [CALL], "tool_calls": [CHAT_CALL]},
            4 + _block_tokens(CALL) + _block_tokens(CHAT_CALL),
        ),
        ({"role": "assistant", "tool_calls": []}, 4),
        (
            {"role": "assistant", "content": "12345678", "function_call": CHAT_CALL["function"]},
            4 + 2 + _block_tokens(CHAT_CALL["function"]),
        ),
        ({"role": "assistant", "content": None, "refusal": "no", "tool_calls": None}, 4 + 1),
        ({"role": "tool", "tool_call_id": "c1", "content": "12345678"}, 4 + 2),
        ({"role": "assistant", "content": None}, 4),
        (ITEM, 4 + _block_tokens(ITEM)),
        (OUTPUT, 4 + _block_tokens(OUTPUT)),
        (REASONING, 4 + _block_tokens(REASONING)),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
            4 + _block_tokens({"type": "input_text", "text": "a"}),
        ),
        ({"type": "message", "content": "12345678"}, 4 + 2),
        (MappingProxyType({"role": "user", "content": "12345678"}), 4 + 2),
    ],
)
def test_every_shape(message: Any, tokens: int) -> None:
    assert estimate_tokens([message]) == tokens
    assert HeuristicCounter().count_message(message) == tokens


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({}, 4),
        (None, 5),
        (17, 4),
        ("12345678", 6),
        ({"role": "user"}, 4),
        ({"content": "12345678"}, 6),
        ({"role": 5, "content": 12345678}, 6),
        ({"role": "user", "content": {"a": 1}}, 6),
        ({"role": "user", "content": ["12345678", None, 3]}, 4 + 2 + 1 + 0),
        ({"role": "user", "content": "", "tool_calls": "12345678"}, 6),
        ({"role": "user", "content": b"12345678"}, 4 + 18 // 4),
        ({"type": 7, "role": None, "content": "12345678"}, 6),
    ],
)
def test_no_message_is_too_odd_to_be_counted(message: Any, tokens: int) -> None:
    assert estimate_tokens([message]) == tokens


def test_a_block_that_holds_itself_is_counted() -> None:
    block: dict[str, Any] = {"a": 1}
    block["self"] = block
    assert HeuristicCounter().count_block(block) == len('{"a": 1, "self": null}') // 4


def test_a_block_deeper_than_the_stack_is_counted() -> None:
    block: list[Any] = []
    for _ in range(100_000):
        block = [block]
    assert HeuristicCounter().count_block(block) == 200_002 // 4


def test_an_sdk_object_costs_what_its_json_costs() -> None:
    anthropic = pytest.importorskip("anthropic.types")
    block = anthropic.ToolUseBlock(type="tool_use", id="t1", name="read", input={"path": "ä"})
    dumped = block.model_dump(mode="json", exclude_unset=True)
    assert estimate_tokens([{"role": "assistant", "content": [block]}]) == 4 + _block_tokens(dumped)


def test_an_sdk_message_is_taken_apart() -> None:
    anthropic = pytest.importorskip("anthropic.types")
    message = anthropic.Message(
        id="m1",
        type="message",
        role="assistant",
        model="a-model",
        content=[anthropic.TextBlock(type="text", text="“hello”")],
        stop_reason="end_turn",
        stop_sequence=None,
        usage=anthropic.Usage(input_tokens=1, output_tokens=1),
    )
    block = {"type": "text", "text": "“hello”"}
    assert estimate_tokens([message]) == 4 + _block_tokens(block)
    assert HeuristicCounter().count_messages(message) == 4 + _block_tokens(block)


def test_a_chat_message_of_the_sdk_counts_its_calls() -> None:
    chat = pytest.importorskip("openai.types.chat")
    message = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
    )
    assert estimate_tokens([message]) == 4 + _block_tokens(CHAT_CALL)


def test_a_responses_item_of_the_sdk_is_one_block() -> None:
    responses = pytest.importorskip("openai.types.responses")
    item = responses.ResponseFunctionToolCall.model_validate(ITEM)
    assert estimate_tokens([item]) == 4 + _block_tokens(ITEM)


def test_a_plain_object_is_taken_apart() -> None:
    assert estimate_tokens([SimpleNamespace(role="user", content="12345678")]) == 6


def test_messages_may_come_from_an_iterator() -> None:
    def messages() -> Iterator[object]:
        yield {"role": "user", "content": "12345678"}
        yield OUTPUT

    assert estimate_tokens(messages()) == 6 + 4 + _block_tokens(OUTPUT)


@pytest.mark.parametrize("messages", ["12345678", {"role": "user", "content": "12345678"}])
def test_one_message_alone_is_a_list_of_one(messages: Any) -> None:
    assert estimate_tokens(messages) == 6


def test_nothing_is_nothing() -> None:
    assert estimate_tokens([]) == 0
    assert count_request([]).total == 0


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.text() | st.lists(_JSON)},
    optional={"tool_calls": st.lists(_JSON)},
)


@given(st.lists(_MESSAGES))
def test_the_cost_of_a_list_is_the_sum_of_its_costs(messages: list[dict[str, Any]]) -> None:
    expected = 0
    for message in messages:
        content, calls = message["content"], message.get("tool_calls", [])
        blocks = calls if isinstance(content, str) else content + calls
        text = content if isinstance(content, str) else ""
        expected += 4 + len(text) // 4 + sum(map(_block_tokens, blocks))
    before = json.dumps(messages)
    assert estimate_tokens(messages) == expected
    assert sum(map(HeuristicCounter().count_message, messages)) == expected
    assert json.dumps(messages) == before


_PARTS = st.sampled_from([CALL, RESULT, {"type": "text", "text": "“a”"}, {"type": "thinking"}])
_CALLS = st.lists(st.just(CHAT_CALL), min_size=1, max_size=3)
_SHAPES = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": st.text() | st.lists(_PARTS)}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | st.text() | st.lists(_PARTS)},
        optional={"tool_calls": _CALLS, "function_call": st.just(CHAT_CALL["function"])},
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": st.just("c1"), "content": st.text()}
    ),
    st.sampled_from([ITEM, OUTPUT, REASONING, {}, {"role": "user"}]),
)


@given(_SHAPES)
def test_blocks_make_up_what_a_message_costs(message: dict[str, Any]) -> None:
    assert 4 + sum(count_blocks(message)) == estimate_tokens([message])
    assert len(count_blocks(message)) == len(blocks_of(message))
    assert count_blocks(message, counter=HeuristicCounter()) == count_blocks(message)


def test_each_block_has_its_own_cost() -> None:
    message = {"role": "assistant", "content": "12345678", "tool_calls": [CHAT_CALL]}
    assert count_blocks(message) == (2, _block_tokens(CHAT_CALL))
    result = {"role": "tool", "tool_call_id": "c1", "content": "12345678"}
    assert count_blocks(result) == (2,)


TOOL = {"name": "read", "input_schema": {"type": "object", "properties": {"é": {}}}}


def test_a_request_counts_system_and_tools_too() -> None:
    counted = count_request(
        [{"role": "user", "content": "x" * 200}], system="x" * 43, tools=[TOOL, TOOL]
    )
    tools = 2 * _block_tokens(TOOL)
    assert counted == RequestTokens(messages=54, system=10, tools=tools)
    assert counted.total == 54 + 10 + tools


@pytest.mark.parametrize(
    ("system", "tokens"),
    [
        (None, 0),
        ("", 0),
        ("12345678", 2),
        ([{"type": "text", "text": "a"}], 7),
        (({"type": "text", "text": "a"},) * 2, 14),
        ({"type": "text", "text": "a"}, 7),
    ],
)
def test_a_system_prompt_is_text_or_blocks(system: object, tokens: int) -> None:
    assert count_request([], system=system) == RequestTokens(0, tokens, 0)


def test_no_tools_may_be_none() -> None:
    assert count_request([], tools=None).tools == 0


def test_a_counter_of_ones_own_counts_everything() -> None:
    class Ones:
        def count_text(self, text: str, /) -> int:
            return 1

        def count_block(self, block: object, /) -> int:
            return 10

        def count_message(self, message: object, /) -> int:
            return 100

        def count_messages(self, messages: Any, /) -> int:
            return 100 * len(messages)

    counter: TokenCounter = Ones()
    counted = count_request(["a", "b"], system="s", tools=[TOOL], counter=counter)
    assert counted == RequestTokens(200, 1, 10)
    assert isinstance(counter, TokenCounter)
    assert isinstance(HeuristicCounter(), TokenCounter)
    assert not isinstance(object(), TokenCounter)


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        count_request([]).messages = 3  # type: ignore[misc]


class _Raises:
    """An object of somebody else's: each of its fields fails."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


def test_fields_that_fail_are_absent() -> None:
    for message in (_Raises(), {"role": "user", "content": [_Raises()]}):
        assert estimate_tokens([message]) >= 4
