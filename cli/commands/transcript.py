"""`ctxaudit transcript`: what can be done with transcripts themselves.

Guarantees: each of its commands is loaded when it is used.

Example:
    $ ctxaudit transcript check ~/.claude/projects
"""

from __future__ import annotations

import click

from ..lazy import LazyGroup
from ..options import examples, keep_manner, manner_options

__all__ = ["command"]

_COMMANDS = {
    "append": (".commands.transcript_append", "Append events, print a pointer for each."),
    "check": (".commands.transcript_check", "Say whether transcripts are whole; every fault."),
    "repair": (".commands.transcript_repair", "Write a sound copy and a list of the changes."),
}


@click.group(
    cls=LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    epilog=examples(
        "ctxaudit transcript check ~/.claude/projects",
        "ctxaudit transcript append run-1 events.jsonl --home home",
        "ctxaudit transcript repair damaged.jsonl --output sound.jsonl",
    ),
)
@manner_options
@click.pass_context
def command(ctx: click.Context, *, color: str | None, quiet: bool) -> None:
    """Check transcripts of any known format, append to our own, repair damaged ones."""
    keep_manner(ctx, color=color, quiet=quiet)
