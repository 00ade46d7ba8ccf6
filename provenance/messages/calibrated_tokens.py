"""A counter that learns from the usage that the provider reports.

Guarantees: it never counts less than the counter it stands on, and never less than the highest
ratio that a full sample has shown. A report that cannot be one (no whole number, not above zero,
more tokens than text can have) changes nothing. Only whole numbers are computed with.

Example:
    >>> counter = CalibratedCounter()
    >>> counter.learn(counted=1_000, reported=2_500)
    True
    >>> counter.count_text("x" * 400)
    250
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeGuard

from provenance.messages._parts import many_messages
from provenance.messages.tokens import HeuristicCounter, TokenCounter

__all__ = ["CalibratedCounter", "input_tokens_of"]

# What a provider adds to a request is a few tokens: nothing in a sample of this size, most of a
# request of one word. Smaller reports are added up until they make one.
_FULL_SAMPLE = 500

# A character has at most four bytes and a tokenizer makes at most a token of each; the estimate
# counts a quarter for a character. A report above that is about something else.
_HIGHEST_RATIO = 16

# No context window is near it; above, a number is a mistake.
_MOST_TOKENS = 1_000_000_000


class _Sample(NamedTuple):
    """What was counted and what was reported for the same requests."""

    counted: int
    reported: int

    def is_above(self, other: _Sample) -> bool:
        """Compare two ratios without dividing."""
        return self.reported * other.counted > other.reported * self.counted


class _Learned(NamedTuple):
    """Replaced as a whole, so that a counter can be read while it learns.

    Attributes:
        highest: the full sample with the highest ratio; 1 before there is one.
        small: the sum of the reports since the last full sample.
    """

    highest: _Sample
    small: _Sample

    def ratio(self) -> _Sample:
        return self.small if self.small.is_above(self.highest) else self.highest


_NOTHING = _Sample(0, 0)


class CalibratedCounter:
    """Scales another counter by the highest ratio of reported to counted tokens.

    It is made to be safe to plan with, so it errs to the high side: a stretch of Chinese raises the
    ratio, English after it does not lower it. Make a new one for a new conversation or model.

    Threads may share it. Two reports in the same instant may count as one.
    """

    __slots__ = ("_base", "_learned")

    def __init__(self, base: TokenCounter | None = None) -> None:
        """Start at the base's own counts.

        Args:
            base: what is scaled; None is the estimate.
        """
        self._base: TokenCounter = HeuristicCounter() if base is None else base
        self._learned = _Learned(_Sample(1, 1), _NOTHING)

    @property
    def ratio(self) -> float:
        """By what the base is multiplied: 1.0 or more."""
        counted, reported = self._learned.ratio()
        return reported / counted

    def learn(self, counted: int, reported: int) -> bool:
        """Learn from one request.

        Args:
            counted: what the *base* counted for it, system prompt and tools included
                (`count_request(..., counter=base).total`).
            reported: the input tokens that the provider reported for it, cached ones included
                (`input_tokens_of(usage)`).

        Returns:
            False where a number cannot be a count of tokens, or the two cannot be of one request;
            nothing was learned then.
        """
        if not (_is_count(counted) and _is_count(reported)):
            return False
        if reported > counted * _HIGHEST_RATIO:
            return False
        highest, small = self._learned
        if counted >= _FULL_SAMPLE:
            sample = _Sample(counted, reported)
        else:
            small = _Sample(small.counted + counted, small.reported + reported)
            if small.counted < _FULL_SAMPLE:
                self._learned = _Learned(highest, small)
                return True
            sample, small = small, _NOTHING
        self._learned = _Learned(sample if sample.is_above(highest) else highest, small)
        return True

    def count_text(self, text: str, /) -> int:
        """Count plain text."""
        return self._scaled(self._base.count_text(text))

    def count_block(self, block: object, /) -> int:
        """Count a block."""
        return self._scaled(self._base.count_block(block))

    def count_message(self, message: object, /) -> int:
        """Count one message."""
        return self._scaled(self._base.count_message(message))

    def count_messages(self, messages: Iterable[object], /) -> int:
        """Give the sum over the messages."""
        return sum(map(self.count_message, many_messages(messages)))

    def _scaled(self, count: int) -> int:
        counted, reported = self._learned.ratio()
        return -(-count * reported // counted)  # rounded up


def input_tokens_of(usage: object) -> int | None:
    """Give the input tokens that a provider reported, cached ones included.

    Args:
        usage: the `usage` of an answer of Anthropic Messages, OpenAI Chat or OpenAI Responses, a
            mapping or an SDK object.

    Returns:
        None where it reports none.
    """
    for fields in _USAGE_FIELDS:
        numbers = [_field(usage, field) for field in fields]
        if _is_count(numbers[0]) or (numbers[0] == 0 and any(map(_is_count, numbers))):
            return sum(number for number in numbers if _is_count(number))
    return None


# Anthropic reports what came from and went to the cache apart; with OpenAI it is in the first.
_USAGE_FIELDS = (
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("prompt_tokens",),
)


def _field(usage: object, name: str) -> object:
    return usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)


def _is_count(number: object) -> TypeGuard[int]:
    return type(number) is int and 0 < number <= _MOST_TOKENS
