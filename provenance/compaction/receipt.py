"""The receipt of a compaction: every block that is not in the result as it was, with its digest.

Guarantees: it holds digests, places and counts, and no text of a message. Whether it accounts for
an original together with a result says `verify_receipt`.

Example:
    >>> receipt = Receipt(0, 0, 0, 0, (), (), ())
    >>> Receipt.from_json(receipt.to_json()) == receipt
    True
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.errors import DataError
from provenance.frozen import sealed

__all__ = ["RECEIPT_SCHEMA", "Receipt", "ReceiptError"]

RECEIPT_SCHEMA = "ctxaudit.receipt/1"


class ReceiptError(DataError, ValueError):
    """A receipt's JSON breaks its schema; the message names the field."""

    code = "receipt_invalid"


@sealed
@dataclass(frozen=True, slots=True)
class Receipt:
    """What one compaction did.

    Attributes:
        original_messages: how many messages there were.
        result_messages: how many there are.
        tokens_before: what they cost.
        tokens_after: what they cost now.
        applied_layers: which layers saved something, in order.
        removed: every block that is gone or changed, in the order of the original.
        inserted: every block that a layer put in, in the order of the result.
        counter: what counted, `heuristic` or the name of a vocabulary; None: another counter, or
            the receipt does not say.
    """

    original_messages: int
    result_messages: int
    tokens_before: int
    tokens_after: int
    applied_layers: tuple[str, ...]
    removed: tuple[ChangedBlock, ...]
    inserted: tuple[InsertedBlock, ...]
    counter: str | None = None

    @property
    def pointers(self) -> tuple[str, ...]:
        """Where texts were spilled to, each once, in order."""
        return tuple(dict.fromkeys(one.pointer for one in self.removed if one.pointer is not None))

    def to_dict(self) -> dict[str, object]:
        """Give the receipt as JSON values (`ctxaudit.receipt/1`)."""
        return {
            "schema": RECEIPT_SCHEMA,
            "original_messages": self.original_messages,
            "result_messages": self.result_messages,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "counter": self.counter,
            "applied_layers": list(self.applied_layers),
            "removed": [_plain(one) for one in self.removed],
            "inserted": [_plain(one) for one in self.inserted],
        }

    def to_json(self) -> str:
        """Print the receipt: one line, keys in a fixed order, ASCII."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Receipt:
        """Read a receipt.

        Raises:
            ReceiptError: it is none; the message names the field.
        """
        from provenance.compaction.receipt_model import parse_receipt  # noqa: PLC0415 - pydantic

        return parse_receipt(text)


def _plain(one: ChangedBlock | InsertedBlock) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in one._asdict().items()
    }
