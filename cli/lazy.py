"""A group whose commands are loaded one by one, when they are asked for.

Guarantees: a list of commands loads none of them. SIGINT waits while a module is loaded.

Example:
    >>> group = LazyGroup("tools", entries={"mend": (".commands.mend", "Mend it.")})
    >>> group.list_commands(click.Context(group))
    ['mend']
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from .options import HelpfulGroup, interrupts_of

__all__ = ["LazyGroup"]


class LazyGroup(HelpfulGroup):
    """A group that knows its commands by the names of their modules."""

    def __init__(
        self,
        *names: Any,  # noqa: ANN401 - click's own
        entries: Mapping[str, tuple[str, str]],
        **attributes: Any,  # noqa: ANN401 - click's own
    ) -> None:
        """Take, for each name, the module below this package and what the list says of it."""
        super().__init__(*names, **attributes)
        self._entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names, sorted."""
        return sorted(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None where there is none of that name."""
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        with interrupts_of(ctx).held_back():
            command = import_module(entry[0], __package__).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name}: expected a click command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands without loading them, and the options."""
        commands = [
            CompletionItem(name, help=self._entries[name][1])
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._entries[name][1]) for name in sorted(self._entries)])
