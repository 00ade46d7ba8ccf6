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
        "ctxaudit seal home --key seal.key --seal-checkpoint held.checkpoint > next.checkpoint",
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
@option(
    "--seal-checkpoint",
    type=PathName(),
    help="A checkpoint that you hold from another day; the log has to contain it.",
)
@option(
    "--accept-removed",
    is_flag=True,
    help="Seal that artifacts were removed which a seal covers; each is named on stderr.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    key: str | None,
    origin: str | None,
    seal_checkpoint: str | None,
    accept_removed: bool,
    color: str | None,
    quiet: bool,
) -> None:
    """Add what is new in HOME to its log (HOME/seals), sign the head, print the checkpoint.

    Sealed are the events of its transcripts, the lines of its artifact ledgers, its states and
    receipts and the entries of its lock file. Who keeps the printed checkpoint elsewhere can tell
    later whether the home was set back (--seal-checkpoint here and in verify); without one, nobody
    can tell that the folder of the seals was removed, and a new history is begun. HOME's own
    ctxaudit.toml keeps nothing out.

    Exit codes: 0 sealed, or nothing is new; 1 not written; 2 usage; 3 nothing to seal;
    4 something cannot be read; 14 what was sealed before no longer holds, the bytes of artifacts
    among it, or a new line of a ledger does not say what lies there: nothing is signed.
    """
    with interrupts_of(ctx).held_back():
        from ..sealing import seal

        manner = manner_from(ctx, color=color, quiet=quiet)
        code = seal(
            ctx,
            home,
            key,
            origin,
            seal_checkpoint,
            accept_removed=accept_removed,
            manner=manner,
        )
    ctx.exit(code)
