"""A receipt's JSON, held to its schema: strict, nothing extra, nothing converted.

Guarantees: what is accepted prints back as a receipt with the same content, and names each field
once; an error names the field, is short, and holds no value and no unknown name of the file.

Example:
    >>> parse_receipt("{}")
    Traceback (most recent call last):
    provenance.compaction.receipt.ReceiptError: schema: expected a value, got none
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.compaction.receipt import RECEIPT_SCHEMA, Receipt, ReceiptError

__all__ = ["ReceiptModel", "parse_receipt"]

_MOST = 2**53
_LONGEST = 10_000
_T = TypeVar("_T")
# Up to the first mistake: a file full of them would be a list of them, many times as large.
_List = Annotated[list[_T], FailFast()]
_Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0, le=_MOST)]
_Text = Annotated[str, StringConstraints(max_length=_LONGEST)]
_KINDS = Literal["text", "tool_call", "tool_result", "thinking", "other"]
_COUNTERS = Literal["heuristic", "cl100k_base", "claude_legacy", "o200k_base"]


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
    role: _Text | None = None


class _Inserted(_Strict):
    message: _Count
    block: _Count
    layer: _Text
    sha256: _Digest
    stands_for: _List[_Digest]


class ReceiptModel(_Strict):
    """`ctxaudit.receipt/1`."""

    schema_: Literal["ctxaudit.receipt/1"] = Field(alias="schema")
    original_messages: _Count
    result_messages: _Count
    tokens_before: _Count
    tokens_after: _Count
    counter: _COUNTERS | None = None
    applied_layers: _List[_Text]
    removed: _List[_Changed]
    inserted: _List[_Inserted]


_NAMES = frozenset(one.alias or name for name, one in ReceiptModel.model_fields.items())
_EXPECTED = {
    "extra_forbidden": f"the fields of {RECEIPT_SCHEMA} alone",
    "greater_than_equal": "0 or more",
    "int_type": "a whole number",
    "json_invalid": "JSON",
    "json_type": "text or bytes",
    "less_than_equal": f"at most {_MOST}",
    "list_type": "an array",
    "missing": "a value",
    "model_type": "an object",
    "string_pattern_mismatch": "64 hex digits, lower case",
    "string_too_long": f"at most {_LONGEST} characters",
    "string_type": "text",
    "string_unicode": "UTF-8",
}
_GOT = {
    "extra_forbidden": "an unknown one",
    "greater_than_equal": "less",
    "json_type": "something else",
    "less_than_equal": "more",
    "missing": "none",
    "string_pattern_mismatch": "other text",
    "string_too_long": "more",
    "string_unicode": "something else",
}
_JSON_TYPES = {
    bool: "true or false",
    dict: "an object",
    float: "another number",
    int: "a number",
    list: "an array",
    str: "text",
    type(None): "null",
}
_find_mistake = re.compile(r"at line ([0-9]{1,20}) column ([0-9]{1,20})\Z").search


def parse_receipt(text: str | bytes) -> Receipt:
    """Read a receipt; see `Receipt.from_json`."""
    try:
        model = ReceiptModel.model_validate_json(text)
    except ValidationError as error:
        raise ReceiptError(_first_mistake(error)) from None
    _refuse_twice(text if isinstance(text, str) else text.decode())
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
        counter=model.counter,
    )


def _first_mistake(error: ValidationError) -> str:
    """Say what is wrong, unknown fields first: a name that is misspelled is missing as well."""
    mistakes = error.errors(include_url=False)
    first = min(mistakes, key=lambda mistake: mistake["type"] != "extra_forbidden")
    # The last part of the place of a field that is unknown is its name, which may be anything.
    place = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
    name = ".".join(str(part) for part in place) or "receipt"
    if first["type"] == "literal_error":
        # As pydantic lists them, from the schema above.
        expected, got = str(first["ctx"]["expected"]).replace("'", ""), "something else"
    else:
        expected, got = _EXPECTED.get(first["type"], "another value"), _got(first)
    return f"{name}: expected {expected}, got {got}"


def _got(mistake: ErrorDetails) -> str:
    kind = mistake["type"]
    if kind == "json_invalid":
        found = _find_mistake(str(mistake.get("ctx", {}).get("error", "")))
        return f"a mistake in line {found[1]}, column {found[2]}" if found else "something else"
    return _GOT.get(kind) or _JSON_TYPES.get(type(mistake["input"]), "something else")


class _Twice(NamedTuple):
    """Stands for an object in which a name stands twice."""

    name: str


def _refuse_twice(text: str) -> None:
    """Refuse a name that stands twice: one reader would take the first value, one the second."""
    try:
        # Nothing but names is of interest, and a number may have more digits than Python reads.
        value = json.loads(
            text, object_pairs_hook=_named_once, parse_int=len, parse_float=len, parse_constant=len
        )
    except RecursionError:  # under a name that stands twice: elsewhere there is no such depth
        value = _Twice("receipt")
    # 1. The receipt itself, or what stands under such a name alone.
    if isinstance(value, _Twice):
        name = value.name if value.name in _NAMES else "receipt"
        raise ReceiptError(f"{name}: expected it once, got it twice")
    # 2. An entry.
    for part in ("removed", "inserted"):
        for index, entry in enumerate(value[part]):
            if isinstance(entry, _Twice):
                raise ReceiptError(f"{part}.{index}.{entry.name}: expected it once, got it twice")


def _named_once(pairs: list[tuple[str, object]]) -> object:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(name for name, _ in pairs)
    return _Twice(next(name for name, count in counts.items() if count > 1))
