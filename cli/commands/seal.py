"""`ctxaudit seal`: signs what a state home holds now.

Guarantees: a rewritten history is never signed again; what is printed is the checkpoint, which is
on the disk by then.

Example:
    $ ctxaudit seal home --key seal.key > held.checkpoint
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
        "ctxaudit seal home --key seal.key",
        "ctxaudit seal home --key seal.key > held.checkpoint",
        'CTXAUDIT_SEAL_KEY="$(cat seal.key)" ctxaudit seal home',
    ),
)
@click.argument("home", type=PathName())
@option(
    "--key",
    type=PathName(),
    help="The private key's file, 0600; without it the key's text is in CTXAUDIT_SEAL_KEY.",
)
@option("--origin", metavar="TEXT", help="What the log is called. Default: like the key.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    key: str | None,
    origin: str | None,
    color: str | None,
    quiet: bool,
) -> None:
    """Add what is new in HOME to its log (HOME/seals), sign the head, print the checkpoint.

    Sealed are the events of its transcripts, the lines of its artifact ledgers, its states and the
    entries of its lock file. Who keeps the printed checkpoint elsewhere can tell later whether the
    home was set back (verify --seal-checkpoint).

    Exit codes: 0 sealed, or nothing is new; 1 not written; 2 usage; 3 nothing to seal;
    4 something cannot be read; 14 what was sealed before no longer holds: nothing is signed.
    """
    with interrupts_of(ctx).held_back():
        from ..sealing import seal

        code = seal(ctx, home, key, origin, manner=manner_from(ctx, color=color, quiet=quiet))
    ctx.exit(code)
