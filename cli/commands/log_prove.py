"""`ctxaudit log prove`: a proof that a third party can check offline.

Guarantees: a proof is written only for a source that verifies now and has the bytes that were
sealed.

Example:
    $ ctxaudit log prove transcript:run-1:3 --home home --output event.tlog-proof
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit log prove transcript:run-1:3 --home home > event.tlog-proof",
        "ctxaudit log prove transcript:run-1:3 --home home --output event.tlog-proof",
    ),
)
@click.argument("pointer")
@option("--home", type=PathName(), required=True, help="The state home, with its seals.")
@option("--output", type=PathName(), help="File for the proof, outside the home. Default: stdout.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    pointer: str,
    home: str,
    output: str | None,
    color: str | None,
    quiet: bool,
) -> None:
    """Write a C2SP tlog-proof for POINTER: its entry, the way to the root, the newest checkpoint.

    Exit codes: those of verify for the source itself; 12 no seal covers it; 14 its bytes are not
    the sealed ones, or the log is damaged.
    """
    with interrupts_of(ctx).held_back():
        from ..proving import prove

        code = prove(ctx, pointer, home, output)
    ctx.exit(code)
