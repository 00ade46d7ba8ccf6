"""`ctxaudit policy test`: which rule of a policy decides on a pointer.

Guarantees: no source is looked up; the pointers and the policy decide alone.

Example:
    $ ctxaudit policy test policy.toml transcript:run-1:3
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
from ..values import Choice

__all__ = ["command"]


@click.command(
    "test",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit policy test policy.toml transcript:run-1:3",
        "ctxaudit policy test policy.toml artifact:run-1:log.txt:0123456789ab --as-tenant acme",
        "cat pointers.txt | ctxaudit policy test policy.toml - --format json",
    ),
)
@click.argument("policy", type=PathName())
@click.argument("pointers", metavar="POINTER...", nargs=-1, required=True)
@option("--as-tenant", metavar="NAME", help="Who asks, for rules that tell tenants apart.")
@option(
    "--format",
    "shape",
    type=Choice(["plain", "json"]),
    default="plain",
    show_default=True,
    help="plain: verdict, pointer, what decided; json: an object a line.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    policy: str,
    pointers: tuple[str, ...],
    as_tenant: str | None,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Say of each POINTER (- for those on standard input, one a line) what POLICY decides on it.

    The rule that decides is named by its number and line, with its why; or the default, or what
    `refuse` names. A target's own ctxaudit.toml may deny more.

    Exit codes: 0 all are allowed, 2 the policy is not understood, 3 there is no pointer,
    11 unsupported scheme, 13 denied or refused, 14 malformed pointer. The worst wins.
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    interrupts = interrupts_of(ctx)
    with interrupts.held_back():
        from ..policy_testing import PolicyOrder, carry_out
    order = PolicyOrder(
        policy=policy,
        pointers=pointers,
        tenant=as_tenant,
        is_json=shape == "json",
        is_quiet=manner.quiet,
        command=ctx.command_path,
    )
    ctx.exit(carry_out(order, interrupts))
