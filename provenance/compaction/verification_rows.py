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

from provenance.compaction.canonical_form import canonical_bytes
from provenance.compaction.receipt import Receipt
from provenance.compaction.verification_values import is_same_value
from provenance.messages._json_text import plain_encoding
from provenance.messages.shapes import (
    Block,
    blocks_of,
    fields_of_blocks,
    role_of,
    to_json_value,
)
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
    "is_same_block",
    "read_block",
    "read_rows",
]

# Of a message, and of a block in it.
Place = tuple[int, int]


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
        exact: whether no other JSON value has the digest of the block: it holds no fraction.
        estimate: what each block costs by the estimate, where the bytes for its digest told; else
            None, and it has to be counted.
    """

    message: object
    role: str
    blocks: tuple[Block, ...]
    digests: tuple[str, ...]
    exact: tuple[bool, ...]
    estimate: tuple[int, ...] | None

    @classmethod
    def of(cls, message: object) -> Row:
        """Read a message."""
        blocks, estimate = blocks_of(message), None
        plain = plain_costs(message, blocks)
        if plain is None:
            read = [read_block(block.value) for block in blocks]
            digests, exact = (tuple(column) for column in zip(*read, strict=True))
        else:
            estimate, printed = plain
            digests = tuple([sha256(one).hexdigest() for one in printed])
            exact = (True,) * len(blocks)
        return cls(message, role_of(message), blocks, digests, exact, estimate)

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


def read_block(value: object) -> tuple[str, bool]:
    """Give a block's digest, and whether no other JSON value has it."""
    plain = plain_encoding(value)
    printed = canonical_bytes(to_json_value(value)) if plain is None else plain[1]
    return sha256(printed).hexdigest(), plain is not None


def is_same_block(row: Row, block: Block, other: Row, there: Block) -> bool:
    """Say whether a block of one message is that of another, the types of numbers included."""
    if row.digests[block.index] != other.digests[there.index]:
        return False
    if row.exact[block.index] and other.exact[there.index]:
        return True
    return is_same_value(to_json_value(block.value), to_json_value(there.value))


def has_same_rest(row: Row, other: Row) -> bool:
    """Say whether a message, which may have lost blocks, holds all else that it held before."""
    before, after = _Rest.of(row), _Rest.of(other)
    if before is None or after is None:
        return before is after
    # Of a field whose blocks are gone an SDK object holds null, and beside calls so does a mapping.
    for name in before.held:
        if after.fields.get(name, before) is None:
            del after.fields[name]
    return is_same_value(before.fields, after.fields)


class _Rest(NamedTuple):
    """What a message holds beside its blocks.

    Attributes:
        fields: by name, as JSON.
        held: the names of the fields that hold its blocks, which have digests of their own.
    """

    fields: dict[str, object]
    held: frozenset[str]

    @classmethod
    def of(cls, row: Row) -> _Rest | None:
        """Give it; None, where the message has no fields or is a block itself."""
        message = row.message
        if any(block.value is message for block in row.blocks):
            return None
        # Of a plain mapping only what is compared is read, and that is little.
        fields = message if type(message) is dict else to_json_value(message)
        if not isinstance(fields, dict):
            return None
        held = fields_of_blocks(message)
        rest = to_json_value({name: value for name, value in fields.items() if name not in held})
        return cls(rest, held) if isinstance(rest, dict) else None
