"""`ctxaudit spill`: store a file or standard input as an artifact.

Guarantees: the pointer is printed when the artifact is on the disk, whole, and not before. Content
of any size is stored in bounded memory.

Example:
    $ make test 2>&1 | ctxaudit spill --home home --session run-1 --tool bash
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

__all__ = ["command"]


@click.command(
    cls=HelpfulCommand,
    epilog=examples(
        "make test 2>&1 | ctxaudit spill --home home --session run-1 --tool bash",
        "ctxaudit spill build.log --home home --session run-1 --name build.log",
    ),
)
@click.argument("file", required=False, type=PathName())
@option("--home", type=PathName(), help="The state home; artifacts lie in its session folders.")
@option(
    "--artifact-root",
    type=PathName(),
    help="Folder that holds <session>/tool-results/<file>, instead of a home.",
)
@option("--session", required=True, metavar="ID", help="The session that it belongs to.")
@option("--name", metavar="TEXT", help="A name for the file; any text. Default: counted up.")
@option("--tool", metavar="NAME", help="The tool whose output it is.")
@option("--call-id", metavar="ID", help="The call whose output it is.")
@manner_options
@click.pass_context
def command(
    ctx: click.Context,
    *,
    file: str | None,
    home: str | None,
    artifact_root: str | None,
    session: str,
    name: str | None,
    tool: str | None,
    call_id: str | None,
    color: str | None,
    quiet: bool,
) -> None:
    """Store FILE, or standard input (no FILE, or -), and print its pointer."""
    root = home if artifact_root is None else artifact_root
    if root is None:
        raise click.UsageError("--home: expected it or --artifact-root, got neither", ctx)
    with interrupts_of(ctx).held_back():
        from ..storing import store

    store(ctx, root, session=session, file=file, name=name, tool=tool, call_id=call_id)
