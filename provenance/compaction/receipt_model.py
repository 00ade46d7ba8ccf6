"""A receipt's JSON, held to its schema: strict, nothing extra, nothing converted.

Guarantees: what is accepted prints back as a receipt with the same content; an error names the
field and holds no value of it.

Example:
    >>> parse_receipt("{}")
    Traceback (most recent call last):
    provenance.compaction.receipt.ReceiptError: schema: expected a field, got none
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.compaction.receipt import Receipt, ReceiptError

__all__ = ["ReceiptModel", "parse_receipt"]

_Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Text = Annotated[str, StringConstraints(max_length=10_000)]
_KINDS = Literal["text", "tool_call", "tool_result", "thinking", "other"]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Changed(_Strict):
    message: _Count
    block: _Count
    kind: _KINDS
    call_id: _Text | None
    layer: _Text
    sha256: _Digest
    tokens: _Count
    pointer: _Text | None
    changed_to: _Digest | None


class _Inserted(_Strict):
    message: _Count
    block: _Count
    layer: _Text
    sha256: _Digest
    stands_for: list[_Digest]


class ReceiptModel(_Strict):
    """`ctxaudit.receipt/1`."""

    schema_: Literal["ctxaudit.receipt/1"] = Field(alias="schema")
    original_messages: _Count
    result_messages: _Count
    tokens_before: _Count
    tokens_after: _Count
    applied_layers: list[_Text]
    removed: list[_Changed]
    inserted: list[_Inserted]


def parse_receipt(text: str | bytes) -> Receipt:
    """Read a receipt; see `Receipt.from_json`."""
    try:
        model = ReceiptModel.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "receipt"
        if first["type"] == "missing":
            raise ReceiptError(f"{place}: expected a field, got none") from None
        raise ReceiptError(f"{place}: {first['type'].replace('_', ' ')}") from None
    return Receipt(
        original_messages=model.original_messages,
        result_messages=model.result_messages,
        tokens_before=model.tokens_before,
        tokens_after=model.tokens_after,
        applied_layers=tuple(model.applied_layers),
        removed=tuple(ChangedBlock(**one.model_dump()) for one in model.removed),
        inserted=tuple(
            InsertedBlock(one.message, one.block, one.layer, one.sha256, tuple(one.stands_for))
            for one in model.inserted
        ),
    )
