"""The short way for everyday messages gives what the long way gives."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from provenance.messages._fields import replaced, text_field
from provenance.messages._plain import read_plainly, with_result_texts_plainly, without_plainly
from provenance.messages.shapes import (
    blocks_of,
    read_message,
    role_of,
    shape_of,
    without_blocks,
    without_some,
)
from provenance.messages.tokens import HeuristicCounter, count_blocks, estimated_plainly
from tests.messages.builders import asks, gives, histories, text_block, tool_use

_TEXTS = st.sampled_from(["", "a", "longer than four", "é"])
_ODD = st.sampled_from([None, "", 7, [], {}, ["a"], (), {"name": 3}])
_TYPES = ("text", "input_text", "tool_use", "tool_result", "thinking", "image", None, 3)
_PARTS = st.one_of(
    _TEXTS,
    _ODD,
    st.fixed_dictionaries(
        {"type": st.sampled_from(_TYPES)},
        optional={
            "id": _TEXTS,
            "name": st.one_of(_TEXTS, _ODD),
            "text": st.one_of(_TEXTS, _ODD),
            "tool_use_id": _TEXTS,
            "function": st.one_of(_ODD, st.fixed_dictionaries({"name": _TEXTS})),
            "custom": st.fixed_dictionaries({"name": _TEXTS}),
        },
    ),
)
_ITEM_TYPES = ("function_call", "shell_call_output", "local_shell_call_output", "message")
# Everyday messages, and those that differ from them in one thing or another.
_NEARLY_EVERYDAY = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "tool", "system", "function", "", None, 3]),
        "type": st.sampled_from([*_ITEM_TYPES, "reasoning", "", None, 3]),
        "content": st.one_of(_TEXTS, _ODD, st.lists(_PARTS, max_size=4)),
        "tool_calls": st.one_of(_ODD, st.lists(_PARTS, max_size=3)),
        "refusal": st.one_of(_TEXTS, _ODD),
        "function_call": _ODD,
        "name": st.one_of(_TEXTS, _ODD),
        "call_id": st.one_of(_TEXTS, _ODD),
        "id": _TEXTS,
        "tool_call_id": st.one_of(_TEXTS, _ODD),
        "output": _TEXTS,
    },
)
_MESSAGES = st.one_of(_NEARLY_EVERYDAY, histories().filter(bool).flatmap(st.sampled_from))


def _long_way(message: Any) -> Any:
    return role_of(message), shape_of(message).blocks(message)


@given(_MESSAGES)
def test_what_is_read_is_what_the_adapter_reads(message: Any) -> None:
    expected = _long_way(message)
    assert read_plainly(message) in (None, expected)
    assert read_message(message) == expected
    assert blocks_of(message) == expected[1]


@given(_MESSAGES, st.sets(st.integers(0, 4)))
def test_what_is_left_is_what_the_adapter_leaves(message: Any, indexes: set[int]) -> None:
    blocks, before = blocks_of(message), copy.deepcopy(message)
    if all(block.index in indexes for block in blocks):
        return
    made = without_blocks(message, indexes)
    expected = None if made is None else (made, _long_way(made)[1])
    found = without_plainly(message, blocks, indexes)
    assert found in (None, expected)
    assert without_some(message, blocks, indexes) == expected
    assert message == before
    if found is not None and isinstance(message, dict):
        assert list(found[0]) == list(made)  # type: ignore[call-overload]
        assert found[0] is not message


@given(_MESSAGES, st.integers(0, 3))
def test_a_result_is_changed_as_the_adapter_changes_it(message: Any, index: int) -> None:
    found, before = with_result_texts_plainly(message, {index: "new"}), copy.deepcopy(message)
    if found is None:
        return
    block = blocks_of(message)[index]
    name = "output" if text_field(block.value, "type").endswith("_output") else "content"
    result = replaced(block.value, {name: "new"})
    made: Any = shape_of(message).rebuilt(message, {index: result})
    assert found == made
    assert list(found) == list(made)  # type: ignore[call-overload]
    assert message == before


@given(_MESSAGES)
def test_the_plain_estimate_is_the_ordinary_one(message: Any) -> None:
    found = estimated_plainly(message, blocks_of(message))
    assert found is None or found[0] == count_blocks(message, counter=HeuristicCounter())


def test_everyday_messages_go_the_short_way() -> None:
    for shape in ("anthropic", "chat", "responses"):
        for message in [*asks(shape, "c1", "c2"), *gives(shape, "c1", "c2")]:
            assert read_plainly(message) == _long_way(message)
            assert estimated_plainly(message, blocks_of(message)) is not None
        for message in gives(shape, "c1", "c2"):
            assert with_result_texts_plainly(message, {0: "new"}) is not None
    asking = {"role": "assistant", "content": [text_block(), tool_use("t1")]}
    assert without_plainly(asking, blocks_of(asking), {1}) is not None
    [chat] = asks("chat", "c1", text="I read.")
    left = without_plainly(chat, blocks_of(chat), {1})
    assert left == ({"role": "assistant", "content": "I read."}, blocks_of(chat)[:1])
