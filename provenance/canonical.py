"""One text for one JSON value: keys sorted, compact separators, non-ASCII kept.

Guarantees: for what the standard library can print too, the text is that of `json.dumps` with
sorted keys and compact separators. Depth costs no recursion. A number of any length prints back
as it was read.

Example:
    >>> canonical_json({"b": [1, None], "a": NumberText("1e999")})
    '{"a":1e999,"b":[1,null]}'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from json.encoder import encode_basestring

from provenance.errors import CallerError

__all__ = ["CanonicalJsonError", "NumberText", "canonical_json"]


class CanonicalJsonError(CallerError, TypeError):
    """The value, or a part of it, is no JSON value."""

    code = "not_a_json_value"


@dataclass(frozen=True, slots=True)
class NumberText:
    """A JSON number that Python's own types cannot hold or print, as its text."""

    text: str


@dataclass(frozen=True, slots=True)
class _Verbatim:
    """Punctuation on the stack, told apart from strings, which are quoted."""

    text: str


_CONSTANTS: dict[object, str] = {None: "null", True: "true", False: "false"}
_END_OF_OBJECT = _Verbatim("}")
_END_OF_ARRAY = _Verbatim("]")
_COMMA = _Verbatim(",")


def canonical_json(value: object, *, max_chars: int | None = None) -> str:
    """Print a JSON value.

    Args:
        value: `dict` with `str` keys, `list`, `str`, `int`, `float`, `bool`, `None`, `NumberText`,
            in any depth. Lone surrogates are kept as they are.
        max_chars: stop soon after that many characters; None prints all.

    Raises:
        CanonicalJsonError: a part is of another type, not finite, or an integer too long to print.
    """
    pieces: list[str] = []
    length = 0
    rest: list[object] = [value]
    while rest and (max_chars is None or length < max_chars):
        item = rest.pop()
        if type(item) is dict:
            piece = "{"
            rest.append(_END_OF_OBJECT)
            _push_members(rest, item)
        elif type(item) is list:
            piece = "["
            rest.append(_END_OF_ARRAY)
            for number in range(len(item) - 1, -1, -1):
                rest.append(item[number])
                if number:
                    rest.append(_COMMA)
        else:
            piece = _scalar(item)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def _push_members(rest: list[object], members: dict[object, object]) -> None:
    keys = [key for key in members if type(key) is str]
    if len(keys) != len(members):
        raise CanonicalJsonError("object: expected keys of type str, got another type")
    keys.sort(reverse=True)
    last = len(keys) - 1
    for number, key in enumerate(keys):
        comma = "," if number != last else ""
        rest.append(members[key])
        rest.append(_Verbatim(f"{comma}{encode_basestring(key)}:"))


def _scalar(item: object) -> str:
    if type(item) is _Verbatim or type(item) is NumberText:
        return item.text
    if type(item) is str:
        return encode_basestring(item)
    if item is None or item is True or item is False:
        return _CONSTANTS[item]
    if type(item) is int:
        try:
            return int.__repr__(item)
        except ValueError as error:  # more digits than this interpreter prints
            raise CanonicalJsonError("integer: expected fewer digits, got too many") from error
    if type(item) is float:
        if math.isfinite(item):
            return float.__repr__(item)
        raise CanonicalJsonError(f"number: expected a finite one, got {item!r}")
    raise CanonicalJsonError(f"value: expected a JSON value, got {type(item).__name__}")
