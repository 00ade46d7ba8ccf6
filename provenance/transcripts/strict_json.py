"""Strict JSON by the standard library: what RFC 8259 allows, at any depth that is asked for.

Guarantees: NaN, Infinity, a byte order mark and duplicate keys (at any depth) are refused; numbers
of any length and lone surrogate escapes are not. The depth is known before a parser that recurses
sees the text, so no input raises RecursionError or exhausts the stack.

Example:
    >>> parse_strict(b'{"a":[1,2]}', max_nesting=2)
    {'a': [1, 2]}
    >>> parse_strict(b'{"a":1,"a":2}', max_nesting=2)
    Traceback (most recent call last):
    provenance.transcripts.strict_json.NotStrictJson: JSON: expected distinct keys, got one twice
"""

from __future__ import annotations

import math
import re
from itertools import accumulate
from json import JSONDecodeError, JSONDecoder
from typing import NoReturn

from provenance.canonical import NumberText
from provenance.errors import DataError

__all__ = ["NotStrictJson", "is_nesting_at_most", "parse_strict"]

# Deeper text is parsed without recursion: the caller may have used up most of the stack.
_RECURSION_IS_SAFE = 100
# Every interpreter prints integers of so many digits back; longer ones keep their text.
_INTEGER_CHARS = 18

_BRACKETS = b"[]{}"
_OTHER_BYTES = bytes(byte for byte in range(256) if byte not in _BRACKETS)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

_skip_space = re.compile(r"[ \t\n\r]*").match
_match_number = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)").match
_match_string = re.compile(
    r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"'
).match
_OPENED = object()
_WORDS: dict[str, tuple[str, object]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}


class NotStrictJson(DataError):
    """The bytes are no strict JSON, or nest too deep."""

    code = "not_strict_json"


def parse_strict(data: bytes, *, max_nesting: int) -> object:
    """Parse one JSON text.

    Args:
        data: UTF-8, checked by the caller.
        max_nesting: deepest allowed; `[]` is 1, a number is 0.

    Returns:
        `dict`, `list`, `str`, `int`, `float`, `bool`, `None`; a number that Python's types cannot
        hold or print comes as `NumberText`.

    Raises:
        NotStrictJson: it is none, or nests deeper.
    """
    if not is_nesting_at_most(data, max_nesting):
        raise NotStrictJson(f"JSON: expected at most {max_nesting} levels, got more")
    text = data.decode()
    if is_nesting_at_most(data, _RECURSION_IS_SAFE):
        try:
            return _decode(text)
        except JSONDecodeError:
            raise NotStrictJson("JSON: expected a value of its grammar, got another text") from None
        except RecursionError:
            pass  # nothing but our caller's own depth is left to blame
    return _parse_without_recursion(text)


def is_nesting_at_most(data: bytes, levels: int) -> bool:
    """Say whether brackets outside strings never nest deeper than `levels`.

    For bytes that are no JSON: True may be said of fewer than `2 * levels + 2` bytes, False only of
    what nests deeper before the first byte that breaks the grammar, as far as any parser goes.
    """
    # Each level costs JSON two bytes.
    if len(data) < 2 * levels + 2 or data.count(b"[") + data.count(b"{") <= levels:
        return True
    # Escapes are dropped in pairs, so every quote that is left begins or ends a string.
    quoted = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    brackets = b"".join(quoted[::2]).translate(None, _OTHER_BYTES)
    if brackets.count(b"[") + brackets.count(b"{") <= levels:
        return True
    return max(accumulate(map(_STEPS.__getitem__, brackets))) <= levels


def _integer(text: str) -> int | NumberText:
    return int(text) if len(text) <= _INTEGER_CHARS else NumberText(text)


def _float(text: str) -> float | NumberText:
    value = float(text)
    return value if math.isfinite(value) else NumberText(text)


def _refuse_constant(word: str) -> NoReturn:
    raise NotStrictJson(f"JSON: expected a number of its grammar, got {word}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _duplicate_key()
    return members


def _duplicate_key() -> NotStrictJson:
    return NotStrictJson("JSON: expected distinct keys, got one twice")


_decode = JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_refuse_constant,
).decode


def _parse_without_recursion(text: str) -> object:
    """Parse with a stack of our own; accepts exactly what the decoder above accepts."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._open: list[dict[str, object] | list[object]] = []
        self._keys: list[str] = []  # of the objects among them

    def parse(self) -> object:
        while True:
            value = self._begin()
            if value is _OPENED:
                continue
            # A value has ended; so may the containers around it.
            while self._open:
                container = self._open[-1]
                if self._add(container, value):
                    break
                value = self._open.pop()
            else:
                if self._next_char() != "":
                    raise _unexpected()
                return value

    def _begin(self) -> object:
        """Take a scalar or an empty container, or open one that is not empty."""
        char = self._next_char()
        if char == "{":
            self._place += 1
            if self._next_char() != "}":
                members: dict[str, object] = {}
                self._open.append(members)
                self._take_key(members)
                return _OPENED
            self._place += 1
            return {}
        if char == "[":
            self._place += 1
            if self._next_char() != "]":
                self._open.append([])
                return _OPENED
            self._place += 1
            return []
        if char == '"':
            return self._take_string()
        word, constant = _WORDS.get(char, ("", None))
        if word and self._text.startswith(word, self._place):
            self._place += len(word)
            return constant
        match = _match_number(self._text, self._place)
        if match is None:
            raise _unexpected()
        self._place = match.end()
        whole, rest = match.groups()
        return _float(whole + rest) if rest else _integer(whole)

    def _add(self, container: dict[str, object] | list[object], value: object) -> bool:
        """Put a value where it belongs; True where another follows in the same container."""
        if isinstance(container, dict):
            container[self._keys.pop()] = value
            closing = "}"
        else:
            container.append(value)
            closing = "]"
        char = self._next_char()
        self._place += 1
        if char == ",":
            if isinstance(container, dict):
                self._take_key(container)
            return True
        if char != closing:
            raise _unexpected()
        return False

    def _take_key(self, members: dict[str, object]) -> None:
        self._next_char()
        key = self._take_string()
        if key in members:
            raise _duplicate_key()
        if self._next_char() != ":":
            raise _unexpected()
        self._place += 1
        self._keys.append(key)

    def _take_string(self) -> str:
        match = _match_string(self._text, self._place)
        if match is None:
            raise _unexpected()
        self._place = match.end()
        # The standard library decodes the escapes.
        return str(_decode(match.group()))

    def _next_char(self) -> str:
        """Step over white space; the next character, or nothing at the end."""
        match = _skip_space(self._text, self._place)
        if match is not None:
            self._place = match.end()
        return self._text[self._place : self._place + 1]


def _unexpected() -> NotStrictJson:
    return NotStrictJson("JSON: expected a value of its grammar, got another text")
