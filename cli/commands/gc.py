"""`ctxaudit gc`: remove artifacts that nothing cites.

Guarantees: without `--delete` nothing is written. What is removed has a line in the ledger first.

Example:
    $ ctxaudit gc home
"""

from __future__ import annotations

import click

from ..options import (
    HelpfulCommand,
    PathName,
    examples,
    interrupts_of,
    manner_from,
    manner_options,
    option,
)

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit gc home",
        "ctxaudit gc home --older-than 90",
        "ctxaudit gc home --older-than 2026-06-01 --cited-by notes --delete",
        "ctxaudit gc home --format json",
    ),
)
@click.argument("home", type=PathName())
@option("--delete", is_flag=True, help="Remove it. Default: say what would go.")
@option(
    "--older-than",
    metavar="DAYS|DATE",
    default="1",
    show_default=True,
    help="Only what was stored and last used before so many days, or before a date "
    "(2026-06-01, in UTC).",
)
@option(
    "--cited-by",
    multiple=True,
    type=PathName(),
    metavar="PATH",
    help="A file or folder outside the home that cites its artifacts; repeatable.",
)
@option(
    "--format",
    "shape",
    type=click.Choice(["console", "json"]),
    default="console",
    show_default=True,
    help="How to say it; json: ctxaudit.gc/1.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    delete: bool,
    older_than: str,
    cited_by: tuple[str, ...],
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Say which artifacts of the state home HOME nothing cites, or remove them.

    Every file of the home is read for what it cites: states and their versions, receipts,
    transcripts, the lock file, seals, other artifacts, notes. What is cited stays, and what is
    younger than --older-than, and what the ledger does not know. If anything cannot be read,
    nothing is removed. A later look-up of what was removed answers missing, removed_by_retention.

    Exit codes: 0 done, or nothing to do; 1 something was to be removed and was not; 2 usage;
    4 something that may cite could not be read, so that nothing was removed.
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from ..collecting import collect

    ctx.exit(
        collect(
            ctx,
            home,
            older_than=older_than,
            delete=delete,
            cited_by=cited_by,
            is_json=shape == "json",
            manner=manner,
        )
    )
