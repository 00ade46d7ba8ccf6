"""`ctxaudit transcript append`: add events to a native transcript.

Guarantees: a pointer is printed when its event is on the disk, whole, and not before. The first
event that cannot be a record ends the run; those before it are in the transcript.

Example:
    $ echo '{"type":"message","content":"hi"}' | ctxaudit transcript append run-1 --home home
"""

from __future__ import annotations

import click

from ..options import (
    HelpfulCommand,
    PathName,
    examples,
    interrupts_of,
    manner_options,
    option,
)
from ..values import Choice

__all__ = ["command"]


@click.command(
    "append",
    cls=HelpfulCommand,
    epilog=examples(
        "ctxaudit transcript append run-1 events.jsonl --home home",
        "ctxaudit transcript append run-1 --transcript-root logs --format json < events.jsonl",
    ),
)
@click.argument("session")
@click.argument("file", required=False, type=PathName())
@option("--home", type=PathName(), help="The state home; transcripts lie in its transcripts/.")
@option(
    "--transcript-root",
    type=PathName(),
    help="Folder that holds <session>.jsonl, instead of a home.",
)
@option(
    "--format",
    "shape",
    type=Choice(["plain", "json"]),
    default="plain",
    show_default=True,
    help="plain: a pointer a line; json: an object a line, with the digest.",
)
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    session: str,
    file: str | None,
    home: str | None,
    transcript_root: str | None,
    shape: str,
    color: str | None,
    quiet: bool,
) -> None:
    """Append the events in FILE, or standard input (no FILE, or -), to the transcript of SESSION.

    Each line is one JSON object: the event without the envelope (schema_version, sequence,
    recorded_at, session_id, event_id), which is filled in. A pointer is printed for each.

    Exit codes: 0 all were appended, 1 the disk refused, 2 an event or the session cannot be used,
    14 the transcript's end is damaged, or it is another agent's.
    """
    if home is None and transcript_root is None:
        raise click.UsageError("--home: expected it or --transcript-root, got neither", ctx)
    interrupts = interrupts_of(ctx)
    with interrupts.held_back():
        from ..appending import append_events

    ctx.exit(
        append_events(
            ctx,
            interrupts,
            session=session,
            file=file,
            home=home,
            transcript_root=transcript_root,
            is_json=shape == "json",
        )
    )
