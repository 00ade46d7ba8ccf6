"""`ctxaudit render`: a durable state as the model will see it.

Guarantees: the text is the library's, byte for byte. Where the sources were not looked up, it says
nothing about them.

Example:
    $ ctxaudit render sample_state/states/deploy-2041.json
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
    roots_options,
)

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit render sample_state/states/deploy-2041.json",
        "ctxaudit render state.json --transcript-root logs --artifact-root home",
        "ctxaudit render state.json --no-resolve",
    ),
)
@click.argument("state", type=PathName())
@option("--home", type=PathName(), help="The state home; default: the one that STATE lies in.")
@roots_options
@option("--policy", type=PathName(), help="TOML file with rules that allow and deny.")
@option("--as-tenant", metavar="NAME", help="Who asks, for rules that tell tenants apart.")
@option("--no-resolve", is_flag=True, help="Do not look up the sources, leave their status out.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    state: str,
    home: str | None,
    transcript_root: str | None,
    artifact_root: str | None,
    policy: str | None,
    as_tenant: str | None,
    no_resolve: bool,
    color: str | None,
    quiet: bool,
) -> None:
    """Print the state file STATE as the model will see it, with what is true of its sources now."""
    with interrupts_of(ctx).held_back():
        from ..rendering import RenderOrder, render

    render(
        ctx,
        RenderOrder(
            state=state,
            home=home,
            transcript_root=transcript_root,
            artifact_root=artifact_root,
            policy=policy,
            tenant=as_tenant,
            resolve=not no_resolve,
            quiet=manner_from(ctx, color=color, quiet=quiet).quiet,
        ),
    )
