"""`ctxaudit show`: the evidence behind one pointer, for a person.

Guarantees: only what verified in this very call is shown, escaped, and bounded unless `--raw`.
Raw bytes go to a pipe or file and never to a terminal.

Example:
    $ ctxaudit show transcript:deploy-2041:8 --home sample_state
"""

from __future__ import annotations

import re

import click

from ..options import (
    HelpfulCommand,
    PathName,
    examples,
    interrupts_of,
    manner_from,
    manner_options,
    option,
    roots_options,
)

__all__ = ["command"]

_SAMPLE = "artifact:deploy-2041:rollout.log:34a5fe73617d"
_match_lines = re.compile(r"([1-9][0-9]{0,11})?:([1-9][0-9]{0,11})?").fullmatch


def _lines(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, int | None] | None:
    if value is None:
        return None
    match = _match_lines(value)
    first, last = match.groups() if match else (None, None)
    if first is None and last is None:
        raise click.BadParameter(f"expected A:B, A: or :B, got {value!r}", ctx, param)
    start, end = int(first or 1), None if last is None else int(last)
    if end is not None and end < start:
        raise click.BadParameter(f"expected B not before A, got {value!r}", ctx, param)
    return start, end


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit show transcript:deploy-2041:8 --home sample_state",
        f"ctxaudit show {_SAMPLE} --home sample_state --lines 2:4",
        f"ctxaudit show {_SAMPLE} --home sample_state --raw > rollout.log",
    ),
)
@click.argument("pointer")
@option("--home", type=PathName(), help="The state home; default: this folder, if it is one.")
@roots_options
@option("--policy", type=PathName(), help="TOML file with rules that allow and deny.")
@option("--as-tenant", metavar="NAME", help="Who asks, for rules that tell tenants apart.")
@option("--lines", metavar="A:B", callback=_lines, help="These lines, counted from 1.")
@option("--raw", is_flag=True, help="The exact bytes, to a pipe or file.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    pointer: str,
    home: str | None,
    transcript_root: str | None,
    artifact_root: str | None,
    policy: str | None,
    as_tenant: str | None,
    lines: tuple[int, int | None] | None,
    raw: bool,
    color: str | None,
    quiet: bool,
) -> None:
    """Print the evidence behind POINTER, if it verifies.

    What is not available is not shown: the state and its reason are said instead, and the exit
    code is that of `verify`.

    Without --home and roots, this folder is the home if it looks like one: it holds transcripts/,
    states/ or ctxaudit.toml, or the folder <session>/tool-results/ of the pointer.
    """
    if raw and lines is not None:
        raise click.UsageError("--raw: expected no --lines beside it, got both", ctx)
    with interrupts_of(ctx).held_back():
        from ..showing import ShowOrder, show

    order = ShowOrder(
        pointer=pointer,
        home=home,
        transcript_root=transcript_root,
        artifact_root=artifact_root,
        policy=policy,
        tenant=as_tenant,
        lines=lines,
        raw=raw,
        quiet=manner_from(ctx, color=color, quiet=quiet).quiet,
    )
    ctx.exit(show(order))
