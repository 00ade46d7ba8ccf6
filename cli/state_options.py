"""What the commands of `ctxaudit state` take alike.

Guarantees: a version is a plain whole number; nothing is looked up here.

Example:
    >>> VersionNumber().convert("12", None, None)
    12
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from .options import option
from .values import Choice

__all__ = ["VersionNumber", "format_option"]

_F = TypeVar("_F", bound=Callable[..., object])
# A version of 18 digits fits into every whole number of SQLite.
_is_number = re.compile(r"0|[1-9][0-9]{0,17}").fullmatch

if TYPE_CHECKING:
    _VersionType = click.ParamType[int | None]
else:  # older click has no type argument here
    _VersionType = click.ParamType


class VersionNumber(_VersionType):
    """A version of a state; `none` where that is allowed, 0 where that is."""

    name = "version"

    def __init__(self, *, least: int = 1, or_none: bool = False) -> None:
        """Take numbers from `least` on, and the word `none`."""
        self._least = least
        self._or_none = or_none

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Give the number; None for `none`."""
        text = str(value)
        if self._or_none and text == "none":
            return None
        if _is_number(text) is None or int(text) < self._least:
            word = " or none" if self._or_none else ""
            self.fail(
                f"expected a version of {self._least} or more{word}, got {text[:40]!a}", param, ctx
            )
        return int(text)


def format_option(plain: str, json: str) -> Callable[[_F], _F]:
    """Add `--format`, with what each of the two gives."""
    return option(
        "--format",
        "shape",
        type=Choice(["plain", "json"]),
        default="plain",
        show_default=True,
        help=f"plain: {plain}; json: {json}.",
    )
