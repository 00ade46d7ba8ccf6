"""Several new files that are written together: all of them, or none.

Guarantees: no file that is there is ever overwritten. Nothing has its name before each of them is
whole on the disk (0600). Names are looked at before the work begins, so that it is not done in
vain.

Example:
    >>> with NewFiles() as files:
    ...     files.publish()
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import PurePath
from types import TracebackType

import click

from provenance.errors import CtxauditError
from provenance.fs import Directory, Draft, NameTaken, TrustedRoot

from .operator_files import label_of
from .streams import OutputFailed

__all__ = ["NewFiles"]

_STDOUT = "-"


class NewFiles:
    """Files to be; a context manager that discards what was not published."""

    def __init__(self) -> None:
        """Begin with none."""
        self._stack = ExitStack()
        self._places: dict[str, tuple[str, Directory, str]] = {}
        self._drafts: dict[str, Draft] = {}

    def reserve(self, ctx: click.Context, option: str, path: str | None) -> None:
        """Look at a name that an option gives; None: it was not given.

        Raises:
            click.UsageError: it is in use, or lies in no folder.
        """
        if path is None:
            return
        label = f"{option}: {label_of(path)}"
        if path == _STDOUT:
            raise click.UsageError(f"{option}: expected a new file, got standard output", ctx)
        name = PurePath(path).name
        try:
            folder = self._stack.enter_context(
                self._stack.enter_context(TrustedRoot(PurePath(path).parent)).open_directory()
            )
            place = (folder.identity(), name)
            is_taken = folder.identity(name) is not None
        except CtxauditError:
            raise click.UsageError(
                f"{label}: expected a file in a folder that exists", ctx
            ) from None
        same = [other for other, (_, near, known) in self._places.items()
                if (near.identity(), known) == place]  # fmt: skip
        if same:
            raise click.UsageError(
                f"{label}: expected another file than {same[0]}, got the same", ctx
            )
        if is_taken:
            raise click.UsageError(f"{label}: expected a name that is free, got one in use", ctx)
        self._places[option] = (label, folder, name)

    def write(self, option: str, data: bytes) -> None:
        """Write the file of an option, where it was given; it has no name yet.

        Raises:
            OutputFailed: the disk refused.
        """
        if option not in self._places:
            return
        label, folder, _ = self._places[option]
        try:
            draft = self._stack.enter_context(folder.draft())
            draft.write(data)
            draft.sync()
        except CtxauditError as error:
            raise OutputFailed(f"{label}: {error}; nothing was written") from None
        self._drafts[option] = draft

    def publish(self) -> None:
        """Give the files their names, in the order in which they were written.

        Raises:
            OutputFailed: a name was taken meanwhile, or the file system refused.
        """
        for option, draft in self._drafts.items():
            label, folder, name = self._places[option]
            try:
                draft.link_as(name)
                folder.sync()
            except NameTaken:
                raise OutputFailed(
                    f"{label}: expected a name that is free, got one in use"
                ) from None
            except CtxauditError as error:
                raise OutputFailed(f"{label}: {error}") from None

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
