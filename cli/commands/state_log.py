"""`ctxaudit state log`: the versions of a home's states.

Guarantees: nothing is written to the home. What cannot be read is told and the rest is printed.

Example:
    $ ctxaudit state log home run-1 --changes
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option
from ..state_options import format_option

__all__ = ["command"]


@click.command(
    "log",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit state log home",
        "ctxaudit state log home run-1 --changes",
        "ctxaudit state log home --format json",
    ),
)
@click.argument("home", type=PathName())
@click.argument("name", required=False)
@option("--changes", is_flag=True, help="Also each member that a version changed, and who says so.")
@format_option("the latest version first", "ctxaudit.state-log/1, the first version first")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    name: str | None,
    changes: bool,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """List the versions of the state NAME, or of all states, in the store of HOME.

    Of each: when, by whom, which version it replaced, what changed in numbers.

    Exit codes: 0 all were read, 2 usage, 11 a newer ctxaudit wrote the store, 12 there is no such
    store or state, 14 the store, or a version in it, is damaged.
    """
    with interrupts_of(ctx).held_back():
        from ..states import list_versions

    ctx.exit(list_versions(ctx, home, name, is_json=shape == "json", has_changes=changes))
