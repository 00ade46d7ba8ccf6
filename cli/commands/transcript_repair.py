"""`ctxaudit transcript repair`: a sound copy of a damaged transcript, and what was changed.

Guarantees: the original is only read, and no file is ever overwritten.

Example:
    $ ctxaudit transcript repair damaged.jsonl --output sound.jsonl
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
from ..values import Choice

__all__ = ["command"]


@click.command(
    "repair",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit transcript repair damaged.jsonl --output sound.jsonl",
        "ctxaudit transcript repair damaged.jsonl --output sound.jsonl --format json",
    ),
)
@click.argument("file", type=PathName())
@option(
    "--output",
    required=True,
    type=PathName(),
    metavar="NEW",
    help="The new file; NEW.changes gets the list, with the bytes set aside.",
)
@format_option
@option(
    "--format",
    "shape",
    type=Choice(["console", "json"]),
    default="console",
    show_default=True,
    help="How to say what was changed.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    file: str,
    output: str,
    as_format: str | None,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Write a sound copy of FILE, a transcript of lines, and a list of what was changed.

    Welded records get lines of their own, a record without its line end gets one; what is no
    record (torn, spliced, NUL bytes, blank) is set aside in NEW.changes, base64. No record's bytes
    change, and no sequence number. Where nothing is to be changed, nothing is written.

    Exit codes: 0 done, 1 the disk refused, 2 FILE or NEW cannot be used, 4 FILE changed meanwhile.
    """
    manner = manner_from(ctx, color=color, quiet=quiet)
    with interrupts_of(ctx).held_back():
        from ..repairing import repair

    ctx.exit(
        repair(
            ctx,
            file,
            output,
            as_format=as_format,
            is_json=shape == "json",
            is_quiet=manner.quiet,
        )
    )
