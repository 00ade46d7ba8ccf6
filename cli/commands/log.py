"""`ctxaudit log`: proofs from a home's log of seals.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit log prove transcript:run-1:3 --home home --output run-1-3.tlog-proof
"""

from __future__ import annotations

import click

from ..lazy import LazyGroup
from ..options import examples, keep_manner, manner_options

__all__ = ["command"]

_COMMANDS = {
    "check": (".commands.log_check", "Check a proof, offline, with the public key."),
    "prove": (".commands.log_prove", "Write a proof that a source is sealed."),
}


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    epilog=examples(
        "ctxaudit log prove transcript:run-1:3 --home home --output event.tlog-proof",
        "ctxaudit log check event.tlog-proof --key seal.key.pub --evidence event.json",
    ),
)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Write and check proofs that a source is covered by a seal."""
    keep_manner(ctx, color=color, quiet=quiet)
