"""Carries out `ctxaudit spill`.

Guarantees: content passes through in blocks; where reading or storing fails, nothing is visible in
the store and no pointer is printed.

Example:
    $ ctxaudit spill build.log --home home --session run-1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import click

from provenance.artifacts import ArtifactStore
from provenance.errors import CallerError, CtxauditError, DataError
from provenance.fs.operator_stream import iterate_operator_file

from .exit_codes import ExitCode
from .operator_files import label_of, stdin_blocks
from .streams import write_text

__all__ = ["store"]


class SpillFailed(click.ClickException):
    """The machine could not store the content."""

    exit_code = ExitCode.TOOL_FAILED


def store(
    ctx: click.Context,
    root: str,
    *,
    session: str,
    file: str | None,
    name: str | None,
    tool: str | None,
    call_id: str | None,
) -> None:
    """Store a file, or standard input where `file` is None or `-`, and print the pointer.

    Raises:
        click.UsageError: the file, the session or the content cannot be used.
        SpillFailed: the disk or file system refused.
    """
    named = None if file in (None, "-") else file
    label = "-" if named is None else label_of(named)
    chunks = stdin_blocks() if named is None else _file(ctx, named)
    # Looked at before the store is: a file that is not there leaves no folder behind.
    first = next(chunks, b"")
    try:
        with ArtifactStore(root) as artifacts:
            spilled = artifacts.spill_stream(
                session, chain((first,), chunks), tool=tool, call_id=call_id, name=name
            )
    except (CallerError, DataError) as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    except CtxauditError as error:
        raise SpillFailed(f"spill: {label}: {error}") from None
    write_text(f"{spilled.pointer}\n")


def _file(ctx: click.Context, path: str) -> Iterator[bytes]:
    try:
        yield from iterate_operator_file(path)
    except CtxauditError as error:
        # Told apart from what the store raises: this is the reader's side.
        raise click.UsageError(f"{label_of(path)}: {error}", ctx) from None
