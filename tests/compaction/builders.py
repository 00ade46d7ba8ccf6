"""Histories of each shape for the tests of compaction, and what must hold after each of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from provenance.compaction import CompactionResult, Receipt, verify_receipt
from provenance.messages import HeuristicCounter, TokenCounter, validate_tool_protocol
from provenance.messages.tokens import estimate_tokens
from tests.messages.builders import asks, assistant, gives, user

PROVIDERS = {
    "anthropic": "anthropic",
    "chat": "openai-chat",
    "responses": "openai-responses",
}


def reads(shape: str, count: int, *, size: int = 400, first: int = 0) -> list[Any]:
    """A request, then so many calls of one tool, each with its result."""
    history: list[Any] = [user("Look at the files.")]
    for number in range(first, first + count):
        history += asks(shape, f"c{number}")
        history += gives(shape, f"c{number}", content=f"{number:08d}" + "x" * (size - 8))
    return history


def talk(count: int, *, size: int = 40) -> list[Any]:
    """So many messages of text, in turn."""
    return [
        (user if number % 2 == 0 else assistant)(f"{number:04d}" + "y" * (size - 4))
        for number in range(count)
    ]


def untouched(messages: Sequence[Any]) -> Callable[[], bool]:
    """Says later whether the messages are what they are now."""
    before = copy.deepcopy(list(messages))
    return lambda: list(messages) == before


def assert_sound(
    original: Sequence[Any],
    result: CompactionResult[Any],
    *,
    counter: TokenCounter | None = None,
) -> None:
    """What holds for every compaction of whatever history."""
    counter = counter or HeuristicCounter()
    assert verify_receipt(original, result, counter=counter) == ()
    validate_tool_protocol(result.messages)
    assert result.tokens_after <= result.tokens_before
    assert result.tokens_before == sum(map(counter.count_message, original))
    assert result.tokens_after == sum(map(counter.count_message, result.messages))
    assert Receipt.from_json(result.receipt.to_json()) == result.receipt
    assert bool(result.applied_layers) == (result.tokens_after < result.tokens_before)
    if type(counter) is HeuristicCounter:
        assert result.tokens_after == estimate_tokens(result.messages)
