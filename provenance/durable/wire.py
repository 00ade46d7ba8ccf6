"""Durable state as JSON, `ctxaudit.state/1`: strict in, readable out.

Guarantees: reading what was written gives an equal state. Whatever is read is either a state or one
`StateDocumentError` that names the field; size, nesting and the length of numbers are bounded
before anything is built from them. What is written shows no hidden character: a reviewer sees in a
diff what is there.

Example:
    >>> from provenance.durable.values import DurableContextState
    >>> read_state('{"schema": "ctxaudit.state/1", "turn": 3}').turn
    3
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import TypeVar

from pydantic import ValidationError

from provenance.durable.escaping import escape_hidden
from provenance.durable.failures import DurableTypeError, DurableValueError, StateDocumentError
from provenance.durable.fields import shown
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.durable.wire_model import (
    STATE_SCHEMA,
    EvidenceRecord,
    FactRecord,
    PendingRecord,
    StateRecord,
)
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = ["read_state", "write_state"]

# A state nests three levels; the rest is so that an unknown field is named before its depth is.
_MAX_NESTING = 16
# Braces of a document, in its texts too: more members than any reader wants. An empty object takes
# three characters in the file and a thousand times that here.
_MOST_OBJECTS = 250_000
# No field needs more than 24. Reading digits takes quadratic time; Python refuses 4,301 of them.
_MAX_NUMBER_CHARS = 1_000
_HUGE = float("inf")  # stands for a number that is too long: no field takes it

# Strings are matched whole, so that their brackets do not count; possessive, so in linear time.
_strings_and_brackets = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL).finditer
_has_surrogate = re.compile(r"[\ud800-\udfff]").search


_RecordT = TypeVar("_RecordT", FactRecord, PendingRecord, EvidenceRecord)
_ValueT = TypeVar("_ValueT", DurableFact, PendingItem, RetrievalEvidence)

_EXPECTED = {
    "extra_forbidden": f"a field of {STATE_SCHEMA}",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "an array",
    "literal_error": "one of the values that the schema lists",
    "missing": "a value",
    "model_type": "an object",
    "string_type": "text",
}
_JSON_TYPES = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "an array",
    str: "text",
    type(None): "null",
}


def read_state(text: str, *, limits: Limits = DEFAULT_LIMITS) -> DurableContextState:
    """Read one document; `DurableContextState.from_json` is its public face.

    Raises:
        StateDocumentError: the text is no `ctxaudit.state/1` document; the message names the field.
        DurableTypeError: `text` is not a `str`.
    """
    # 1. Bounds, before anything is built.
    if not isinstance(text, str):
        raise DurableTypeError(f"document: expected text, got {type(text).__name__}")
    if len(text) > limits.max_document_bytes:
        raise StateDocumentError(
            f"document: expected at most {limits.max_document_bytes} characters, got {len(text)}"
        )
    if text.startswith("\ufeff"):
        raise StateDocumentError("document: expected JSON, got a byte order mark before it")
    if text.count("{") > _MOST_OBJECTS:
        raise StateDocumentError(
            f"document: expected at most {_MOST_OBJECTS} opening braces, got more"
        )
    if _nesting(text) > _MAX_NESTING:
        raise StateDocumentError(
            f"document: expected at most {_MAX_NESTING} levels of nesting, got more"
        )
    # 2. JSON, each key once, no half of a surrogate pair.
    try:
        content: object = json.loads(
            text, object_pairs_hook=_object, parse_int=_whole_number, parse_float=_number
        )
    except json.JSONDecodeError as error:
        raise StateDocumentError(
            f"document: expected JSON, got a mistake in line {error.lineno}, "
            f"column {error.colno}: {error.msg}"
        ) from error
    # 3. Fields and their types.
    try:
        record = StateRecord.model_validate(content)
    except ValidationError as error:
        raise StateDocumentError(_first_mistake(error)) from error
    # 4. Values, which check themselves.
    facts = tuple(_values(record.facts, "facts", _fact))
    items = tuple(_values(record.pending_items, "pending_items", _item))
    evidence = tuple(_values(record.retrieval_evidence, "retrieval_evidence", _evidence))
    try:
        return DurableContextState(facts, items, evidence, session=record.session, turn=record.turn)
    except DurableValueError as error:
        raise StateDocumentError(str(error)) from error


def write_state(state: DurableContextState) -> str:
    """Write one document, ending in a line feed; `DurableContextState.to_json` is its public face.

    Raises:
        StateDocumentError: a text holds half a surrogate pair.
    """
    document: dict[str, object] = {"schema": STATE_SCHEMA}
    if state.session is not None:
        document["session"] = state.session
    if state.turn is not None:
        document["turn"] = state.turn
    document["facts"] = _members(state.facts, "facts")
    document["pending_items"] = _members(state.pending_items, "pending_items")
    document["retrieval_evidence"] = _members(state.retrieval_evidence, "retrieval_evidence")
    if _has_surrogate(state.session or ""):
        raise StateDocumentError(_half_pair("session"))
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    return escape_hidden(text) + "\n"


def _nesting(text: str) -> int:
    """Give the depth of brackets outside strings, also of a text that is no JSON."""
    depth = deepest = 0
    for match in _strings_and_brackets(text):
        bracket = match[0]
        if bracket in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in ("]", "}"):
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build one object of the document; its keys come once, and its texts can be written."""
    members: dict[str, object] = {}
    for key, value in pairs:
        if key in members:
            raise StateDocumentError(f"{_key(key)}: expected once in an object, got it twice")
        if _has_surrogate(key) or (isinstance(value, str) and _has_surrogate(value)):
            raise StateDocumentError(_half_pair(_key(key)))
        members[key] = value
    return members


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_NUMBER_CHARS else _HUGE


def _number(digits: str) -> float:
    return float(digits) if len(digits) <= _MAX_NUMBER_CHARS else _HUGE


def _first_mistake(error: ValidationError) -> str:
    """Say what is wrong, unknown fields first: a name that is misspelled is missing as well."""
    mistakes = sorted(
        error.errors(include_url=False, include_context=False),
        key=lambda mistake: mistake["type"] != "extra_forbidden",
    )
    first = mistakes[0]
    kind = first["type"]
    if kind == "missing":
        got = "none"
    elif kind == "extra_forbidden":
        got = "an unknown field"
    else:
        value: object = first["input"]
        got = shown(value) if kind == "literal_error" and isinstance(value, str) else ""
        got = got or _JSON_TYPES.get(type(value), "something else")
    place, expected = _place(first["loc"]), _EXPECTED.get(kind, "another value")
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return f"{place}: expected {expected}, got {got}{more}"


def _place(location: tuple[int | str, ...]) -> str:
    place = ""
    for step in location:
        place += f"[{step}]" if isinstance(step, int) else f".{_key(step)}"
    return place.removeprefix(".") or "document"


def _key(name: str) -> str:
    """Show a key of the document: as it is where it could be a field's name."""
    return name if name.isascii() and name.isidentifier() and len(name) <= 40 else shown(name)


def _half_pair(place: str) -> str:
    return f"{place}: expected text that a file can hold, got half of a surrogate pair"


def _values(
    records: Iterable[_RecordT], place: str, build: Callable[[_RecordT], _ValueT]
) -> Iterator[_ValueT]:
    for index, record in enumerate(records):
        try:
            yield build(record)
        except DurableValueError as error:
            raise StateDocumentError(f"{place}[{index}].{error}") from error


def _fact(record: FactRecord) -> DurableFact:
    return DurableFact(
        record.fact_id, record.content, record.source_pointer, record.last_confirmed_at
    )


def _item(record: PendingRecord) -> PendingItem:
    return PendingItem(
        record.item_id,
        record.description,
        record.source_pointer,
        record.last_confirmed_at,
        record.status,
        record.reason,
    )


def _evidence(record: EvidenceRecord) -> RetrievalEvidence:
    return RetrievalEvidence(
        record.memory_id,
        record.source_id,
        record.source_type,
        record.source_title,
        record.captured_at,
        record.score,
        record.source_rank,
        record.conflict_key,
    )


def _members(values: tuple[_ValueT, ...], place: str) -> list[dict[str, object]]:
    """Give each value as the object that it is in the document; what is None is left out."""
    members: list[dict[str, object]] = []
    for index, value in enumerate(values):
        member: dict[str, object] = {}
        for one in fields(value):
            content: object = getattr(value, one.name)
            if isinstance(content, str) and _has_surrogate(content):
                raise StateDocumentError(_half_pair(f"{place}[{index}].{one.name}"))
            if content is not None:
                member[one.name] = content
        members.append(member)
    return members
