"""Fields of values that somebody else made: mappings and objects with attributes alike.

Guarantees: reading a field, listing the items of a content and building a changed copy never raise
on what they are given, and never change it. A changed copy is of the type it came from wherever
that type can be copied; otherwise it is a plain `dict` with the same fields.

Example:
    >>> block = {"type": "text", "text": "hello"}
    >>> replaced(block, {"text": "bye"}), block["text"]
    ({'type': 'text', 'text': 'bye'}, 'hello')
"""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set

__all__ = ["LEAVES", "field", "fields_of", "is_record", "items_of", "replaced", "text_field"]

LEAVES = frozenset(
    {
        str,
        int,
        float,
        bool,
        type(None),
        bytes,
        complex,
        decimal.Decimal,
        uuid.UUID,
        dt.datetime,
        dt.date,
        dt.time,
        dt.timedelta,
    }
)
"""Types whose values are never changed in place, so that a copy may share them."""

_NO_RECORD = (
    str,
    bytes,
    bytearray,
    memoryview,
    int,
    float,
    complex,
    type(None),
    Sequence,
    Set,
    type,
    enum.Enum,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    uuid.UUID,
)
# What an object that is no mapping may carry; read only where such an object cannot be copied.
_KNOWN_FIELDS = (
    "arguments",
    "call_id",
    "content",
    "custom",
    "function",
    "id",
    "input",
    "is_error",
    "name",
    "output",
    "role",
    "signature",
    "status",
    "text",
    "thinking",
    "tool_call_id",
    "tool_calls",
    "tool_use_id",
    "type",
)
_MISSING = object()


def field(value: object, name: str) -> object:
    """One field of a mapping or an object; None where there is none, or where reading it fails."""
    if type(value) is dict:
        return value.get(name)
    try:
        if isinstance(value, Mapping):
            return value.get(name)
        if isinstance(value, _NO_RECORD):
            return None
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property of somebody else's object may raise anything
        return None


def text_field(value: object, name: str) -> str:
    """One field that is a string; "" where it is none."""
    found = value.get(name) if type(value) is dict else field(value, name)
    return found if isinstance(found, str) else ""


def is_record(value: object) -> bool:
    """Whether the value can have fields: a mapping, or an object that is no plain value."""
    if type(value) is dict:
        return True
    return isinstance(value, Mapping) or not isinstance(value, _NO_RECORD)


def items_of(content: object) -> tuple[object, ...] | None:
    """The items of a list or another sequence; None for anything else, text and bytes included.

    An iterator is not read: reading would use up what belongs to the caller.
    """
    kind = type(content)
    if kind is list or kind is tuple:
        return tuple(content)  # type: ignore[arg-type]
    if kind is str or content is None:
        return None
    if isinstance(content, Sequence) and not isinstance(content, str | bytes | bytearray):
        try:
            return tuple(content)
        except Exception:  # noqa: BLE001 - a sequence class of somebody else may raise anything
            return None
    return None


def replaced(
    value: object, changes: Mapping[str, object], *, without: Iterable[str] = ()
) -> object:
    """A copy of a mapping or an object with some fields set, and others taken out.

    Everything else is shared with the original.

    Args:
        value: what is copied; never changed.
        changes: new values by field name.
        without: fields that the copy does not have (a mapping) or that are None there (an object).
    """
    gone = tuple(without)
    if type(value) is not dict:
        made = _changed_copy(value, changes, gone)
        if made is not _MISSING and _has_taken(made, changes, gone):
            return made
    fields = fields_of(value)
    if not isinstance(value, Mapping):
        known = ((name, field(value, name)) for name in _KNOWN_FIELDS if name not in fields)
        fields.update((name, got) for name, got in known if got is not None)
    fields.update(changes)
    for name in gone:
        fields.pop(name, None)
    return fields


def fields_of(value: object) -> dict[str, object]:
    """The fields that a mapping or an object holds, in their order; {} where it holds none.

    Only what is stored counts: an object may make up an attribute for every name it is asked for.
    """
    try:
        if isinstance(value, Mapping):
            return dict(value)
        if isinstance(value, _NO_RECORD):
            return {}
        names = [*getattr(value, "__dict__", ())]
        for one in type(value).__mro__:
            slots = one.__dict__.get("__slots__", ())
            names += [slots] if isinstance(slots, str) else slots
        return {
            name: getattr(value, name)
            for name in names
            if not name.startswith("_") and hasattr(value, name)
        }
    except Exception:  # noqa: BLE001 - a mapping or an object that cannot be read
        return {}


def _changed_copy(value: object, changes: Mapping[str, object], gone: tuple[str, ...]) -> object:
    if isinstance(value, _NO_RECORD):
        return _MISSING
    try:
        made: object
        if isinstance(value, Mapping):
            made = copy.copy(value)
            for name, new in changes.items():
                made[name] = new  # type: ignore[index]
            for name in gone:
                made.pop(name, None)  # type: ignore[attr-defined]
            return made
        updates = {**changes, **dict.fromkeys(gone)}
        if callable(copier := getattr(value, "model_copy", None)):
            made = copier(update=updates)
            # A field set to None would be sent as null; a field never set is not sent at all.
            made.model_fields_set.difference_update(gone)  # type: ignore[attr-defined]
            return made
        made = copy.copy(value)
        for name, new in updates.items():
            # A frozen class refuses the plain way; the copy is ours, nobody has seen it yet.
            object.__setattr__(made, name, new)
    except Exception:  # noqa: BLE001 - then the caller gets a plain dict
        return _MISSING
    return made


def _has_taken(made: object, changes: Mapping[str, object], gone: tuple[str, ...]) -> bool:
    return all(field(made, name) is new for name, new in changes.items()) and all(
        field(made, name) is None for name in gone
    )
