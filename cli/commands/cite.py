"""`ctxaudit cite`: pointers to the records of transcripts that hold a text.

Guarantees: a pointer is printed only for a record that is available; no text of a record is printed
unless `--show` asks for it, escaped and bounded.

Example:
    $ ctxaudit cite sample_state --grep eu-west
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
from ..selection import format_option
from ..values import Choice, whole_numbers

__all__ = ["command"]


@click.command(
    "cite",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit cite sample_state --grep deploy --show",
        "ctxaudit cite ~/.claude/projects --grep 'rate limit' --ignore-case --limit 5",
        "ctxaudit cite full.jsonl --grep eu-west-2 --kind assistant --format json",
    ),
)
@click.argument("target", metavar="TRANSCRIPT", type=PathName())
@option("--grep", required=True, metavar="TEXT", help="The text to look for, as it stands.")
@option("--ignore-case", is_flag=True, help="Take capital and small letters for the same.")
@option("--kind", multiple=True, metavar="KIND", help="Records of this kind only; repeatable.")
@option("--limit", type=whole_numbers(1), metavar="N", help="Stop after N pointers.")
@option("--show", "is_shown", is_flag=True, help="Print also what stands around the text.")
@format_option
@option(
    "--format",
    "shape",
    type=Choice(["plain", "json"]),
    default="plain",
    show_default=True,
    help="plain: pointer, digest, native id, with tabs between; json: an object a line.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: str,
    grep: str,
    ignore_case: bool,
    kind: tuple[str, ...],
    limit: int | None,
    is_shown: bool,
    as_format: str | None,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Print a pointer, the record's SHA-256 and its native id for each record that holds TEXT.

    TRANSCRIPT is a transcript of any known format, a folder of them, or a state home. Only what a
    record says is searched, not its ids and settings. A record of our own format that does not
    verify, or that stands behind damage, is named on standard error and not printed.

    Exit codes: 0 something was printed, 2 usage, 3 nothing was, 4 a file changed while it was read.
    """
    if not grep:
        raise click.UsageError("--grep: expected a text, got none", ctx)
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from ..citing import CiteOrder, cite

    order = CiteOrder(
        target=target,
        text=grep,
        ignores_case=ignore_case,
        kinds=frozenset(kind),
        limit=limit,
        is_shown=is_shown,
        as_format=as_format,
        is_json=shape == "json",
        is_quiet=manner.quiet,
    )
    ctx.exit(cite(ctx, order))
