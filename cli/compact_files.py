"""Several new files that are written together: all of them, or none.

Guarantees: no file that is there is ever overwritten. Nothing has its name before each of them is
whole on the disk (0600); where one cannot have its name, those that have theirs already are taken
back, and where that fails too, it is said which file stands. Names are looked at before the work
begins, so that it is not done in vain.

Example:
    >>> with NewFiles() as files:
    ...     files.publish()
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType

import click

from provenance.errors import CtxauditError
from provenance.fs import Directory, Draft, NameTaken, SourceAbsent, TrustedRoot
from provenance.fs.places import is_in_use

from .operator_files import label_of
from .streams import OutputFailed

__all__ = ["NewFiles"]

_STDOUT = "-"


@dataclass(slots=True)
class _File:
    """One of the files.

    Attributes:
        label: what to call it.
        name: its name in the folder.
        folder: where it will lie; None: a folder that is made when it is written.
        parent: the folder in which that one is made.
        draft: what was written; None: nothing yet.
    """

    label: str
    name: str
    folder: Directory | None
    parent: PurePath | None = None
    draft: Draft | None = None


class NewFiles:
    """Files to be; a context manager that discards what was not published."""

    def __init__(self) -> None:
        """Begin with none."""
        self._stack = ExitStack()
        self._files: dict[str, _File] = {}

    def reserve(
        self, ctx: click.Context, option: str, path: str | None, *, may_make: PurePath | None = None
    ) -> None:
        """Look at a name that an option gives; None: it was not given.

        Args:
            ctx: of the command.
            option: the option.
            path: its value.
            may_make: a folder that is made for the file where it is missing, with what is above it;
                an absolute path.

        Raises:
            click.UsageError: it is in use, or lies in no folder.
        """
        if path is None:
            return
        label = f"{option}: {label_of(path)}"
        if path == _STDOUT:
            raise click.UsageError(f"{option}: expected a new file, got standard output", ctx)
        where = PurePath(path)
        try:
            folder = self._open(where.parent)
            place = (folder.identity(), where.name)
            is_taken = folder.identity(where.name) is not None
        except SourceAbsent:
            is_made = may_make is not None and Path(where.parent).absolute() == may_make
            if not is_made or is_in_use(where.parent):
                raise _no_folder(ctx, label) from None
            self._files[option] = _File(label, where.name, None, where.parent)
            return
        except CtxauditError:
            raise _no_folder(ctx, label) from None
        same = [
            other
            for other, one in self._files.items()
            if one.folder is not None and (one.folder.identity(), one.name) == place
        ]
        if same:
            raise click.UsageError(
                f"{label}: expected another file than {same[0]}, got the same", ctx
            )
        if is_taken:
            raise click.UsageError(f"{label}: expected a name that is free, got one in use", ctx)
        self._files[option] = _File(label, where.name, folder)

    def write(self, option: str, data: bytes) -> None:
        """Write the file of an option, where it was given; it has no name yet.

        Raises:
            OutputFailed: the disk refused.
        """
        if option not in self._files:
            return
        # They get their names in the order in which they were written.
        one = self._files[option] = self._files.pop(option)
        try:
            if one.folder is None and one.parent is not None:
                one.folder = self._open(one.parent, create=True)
            if one.folder is not None:
                one.draft = self._stack.enter_context(one.folder.draft())
                one.draft.write(data)
                one.draft.sync()
        except CtxauditError as error:
            raise OutputFailed(f"{one.label}: {error}; nothing was written") from None

    def publish(self) -> None:
        """Give the files their names, in the order in which they were written: all, or none.

        Raises:
            OutputFailed: a name was taken meanwhile, or the file system refused.
        """
        named: list[_File] = []
        for one in self._files.values():
            if one.draft is None or one.folder is None:
                continue
            try:
                one.draft.link_as(one.name)
                named.append(one)
                one.folder.sync()
            except NameTaken:
                fault = "expected a name that is free, got one in use"
            except CtxauditError as error:
                fault = str(error)
            except BaseException:
                _take_back(named)
                raise
            else:
                continue
            standing = _take_back(named)
            left = "nothing was written"
            if standing:
                left = f"{' and '.join(standing)} stand{'s' if len(standing) == 1 else ''}"
            raise OutputFailed(f"{one.label}: {fault}; {left}")

    def _open(self, folder: PurePath, *, create: bool = False) -> Directory:
        root = self._stack.enter_context(TrustedRoot(folder, create=create))
        return self._stack.enter_context(root.open_directory())

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()


def _take_back(named: list[_File]) -> list[str]:
    """Take the names back from what has one, the last first; gives what could not be removed."""
    standing = []
    for one in reversed(named):
        if one.folder is None or one.draft is None:
            continue
        try:
            one.folder.take_back(one.name, one.draft.identity())
        except CtxauditError:
            standing.append(one.label)
            continue
        with suppress(CtxauditError):
            one.folder.sync()
    return standing


def _no_folder(ctx: click.Context, label: str) -> click.UsageError:
    return click.UsageError(f"{label}: expected a file in a folder that exists", ctx)
