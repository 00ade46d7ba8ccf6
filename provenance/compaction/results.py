"""What a compaction gives, what it says while it runs, and how it refuses.

Guarantees: values alone; a refusal holds numbers and no text of a message.

Example:
    >>> str(MessageViewLimitExceeded(tokens_before=9, tokens_after=9, hard_limit=8,
    ...     applied_layers=()))
    'messages: expected fewer than 8 tokens, got 9 (9 before; layers that saved something: none)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from provenance.compaction.asking import SummaryOutcome
from provenance.compaction.receipt import Receipt
from provenance.errors import DataError
from provenance.frozen import sealed

__all__ = ["CompactionResult", "LayerReport", "MessageViewLimitExceeded", "Observer"]

StateT = TypeVar("StateT")


class MessageViewLimitExceeded(DataError, ValueError):
    """All layers have run, and the messages are at the hard limit or above it."""

    code = "message_view_limit_exceeded"

    def __init__(
        self,
        *,
        tokens_before: int,
        tokens_after: int,
        hard_limit: int,
        applied_layers: tuple[str, ...],
    ) -> None:
        """Take the numbers; no text of a message comes near it."""
        layers = ", ".join(applied_layers) or "none"
        super().__init__(
            f"messages: expected fewer than {hard_limit} tokens, got {tokens_after} "
            f"({tokens_before} before; layers that saved something: {layers})"
        )
        self.tokens_before = tokens_before
        self.tokens_after = tokens_after
        self.hard_limit = hard_limit
        self.applied_layers = applied_layers

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are copied and pickled by their text alone, which is not what this one takes.
        numbers: dict[str, Any] = {
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "hard_limit": self.hard_limit,
            "applied_layers": self.applied_layers,
        }
        return partial(type(self), **numbers), (), self.__dict__


class LayerReport(NamedTuple):
    """What an observer hears of each layer that ran.

    Attributes:
        layer: its name.
        tokens_before: of the view when it began.
        tokens_after: of the view now.
        blocks_touched: blocks of the original that it removed or changed.
        messages: how many messages are left.
        outcome: of the summary; None for the other layers.
    """

    layer: str
    tokens_before: int
    tokens_after: int
    blocks_touched: int
    messages: int
    outcome: SummaryOutcome | None = None


Observer = Callable[[LayerReport], None]


@sealed
@dataclass(frozen=True, slots=True)
class CompactionResult(Generic[StateT]):
    """What a compaction gives.

    Attributes:
        messages: the new view, in the shape of the caller's.
        durable_state: the very object that was handed in.
        tokens_before: what the messages cost before.
        tokens_after: what they cost now.
        applied_layers: the layers that saved something, in order.
        receipt: every block that is not in `messages` as it was.
        summary_outcome: what came of the summary.
        summary: the text of the latest one that stands in the messages, made now or handed in; to
            be handed in again as `previous_summary`. None where none stands there.
        summary_failure: the class of what the summarizer raised; None where it raised nothing.
        summary_attempts: how often it was asked.
        spill_failures: how often a store failed. Layer 1 left that text whole; a later layer may
            have dropped it unstored, unless `spill_dropped` is set.
    """

    messages: list[Any]
    durable_state: StateT
    tokens_before: int
    tokens_after: int
    applied_layers: tuple[str, ...]
    receipt: Receipt
    summary_outcome: SummaryOutcome = SummaryOutcome.NOT_NEEDED
    summary: str | None = None
    summary_failure: str | None = None
    summary_attempts: int = 0
    spill_failures: int = 0
