"""The options that several commands share, and the rule that holds for each of all options.

Guarantees: every option has the environment variable `CTXAUDIT_<OPTION>`, and its help says so. No
value is looked up in the file system while the command line is parsed.

Example:
    >>> environment_name("--transcript-root")
    'CTXAUDIT_TRANSCRIPT_ROOT'
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from .exit_codes import ExitCode
from .interrupts import Interrupts
from .streams import talk, write_text
from .values import Choice

__all__ = [
    "HelpfulCommand",
    "HelpfulGroup",
    "Manner",
    "PathName",
    "environment_name",
    "examples",
    "interrupts_of",
    "keep_manner",
    "manner_from",
    "manner_options",
    "option",
    "quiet_option",
    "roots_options",
]

_F = TypeVar("_F", bound=Callable[..., object])
_COLORS = ("auto", "always", "never")


if TYPE_CHECKING:
    _PathType = click.ParamType[str]
else:  # older click has no type argument here
    _PathType = click.ParamType


class PathName(_PathType):
    """A path as it was typed; unlike `click.Path` it asks the file system nothing."""

    name = "path"
    envvar_list_splitter = os.pathsep

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Give the path back, or refuse what can be none."""
        if not value or "\0" in value:
            self.fail("expected a path, got an empty text or a NUL", param, ctx)
        return value

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Let the shell complete file names."""
        return [CompletionItem(incomplete, type="file")]


def _write_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Write a command's help as all other data is written, so that a full disk is told of."""
    if value and not ctx.resilient_parsing:
        write_text(ctx.get_help() + "\n")
        ctx.exit()


class HelpfulCommand(click.Command):
    """A command whose `--help` fails as its data does."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Give click's own option with our way to write."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.callback = _write_help
        return found


class HelpfulGroup(HelpfulCommand, click.Group):
    """A group of commands whose `--help` fails as its data does."""


def environment_name(flag: str) -> str:
    """Name the environment variable of an option, as spec 05 has it."""
    return "CTXAUDIT_" + flag.lstrip("-").replace("-", "_").upper()


def examples(*lines: str) -> str:
    """Build the part of a command's help that shows how it is used."""
    # The backspace tells click to leave the line breaks of this paragraph alone.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def option(flag: str, *names: str, **attributes: Any) -> Callable[[_F], _F]:  # noqa: ANN401
    """Declare an option together with its environment variable."""
    return click.option(
        flag,
        *names,
        envvar=environment_name(flag),
        show_envvar=True,
        **attributes,
    )


def roots_options(command: _F) -> _F:
    """Add the two trusted roots that the operator may name."""
    command = option(
        "--artifact-root",
        type=PathName(),
        help="Folder that holds <session>/tool-results/<file>.",
    )(command)
    return option(
        "--transcript-root",
        type=PathName(),
        help="Folder that holds <session>.jsonl.",
    )(command)


def quiet_option(command: _F) -> _F:
    """Add whether to say more than the data."""
    return option(
        "--quiet",
        is_flag=True,
        default=False,
        help="Data only: no notes, no progress, no advice.",
    )(command)


def manner_options(command: _F) -> _F:
    """Add how to speak: colour, and whether to say more than the data."""
    return option(
        "--color",
        type=Choice(_COLORS),
        default=None,
        help="Colour and boxes; auto: on a terminal that NO_COLOR does not forbid.",
    )(quiet_option(command))


def keep_manner(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Hand a group's wishes to the command below it; show the group's help where none is named."""
    above: dict[str, object] = ctx.obj if isinstance(ctx.obj, dict) else {}
    ctx.obj = above | {
        "color": color or above.get("color"),
        "quiet": quiet or above.get("quiet") is True,
    }
    if ctx.invoked_subcommand is None:
        for line in ctx.get_help().split("\n"):
            talk(line)
        ctx.exit(ExitCode.USAGE)


def interrupts_of(ctx: click.Context) -> Interrupts:
    """Give what listens for SIGINT in this run; one that does not listen where click runs alone."""
    above: dict[str, object] = ctx.obj if isinstance(ctx.obj, dict) else {}
    found = above.get("interrupts")
    return found if isinstance(found, Interrupts) else Interrupts()


@dataclass(frozen=True, slots=True)
class Manner:
    """How to speak to whoever reads.

    Attributes:
        boxes: lay tables out for a person at a terminal.
        color: use colour.
        quiet: leave out whatever is no data.
    """

    boxes: bool
    color: bool
    quiet: bool


def manner_from(ctx: click.Context, *, quiet: bool, color: str | None = None) -> Manner:
    """Join the command's own wishes, the group's, `NO_COLOR` and the kind of standard output."""
    above: dict[str, object] = ctx.obj if isinstance(ctx.obj, dict) else {}
    wanted = color or above.get("color") or "auto"
    terminal = sys.stdout is not None and sys.stdout.isatty()
    boxes = terminal or wanted == "always"
    colored = wanted == "always" or (
        wanted == "auto" and terminal and not os.environ.get("NO_COLOR")
    )
    return Manner(boxes, colored, quiet or above.get("quiet") is True)
