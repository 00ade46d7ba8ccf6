r"""The JSON value that a caller's value stands for.

Guarantees: every value has one, made of `dict` with `str` keys, `list`, `str`, `int`, finite
`float`, `bool` and `None`; the same value gives the same one in every process. Nothing is changed,
and nothing is shared with the caller but strings and numbers. Depth costs no recursion; a container
inside itself is `None` in that place.

Example:
    >>> to_json_value({"at": (1, 2.5), "raw": b"\x00\xff"})
    {'at': [1, 2.5], 'raw': '00ff'}
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import repeat

from provenance.messages._fields import fields_of

__all__ = ["to_json_value"]

_PLAIN = frozenset({str, int, bool, type(None)})
_CONSTANT_KEYS: dict[object, str] = {None: "null", True: "true", False: "false"}


def to_json_value(value: object) -> object:
    """Give the JSON value of a block, a message or any part of one.

    Args:
        value: a mapping; a pydantic model (`model_dump(mode="json", exclude_unset=True)`, by the
            names that are sent); an object with attributes; or what JSON knows.
    """
    root, filler = _begun(value)
    if filler is None:
        return root
    # Each frame: the container being filled, what fills it, the caller's value it stands for.
    frames = [(root, filler, value)]
    open_ids = {id(value)}
    while frames:
        container, pairs, source = frames[-1]
        step = next(pairs, None)
        if step is None:
            frames.pop()
            open_ids.discard(id(source))
            continue
        key, item = step
        if id(item) in open_ids and type(item) not in _PLAIN:
            made, inner = None, None
        else:
            made, inner = _begun(item)
        if isinstance(container, dict):
            container[_key(key)] = made
        else:
            container.append(made)  # type: ignore[attr-defined]
        if inner is not None:
            frames.append((made, inner, item))
            open_ids.add(id(item))
    return root


_Pairs = Iterator[tuple[object, object]]


def _begun(value: object) -> tuple[object, _Pairs | None]:
    """The JSON value of a plain value, or an empty container and what it is to be filled with."""
    kind = type(value)
    if kind in _PLAIN:
        return value, None
    if kind is dict:
        return {}, iter(value.items())  # type: ignore[attr-defined]
    if kind is list:
        return [], zip(repeat(None), value)  # type: ignore[call-overload]
    try:
        return _of_other(value)
    except Exception:  # noqa: BLE001 - somebody else's class may raise anything
        return f"<{kind.__qualname__}>", None


def _of_other(value: object) -> tuple[object, _Pairs | None]:
    if isinstance(value, enum.Enum):
        return _begun(value.value) if value.value is not value else (str(value), None)
    # The plain value of a class of its own, by its data, whatever the class says of itself.
    if isinstance(value, str):
        return str.__str__(value), None
    if isinstance(value, int):
        return int.__int__(value), None
    if isinstance(value, float):
        return (float.__float__(value) if math.isfinite(value) else _not_finite(value)), None
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex(), None
    if isinstance(value, Mapping):
        return {}, iter(list(value.items()))
    if isinstance(value, Set):
        # A set has no order of its own that another process would have too.
        return sorted(map(str, value)), None
    if isinstance(value, Sequence):
        return [], iter([(None, item) for item in value])
    if isinstance(value, type):
        return f"<{value.__qualname__}>", None
    if (dumped := _dumped(value)) is not None:
        return {}, iter(dumped.items())
    if found := fields_of(value):
        return {}, iter(found.items())
    if _says_more(value):
        return str(value), None
    return f"<{type(value).__qualname__}>", None


def _dumped(value: object) -> Mapping[object, object] | None:
    """What a pydantic model says it is, by the names that are sent; None for anything else."""
    if not callable(dump := getattr(value, "model_dump", None)):
        return None
    try:
        # What a harness put into a typed field is sent as it is, so no warning about it here.
        dumped = dump(mode="json", exclude_unset=True, by_alias=True, warnings=False)
    except Exception:  # noqa: BLE001 - then its attributes are read
        return None
    return dumped if isinstance(dumped, Mapping) else None


def _says_more(value: object) -> bool:
    """Whether a value's text is of its class's making; the inherited one is a memory address."""
    kind = type(value)
    return kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return _CONSTANT_KEYS[key]
    try:
        return str(key)
    except Exception:  # noqa: BLE001 - somebody else's class may raise anything
        return f"<{type(key).__qualname__}>"
