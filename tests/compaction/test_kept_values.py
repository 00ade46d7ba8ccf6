"""What stays is compared by type, and nothing that a message says is left out of it."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import CompactionConfig, Receipt, compact_context, verify_receipt
from provenance.compaction.changes import said_role
from provenance.compaction.verification_values import is_same_value
from provenance.messages import HeuristicCounter, estimate_tokens
from provenance.messages.tokens import count_blocks
from tests.compaction.builders import assert_sound, talk
from tests.messages.builders import (
    as_objects,
    chat_call,
    text_block,
    tool_result,
    tool_use,
    user,
)

ONE = [True, 1, 1.0]
_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_values = st.recursive(
    _scalars | st.sampled_from([0, 0.0, False, 1, 1.0, True]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=9,
)


@given(one=_values, other=_values)
def test_two_values_are_the_same_where_their_json_is(one: Any, other: Any) -> None:
    assert is_same_value(one, copy.deepcopy(one))
    printed = [json.dumps(value, sort_keys=True).replace("-0.0", "0.0") for value in (one, other)]
    assert is_same_value(one, other) == (printed[0] == printed[1])


def test_depth_is_no_matter() -> None:
    deep: list[Any] = []
    other: list[Any] = []
    for _ in range(20_000):
        deep, other = [deep], [other]
    assert is_same_value(deep, other)


def altered(original: list[Any], change: dict[str, Any]) -> Any:
    result = compact_context(original, None)
    assert verify_receipt(original, result) == ()
    messages = copy.deepcopy(result.messages)
    messages[0].update(change)
    return SimpleNamespace(messages=messages, receipt=result.receipt)


@pytest.mark.parametrize("old", ONE)
@pytest.mark.parametrize("new", ONE)
def test_a_number_of_a_kept_message_keeps_its_type(old: Any, new: Any) -> None:
    for fields in (
        lambda value: {"content": "hi", "flag": value},
        lambda value: {"content": "hi", "flag": [{"deep": value}]},
        lambda value: {"content": [{"type": "text", "text": "hi", "n": value}]},
        lambda value: {"content": [{"type": "odd", "n": [value]}, {"type": "odd", "n": 0.5}]},
    ):
        original = [{"role": "user", **fields(old)}]
        problems = verify_receipt(original, altered(original, fields(new)))
        assert bool(problems) == (type(old) is not type(new))


@pytest.mark.parametrize("old", ONE)
@pytest.mark.parametrize("new", ONE)
def test_a_number_of_a_shortened_result_keeps_its_type(old: Any, new: Any) -> None:
    results = [{**tool_result("c1", "x" * 900), "n": old}, tool_result("c2", "y" * 900)]
    calls = [tool_use("c1"), tool_use("c2")]
    original = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    config = CompactionConfig(soft_limit=10, max_tool_result_tokens=20)
    result = compact_context(original, None, config=config)
    messages = copy.deepcopy(result.messages)
    if not messages:
        pytest.fail("expected the results shortened, got them dropped")
    messages[1]["content"][0]["n"] = new
    forged = SimpleNamespace(messages=messages, receipt=result.receipt)
    assert bool(verify_receipt(original, forged)) == (type(old) is not type(new))


def test_an_object_is_its_json() -> None:
    message = {"role": "assistant", "content": [text_block("hi")], "x": {"n": 1.0}, "y": [True]}
    both = ([message], [SimpleNamespace(**message)])
    for original in both:
        receipt = compact_context(original, None).receipt
        for messages in both:
            made = SimpleNamespace(messages=messages, receipt=receipt)
            assert verify_receipt(original, made) == ()


# Fields of other shapes


CALL, OTHER_CALL = chat_call("c9", name="rm"), chat_call("c9", name="ls")


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ({"type": "message", "content": "hi", "refusal": "no way"}, {"refusal": "no may"}),
        ({"type": "message", "content": "hi", "audio": {"id": 1}}, {"audio": {"id": 2}}),
        ({"type": "message", "content": "hi", "tool_calls": CALL}, {"tool_calls": OTHER_CALL}),
        ({"content": "hi", "tool_calls": CALL}, {"tool_calls": OTHER_CALL}),
        ({"content": "hi", "tool_calls": "a"}, {"tool_calls": "b"}),
        ({"content": {"a": 1}, "refusal": "x"}, {"content": {"a": 2}}),
        ({"content": {"a": 1}, "tool_calls": []}, {"content": {"a": 2}}),
        ({"content": 7, "function_call": {"name": "f"}}, {"content": 8}),
        ({"content": "hi", "refusal": {"a": 1}}, {"refusal": {"a": 2}}),
    ],
)
def test_no_content_is_left_out_of_what_is_compared(message: Any, change: Any) -> None:
    original = [{"role": "assistant", **message}]
    for counter in (None, HeuristicCounter()):
        assert verify_receipt(original, altered(original, change), counter=counter) != ()


def test_an_altered_call_beside_a_type_is_found() -> None:
    said = {"type": "message", "role": "assistant", "content": "hi", "tool_calls": [CALL]}
    original = [said, {"role": "tool", "tool_call_id": "c9", "content": "done"}]
    assert verify_receipt(original, altered(original, {})) == ()
    problems = verify_receipt(original, altered(original, {"tool_calls": [OTHER_CALL]}))
    assert problems[0].text == "tool_call: expected it in the result, got another block"


_contents = st.sampled_from(
    [None, "", "Hello. " * 9, {"a": "b" * 30}, [], [text_block("q" * 30), "s" * 9], 5]
)


@given(
    tag=st.sampled_from([None, "message", "reasoning", "odd"]),
    role=st.sampled_from([None, "user", "assistant", "system", "stranger"]),
    content=_contents,
    calls=st.sampled_from([None, [], CALL, "s" * 30, 7]),
    more=st.sampled_from([{}, {"refusal": "r" * 30}, {"audio": {"id": "a" * 30}, "refusal": ""}]),
)
def test_whatever_mixture_it_is_an_honest_receipt_is_sound(
    tag: Any, role: Any, content: Any, calls: Any, more: Any
) -> None:
    fields = {"type": tag, "role": role, "content": content, "tool_calls": calls, **more}
    message = {name: value for name, value in fields.items() if value is not None}
    assert 4 + sum(count_blocks(message)) == estimate_tokens([message])
    original = [user(), message, *talk(9)]
    for keep in (1, 99):
        config = CompactionConfig(soft_limit=1, keep_recent_messages=keep)
        assert_sound(original, compact_context(original, None, config=config))


# Roles


def pruned() -> tuple[list[Any], Any]:
    original = talk(9)
    config = CompactionConfig(soft_limit=1, keep_recent_messages=1)
    result = compact_context(original, None, config=config)
    assert [one.message for one in result.receipt.removed] == [*range(1, 8)]
    return original, result


@pytest.mark.parametrize("role", ["assistant", "system", "developer", "stranger", "", 7, None])
def test_another_role_of_a_removed_message_is_found(role: Any) -> None:
    original, result = pruned()
    original[2]["role"] = role
    if role is None:
        del original[2]["role"]
    problem = verify_receipt(original, result)[0]
    assert (problem.message, problem.text) == (
        2,
        "role: expected that of the original message, got another",
    )


@pytest.mark.parametrize("role", ["stranger with a secret", "", 7, ["a"], "half \ud800 pair"])
def test_a_role_that_no_provider_knows_stands_as_its_digest(role: Any) -> None:
    original = [user(), {"role": role, "content": "x" * 99}, *talk(3)]
    config = CompactionConfig(soft_limit=1, keep_recent_messages=1)
    result = compact_context(original, None, config=config)
    assert_sound(original, result)
    said = result.receipt.removed[0].role
    assert said is not None
    assert said.startswith("sha256:")
    assert "secret" not in result.receipt.to_json()


def test_an_item_without_a_role_has_none() -> None:
    assert said_role({"type": "reasoning", "id": "r1", "summary": []}) is None
    assert said_role(as_objects(user())) == said_role(user()) == "user"


def test_a_receipt_without_roles_and_counter_can_be_read() -> None:
    _, result = pruned()
    fields = result.receipt.to_dict()
    del fields["counter"]
    for one in fields["removed"]:
        del one["role"]
    read = Receipt.from_json(json.dumps(fields))
    assert read.counter is None
    assert {one.role for one in read.removed} == {None}
