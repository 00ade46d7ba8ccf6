r"""The rules that single fields of durable values obey.

Guarantees: each function gives back a value of the plain built-in type or raises an error that
names the field. A subclass is never kept: one that overrides `__eq__` could pose as another id or
status, so its plain text is.

Example:
    >>> require_text("  two\n words ", "content")
    'two words'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from numbers import Real
from typing import TypeVar, cast

from provenance.durable.failures import DurableTypeError, DurableValueError

__all__ = [
    "MAX_WHOLE_NUMBER",
    "collapse",
    "optional_text",
    "require_items",
    "require_score",
    "require_text",
    "require_unique",
    "require_whole_number",
    "shown",
]

# Far above any rank or turn, and it prints everywhere: Python refuses to print 4,301 digits.
MAX_WHOLE_NUMBER = 10**300
_SHOWN_CHARS = 40
_SHOWN_NUMBER = 10**_SHOWN_CHARS
_has_surrogate = re.compile(r"[\ud800-\udfff]").search
_Item = TypeVar("_Item")


def require_text(value: object, field: str, *, may_be_empty: bool = False) -> str:
    """Give the text with each run of white space as one space and none at its ends.

    Two halves of a surrogate pair that stand side by side become the character they denote, since
    no reader could tell the two apart again once they are written as escapes.

    Raises:
        DurableTypeError: `value` is not a `str`.
        DurableValueError: nothing is left of it.
    """
    text = collapse(value, field)
    if not text and not may_be_empty:
        raise DurableValueError(f"{field}: expected text, must not be empty")
    return text


def optional_text(value: object, field: str) -> str | None:
    """Give None for None, and what `require_text` gives for everything else."""
    return None if value is None else require_text(value, field)


def collapse(value: object, field: str) -> str:
    """Collapse white space as `require_text` does; the result may be empty."""
    if not isinstance(value, str):
        raise DurableTypeError(f"{field}: expected text, got {type(value).__name__}")
    text = " ".join(str.__str__(value).split())
    if _has_surrogate(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def require_score(value: object, field: str) -> float:
    """Give a real number from 0 to 1 as a `float`; a bool is none, and neither is a NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise DurableTypeError(
            f"{field}: expected a real number from 0 to 1, got {type(value).__name__}"
        )
    try:
        number = float(value)
    except OverflowError:  # a huge int or fraction has no float
        number = math.inf
    if not 0 <= number <= 1:
        raise DurableValueError(f"{field}: expected a finite number from 0 to 1, got {number!r}")
    return abs(number)  # a minus zero would print as less than 0


def require_whole_number(value: object, field: str, *, minimum: int) -> int:
    """Give an int from `minimum` to `MAX_WHOLE_NUMBER`; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise DurableTypeError(f"{field}: expected a whole number, got {type(value).__name__}")
    number = int(value)
    if not minimum <= number <= MAX_WHOLE_NUMBER:
        raise DurableValueError(
            f"{field}: expected a whole number of {minimum} or more and at most 300 digits, "
            f"got {number if abs(number) <= _SHOWN_NUMBER else 'one that is too long'}"
        )
    return number


def require_items(value: object, field: str, *, of: type[_Item]) -> tuple[_Item, ...]:
    """Give a collection as a tuple whose members are all of the named type."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise DurableTypeError(
            f"{field}: expected a collection of {of.__name__}, got {type(value).__name__}"
        )
    items: tuple[object, ...] = tuple(value)
    for index, item in enumerate(items):
        if not isinstance(item, of):
            raise DurableTypeError(
                f"{field}[{index}]: expected {of.__name__}, got {type(item).__name__}"
            )
    return cast("tuple[_Item, ...]", items)


def require_unique(ids: Iterable[str], what: str) -> None:
    """Refuse an id that comes twice; `what` names the ids in the message."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DurableValueError(f"{what}: expected no duplicate, got {shown(one)} twice")
        seen.add(one)


def shown(text: str) -> str:
    """Show an id or a field name in a message: printable ASCII, bounded."""
    return ascii(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "...")
