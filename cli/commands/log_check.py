"""`ctxaudit log check`: checks a proof with nothing but the public key.

Guarantees: offline. What the proof says is printed only after it is proved.

Example:
    $ ctxaudit log check event.tlog-proof --key seal.key.pub
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit log check event.tlog-proof --key seal.key.pub",
        "ctxaudit log check event.tlog-proof --key seal.key.pub --evidence event.json",
        "ctxaudit log check event.tlog-proof --key seal.key.pub --home home",
    ),
)
@click.argument("proof", type=PathName())
@option("--key", type=PathName(), required=True, help="The public key's file.")
@option("--pointer", metavar="POINTER", help="The proof has to be of this source. Default: of any.")
@option("--evidence", type=PathName(), help="A file with the bytes that it has to prove.")
@option("--home", type=PathName(), help="A state home that has to hold the bytes that it proves.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    proof: str,
    key: str,
    pointer: str | None,
    evidence: str | None,
    home: str | None,
    color: str | None,
    quiet: bool,
) -> None:
    """Check PROOF, and that the evidence at hand is what it proves.

    Without --evidence and --home the digest is proved and nothing is compared with it; the last
    line says so. The bytes of an event are its line without the line end (show POINTER --raw).

    Exit codes: 0 proved, 2 usage, 14 not proved; with --home also those of verify.
    """
    if evidence is not None and home is not None:
        raise click.UsageError("--evidence: expected it or --home, got both", ctx)
    with interrupts_of(ctx).held_back():
        from ..proving import CheckOrder, check

        code = check(ctx, CheckOrder(proof, key, pointer, evidence, home))
    ctx.exit(code)
