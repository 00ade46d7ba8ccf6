"""The store behind `ctxaudit compact --spill`: a home that can be written, and what it refused.

Guarantees: a home that takes no file is told of before anything runs, and looking leaves nothing
behind. After the first text that could not be stored no other one is tried; how many were not
stored is counted, with the reason of the first.

Example:
    >>> from provenance.artifacts import ArtifactStore
    >>> SpillStore(ArtifactStore("/nowhere"), "s1").failures
    0
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path, PurePath

import click

from provenance.artifacts import ArtifactStore, SpilledArtifact
from provenance.artifacts.content import check_session
from provenance.errors import CtxauditError
from provenance.fs import BoundaryRefused, SourceAbsent, TrustedRoot
from provenance.fs.places import is_in_use

from .compact_order import CompactOrder
from .operator_files import label_of

__all__ = ["SpillStore", "TextNotStored", "open_spill", "receipts_of_home", "require_home"]

_RECEIPTS = "receipts"  # of a home


class TextNotStored(Exception):
    """A text was not tried, because one before it could not be stored."""


class SpillStore:
    """Stores texts for one session; what `compact_context` takes as `spill`."""

    def __init__(self, store: ArtifactStore, session: str) -> None:
        """Take the store, and whom it stores for."""
        self._store = store
        self._session = session
        self.failures = 0
        self._reason = ""

    @property
    def refusal(self) -> str:
        """Say in one line what was not stored, and why."""
        were = "was" if self.failures == 1 else "were"
        return (
            f"--spill: expected every text to be stored, {self.failures} {were} not: "
            f"{self._reason}; nothing was written"
        )

    def __call__(self, text: str, /, *, tool: str | None, call_id: str | None) -> SpilledArtifact:
        """Store a text and give its pointer; raises what the store does."""
        if self.failures:
            self.failures += 1
            raise TextNotStored
        try:
            return self._store.spill(self._session, text, tool=tool, call_id=call_id)
        except Exception as error:
            self.failures += 1
            self._reason = str(error) if isinstance(error, CtxauditError) else type(error).__name__
            raise


def require_home(ctx: click.Context, path: str) -> None:
    """Refuse a home that cannot be written; one that is not there must be one that can be made.

    Raises:
        click.UsageError: something else than a folder is there, or nothing can be written in it.
    """
    # The nearest folder that is there; a link that leads nowhere is there, and no folder.
    near = PurePath(path)
    while not is_in_use(near) and near.parent != near:
        near = near.parent
    try:
        with TrustedRoot(near) as root, root.open_directory() as folder:
            folder.draft().close()
        return
    except SourceAbsent:
        fault = "expected a folder, got something else"
    except BoundaryRefused:
        fault = "expected a folder, got links that lead to each other"
    except CtxauditError as error:
        fault = str(error)
    where = "" if str(near) == str(PurePath(path)) else "a folder above it: "
    raise click.UsageError(f"--spill: {label_of(path)}: {where}{fault}", ctx)


def open_spill(
    ctx: click.Context, order: CompactOrder, session: str | None, stack: ExitStack
) -> SpillStore | None:
    """Open the store of --spill; None where it was not given.

    Args:
        ctx: of the command.
        order: the options.
        session: of the transcript that was read; None: a file of messages, --session says whose.
        stack: closes the store.

    Raises:
        click.UsageError: there is no session that can be stored for.
    """
    if order.spill is None:
        return None
    wanted = order.session if session is None else session
    if wanted is None:
        raise click.UsageError(
            "--session: expected the session that the texts are stored for, got none", ctx
        )
    try:
        check_session(wanted)
    except CtxauditError as error:
        raise click.UsageError(f"--session: {error}", ctx) from None
    return SpillStore(stack.enter_context(ArtifactStore(order.spill)), wanted)


def receipts_of_home(order: CompactOrder) -> Path | None:
    """Give the folder of receipts in the home of --spill; a new home does not have it yet."""
    return None if order.spill is None else Path(order.spill).absolute() / _RECEIPTS
