"""What the loops of all frameworks share: what a tool says, and what must hold of each request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from provenance.compaction import CompactionConfig, CompactionResult, verify_receipt
from provenance.messages import BlockKind, blocks_of, check_provider_rules, validate_tool_protocol

STEPS = 12
CONFIG = CompactionConfig(
    soft_limit=1_500,
    hard_limit=6_000,
    max_tool_result_tokens=300,
    keep_recent_messages=6,
    summary_keep_recent=4,
)


def reading(step: int, pit: int) -> str:
    """A long tool result, another one each time; the third of a step is far above the cap."""
    line = f"pit {pit}, step {step}: the float stands at {step * 7 + pit} cm\n"
    return line * (40 if pit == 3 else 8)


class Results:
    """Hears of every compaction, and verifies each receipt when it comes."""

    def __init__(self) -> None:
        self.results: list[CompactionResult[None]] = []

    def __call__(self, original: Sequence[Any], result: CompactionResult[None]) -> None:
        assert verify_receipt(original, result) == ()
        self.results.append(result)

    @property
    def layers(self) -> set[str]:
        return {layer for result in self.results for layer in result.applied_layers}


def require_valid(messages: Sequence[Any], provider: str) -> None:
    """What a model was sent keeps the tool protocol and the provider's rules."""
    validate_tool_protocol(messages)
    assert check_provider_rules(messages, provider) == ()


def calls_in(messages: Sequence[Any]) -> list[object]:
    return [
        block.call_id
        for message in messages
        for block in blocks_of(message)
        if block.kind is BlockKind.TOOL_CALL
    ]


def summarise(conversation: str) -> str:
    return f"{len(json.loads(conversation))} messages about pits."


async def summarise_later(conversation: str) -> str:
    return summarise(conversation)
