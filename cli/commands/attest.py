"""`ctxaudit attest`: what others may rely on of a run.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit attest check run.dsse.json --key audit.key.pub
"""

from __future__ import annotations

import click

from ..lazy import LazyGroup
from ..options import examples, keep_manner, manner_options

__all__ = ["command"]

_COMMANDS = {"check": (".commands.attest_check", "Check an attestation, with the public key.")}


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    epilog=examples(
        "ctxaudit verify home --attest audit.key --attest-output run.dsse.json",
        "ctxaudit attest check run.dsse.json --key audit.key.pub",
    ),
)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Check attestations; verify --attest writes them."""
    keep_manner(ctx, color=color, quiet=quiet)
