"""JSON values out of records, as messages have them.

Guarantees: pure; nothing raises on what a record holds. What is given is made of `dict`, `list`,
`str`, `int`, finite `float`, `bool` and `None` alone, so that it can be written as JSON again.

Example:
    >>> whole(b'{"a":1e999}'), texts_of([{"text": "a"}, "b", 3])
    ({'a': '1e999'}, ['a', 'b'])
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from provenance.canonical import NumberText, canonical_json
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.strict_json import NotStrictJson, is_nesting_at_most, parse_strict

__all__ = ["arguments", "as_text", "plain", "texts_of", "whole"]

# Longer integers are not printed back by every interpreter.
_INTEGER_DIGITS = 4_000


def whole(raw: bytes) -> dict[str, Any] | None:
    """Parse all of a record; None where it is no JSON object."""
    limit = DEFAULT_LIMITS.max_nesting
    if not is_nesting_at_most(raw, limit):
        return None
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        try:
            raw.decode()
            value = plain(parse_strict(raw, max_nesting=limit))
        except (NotStrictJson, UnicodeDecodeError):
            return None
    return value if isinstance(value, dict) else None


def plain(value: Any) -> Any:  # noqa: ANN401 - a parsed value
    """Give a parsed value without the numbers that Python cannot hold: they become their text."""
    if not isinstance(value, dict | list):
        return _scalar(value)
    root: Any = {} if isinstance(value, dict) else []
    waiting: list[tuple[Any, Any]] = [(value, root)]
    while waiting:
        source, made = waiting.pop()
        for key, item in _members(source):
            if isinstance(item, dict | list):
                new: Any = {} if isinstance(item, dict) else []
                waiting.append((item, new))
            else:
                new = _scalar(item)
            if isinstance(made, dict):
                made[key] = new
            else:
                made.append(new)
    return root


def texts_of(content: object) -> list[str]:
    """Give the texts of a field that is text itself, or a list of texts and of parts with one."""
    if isinstance(content, str):
        return [content] if content else []
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return []
    parts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return [part for part in parts if isinstance(part, str) and part]


def as_text(value: object) -> str:
    """Give a value as text: a text as it is, texts in parts joined, all else as its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and len(found := texts_of(value)) == len(value):
        return "\n".join(found)
    return canonical_json(plain(value))


def arguments(value: object) -> dict[str, Any]:
    """Give a call's arguments as an object; text that is none is kept under `arguments`."""
    if isinstance(value, dict):
        found: dict[str, Any] = plain(value)
        return found
    if not isinstance(value, str):
        return {} if value is None else {"arguments": plain(value)}
    if not value.strip():
        return {}
    try:
        parsed = whole(value.encode())
    except UnicodeEncodeError:
        parsed = None
    return {"arguments": value} if parsed is None else parsed


def _members(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        for item in value:
            yield "", item


def _scalar(value: Any) -> Any:  # noqa: ANN401 - a parsed value
    if isinstance(value, NumberText):
        text = value.text
        is_integer = text.lstrip("-").isdecimal() and len(text) <= _INTEGER_DIGITS
        return int(text) if is_integer else text
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
