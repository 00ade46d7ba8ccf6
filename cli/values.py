"""What an option's value has to be: click's own kinds, with messages that say what was expected.

Guarantees: one line, the option first, expected before got; the environment variable is named where
the value came from it, and only there.

Example:
    >>> whole_numbers(1, 256).convert("3", None, None)
    3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

__all__ = ["Choice", "numbers", "told", "whole_numbers"]

_MOST_SHOWN = 80

if TYPE_CHECKING:
    _ChoiceType = click.Choice[str]
else:  # older click has no type argument here
    _ChoiceType = click.Choice


class Choice(_ChoiceType):
    """One of some words."""

    def __init__(self, words: Sequence[str]) -> None:
        """Take the words."""
        super().__init__(words)
        self._words = tuple(words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        """Give the word back."""
        if value not in self._words:
            self.fail(f"expected one of {', '.join(self._words)}, got {_shown(value)}", param, ctx)
        return str(value)


def whole_numbers(least: int, most: int | None = None) -> click.IntRange:
    """Give the type of a whole number of `least` or more; `most`, where given, is the largest."""
    return _IntRange(least, most)


def numbers(above: float, most: float) -> click.FloatRange:
    """Give the type of a number that is more than `above` and at most `most`."""
    return _FloatRange(above, most, min_open=True)


class _IntRange(click.IntRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        try:
            return super().convert(value, None, None)
        except click.BadParameter:
            end = " or more" if self.max is None else f" to {self.max}"
            wanted = f"a whole number of {self.min}{end}"
            self.fail(f"expected {wanted}, got {_shown(value)}", param, ctx)


class _FloatRange(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        try:
            return super().convert(value, None, None)
        except click.BadParameter:
            wanted = f"a number of more than {self.min:g} and at most {self.max:g}"
            self.fail(f"expected {wanted}, got {_shown(value)}", param, ctx)


def told(error: click.ClickException) -> str:
    """Give the line that an error is told by."""
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
        return error.format_message()
    param, ctx = error.param, error.ctx
    if param is None:
        return error.format_message()
    name = str(param.metavar or param.name or "").strip(".[]").upper()
    if isinstance(param, click.Option):
        name = max(param.opts, key=len)
    source = None
    if ctx is not None and param.name is not None:
        source = ctx.get_parameter_source(param.name)
    came = f" (from {param.envvar})" if source is ParameterSource.ENVIRONMENT else ""
    return f"{name}{came}: {error.message}"


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "...")
