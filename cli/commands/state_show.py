"""`ctxaudit state show`: one version of a state, as it was.

Guarantees: the digest of the version is checked before anything is printed; as JSON it is the bytes
that were stored. Nothing is written to the home.

Example:
    $ ctxaudit state show home run-1 --version 2
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options, option
from ..state_options import VersionNumber, format_option

__all__ = ["command"]


@click.command(
    "show",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit state show home run-1",
        "ctxaudit state show home run-1 --version 2 --format json > state.json",
        "ctxaudit state show home run-1 --selections",
    ),
)
@click.argument("home", type=PathName())
@click.argument("name")
# Without an environment variable: CTXAUDIT_VERSION is what people call the release they install.
@click.option(
    "--version", type=VersionNumber(), metavar="N", help="Which one; default: the current one."
)
@option(
    "--selections",
    is_flag=True,
    help="Also what retrievals for that version considered, chose and why, and what verified it.",
)
@option("--all", "is_all", is_flag=True, help="With --selections: those for every version.")
@format_option("for reading", "the state exactly as stored (with --selections: those alone)")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    name: str,
    version: int | None,
    selections: bool,
    is_all: bool,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Print a version of the state NAME in the store of HOME.

    Exit codes: 0 printed, 2 usage, 11 a newer ctxaudit wrote the store, 12 there is no such store,
    state or version, 14 it is damaged (nothing is printed), or what the store says of its changes
    does not follow from it (it is printed).
    """
    with interrupts_of(ctx).held_back():
        from ..states import show_version

    code = show_version(
        ctx,
        home,
        name,
        version,
        is_json=shape == "json",
        has_selections=selections,
        is_all=is_all,
    )
    ctx.exit(code)
