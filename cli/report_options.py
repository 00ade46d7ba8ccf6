"""Options of commands that write reports: how many processes, which reports, what counts.

Guarantees: a value is checked while the command line is parsed.

Example:
    >>> MOST_JOBS
    256
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from .completing import complete_states
from .options import PathName, option
from .outputs import FORMATS
from .values import Choice, whole_numbers

__all__ = ["MOST_JOBS", "STATES", "report_options", "weakened_by_environment"]

_F = TypeVar("_F", bound=Callable[..., object])

STATES = ("missing", "denied", "corrupt", "unsupported", "inconclusive")
MOST_JOBS = 256


def _states(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> frozenset[str] | None:
    if not value:
        return None
    named = [name for text in value for name in text.split(",")]
    for name in named:
        if name not in STATES:
            raise click.BadParameter(
                f"expected some of {','.join(STATES)}, got {name!r}", ctx, param
            )
    return frozenset(named)


def report_options(command: _F) -> _F:
    """Add `--jobs`, `--format`, `--output`, `--fail-on` and `--exit-zero`."""
    command = option(
        "--exit-zero",
        is_flag=True,
        help="Exit 0 whatever the evidence is like; never for 1, 2, 3 and 130.",
    )(command)
    command = option(
        "--fail-on",
        multiple=True,
        metavar="STATES",
        callback=_states,
        shell_complete=complete_states,
        help=f"Only these count for the exit code, with commas: {', '.join(STATES)}.",
    )(command)
    command = option(
        "--output",
        "outputs",
        multiple=True,
        type=PathName(),
        help="File for the report of the --format at the same place, outside the "
        "targets; repeatable; - is stdout.",
    )(command)
    command = option(
        "--format",
        "formats",
        multiple=True,
        type=Choice(FORMATS),
        help="Report; repeatable. Default: console. ndjson: a line a result, then findings. "
        "github: annotations; markdown: for a step summary or a comment; html: one page, for "
        "people.",
    )(command)
    return option(
        "--jobs",
        type=whole_numbers(1, MOST_JOBS),
        default=1,
        show_default=True,
        help="Processes that verify.",
    )(command)


def weakened_by_environment(ctx: click.Context, names: Iterable[str]) -> tuple[str, ...]:
    """Name the variables that set an option with which evidence can pass that would not.

    Args:
        ctx: of the command.
        names: of the parameters that can weaken a verdict.
    """
    wanted = frozenset(names)
    return tuple(
        str(parameter.envvar)
        for parameter in ctx.command.params
        if parameter.name in wanted
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.ENVIRONMENT
        and ctx.params[parameter.name]
    )
