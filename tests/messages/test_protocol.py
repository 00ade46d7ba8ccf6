"""Every call has exactly one result, later, from the other side."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.errors import CtxauditError, DataError
from provenance.messages.protocol import (
    ToolInteraction,
    ToolProtocolError,
    validate_rows,
    validate_tool_protocol,
)
from provenance.messages.shapes import BlockKind, blocks_of, role_of
from tests.messages.builders import (
    SHAPES,
    as_objects,
    asks,
    assistant,
    chat_call,
    gives,
    histories,
    hostile,
    paired_histories,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

SECRET = "the secret text of a message"


def _refused(messages: Any, text: str) -> ToolProtocolError:
    with pytest.raises(ToolProtocolError) as caught:
        validate_tool_protocol(messages)
    assert text in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


# What passes


def test_nothing_to_pair() -> None:
    assert validate_tool_protocol([]) == {}
    assert validate_tool_protocol([user(), assistant()]) == {}
    assert validate_tool_protocol((user(),)) == {}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_and_its_result(shape: str) -> None:
    found = validate_tool_protocol([user(), *asks(shape, "a"), *gives(shape, "a")])
    assert found == {"a": ToolInteraction(tool_use_message=1, tool_result_message=2)}
    assert (found["a"].tool_use_message, found["a"].tool_result_message) == (1, 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_six_parallel_calls_with_results_in_another_order(shape: str) -> None:
    ids = [f"t{number}" for number in range(6)]
    messages = [*asks(shape, *ids), *gives(shape, *reversed(ids))]
    assert list(validate_tool_protocol(messages)) == ids


def test_results_in_several_messages_among_text() -> None:
    messages = [
        {"role": "assistant", "content": [thinking_block(), tool_use("a"), tool_use("b")]},
        {"role": "user", "content": [text_block(), tool_result("b"), text_block()]},
        assistant(),
        {"role": "user", "content": [text_block(), tool_result("a")]},
    ]
    assert validate_tool_protocol(messages) == {"a": (0, 3), "b": (0, 1)}


def test_a_result_more_than_five_messages_away() -> None:
    messages = [*asks("chat", "a"), *[user()] * 9, *gives("chat", "a")]
    assert validate_tool_protocol(messages) == {"a": (0, 10)}


def test_shapes_side_by_side() -> None:
    messages = [
        message
        for shape in SHAPES
        for message in [*asks(shape, shape), user(), *gives(shape, shape)]
    ]
    assert set(validate_tool_protocol(messages)) == set(SHAPES)


@given(paired_histories(), st.booleans())
def test_paired_histories_pass(messages: list[Any], as_what: bool) -> None:
    messages = as_objects(messages) if as_what else messages
    before = copy.deepcopy(messages)
    found = validate_tool_protocol(messages)
    assert messages == before
    for call_id, (called, answered) in found.items():
        assert called < answered
        for index, kind in ((called, BlockKind.TOOL_CALL), (answered, BlockKind.TOOL_RESULT)):
            sides = [
                block
                for block in blocks_of(messages[index])
                if block.kind is kind and block.call_id == call_id
            ]
            assert len(sides) == 1
    rows = [(role_of(message), blocks_of(message)) for message in messages]
    assert validate_rows(rows) == found
    assert [*found] == [
        block.call_id for _, blocks in rows for block in blocks if block.kind is BlockKind.TOOL_CALL
    ]


# Ids


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("call_id", "got"),
    [
        ("", "a blank string"),
        (" \t\u3000", "a blank string"),
        (None, "NoneType"),
        (7, "int"),
        (["a"], "list"),
        ({"a": 1}, "dict"),
    ],
)
def test_an_id_is_a_string_that_is_not_blank(shape: str, call_id: object, got: str) -> None:
    error = _refused(asks(shape, call_id), "tool call id: expected a non-blank string")
    assert f"got {got}" in str(error)
    assert (error.message_index, error.call_id) == (0, None)
    messages = [*asks(shape, "a"), *gives(shape, call_id)]
    _refused(messages, f"message 1: tool result id: expected a non-blank string, got {got}")


@pytest.mark.parametrize("shape", SHAPES)
def test_an_id_used_twice_is_refused_also_where_the_first_use_was_paired(shape: str) -> None:
    once = [*asks(shape, "a"), *gives(shape, "a")]
    error = _refused([*once, *once], "message 2: tool call id: expected an id used once")
    assert "got the id of a call in message 0" in str(error)
    assert (error.message_index, error.call_id) == (2, "a")


@pytest.mark.parametrize("shape", SHAPES)
def test_an_id_used_twice_in_one_turn_is_refused(shape: str) -> None:
    _refused([*asks(shape, "a", "a"), *gives(shape, "a")], "expected an id used once")


def test_an_id_that_differs_in_case_or_space_is_another() -> None:
    ids = ["a", "A", " a"]
    assert list(validate_tool_protocol([*asks("chat", *ids), *gives("chat", *ids)])) == ids


# Sides


@pytest.mark.parametrize(
    ("role", "got"),
    [("user", "user"), ("system", "system"), ("developer", "system"), ("x", "no known role")],
)
def test_a_call_is_by_an_assistant(role: str, got: str) -> None:
    messages = [
        {"role": role, "content": [tool_use("a", text=SECRET)]},
        {"role": "user", "content": [tool_result("a", SECRET)]},
    ]
    _refused(messages, f"message 0: role of a tool call: expected an assistant, got {got}")


@pytest.mark.parametrize(
    ("role", "got"), [("assistant", "assistant"), ("system", "system"), (None, "no known role")]
)
def test_a_result_is_by_the_user_side(role: object, got: str) -> None:
    messages = [*asks("anthropic", "a"), {"role": role, "content": [tool_result("a", SECRET)]}]
    _refused(messages, f"message 1: role of a tool result: expected the user side, got {got}")


# Results


def test_a_call_without_a_result_is_refused() -> None:
    messages = [user(), *asks("chat", "a", "b", text=SECRET), *gives("chat", "b"), user()]
    error = _refused(messages, "message 1: tool call: expected one result in a later message")
    assert (error.message_index, error.call_id) == (1, "a")


def test_an_unknown_result_is_refused() -> None:
    error = _refused([user(), *gives("chat", "ghost", content=SECRET)], "got an unknown id")
    assert (error.message_index, error.call_id) == (1, "ghost")


@pytest.mark.parametrize("shape", SHAPES)
def test_an_early_result_is_refused(shape: str) -> None:
    messages = [*gives(shape, "a"), *asks(shape, "a")]
    _refused(messages, "message 0: tool result id: expected the id of an earlier call, got an ear")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_second_result_is_refused(shape: str) -> None:
    messages = [*asks(shape, "a"), *gives(shape, "a", "a", content=SECRET)]
    _refused(messages, "tool result id: expected one result for a call, got a second result")


def test_a_result_in_the_message_of_its_call_is_refused() -> None:
    messages = [{"role": "assistant", "content": [tool_use("a"), tool_result("a", SECRET)]}]
    _refused(messages, "message 0: role of a tool result")
    rows = [("assistant", blocks_of(messages[0])[:1]), ("user", blocks_of(messages[0])[1:])]
    assert validate_rows(rows) == {"a": (0, 1)}


def test_the_first_breach_is_named() -> None:
    messages = [*asks("chat", "a"), *gives("chat", "ghost"), *asks("chat", "")]
    assert _refused(messages, "unknown id").message_index == 1


# Whatever comes


@pytest.mark.parametrize(
    ("messages", "got"),
    [(None, "NoneType"), ("text", "str"), (b"x", "bytes"), ({"role": "user"}, "dict"), (7, "int")],
)
def test_what_is_no_list_of_messages_is_refused(messages: Any, got: str) -> None:
    assert _refused(messages, f"expected a sequence of messages, got {got}").message_index is None


def test_it_is_one_of_the_librarys_errors_and_a_value_error() -> None:
    assert issubclass(ToolProtocolError, DataError)
    assert issubclass(ToolProtocolError, ValueError)
    assert ToolProtocolError.code == "tool_protocol"
    assert issubclass(ToolProtocolError, CtxauditError)


@given(st.lists(st.one_of(hostile, hostile.map(lambda one: {"role": "user", "content": [one]}))))
def test_hostile_values_pass_or_are_refused(messages: list[Any]) -> None:
    with contextlib.suppress(ToolProtocolError):
        validate_tool_protocol(messages)


@given(histories())
def test_what_passes_keeps_every_rule(messages: list[Any]) -> None:
    try:
        found = validate_tool_protocol(messages)
    except ToolProtocolError:
        return
    calls, results = [], []
    for index, message in enumerate(messages):
        for block in blocks_of(message):
            if block.kind is BlockKind.TOOL_CALL:
                assert role_of(message) == "assistant"
                calls.append((block.call_id, index))
            elif block.kind is BlockKind.TOOL_RESULT:
                assert role_of(message) in {"user", "tool"}
                results.append((block.call_id, index))
    assert len({call_id for call_id, _ in calls}) == len(calls) == len(results)
    assert dict(calls) == {call_id: one.tool_use_message for call_id, one in found.items()}
    assert dict(results) == {call_id: one.tool_result_message for call_id, one in found.items()}
    assert all(isinstance(call_id, str) and call_id.strip() for call_id, _ in calls)


def test_sdk_objects() -> None:
    anthropic = pytest.importorskip("anthropic.types", reason="the test extra is not installed")
    openai = pytest.importorskip("openai.types.chat", reason="the test extra is not installed")
    use = anthropic.ToolUseBlock(type="tool_use", id="t1", name="read", input={})
    result = anthropic.ToolResultBlockParam(type="tool_result", tool_use_id="t1", content="x")
    chat = openai.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1")]}
    )
    messages: list[Any] = [
        {"role": "assistant", "content": [use]},
        anthropic.UserMessageParam(role="user", content=[result]),
        chat,
        openai.ChatCompletionToolMessageParam(role="tool", tool_call_id="c1", content="x"),
    ]
    assert validate_tool_protocol(messages) == {"t1": (0, 1), "c1": (2, 3)}
    _refused(messages[:3], "message 2: tool call: expected one result")


@pytest.mark.parametrize("tag", ["message", "reasoning", "function_call", "odd"])
@pytest.mark.parametrize("content", ["hi", None, [{"type": "output_text", "text": "hi"}]])
def test_calls_are_calls_whatever_type_stands_beside_them(tag: str, content: Any) -> None:
    said = {"type": tag, "role": "assistant", "content": content, "tool_calls": [chat_call("c1")]}
    with pytest.raises(ToolProtocolError) as caught:
        validate_tool_protocol([said])
    assert caught.value.call_id == "c1"
    assert validate_tool_protocol([said, *gives("chat", "c1")]) == {"c1": (0, 1)}


@pytest.mark.parametrize("calls", [None, []])
def test_an_item_with_a_field_for_calls_and_none_in_it_stays_an_item(calls: Any) -> None:
    item = {**asks("responses", "c1")[-1], "tool_calls": calls}
    assert validate_tool_protocol([item, *gives("responses", "c1")]) == {"c1": (0, 1)}
