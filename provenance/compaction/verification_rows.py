"""What a verification reads and what it gives: the messages as rows, and the problems.

Guarantees: nothing is changed. A problem holds places, names and numbers, and no text of a message.

Example:
    >>> rows = read_rows([{"role": "user", "content": "hello"}])
    >>> block_at(rows, (0, 0)).value, block_at(rows, (0, 1))
    ('hello', None)
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from provenance.compaction.canonical_form import digest_of
from provenance.compaction.receipt import Receipt
from provenance.messages.shapes import Block, blocks_of, role_of, to_json_value
from provenance.messages.tokens import (
    MESSAGE_TOKENS,
    HeuristicCounter,
    TokenCounter,
    count_blocks,
    plain_costs,
)

__all__ = [
    "Case",
    "Place",
    "Problems",
    "ReceiptProblem",
    "Row",
    "block_at",
    "has_same_rest",
    "read_rows",
]

# Of a message, and of a block in it.
Place = tuple[int, int]
# What a message holds beside its blocks, which have digests of their own; empty it is no block.
_BLOCK_FIELDS = ("content", "tool_calls", "refusal", "audio", "function_call")
_EMPTY: tuple[object, ...] = (None, "", [])


class ReceiptProblem(NamedTuple):
    """Where result and receipt do not account for the original.

    Attributes:
        message: place of the message in the original, or in the result where `of_result`.
        block: place of the block in it.
        of_result: the place is one of the result.
        text: what was expected, what was found; no text of a message.
    """

    message: int
    block: int
    of_result: bool
    text: str


class Problems:
    """Collects problems."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: list[ReceiptProblem] = []

    def of_original(self, place: Place, text: str) -> None:
        """Note one in the original."""
        self._found.append(ReceiptProblem(*place, of_result=False, text=text))

    def of_result(self, place: Place, text: str) -> None:
        """Note one in the result."""
        self._found.append(ReceiptProblem(*place, of_result=True, text=text))

    def in_order(self) -> tuple[ReceiptProblem, ...]:
        """Give those of the original in its order, then those of the result."""
        return tuple(sorted(self._found, key=lambda one: (one.of_result, one.message, one.block)))


class Row(NamedTuple):
    """One message, read once.

    Attributes:
        message: the caller's own.
        role: who it is by.
        blocks: its blocks.
        digests: of each block.
        estimate: what each block costs by the estimate, where the bytes for its digest told; else
            None, and it has to be counted.
    """

    message: object
    role: str
    blocks: tuple[Block, ...]
    digests: tuple[str, ...]
    estimate: tuple[int, ...] | None

    @classmethod
    def of(cls, message: object) -> Row:
        """Read a message."""
        blocks, estimate = blocks_of(message), None
        plain = plain_costs(message, blocks)
        if plain is None:
            digests = [digest_of(block.value) for block in blocks]
        else:
            estimate, printed = plain
            digests = [sha256(one).hexdigest() for one in printed]
        return cls(message, role_of(message), blocks, tuple(digests), estimate)

    def cost(self, counter: TokenCounter) -> int:
        """Give what the message costs."""
        if self.estimate is not None and type(counter) is HeuristicCounter:
            return MESSAGE_TOKENS + sum(self.estimate)
        return counter.count_message(self.message)

    def costs(self, counter: TokenCounter) -> tuple[int, ...]:
        """Give what each block costs."""
        if self.estimate is not None and type(counter) is HeuristicCounter:
            return self.estimate
        return count_blocks(self.message, counter=counter, blocks=self.blocks)


class Case(NamedTuple):
    """What is verified, and who hears of it.

    Attributes:
        before: the original.
        after: the result.
        receipt: what it says of both.
        problems: what does not fit.
    """

    before: Sequence[Row]
    after: Sequence[Row]
    receipt: Receipt
    problems: Problems


def read_rows(messages: Sequence[object]) -> list[Row]:
    """Read messages."""
    return [Row.of(message) for message in messages]


def block_at(rows: Sequence[Row], place: Place) -> Block | None:
    """Give the block that stands in a place; None where none does."""
    message, block = place
    if not 0 <= message < len(rows) or not 0 <= block < len(rows[message].blocks):
        return None
    return rows[message].blocks[block]


def has_same_rest(row: Row, other: Row) -> bool:
    """Say whether a message, which may have lost blocks, holds all else that it held before."""
    before, after = _rest_of(row), _rest_of(other)
    if before is None or after is None:
        return before == after
    # Of a field whose blocks are gone an SDK object holds null, and beside calls so does a mapping.
    for name in _BLOCK_FIELDS:
        if before.get(name) not in _EMPTY and after.get(name) is None:
            after.pop(name, None)
    return _without_blocks(before) == _without_blocks(after)


def _rest_of(row: Row) -> dict[str, object] | None:
    """The fields of a message; None, where it has none or is a block itself."""
    if any(block.value is row.message for block in row.blocks):
        return None
    fields = to_json_value(row.message)
    return fields if isinstance(fields, dict) else None


def _without_blocks(fields: dict[str, object]) -> dict[str, object]:
    return {
        name: value
        for name, value in fields.items()
        if name not in _BLOCK_FIELDS or value in _EMPTY
    }
