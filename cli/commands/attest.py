"""`ctxaudit attest`: what others may rely on of a run.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit attest check run.dsse.json --key audit.key.pub
"""

from __future__ import annotations

import click

from ..exit_codes import ExitCode
from ..lazy import LazyGroup
from ..options import examples, manner_options
from ..streams import talk

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
    above: dict[str, object] = ctx.obj if isinstance(ctx.obj, dict) else {}
    ctx.obj = above | {
        "color": color or above.get("color"),
        "quiet": quiet or above.get("quiet") is True,
    }
    if ctx.invoked_subcommand is None:
        for line in ctx.get_help().split("\n"):
            talk(line)
        ctx.exit(ExitCode.USAGE)
