"""Whatever goes in, what comes out pairs, and says what was done.

The cases of broken histories are those that public tests of other agent frameworks know, as facts:
interrupted, partly answered, cut off, reused, shadowed, orphaned, early, doubled.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.protocol import ToolProtocolError, validate_tool_protocol
from provenance.messages.provider_rules import ProviderRule, check_provider_rules
from provenance.messages.repair import INTERRUPTED_TEXT, Repair, RepairKind, repair_tool_protocol
from provenance.messages.shapes import BlockKind, blocks_of, result_text, role_of, to_json_value
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

PROVIDER = {"anthropic": "anthropic", "chat": "openai-chat", "responses": "openai-responses"}


def _interrupted(call_id: str) -> dict[str, Any]:
    return tool_result(call_id, INTERRUPTED_TEXT, is_error=True)


def _repaired(messages: list[Any]) -> tuple[list[Any], list[tuple[int, object, str]]]:
    """The repaired history, and what was done as (message, id, kind); checked for the basics."""
    before = to_json_value(messages)
    made, repairs = repair_tool_protocol(messages)
    assert to_json_value(messages) == before
    validate_tool_protocol(made)
    again, more = repair_tool_protocol(made)
    assert (to_json_value(again), more) == (to_json_value(made), ())
    assert all(new is old for new, old in zip(again, made, strict=True))
    return made, [(one.message_index, one.call_id, one.kind.value) for one in repairs]


# Nothing to do


@given(paired_histories(), st.booleans())
def test_a_paired_history_comes_back_as_it_was(messages: list[Any], as_what: bool) -> None:
    messages = as_objects(messages) if as_what else messages
    made, repairs = repair_tool_protocol(messages)
    assert repairs == ()
    assert made is not messages
    assert all(new is old for new, old in zip(made, messages, strict=True))


def test_a_result_beyond_an_answer_in_between_is_left_alone() -> None:
    messages = [*asks("anthropic", "a"), assistant("I could not look."), *gives("anthropic", "a")]
    assert _repaired(messages) == (messages, [])


def test_what_a_server_ran_is_left_alone() -> None:
    server = [{"type": "server_tool_use", "id": "s1"}, {"type": "server_tool_use", "id": ""}]
    messages = [user(), {"role": "assistant", "content": [text_block(), *server]}, user()]
    assert _repaired(messages) == (messages, [])


# Interrupted calls


def test_an_interrupted_call_is_answered_first_in_the_next_user_message() -> None:
    messages = [user(), *asks("anthropic", "a"), user("Never mind."), assistant()]
    made, done = _repaired(messages)
    assert made[2] == {"role": "user", "content": [_interrupted("a"), text_block("Never mind.")]}
    assert done == [(1, "a", "answered_interrupted_call")]
    assert len(made) == 4


def test_an_interrupted_chat_call_is_answered_right_after_its_message() -> None:
    messages = [*asks("chat", "a"), user("Never mind.")]
    made, done = _repaired(messages)
    answer = {"role": "tool", "tool_call_id": "a", "content": INTERRUPTED_TEXT}
    assert made == [messages[0], answer, messages[1]]
    assert done == [(0, "a", "answered_interrupted_call")]


def test_an_interrupted_item_is_answered_behind_the_calls_of_its_turn() -> None:
    messages = [*asks("responses", "a", "b"), user("Never mind.")]
    made, done = _repaired(messages)
    assert made[:2] == messages[:2]
    assert [item["call_id"] for item in made[2:4]] == ["a", "b"]
    assert made[2] == {
        "type": "function_call_output",
        "call_id": "a",
        "output": INTERRUPTED_TEXT,
    }
    assert [kind for _, _, kind in done] == ["answered_interrupted_call"] * 2


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        (
            {"type": "custom_tool_call", "call_id": "a", "name": "x", "input": ""},
            {"type": "custom_tool_call_output", "call_id": "a", "output": INTERRUPTED_TEXT},
        ),
        (
            {"type": "local_shell_call", "call_id": "a", "id": "ls_1"},
            {"type": "local_shell_call_output", "id": "a", "output": INTERRUPTED_TEXT},
        ),
        (
            {"type": "apply_patch_call", "call_id": "a"},
            {
                "type": "apply_patch_call_output",
                "call_id": "a",
                "status": "failed",
                "output": INTERRUPTED_TEXT,
            },
        ),
        (
            {"type": "shell_call", "call_id": "a"},
            {
                "type": "shell_call_output",
                "call_id": "a",
                "output": [
                    {
                        "stdout": "",
                        "stderr": INTERRUPTED_TEXT,
                        "outcome": {"type": "exit", "exit_code": 1},
                    }
                ],
            },
        ),
    ],
)
def test_each_call_is_answered_in_its_own_form(
    item: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert _repaired([item])[0] == [item, answer]


def test_a_call_that_only_a_picture_could_answer_goes_with_its_reasoning() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    messages = [user(), reasoning, {"type": "computer_call", "call_id": "a", "action": {}}, user()]
    made, done = _repaired(messages)
    assert made == [messages[0], messages[3]]
    assert done == [(1, None, "dropped_thinking"), (2, "a", "dropped_unanswerable_call")]


def test_partly_answered_parallel_calls_are_all_answered_in_one_message() -> None:
    messages = [*asks("anthropic", "a", "b", "c"), *gives("anthropic", "b", content="216")]
    made, done = _repaired(messages)
    assert made[1]["content"] == [_interrupted("a"), _interrupted("c"), tool_result("b", "216")]
    assert [one[1] for one in done] == ["a", "c"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_cut_off_call_is_kept_and_answered(shape: str) -> None:
    messages = asks(shape, "a", text="Let me look.")
    if shape == "anthropic":
        messages[0]["content"][1]["input"] = '{"city": "Mex'
    elif shape == "chat":
        messages[0]["tool_calls"][0]["function"]["arguments"] = '{"city": "Mex'
    else:
        messages[-1]["arguments"] = '{"city": "Mex'
    made, _ = _repaired([*copy.deepcopy(messages), user("Never mind.")])
    assert made[: len(messages)] == messages


def test_an_interrupted_call_at_the_end_gets_a_message_of_its_own() -> None:
    messages = [user(), *asks("anthropic", "a", "b")]
    made, _ = _repaired(messages)
    assert made[2:] == [{"role": "user", "content": [_interrupted("a"), _interrupted("b")]}]


def test_an_interrupted_call_before_another_answer_gets_a_message_in_between() -> None:
    messages = [*asks("anthropic", "a"), assistant("I could not look."), user()]
    made, _ = _repaired(messages)
    assert [role_of(one) for one in made] == ["assistant", "user", "assistant", "user"]
    assert made[1] == {"role": "user", "content": [_interrupted("a")]}


def test_calls_of_one_turn_in_several_messages_are_answered_behind_the_turn() -> None:
    thought = {"role": "assistant", "content": [thinking_block()]}
    messages = [
        user(),
        *asks("anthropic", "a", "x"),
        thought,
        *asks("anthropic", "b"),
        *gives("anthropic", "b", "a"),
    ]
    made, _ = _repaired(messages)
    assert made[:4] == messages[:4]
    assert made[4]["content"][0] == _interrupted("x")
    assert ProviderRule.RESULTS_NEXT not in {
        one.rule for one in check_provider_rules(made, "anthropic")
    }


def test_an_empty_user_message_takes_the_answer_and_no_empty_text() -> None:
    made, _ = _repaired([*asks("anthropic", "a"), user("")])
    assert made[1] == {"role": "user", "content": [_interrupted("a")]}


def test_signed_thinking_stays_with_its_interrupted_call() -> None:
    turn = {"role": "assistant", "content": [thinking_block(), tool_use("a")]}
    made, _ = _repaired([user(), turn, user("Stop.")])
    assert made[1] is turn


def test_a_toolset_call_is_answered_by_its_family() -> None:
    turn = {"role": "assistant", "content": [tool_use("a") | {"toolset_name": "computer"}]}
    made, _ = _repaired([turn])
    assert made[1]["content"][0]["toolset_name"] == "computer"


# Results without a call


@pytest.mark.parametrize("shape", SHAPES)
def test_an_orphan_result_is_dropped(shape: str) -> None:
    made, done = _repaired([user(), *gives(shape, "ghost"), assistant()])
    assert made == [user(), assistant()]
    assert done == [(1, "ghost", "dropped_orphan_result")]


def test_text_beside_an_orphan_result_stays() -> None:
    messages = [{"role": "user", "content": [text_block("Hi."), tool_result("ghost")]}]
    assert _repaired(messages)[0] == [{"role": "user", "content": [text_block("Hi.")]}]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_early_result_is_dropped_and_its_call_answered(shape: str) -> None:
    messages = [user(), *gives(shape, "a"), *asks(shape, "a"), user("And tomorrow?")]
    made, done = _repaired(messages)
    assert made[0] == user()
    assert made[1] == asks(shape, "a")[0]
    assert done == [(1, "a", "dropped_early_result"), (2, "a", "answered_interrupted_call")]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_second_result_is_dropped_and_the_first_stays(shape: str) -> None:
    messages = [*asks(shape, "a"), *gives(shape, "a"), user(), *gives(shape, "a", content="again")]
    made, done = _repaired(messages)
    assert made == messages[:-1]
    assert done == [(3, "a", "dropped_duplicate_result")]


def test_an_orphan_and_an_interrupted_call_are_repaired_each_by_itself() -> None:
    messages = [
        {"role": "user", "content": [text_block("Two things."), tool_result("ghost")]},
        *asks("anthropic", "real"),
        user("Stop."),
    ]
    made, done = _repaired(messages)
    assert made[0]["content"] == [text_block("Two things.")]
    assert made[2]["content"] == [_interrupted("real"), text_block("Stop.")]
    assert [kind for _, _, kind in done] == ["dropped_orphan_result", "answered_interrupted_call"]


def test_dropping_everything_leaves_nothing() -> None:
    assert _repaired(gives("chat", "ghost"))[0] == []


def test_an_answer_goes_into_the_message_behind_one_that_went() -> None:
    messages = [*asks("anthropic", "a"), *gives("anthropic", "ghost"), user("Stop.")]
    made, _ = _repaired(messages)
    assert made[1:] == [{"role": "user", "content": [_interrupted("a"), text_block("Stop.")]}]


def test_text_is_no_result_whatever_id_it_names() -> None:
    note = text_block("Try again.") | {"tool_use_id": "a"}
    made, _ = _repaired([*asks("anthropic", "a"), {"role": "user", "content": [note]}])
    assert made[1]["content"] == [_interrupted("a"), note]


# Ids used twice


@pytest.mark.parametrize("shape", SHAPES)
def test_the_second_use_of_an_id_and_its_result_get_a_fresh_one(shape: str) -> None:
    once = [*asks(shape, "a"), *gives(shape, "a", content="first")]
    twice = [*asks(shape, "a"), *gives(shape, "a", content="second")]
    made, done = _repaired([*once, *twice])
    assert made[:2] == once
    assert list(validate_tool_protocol(made)) == ["a", "repaired_2_0"]
    assert result_text(blocks_of(made[3])[0]) == "second"
    assert done == [(2, "a", "renamed_call"), (3, "a", "renamed_result")]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_reused_id_does_not_hide_that_the_second_call_was_interrupted(shape: str) -> None:
    once = [*asks(shape, "a"), *gives(shape, "a")]
    made, done = _repaired([*once, *asks(shape, "a"), user("Never mind.")])
    assert made[:2] == once
    assert [kind for _, _, kind in done] == ["renamed_call", "answered_interrupted_call"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_result_belongs_to_the_latest_call_of_its_id(shape: str) -> None:
    messages = [*asks(shape, "a"), user("In Delft."), *asks(shape, "a"), *gives(shape, "a")]
    made, done = _repaired(messages)
    found = validate_tool_protocol(made)
    assert found["repaired_2_0"].tool_result_message == len(made) - 1
    assert result_text(blocks_of(made[-1])[0]) == "found"
    assert [kind for _, _, kind in done] == [
        "answered_interrupted_call",
        "renamed_call",
        "renamed_result",
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_one_id_twice_in_one_turn_gets_the_results_in_order(shape: str) -> None:
    ask = asks(shape, "a", "a")
    give = [*gives(shape, "a", content="first"), *gives(shape, "a", content="second")]
    made, _ = _repaired([*ask, *give])
    texts = {
        block.call_id: result_text(block)
        for message in made
        for block in blocks_of(message)
        if block.kind is BlockKind.TOOL_RESULT
    }
    fresh = "repaired_1_0" if shape == "responses" else "repaired_0_1"
    assert texts == {"a": "first", fresh: "second"}


@pytest.mark.parametrize("shape", SHAPES)
def test_blank_ids_of_parallel_calls_get_the_results_in_order(shape: str) -> None:
    give = [message for text in "xyz" for message in gives(shape, None, content=text)]
    made, _ = _repaired([*asks(shape, "", None, " "), *give])
    pairs = validate_tool_protocol(made)
    texts = {
        block.call_id: result_text(block)
        for message in made
        for block in blocks_of(message)
        if block.kind is BlockKind.TOOL_RESULT
    }
    assert [texts[call_id] for call_id in pairs] == ["x", "y", "z"]


def test_the_same_id_in_calls_that_text_parts_is_of_two_turns() -> None:
    messages = [*asks("anthropic", "a"), assistant("Again."), *asks("anthropic", "a")]
    made, done = _repaired([*messages, *gives("anthropic", "a")])
    assert validate_tool_protocol(made)["repaired_2_0"].tool_result_message == len(made) - 1
    assert done[0] == (0, "a", "answered_interrupted_call")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("call_id", ["", "  ", None, 7])
def test_a_blank_id_gets_a_fresh_one_on_both_sides(shape: str, call_id: object) -> None:
    made, done = _repaired([user(), *asks(shape, call_id), *gives(shape, call_id)])
    assert validate_tool_protocol(made) == {"repaired_1_0": (1, 2)}
    assert result_text(blocks_of(made[2])[0]) == "found"
    assert [kind for _, _, kind in done] == ["renamed_call", "renamed_result"]


def test_a_fresh_id_is_no_id_that_is_there_already() -> None:
    messages = [
        *asks("chat", "repaired_2_0"),
        *gives("chat", "repaired_2_0"),
        *asks("chat", ""),
        *gives("chat", "", "repaired_2_0_1"),
    ]
    made, done = _repaired(messages)
    assert list(validate_tool_protocol(made)) == ["repaired_2_0", "repaired_2_0_2"]
    assert done[-1] == (4, "repaired_2_0_1", "dropped_orphan_result")


def test_a_history_that_grows_keeps_the_ids_it_got() -> None:
    messages = [*asks("chat", ""), *gives("chat", "")] * 3
    short, _ = repair_tool_protocol(messages)
    long, _ = repair_tool_protocol([*messages, *asks("chat", ""), *gives("chat", "")])
    assert long[: len(short)] == short


def test_many_taken_ids_cost_no_more_than_their_number() -> None:
    taken = [f"repaired_0_0_{number}" for number in range(1, 400)]
    messages = [
        *asks("chat", "", *[""] * 200, "repaired_0_0", *taken),
        *gives("chat", "repaired_0_0"),
    ]
    made, _ = _repaired(messages)
    assert len(validate_tool_protocol(made)) == 601


# Sides


def test_a_call_by_a_user_is_dropped_and_so_is_its_result() -> None:
    messages = [{"role": "user", "content": [text_block(), tool_use("a")]}, *gives("chat", "a")]
    made, done = _repaired(messages)
    assert made == [{"role": "user", "content": [text_block()]}]
    assert [kind for _, _, kind in done] == ["dropped_misplaced_call", "dropped_orphan_result"]


def test_a_result_by_an_assistant_is_dropped() -> None:
    messages = [{"role": "assistant", "content": [tool_use("a"), tool_result("a")]}]
    made, done = _repaired(messages)
    assert made[1]["content"] == [_interrupted("a")]
    assert [kind for _, _, kind in done] == [
        "answered_interrupted_call",
        "dropped_misplaced_result",
    ]


# The report


def test_the_report_names_place_id_kind_and_the_fresh_id() -> None:
    _, repairs = repair_tool_protocol([*asks("chat", "a", "a"), *gives("chat", "a")])
    assert repairs == (
        Repair(0, 1, "a", RepairKind.RENAMED_CALL, "repaired_0_1"),
        Repair(0, 1, "a", RepairKind.ANSWERED_INTERRUPTED_CALL, "repaired_0_1"),
    )


def test_places_in_the_report_are_those_of_what_was_given() -> None:
    messages = [*gives("chat", "x"), *asks("chat", "a"), user(), *gives("chat", "y")]
    assert [one[0] for one in _repaired(messages)[1]] == [0, 1, 3]


# Whatever comes


@given(histories())
def test_any_history_can_be_repaired(messages: list[Any]) -> None:
    made, done = _repaired(messages)
    assert done == _repaired(copy.deepcopy(messages))[1]
    if not done:
        assert to_json_value(made) == to_json_value(messages)


@given(histories())
def test_what_needs_no_repair_stays_in_its_order(messages: list[Any]) -> None:
    made, _ = repair_tool_protocol(messages)
    sides = {BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT, BlockKind.THINKING}

    def others(history: list[Any]) -> list[object]:
        return [
            to_json_value(block.value)
            for message in history
            for block in blocks_of(message)
            if block.kind not in sides
        ]

    # A string that takes an answer becomes a text block; a message that held nothing may go in it.
    kept = [one for one in others(messages) if isinstance(one, dict) and one.get("type") == "image"]
    assert [
        one for one in others(made) if isinstance(one, dict) and one.get("type") == "image"
    ] == kept


@given(st.lists(st.one_of(hostile, hostile.map(lambda one: {"role": "user", "content": [one]}))))
def test_hostile_values_can_be_repaired(messages: list[Any]) -> None:
    made, _ = repair_tool_protocol(messages)
    validate_tool_protocol(made)
    assert repair_tool_protocol(made)[1] == ()


@pytest.mark.parametrize("messages", [None, "text", {"role": "user"}, 7])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(ToolProtocolError, match="expected a sequence of messages"):
        repair_tool_protocol(messages)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cut", range(1, 8))
def test_a_well_made_history_cut_anywhere_is_what_the_provider_takes(shape: str, cut: int) -> None:
    whole = [
        user("Start."),
        *asks(shape, "a", "b"),
        *gives(shape, "a", "b"),
        *asks(shape, "c"),
        *gives(shape, "c"),
        assistant("So."),
        user("And?"),
    ]
    for messages in (whole[:cut], [user("Start."), *whole[cut:]]):
        made, _ = _repaired(messages)
        rules = {one.rule for one in check_provider_rules(made, PROVIDER[shape])}
        assert rules <= {ProviderRule.TRAILING_ASSISTANT}


# SDK objects


def test_an_interrupted_answer_of_the_anthropic_sdk() -> None:
    anthropic = pytest.importorskip("anthropic.types", reason="the test extra is not installed")
    answer = anthropic.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": [thinking_block(), tool_use("a"), tool_use("a")],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    )
    result = anthropic.ToolResultBlockParam(type="tool_result", tool_use_id="a", content="x")
    made, done = _repaired([user(), answer, {"role": "user", "content": [result]}])
    assert isinstance(made[1], anthropic.Message)
    assert [block.id for block in made[1].content[1:]] == ["a", "repaired_1_2"]
    assert [block.id for block in answer.content[1:]] == ["a", "a"]
    assert made[1].content[0] is answer.content[0]
    assert made[2]["content"] == [_interrupted("repaired_1_2"), result]
    assert [kind for _, _, kind in done] == ["renamed_call", "answered_interrupted_call"]


def test_an_interrupted_answer_of_the_openai_sdk() -> None:
    chat = pytest.importorskip("openai.types.chat", reason="the test extra is not installed")
    responses = pytest.importorskip("openai.types.responses")
    answer = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [chat_call("a"), chat_call("")]}
    )
    made, _ = _repaired([answer])
    assert [call.id for call in made[0].tool_calls] == ["a", "repaired_0_1"]
    assert [one["tool_call_id"] for one in made[1:]] == ["a", "repaired_0_1"]
    item = responses.ResponseFunctionToolCall(
        type="function_call", call_id="a", name="read", arguments="{}"
    )
    made, _ = _repaired([item, item])
    assert made[0] is item
    assert [one["call_id"] for one in made[2:]] == ["a", "repaired_1_0"]
