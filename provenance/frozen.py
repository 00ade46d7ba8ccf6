"""Frozen values that refuse every assignment alike.

Guarantees: assigning or deleting any attribute of an instance, a field or not, raises
`dataclasses.FrozenInstanceError`, which is an `AttributeError`. A frozen dataclass with slots does
so for its fields alone on older Pythons; for any other name it fails with an unrelated `TypeError`.

Example:
    >>> from dataclasses import dataclass
    >>> @sealed
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    >>> Point(1).y = 2
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to 'y'
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TypeVar

__all__ = ["sealed"]

_Class = TypeVar("_Class", bound=type)


def sealed(cls: _Class) -> _Class:
    """Seal a frozen dataclass; stands above `@dataclass(frozen=True, slots=True)`."""
    # Its own __init__ and __setstate__ go through `object.__setattr__` and are not touched.
    setattr(cls, "__setattr__", _refuse_assignment)  # noqa: B010 - mypy knows it as read-only
    setattr(cls, "__delattr__", _refuse_deletion)  # noqa: B010
    return cls


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete {name!r}")
