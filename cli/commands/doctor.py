"""`ctxaudit doctor`: what is unsafe about roots and machine, and what each costs in assurance.

Guarantees: nothing is written; it works without root's rights and on hostile trees.

Example:
    $ ctxaudit doctor home
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

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit doctor home",
        "ctxaudit doctor logs results --strict",
        "ctxaudit doctor home --format json",
    ),
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1, type=PathName())
@option("--strict", is_flag=True, help="Warnings count for the exit code as errors do.")
@option(
    "--max-entries",
    type=click.IntRange(1, 1_000_000_000),
    default=250_000,
    show_default=True,
    help="So many files and folders of each root are looked at.",
)
@option(
    "--format",
    "shape",
    type=click.Choice(["console", "json"]),
    default="console",
    show_default=True,
    help="How to say it; json: ctxaudit.doctor/1.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    roots: tuple[str, ...],
    strict: bool,
    max_entries: int,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Say what is unsafe about each ROOT (a state home, or any folder of evidence).

    Looked at are modes, owners and links of the root, of what lies in it and of the folders on the
    way to it, hard links, mounts, the file system, free space, keys, the clock, and what kernel,
    process and Python offer. Each finding has its cost in assurance and a remedy; an error is
    unsafe, a warning weakens an answer. Without ROOT: the machine, and this folder where it is a
    state home.

    Exit codes: 0 nothing is unsafe; 1 the tool failed; 2 usage; 4 something could not be looked
    at; 14 something is unsafe.
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from ..diagnosing import diagnose

    ctx.exit(
        diagnose(
            ctx,
            roots,
            is_strict=strict,
            most_entries=max_entries,
            is_json=shape == "json",
            manner=manner,
        )
    )
