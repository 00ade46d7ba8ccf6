"""What a provider refuses beyond the tool protocol: each rule with its nearest miss."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.errors import CallerError
from provenance.messages.failures import UnknownProviderError
from provenance.messages.provider_rules import (
    PROVIDERS,
    ProviderProblem,
    ProviderRule,
    check_provider_rules,
)
from tests.messages.builders import (
    as_objects,
    asks,
    assistant,
    chat_call,
    gives,
    histories,
    hostile,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

SECRET = "the secret text of a message"


def _found(messages: list[Any], provider: str, **settings: bool) -> list[tuple[int, str]]:
    found = check_provider_rules(messages, provider, **settings)
    as_plain = check_provider_rules(as_objects(messages), provider, **settings)
    assert [(one.message_index, one.rule) for one in as_plain] == [
        (one.message_index, one.rule) for one in found
    ]
    assert SECRET not in repr(found)
    return [(one.message_index, one.rule.value) for one in found]


def _claude(*messages: Any, **settings: bool) -> list[tuple[int, str]]:
    return _found([*messages], "anthropic", **settings)


def _chat(*messages: Any) -> list[tuple[int, str]]:
    return _found([*messages], "openai-chat")


def _items(*messages: Any) -> list[tuple[int, str]]:
    return _found([*messages], "openai-responses")


def _turn(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


def _says(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks]}


# All


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_request_is_refused(provider: str) -> None:
    assert _found([], provider) == [(0, "message_count")]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_plain_conversation_is_taken(provider: str) -> None:
    assert _found([user(), assistant(), user()], provider) == []


@pytest.mark.parametrize(
    ("provider", "shape"),
    [("anthropic", "anthropic"), ("openai-chat", "chat"), ("openai-responses", "responses")],
)
def test_a_shape_is_taken_by_its_own_provider_alone(provider: str, shape: str) -> None:
    messages = [user(), *asks(shape, "a", "b"), *gives(shape, "b", "a"), user()]
    for one in PROVIDERS:
        rules = {rule for _, rule in _found(messages, one)}
        assert ("message_shape" in rules) == (one != provider)
        assert not rules or one != provider


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(UnknownProviderError, match="expected anthropic, openai-chat, openai-resp"):
        check_provider_rules([], "gemini")
    assert issubclass(UnknownProviderError, CallerError)
    assert issubclass(UnknownProviderError, ValueError)


@given(
    st.one_of(histories(), st.lists(hostile, max_size=5)),
    st.sampled_from(PROVIDERS),
    st.booleans(),
)
def test_whatever_comes_is_checked(messages: list[Any], provider: str, manual: bool) -> None:
    found = check_provider_rules(messages, provider, manual_thinking=manual)
    assert found == check_provider_rules(messages, provider, manual_thinking=manual)
    places = [(one.message_index, one.block_index or 0) for one in found]
    assert places == sorted(places)
    assert all(0 <= index <= max(len(messages) - 1, 0) for index, _ in places)


def test_a_problem_says_what_was_expected_before_what_was_got() -> None:
    (found,) = check_provider_rules([assistant(SECRET), user()], "anthropic")
    assert found == ProviderProblem(
        0, ProviderRule.FIRST_MESSAGE, "expected the user, got assistant", None
    )


# Turns at Anthropic


def test_consecutive_messages_of_one_role_are_one_turn() -> None:
    assert _claude(user(), user(), assistant(), assistant(), user()) == []
    assert (
        _claude(
            user(),
            _turn(tool_use("a")),
            _turn(tool_use("b")),
            _says(tool_result("a")),
            _says(tool_result("b"), text_block()),
        )
        == []
    )


def test_the_first_turn_is_the_users() -> None:
    assert _claude(assistant(), user()) == [(0, "first_message")]
    assert _claude({"role": "system", "content": "x"}, user()) == [
        (0, "system_place"),
        (0, "system_place"),
    ]


@pytest.mark.parametrize("role", ["tool", "stranger", None])
def test_other_roles_are_refused(role: object) -> None:
    assert (1, "role") in _claude(user(), {"role": role, "content": "x"}, user())


def test_a_result_stands_in_the_next_turn() -> None:
    call, result = _turn(tool_use("a")), _says(tool_result("a"))
    assert _claude(user(), call, result) == []
    assert _claude(user(), call) == [(1, "results_next")]
    assert _claude(user(), call, user(), assistant(), result) == [
        (1, "results_next"),
        (4, "result_without_call"),
    ]
    late = [_turn(tool_use("a"), tool_use("b")), _says(tool_result("b"))]
    assert _claude(user(), *late) == [(1, "results_next")]


def test_results_come_first_in_their_turn() -> None:
    call = _turn(tool_use("a"), tool_use("b"))
    first = _says(tool_result("a"), tool_result("b"), text_block())
    assert _claude(user(), call, first) == []
    mixed = _says(tool_result("a"), text_block(), tool_result("b"))
    assert _claude(user(), call, mixed) == [(2, "results_first")]
    assert _claude(user(), call, user(), _says(tool_result("a"), tool_result("b"))) == [
        (3, "results_first"),
        (3, "results_first"),
    ]


def test_text_stands_before_the_calls_of_its_turn() -> None:
    result = _says(tool_result("a"))
    assert _claude(user(), _turn(text_block(), tool_use("a")), result) == []
    assert _claude(user(), _turn(tool_use("a"), text_block()), result) == [(1, "calls_last")]
    assert _claude(user(), _turn(tool_use("a")), assistant(), result) == [(2, "calls_last")]


def test_a_conversation_ends_with_the_user() -> None:
    assert _claude(user(), assistant()) == [(1, "trailing_assistant")]
    assert _claude(user(), _turn(text_block("So "))) == [(1, "trailing_assistant")]
    paused = _turn(text_block(), {"type": "server_tool_use", "id": "s1"})
    assert _claude(user(), paused) == []


def test_a_system_message_stands_between_the_user_and_the_assistant() -> None:
    system = {"role": "system", "content": "Be brief."}
    assert _claude(user(), system) == []
    assert _claude(user(), system, assistant(), user()) == []
    assert _claude(user(), assistant(), system, user()) == [
        (2, "system_place"),
        (2, "system_place"),
    ]
    assert _claude(user(), system, user()) == [(1, "system_place")]
    assert _claude(user(), system, system) == [(2, "system_place")]


def test_no_more_than_a_hundred_thousand_messages() -> None:
    at_most = [user()] * 100_000
    assert check_provider_rules(at_most, "anthropic") == ()
    (found,) = check_provider_rules([*at_most, user()], "anthropic")
    assert (found.message_index, found.rule) == (100_000, ProviderRule.MESSAGE_COUNT)


# Blocks at Anthropic


@pytest.mark.parametrize("content", ["", [], None])
def test_content_is_not_empty_but_in_a_last_answer(content: object) -> None:
    assert _claude({"role": "user", "content": content}, user()) == [(0, "empty_content")]
    answer = {"role": "assistant", "content": content}
    assert _claude(user(), answer, user()) == [(1, "empty_content")]
    assert (1, "empty_content") not in _claude(user(), answer)


def test_text_is_not_empty_and_not_blank_alone() -> None:
    assert _claude(_says(text_block(""), text_block("x"))) == [(0, "empty_content")]
    assert _claude(_says(text_block(" \n"), text_block("x"))) == []
    assert _claude(_says(text_block(" \n"))) == [(0, "empty_content")]
    assert _claude(user("  ")) == [(0, "empty_content")]


@pytest.mark.parametrize(
    ("call_id", "is_good"),
    [("toolu_01-A", True), ("call.1", False), ("a:b", False), ("a\n", False), ("ü", False)],
)
def test_the_form_of_an_id(call_id: str, *, is_good: bool) -> None:
    found = _claude(user(), _turn(tool_use(call_id)), _says(tool_result(call_id)))
    assert found == ([] if is_good else [(1, "call_id_form"), (2, "call_id_form")])


def test_the_input_of_a_call_is_an_object() -> None:
    call = tool_use("a") | {"input": '{"cut": "of'}
    assert _claude(user(), _turn(call), _says(tool_result("a"))) == [(1, "call_arguments")]


def test_thinking_is_signed_and_by_the_assistant() -> None:
    result = _says(tool_result("a"))
    assert _claude(user(), _turn(thinking_block(), tool_use("a")), result) == []
    for unsigned in ({"signature": ""}, {"signature": None}):
        turn = _turn(thinking_block() | unsigned, tool_use("a"))
        assert _claude(user(), turn, result) == [(1, "thinking_signature")]
    hidden = {"type": "redacted_thinking", "data": "x"}
    assert _claude(user(), _turn(hidden, tool_use("a")), result) == []
    assert _claude(user(), _turn(hidden | {"data": ""}, tool_use("a")), result) == [
        (1, "thinking_signature")
    ]
    assert _claude(_says(text_block(), thinking_block())) == [(0, "thinking_place")]


def test_thinking_does_not_stay_without_what_it_led_to() -> None:
    assert _claude(user(), _turn(thinking_block()), user()) == [(1, "thinking_place")]
    assert _claude(user(), _turn(thinking_block(), text_block()), user()) == []
    assert _claude(user(), _turn(thinking_block()), _turn(text_block()), user()) == []


def test_with_manual_thinking_the_last_turn_with_calls_begins_with_thinking() -> None:
    result = _says(tool_result("a"))
    bare = [user(), _turn(tool_use("a")), result]
    assert _claude(*bare) == []
    assert _claude(*bare, manual_thinking=True) == [(1, "thinking_place")]
    thought = [user(), _turn(thinking_block(), tool_use("a")), result]
    assert _claude(*thought, manual_thinking=True) == []
    assert _claude(*bare, assistant(), user(), manual_thinking=True) == []


def test_a_servers_result_stands_behind_its_call() -> None:
    call = {"type": "server_tool_use", "id": "s1"}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    assert _claude(user(), _turn(call, result, text_block()), user()) == []
    assert _claude(user(), _turn(call), _turn(result, text_block()), user()) == []
    assert _claude(user(), _turn(result, text_block()), user()) == [
        (1, "server_result_without_call")
    ]
    assert _claude(user(), _turn(result, call), user()) == [(1, "server_result_without_call")]


# OpenAI Chat


def test_chat_results_stand_right_behind_their_message() -> None:
    ask, give = asks("chat", "a", "b"), gives("chat", "b", "a")
    assert _chat(user(), *ask, *give, assistant()) == []
    assert _chat(user(), *ask, give[0]) == [(1, "results_next")]
    assert _chat(user(), *ask, give[0], user(), give[1]) == [
        (1, "results_next"),
        (4, "result_without_call"),
    ]
    assert _chat(user(), *ask, {"role": "system", "content": "x"}, *give)[:2] == [
        (1, "results_next"),
        (1, "results_next"),
    ]


def test_a_chat_result_answers_a_call_of_the_message_before() -> None:
    assert _chat(user(), *gives("chat", "a")) == [(1, "result_without_call")]
    ask, give = asks("chat", "a"), gives("chat", "a")
    assert _chat(user(), *ask, *give, *give) == [(3, "result_without_call")]


def test_chat_content_is_null_beside_calls_alone() -> None:
    assert _chat(user(), assistant("")) == []
    assert _chat(user(), {"role": "assistant", "content": None}) == [(1, "empty_content")]
    assert _chat(user(), {"role": "assistant", "content": None, "refusal": "No."}) == []
    assert _chat({"role": "user", "content": None}) == [(0, "empty_content")]
    assert _chat({"role": "user", "content": []}) == [(0, "empty_content")]
    (ask,), (give,) = asks("chat", "a"), gives("chat", "a", content=None)
    assert _chat(user(), ask, give) == [(2, "empty_content")]
    assert _chat(user(), {**assistant(), "tool_calls": []}) == [(1, "empty_content")]


def test_chat_ids_have_forty_characters_at_most() -> None:
    for size, found in ((40, []), (41, [(0, "call_id_form"), (1, "call_id_form")])):
        assert _chat(*asks("chat", "x" * size), *gives("chat", "x" * size)) == found


def test_chat_arguments_are_a_string() -> None:
    call = chat_call("a")
    call["function"]["arguments"] = {"path": "x"}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert _chat(message, *gives("chat", "a")) == [(0, "call_arguments")]
    custom = {"id": "a", "type": "custom", "custom": {"name": "x", "input": "raw"}}
    assert _chat({**message, "tool_calls": [custom]}, *gives("chat", "a")) == []


def test_chat_roles_and_blocks() -> None:
    assert _chat({"role": "stranger", "content": "x"}) == [(0, "role")]
    assert _chat({"role": "developer", "content": "x"}, user()) == []
    assert _chat(_turn(thinking_block(), text_block())) == [(0, "message_shape")]
    calling = {"role": "user", "content": "x", "tool_calls": [chat_call("a")]}
    assert _chat(calling, *gives("chat", "a")) == [(0, "message_shape")]


# OpenAI Responses


def test_items_pair_wherever_they_stand() -> None:
    ask, give = asks("responses", "a", "b"), gives("responses", "b", "a")
    assert _items(user(), *ask, user(), assistant(), *give) == []
    assert _items(user(), *ask, give[0]) == [(1, "results_next")]
    assert _items(user(), *give, *ask) == [
        (1, "result_without_call"),
        (2, "result_without_call"),
        (3, "results_next"),
        (4, "results_next"),
    ]


def test_reasoning_is_followed_by_what_it_led_to() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    pair = [*asks("responses", "a"), *gives("responses", "a")]
    assert _items(user(), thought, *pair) == []
    assert _items(user(), thought, assistant()) == []
    assert _items(user(), thought) == [(1, "thinking_place")]
    assert _items(user(), thought, user(), *pair) == [(1, "thinking_place")]


def test_an_item_id_is_used_once() -> None:
    items = [{**one, "id": "fc_1"} for one in asks("responses", "a", "b")]
    assert _items(*items, *gives("responses", "a", "b")) == [(1, "item_id_twice")]
    shell = [
        {"type": "local_shell_call", "call_id": "a", "id": "ls_1"},
        {"type": "local_shell_call_output", "id": "a", "output": "[]"},
    ]
    assert _items(*shell) == []


def test_item_ids_of_calls_have_sixty_four_characters_at_most() -> None:
    for size, found in ((64, []), (65, [(0, "call_id_form"), (1, "call_id_form")])):
        pair = [*asks("responses", "x" * size), *gives("responses", "x" * size)]
        assert _items(*pair) == found


def test_item_arguments_are_a_string() -> None:
    (ask,), (give,) = asks("responses", "a"), gives("responses", "a")
    assert _items({**ask, "arguments": {}}, give) == [(0, "call_arguments")]


def test_item_messages() -> None:
    part = {"type": "input_text", "text": "Hi"}
    assert _items({"role": "user", "content": [part]}) == []
    assert _items({"type": "message", "role": "developer", "content": [part]}) == []
    assert _items({"role": "user", "content": None}) == [(0, "empty_content")]
    assert _items({"role": "user", "content": []}) == [(0, "empty_content")]
    assert _items({"role": "user", "content": [text_block()]}) == [(0, "message_shape")]
    assert _items({"content": "x"}) == [(0, "role")]
    assert _items({"type": "item_reference", "id": "x"}) == []


# SDK objects


def test_sdk_objects() -> None:
    anthropic = pytest.importorskip("anthropic.types", reason="the test extra is not installed")
    chat = pytest.importorskip("openai.types.chat", reason="the test extra is not installed")
    responses = pytest.importorskip("openai.types.responses")
    content = [
        anthropic.ThinkingBlock(type="thinking", thinking="So.", signature="c2ln"),
        anthropic.ToolUseBlock(type="tool_use", id="a", name="read", input={}),
    ]
    turn = {"role": "assistant", "content": content}
    assert check_provider_rules([user(), turn, _says(tool_result("a"))], "anthropic") == ()
    alone = {"role": "assistant", "content": content[:1]}
    assert [one.rule for one in check_provider_rules([user(), alone, user()], "anthropic")] == [
        ProviderRule.THINKING_PLACE
    ]
    answer = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]}
    )
    assert check_provider_rules([user(), answer, *gives("chat", "a")], "openai-chat") == ()
    thought = responses.ResponseReasoningItem(type="reasoning", id="rs_1", summary=[])
    call = responses.ResponseFunctionToolCall(
        type="function_call", call_id="a", name="read", arguments="{}", id="fc_1"
    )
    items = [user(), thought, call, *gives("responses", "a")]
    assert check_provider_rules(items, "openai-responses") == ()


@pytest.mark.parametrize(
    ("provider", "messages", "found"),
    [
        ("anthropic", [user("a"), assistant("b"), user("c")], []),
        ("anthropic", [user("a"), user("b")], [1]),
        ("anthropic", [user("a"), assistant("b"), assistant("c"), user("d")], [2]),
        ("openai-chat", [user("a"), *asks("chat", "x", "y"), *gives("chat", "x", "y")], []),
        ("openai-chat", [user("a"), *asks("chat", "x"), *gives("chat", "x"), user("b")], [3]),
        ("openai-responses", [user("a"), *asks("responses", "x"), *gives("responses", "x")], []),
    ],
)
def test_alternating_roles_are_a_rule_where_one_asks(
    provider: str, messages: list[Any], found: list[int]
) -> None:
    asked = check_provider_rules(messages, provider, alternating_roles=True)
    assert [one.message_index for one in asked if one.rule is ProviderRule.ROLES_ALTERNATE] == found
    rules = {one.rule for one in check_provider_rules(messages, provider)}
    assert ProviderRule.ROLES_ALTERNATE not in rules
