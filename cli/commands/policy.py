"""`ctxaudit policy`: what can be done with policies themselves.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit policy test policy.toml transcript:run-1:3
"""

from __future__ import annotations

import click

from ..lazy import LazyGroup
from ..options import examples, keep_manner, manner_options

__all__ = ["command"]

_COMMANDS = {
    "test": (".commands.policy_test", "Say which rule decides on a pointer, and how."),
}


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    epilog=examples("ctxaudit policy test policy.toml transcript:run-1:3 --as-tenant acme"),
)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Try out the TOML files that say who may rest on which evidence."""
    keep_manner(ctx, color=color, quiet=quiet)
