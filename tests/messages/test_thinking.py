"""Thinking goes when all that it led to goes, and not before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.shapes import BlockKind, blocks_of, role_of, without_blocks
from provenance.messages.thinking import bound_thinking
from tests.messages.builders import (
    asks,
    assistant,
    histories,
    text_block,
    thinking_block,
    tool_use,
    user,
)

THINK, TEXT = thinking_block(), text_block()
A, B = tool_use("a"), tool_use("b")


def _bound(messages: list[Any], *gone: tuple[int, int]) -> set[tuple[int, int]]:
    rows = [(role_of(message), blocks_of(message)) for message in messages]
    return bound_thinking(rows, set(gone))


def _turn(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


@pytest.mark.parametrize(
    ("blocks", "gone", "bound"),
    [
        ([THINK, A], [1], [0]),
        ([THINK, A], [], []),
        ([THINK, A, B], [1], []),
        ([THINK, A, B], [1, 2], [0]),
        ([THINK, TEXT, A], [2], []),
        ([THINK, THINK, A], [2], [0, 1]),
        ([THINK, A, THINK, B], [1], [0]),
        ([THINK, A, THINK, B], [3], [2]),
        ([THINK, A, THINK, B], [1, 3], [0, 2]),
        ([A, THINK], [0], []),
        ([THINK], [], []),
        ([THINK, A], [0, 1], []),
        ([TEXT, A], [1], []),
    ],
)
def test_within_a_message(blocks: list[Any], gone: list[int], bound: list[int]) -> None:
    found = _bound([user(), _turn(*blocks)], *((1, block) for block in gone))
    assert found == {(1, block) for block in bound}


def test_a_turn_goes_over_messages_of_the_assistant_and_ends_with_them() -> None:
    assert _bound([_turn(THINK), _turn(A)], (1, 0)) == {(0, 0)}
    assert _bound([_turn(THINK), user(), _turn(A)], (2, 0)) == set()
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert _bound([reasoning, *asks("responses", "a", "b")], (1, 0)) == set()
    assert _bound([reasoning, *asks("responses", "a", "b")], (1, 0), (2, 0)) == {(0, 0)}
    assert _bound([reasoning, assistant(), *asks("responses", "a")], (2, 0)) == set()


def test_thinking_by_anybody_else_is_bound_to_nothing() -> None:
    assert _bound([{"role": "user", "content": [THINK, A]}], (0, 1)) == set()


@given(histories(), st.sets(st.tuples(st.integers(0, 12), st.integers(0, 5))))
def test_what_is_bound_is_thinking_and_is_bound_once(
    messages: list[Any], gone: set[tuple[int, int]]
) -> None:
    bound = _bound(messages, *gone)
    assert not bound & gone
    for index, block in bound:
        assert blocks_of(messages[index])[block].kind is BlockKind.THINKING
    assert _bound(messages, *gone, *bound) == set()


def test_taking_out_what_is_bound_leaves_no_thinking_at_the_end() -> None:
    turn = _turn(TEXT, THINK, A)
    bound = _bound([turn], (0, 2))
    made: Any = without_blocks(turn, {2, *(block for _, block in bound)})
    assert made["content"] == [TEXT]
