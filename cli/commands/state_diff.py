"""`ctxaudit state diff`: what changed between two versions of a state.

Guarantees: nothing is left out: what is printed makes the later version from the earlier one.

Example:
    $ ctxaudit state diff home run-1 2 5
"""

from __future__ import annotations

import click

from ..options import HelpfulCommand, PathName, examples, interrupts_of, manner_options
from ..state_options import VersionNumber, format_option

__all__ = ["command"]


@click.command(
    "diff",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit state diff home run-1",
        "ctxaudit state diff home run-1 2 5",
        "ctxaudit state diff home run-1 0 1 --format json",
    ),
)
@click.argument("home", type=PathName())
@click.argument("name")
@click.argument("before", metavar="[A]", required=False, type=VersionNumber(least=0))
@click.argument("after", metavar="[B]", required=False, type=VersionNumber())
@format_option("field by field", "ctxaudit.state-diff/1")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    home: str,
    name: str,
    before: int | None,
    after: int | None,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Say what changed from version A to version B of the state NAME in the store of HOME.

    Without B: to the current version. Without A: from the version before it. A may be 0: before
    there was any.

    Exit codes: 0 whether or not there is a difference, 2 usage, 11 a newer ctxaudit wrote the
    store, 12 there is no such store, state or version, 14 one of them is damaged.
    """
    with interrupts_of(ctx).held_back():
        from ..states import diff_versions

    diff_versions(ctx, home, name, before, after, is_json=shape == "json")
