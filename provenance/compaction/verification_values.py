"""Whether two JSON values are the same one, types and all.

Guarantees: no number is another type's: `True`, `1` and `1.0` are three values, as in what is sent.
(The canonical JSON behind a digest prints the last two alike.) Depth costs no recursion.

Example:
    >>> is_same_value({"n": [1]}, {"n": [1]}), is_same_value({"n": [1]}, {"n": [True]})
    (True, False)
"""

from __future__ import annotations

__all__ = ["is_same_value"]


def is_same_value(one: object, other: object) -> bool:
    """Compare what `to_json_value` gave; the order of keys says nothing."""
    waiting = [(one, other)]
    while waiting:
        first, second = waiting.pop()
        if type(first) is not type(second):
            return False
        if isinstance(first, dict) and isinstance(second, dict):
            if first.keys() != second.keys():
                return False
            waiting.extend((value, second[name]) for name, value in first.items())
        elif isinstance(first, list) and isinstance(second, list):
            if len(first) != len(second):
                return False
            waiting.extend(zip(first, second, strict=True))
        elif first != second:
            return False
    return True
