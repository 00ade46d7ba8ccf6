r"""The canonical JSON of a block (RFC 8785), whose digest stands in a receipt.

Guarantees: for what RFC 8785 can express, its bytes: keys sorted by UTF-16 code units, numbers as
ECMAScript prints them, no white space, UTF-8. What it cannot express has a form all the same, so
that every block has a digest (docs/compaction.md): an integer beyond 2^53 stands as its digits,
half of a surrogate pair as the escape `\udXXX` in lower case. Depth costs no recursion.

Example:
    >>> canonical_bytes({"b": 1.0, "a": [1e21, "é"]})
    b'{"a":[1e+21,"\xc3\xa9"],"b":1}'
"""

from __future__ import annotations

import hashlib
import math
import re
from decimal import Decimal
from json import dumps

from provenance.errors import CallerError
from provenance.messages._json_text import plain_encoding
from provenance.messages.shapes import to_json_value

__all__ = [
    "CanonicalFormError",
    "canonical_block",
    "canonical_bytes",
    "digest_of",
]

_halves = re.compile("[\ud800-\udfff]")


class CanonicalFormError(CallerError, TypeError):
    """A block holds a value that is no JSON value."""

    code = "not_a_json_block"


def digest_of(block_value: object) -> str:
    """Give the SHA-256 of a block's canonical JSON, 64 hex digits."""
    return hashlib.sha256(canonical_block(block_value)).hexdigest()


def canonical_block(value: object) -> bytes:
    """Print a block canonically, whatever it is made of: see `to_json_value`."""
    plain = plain_encoding(value)
    return canonical_bytes(to_json_value(value)) if plain is None else plain[1]


def canonical_bytes(value: object) -> bytes:
    """Print a JSON value canonically.

    Args:
        value: `dict` with `str` keys, `list`, `tuple`, `str`, `int`, `float`, `bool`, `None`.

    Raises:
        CanonicalFormError: a part is of another type, or not finite.
    """
    if isinstance(value, str):
        text = dumps(value, ensure_ascii=False)
    else:
        parts: list[str] = []
        _print(value, parts)
        text = "".join(parts)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _halves.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _print(value: object, parts: list[str]) -> None:
    """Print without recursion: blocks may nest as deep as their writer liked."""
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Verbatim):
            parts.append(item)
        elif isinstance(item, str):
            parts.append(dumps(item, ensure_ascii=False))
        elif item is None or isinstance(item, bool):
            parts.append("null" if item is None else "true" if item else "false")
        elif isinstance(item, int):
            parts.append(_integer(item))
        elif isinstance(item, float):
            parts.append(_number(item))
        elif isinstance(item, dict):
            _open_object(item, parts, waiting)
        elif isinstance(item, list | tuple):
            parts.append("[")
            waiting.append(_Verbatim("]"))
            for number in range(len(item) - 1, -1, -1):
                waiting.append(item[number])
                if number:
                    waiting.append(_Verbatim(","))
        else:
            raise CanonicalFormError(f"block: expected JSON values, got {type(item).__name__}")


class _Verbatim(str):
    """Punctuation on the stack, told apart from strings, which are quoted."""

    __slots__ = ()


def _open_object(members: dict[object, object], parts: list[str], waiting: list[object]) -> None:
    keys = list(members)
    if not all(isinstance(key, str) for key in keys):
        raise CanonicalFormError("block: expected keys of type str, got another type")
    names = [str(key) for key in keys]
    # Code points and UTF-16 units sort alike where no character needs two units.
    plain = all(name.isascii() for name in names)
    names.sort(key=None if plain else _utf16_units, reverse=True)
    parts.append("{")
    waiting.append(_Verbatim("}"))
    last = len(names) - 1
    for number, name in enumerate(names):
        waiting.append(members[name])
        comma = "" if number == last else ","
        waiting.append(_Verbatim(f"{comma}{dumps(name, ensure_ascii=False)}:"))


def _utf16_units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # more digits than this interpreter prints by itself
        return str(Decimal(value))


def _number(value: float) -> str:
    """Print a number as ECMAScript does (RFC 8785, section 3.2.2.3)."""
    if not math.isfinite(value):
        raise CanonicalFormError("block: expected a finite number, got another")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # Python's repr gives the same shortest digits; only where the exponent begins differs.
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(fraction) - len(fraction.lstrip("0")) + 1
        digits = fraction.lstrip("0")
    digits = digits.rstrip("0") or "0"
    return sign + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """Put the decimal point `point` digits from the left of `digits`."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    shown = f"e{'+' if exponent > 0 else '-'}{abs(exponent)}"
    return digits[0] + (f".{digits[1:]}" if count > 1 else "") + shown
