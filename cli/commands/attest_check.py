"""`ctxaudit attest check`: checks the attestation of a run.

Guarantees: offline; nothing of an attestation is printed before its signature is verified.

Example:
    $ ctxaudit attest check run.dsse.json --key audit.key.pub --report report.json
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit attest check run.dsse.json --key audit.key.pub",
        "ctxaudit attest check run.dsse.json --key audit.key.pub --report report.json",
    ),
)
@click.argument("file", type=PathName())
@option("--key", type=PathName(), required=True, help="The public key's file.")
@option("--report", type=PathName(), help="The JSON report that it has to be of.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    file: str,
    key: str,
    report: str | None,
    color: str | None,
    quiet: bool,
) -> None:
    """Check FILE, an in-toto Statement in a DSSE envelope, and print what it says.

    Exit codes: 0 it is what the key's owner signed (whatever the run ended with: that is printed),
    2 usage, 14 it is not.
    """
    with interrupts_of(ctx).held_back():
        from ..attesting import check_attestation

        code = check_attestation(ctx, file, key, report)
    ctx.exit(code)
