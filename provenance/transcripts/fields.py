"""Reading fields of JSON that anybody may have written: what is not of the expected type is absent.

Guarantees: pure; nothing raises. Text is never longer than it stands in the record.

Example:
    >>> text_of({"a": 1}, "a") is None, dict_of({"a": {"b": 1}}, "a")
    (True, {'b': 1})
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["dict_of", "dicts_in", "list_of", "text_of", "texts_in"]

_NO_DICT: dict[str, Any] = {}
_NO_LIST: list[Any] = []


def text_of(value: dict[str, Any], key: str) -> str | None:
    """Give a field that is text and not empty, else None."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def dict_of(value: dict[str, Any], key: str) -> dict[str, Any]:
    """Give a field that is an object, else an empty one (not to be changed)."""
    found = value.get(key)
    return found if isinstance(found, dict) else _NO_DICT


def list_of(value: dict[str, Any], key: str) -> list[Any]:
    """Give a field that is a list, else an empty one (not to be changed)."""
    found = value.get(key)
    return found if isinstance(found, list) else _NO_LIST


def dicts_in(value: object) -> Iterator[dict[str, Any]]:
    """Give the objects that a list holds; nothing where it is none."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def texts_in(value: object) -> Iterator[str]:
    """Give the texts that a list holds; nothing where it is none."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield item
