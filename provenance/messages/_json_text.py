r"""The JSON text of a block, and its length without the text.

Guarantees: for every value that the standard library can print, the text is that of
`json.dumps(value, ensure_ascii=False)`, and the length is the length of that text. Values that it
cannot print have a text too: another library's object as the JSON value it stands for, what holds
itself as `null` in that place, anything else as its `str`. Depth costs no recursion.

Example:
    >>> json_text({"type": "text", "text": "a\nb"})
    '{"type": "text", "text": "a\\nb"}'
    >>> json_length({"type": "text", "text": "a\nb"})
    32
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any

import msgspec

from provenance.messages.shapes import to_json_value

__all__ = ["json_length", "json_text", "plain_encoding"]

# Sorted, so that what is encoded to be counted can also be taken for the digest of a block.
_ENCODER = msgspec.json.Encoder(order="sorted")
_STRINGS = frozenset({str})
_ARRAYS = frozenset({list, tuple})
_PRINTED_ALIKE = frozenset({int, bool, type(None)})
# So many are looked through in the time in which a few strings are asked.
_FEW_BYTES = 2_000
_CANNOT_PRINT = (TypeError, ValueError, OverflowError, RecursionError)


def json_length(value: object) -> int:
    """Give the number of characters of `json_text(value)`."""
    found = plain_encoding(value)
    if found is not None:
        return found[0]
    if type(value) is str:
        return len(encode_basestring(value))
    try:
        size = len(_ENCODER.encode(value))
        difference = _difference(value)
    except _CANNOT_PRINT:
        difference = None
        size = 0
    if difference is None:
        return sum(map(len, _pieces(value)))
    return size + difference


def json_text(value: object) -> str:
    """Print a value as JSON with the default separators, non-ASCII kept."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except _CANNOT_PRINT:
        return "".join(_pieces(value))


def plain_encoding(value: object) -> tuple[int, bytes] | None:
    """Give that number, and the JSON without spaces and with sorted keys that it was taken from.

    None: some part is neither text, a whole number, a constant nor a container of those, or a key
    is not ASCII, of which keys are sorted alike everywhere. Most blocks are plain, so this walk
    looks at nothing else. What is plain is printed by msgspec as by the standard library, but for
    the spaces behind commas and colons, and as UTF-8.
    """
    try:
        # First the encoder: it refuses what holds itself, which the walk would follow for ever.
        encoded = _ENCODER.encode(value)
    except _CANNOT_PRINT:
        return None
    total = len(encoded)
    # A string knows whether it is ASCII, bytes have to be looked through.
    all_ascii = total < _FEW_BYTES and encoded.isascii()
    rest: list[Any] = [value]
    for item in rest:  # which grows meanwhile
        kind = type(item)
        if kind is dict:
            if item:
                total += 2 * len(item) - 1
            for key, inner in item.items():
                if type(key) is not str or not (all_ascii or key.isascii()):
                    return None
                if type(inner) is not str:
                    rest.append(inner)
                elif not (all_ascii or inner.isascii()):
                    total += len(inner) - len(inner.encode())
        elif kind is list:
            if item:
                total += len(item) - 1
            rest += item
        elif kind is str:
            total += 0 if all_ascii or item.isascii() else len(item) - len(item.encode())
        elif kind not in _PRINTED_ALIKE:
            return None
    return total, encoded


def _difference(value: object) -> int | None:
    """Tell how many characters more than msgspec's bytes the standard library prints.

    Three things differ: a space after each comma and colon, numbers with an exponent, and bytes
    against characters. None: the value has parts that the two print in ways of their own.
    """
    total = 0
    rest: list[Any] = [value]
    while rest:
        item = rest.pop()
        kind = type(item)
        if kind is str:
            if not item.isascii():
                total += len(item) - len(item.encode())
        elif kind is dict:
            if item:
                if not _STRINGS.issuperset(map(type, item)):
                    return None
                total += 2 * len(item) - 1
                rest += item
                rest += item.values()
        elif kind in _ARRAYS:
            if item:
                total += len(item) - 1
                rest += item
        elif kind is float:
            if not math.isfinite(item):
                return None
            total += len(float.__repr__(item)) - len(_ENCODER.encode(item))
        elif kind not in _PRINTED_ALIKE:
            return None
    return total


@dataclass(frozen=True, slots=True)
class _Verbatim:
    """Punctuation on the stack, told apart from strings, which are quoted."""

    text: str


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a container, which it keeps alive so that no other can take its identity."""

    text: str
    container: object


_COMMA = _Verbatim(", ")


def _pieces(value: object) -> list[str]:
    pieces: list[str] = []
    rest: list[object] = [value]
    open_containers: set[int] = set()
    while rest:
        item = rest.pop()
        if type(item) is _Verbatim:
            pieces.append(item.text)
        elif type(item) is _End:
            open_containers.discard(id(item.container))
            pieces.append(item.text)
        elif (scalar := _scalar(item)) is not None:
            pieces.append(scalar)
        elif id(item) in open_containers:
            pieces.append("null")
        elif isinstance(item, list | tuple):
            open_containers.add(id(item))
            pieces.append("[")
            rest.append(_End("]", item))
            _push_items(rest, item)
        elif isinstance(item, Mapping):
            open_containers.add(id(item))
            pieces.append("{")
            rest.append(_End("}", item))
            _push_members(rest, item)
        else:
            rest.append(_converted(item))
    return pieces


def _push_items(rest: list[object], items: Sequence[object]) -> None:
    for number in range(len(items) - 1, -1, -1):
        rest.append(items[number])
        if number:
            rest.append(_COMMA)


def _push_members(rest: list[object], members: Mapping[object, object]) -> None:
    pairs = list(members.items())
    for number in range(len(pairs) - 1, -1, -1):
        key, value = pairs[number]
        comma = ", " if number else ""
        rest.append(value)
        rest.append(_Verbatim(f"{comma}{_key(key)}: "))


def _key(key: object) -> str:
    if isinstance(key, str):
        return encode_basestring(key)
    scalar = _scalar(key)
    return encode_basestring(str(key)) if scalar is None else f'"{scalar}"'


def _scalar(item: object) -> str | None:
    """Print what is no container; None where it is one, or has to be converted."""
    if isinstance(item, str):
        return encode_basestring(item)
    if item is None:
        return "null"
    if item is True:
        return "true"
    if item is False:
        return "false"
    if isinstance(item, int):
        return _integer(item)
    if isinstance(item, float):
        return _number(item)
    return None


def _integer(item: int) -> str:
    try:
        return int.__repr__(item)
    except ValueError:  # more digits than this interpreter prints: as many, or one more
        return "9" * (int(item.bit_length() * math.log10(2)) + 1 + (item < 0))


def _number(item: float) -> str:
    if math.isfinite(item):
        return float.__repr__(item)
    if math.isnan(item):
        return "NaN"
    return "Infinity" if item > 0 else "-Infinity"


def _converted(item: object) -> object:
    converted = to_json_value(item)
    if converted is None or isinstance(converted, str | int | float | list | tuple | Mapping):
        return converted
    return str(item)
