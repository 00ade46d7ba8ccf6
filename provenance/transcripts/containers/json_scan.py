r"""Finding where the values of a JSON text end, by brackets and quotes alone, in bounded steps.

Guarantees: pure; nothing recurses and nothing raises. What is found is a place and no verdict: the
strict judge says whether the bytes up to there are JSON.

Example:
    >>> end_of_value(b' {"a": "]}"}, 1', 1)
    12
    >>> end_of_value(b'{"a": "]}"', 0) is None
    True
"""

from __future__ import annotations

import re

__all__ = ["BYTE_ORDER_MARK", "begins_again", "end_of_space", "end_of_string", "end_of_value"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_match_string = re.compile(_STRING, re.DOTALL).match
# Everything up to the next bracket outside of strings, in one step.
_skip_to_bracket = re.compile(rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+', re.DOTALL).match
_skip_space = re.compile(rb"[ \t\n\r]*+").match
_match_word = re.compile(rb'[^ \t\n\r,:\[\]{}"]++').match
_match_first_member = re.compile(rb"\{[ \t\n\r]*+" + _STRING, re.DOTALL).match


def end_of_space(data: bytes, place: int) -> int:
    """Give the place of the next byte that is no JSON white space."""
    match = _skip_space(data, place)
    return place if match is None else match.end()


def end_of_string(data: bytes, place: int) -> int | None:
    """Give the end of the string that begins here; None: none does, or its end is not there."""
    match = _match_string(data, place)
    return None if match is None else match.end()


def end_of_value(data: bytes, place: int) -> int | None:
    """Give the end of the value that begins here; None: none does, or its end is not there."""
    char = data[place : place + 1]
    if char == b'"':
        return end_of_string(data, place)
    if char not in (b"{", b"["):
        match = _match_word(data, place)
        return None if match is None else match.end()
    depth = 0
    while True:
        match = _skip_to_bracket(data, place)
        place = len(data) if match is None else match.end()
        char = data[place : place + 1]
        if char in (b"{", b"["):
            depth += 1
        elif char in (b"}", b"]"):
            depth -= 1
        else:
            return None  # the end of the bytes, or a string that has none
        place += 1
        if depth == 0:
            return place


def begins_again(data: bytes, start: int, end: int) -> bool:
    """Say whether the first member of the object that `data` is begins again in a part of it."""
    opening = _match_first_member(data, end_of_space(data, len(_mark(data))))
    return opening is not None and data.find(opening.group(), max(start, opening.end()), end) >= 0


def _mark(data: bytes) -> bytes:
    return BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
