"""`ctxaudit state`: the versions of the durable states of a home.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit state log home
"""

from __future__ import annotations

import click

from ..lazy import LazyGroup
from ..options import examples, keep_manner, manner_options

__all__ = ["command"]

_COMMANDS = {
    "diff": (".commands.state_diff", "What changed between two versions of a state."),
    "log": (".commands.state_log", "The versions of a state: when, by whom, what changed."),
    "put": (".commands.state_put", "Store a state file as the next version."),
    "show": (".commands.state_show", "One version as it was; selections with --selections."),
}


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    epilog=examples(
        "ctxaudit state put home run-1 state.json --replaces none --author ops",
        "ctxaudit state log home",
        "ctxaudit state diff home run-1 2 3",
    ),
)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Read the versions of a home's durable states, and add one."""
    keep_manner(ctx, color=color, quiet=quiet)
