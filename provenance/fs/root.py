"""Trusted roots: the only way to a file under audit (spec 01, section 4).

Guarantees: a root is opened once, by the operator's own path, which may hold links. Below it each
component is opened from the handle of the one before; a symbolic link, a mount or a stored name
that differs from the asked one is refused wherever it stands. Only regular files are read.

Example:
    >>> root = TrustedRoot("/nowhere/at/all")
    >>> root.open_file("s1.jsonl")
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from provenance.fs._backends import Backend, BackendName, choose_backend, require_platform
from provenance.fs.directory import Directory
from provenance.fs.failures import SourceAbsent, translate
from provenance.fs.reading import OpenFile
from provenance.fs.traits import refusals_of
from provenance.policy import FileTrait

__all__ = ["TrustedRoot"]

_OPEN_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class TrustedRoot:
    """One directory that the operator trusts, and everything below it that nobody should.

    A root that does not exist is no error: everything in it is absent, and it is looked for again
    at the next use. A context manager; its handle is closed with it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        backend: BackendName = "auto",
        create: bool = False,
    ) -> None:
        """Name a root; nothing is opened before the first use.

        Args:
            path: the operator's path; symbolic links in it are followed.
            backend: `auto`, `openat2` or `walk`.
            create: make the folder (0700, with its parents) where it is missing, at first use.
        """
        if backend not in ("auto", "openat2", "walk"):
            raise ValueError(f"backend: expected auto, openat2 or walk, got {backend!r}")
        self.path = Path(path)
        self._wanted: BackendName = backend
        self._create = create
        self._above: tuple[TrustedRoot, tuple[str, ...]] | None = None
        self._plain: TrustedRoot | None = None
        self._traits: frozenset[FileTrait] = frozenset()
        self._top: Directory | None = None
        self._guard = threading.Lock()

    @property
    def place(self) -> tuple[str, ...]:
        """What the root and the folder above it are called, links resolved; to tell it by only."""
        try:
            return self.path.resolve().parts[1:][-2:]
        except (OSError, RuntimeError, ValueError):
            return ()

    @property
    def backend(self) -> str:
        """The name of the back end in use: `openat2` or `walk` (opens the root to find out)."""
        return self._directory().backend.name

    def open_file(self, *names: str) -> OpenFile:
        """Open a regular file below the root; `names` are its components, in order.

        Raises:
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: the answer.
            UnsafePlatform: nothing here opens safely.
        """
        if not names:
            raise ValueError("names: expected at least one component, got none")
        if len(names) == 1:
            return self._directory().open_file(names[0])
        with self.open_directory(*names[:-1]) as directory:
            return directory.open_file(names[-1])

    def open_directory(self, *names: str, create: bool = False) -> Directory:
        """Open a directory below the root (without names: the root itself).

        The caller closes it. `create` makes missing ones with mode 0700.
        """
        current = self._directory().duplicate()
        for name in names:
            try:
                following = current.open_directory(name, create=create)
            finally:
                current.close()
            current = following
        return current

    def subroot(self, *names: str) -> TrustedRoot:
        """Name a folder below this root as a root; opened lazily, no link or mount followed."""
        if not names:
            raise ValueError("names: expected at least one component, got none")
        root = TrustedRoot(self.path.joinpath(*names), backend=self._wanted, create=self._create)
        root._above = (self, names)
        return root

    def guarded(self, traits: Collection[FileTrait]) -> TrustedRoot:
        """Give the same root, below which nothing is read that is or lies in what is refused.

        The root itself, each folder on the way and the file are judged by their own handles; see
        `Refusals`. Where nothing more is refused than here already, it is this root.
        """
        wanted = self._traits | frozenset(traits)
        if wanted == self._traits:
            return self
        root = TrustedRoot(self.path, backend=self._wanted)
        root._plain = self.unguarded
        root._traits = wanted
        if root._plain._above is not None:
            # Who may rename this folder in the one above it has as much say.
            above, names = root._plain._above
            root._above = (above.guarded(wanted), names)
        return root

    @property
    def unguarded(self) -> TrustedRoot:
        """The same root without what a policy refuses of open files: to find, not to verify."""
        return self if self._plain is None else self._plain

    def close(self) -> None:
        """Close the root's handle; it opens again when it is used again."""
        with self._guard:
            top, self._top = self._top, None
        if top is not None:
            top.close()
        if self._plain is not None:
            self._plain.close()
            if self._above is not None:
                self._above[0].close()

    def _directory(self) -> Directory:
        top = self._top
        if top is not None:
            return top
        with self._guard:
            if self._top is None:
                self._top = self._open()
            return self._top

    def _open(self) -> Directory:
        if self._above is not None:
            root, names = self._above
            return root.open_directory(*names, create=self._create)
        if self._plain is not None:
            return self._plain._open_guarded(self._traits)
        require_platform()
        try:
            if self._create:
                _make_folders(self.path)
            fd = os.open(self.path, _OPEN_ROOT)
        except (FileExistsError, ValueError):
            # A file where the folder belongs; a path with a NUL in it.
            raise SourceAbsent("root: expected a directory, got something else") from None
        except OSError as error:
            raise translate(error) from None
        try:
            backend: Backend = choose_backend(self._wanted, probe_fd=fd)
        except BaseException:
            os.close(fd)
            raise
        return Directory(fd, backend)

    def _open_guarded(self, traits: frozenset[FileTrait]) -> Directory:
        top = self.open_directory()
        top.refusals = refusals_of(traits)
        try:
            if top.refusals is not None:
                top.refusals.check_folder(top.fd)
        except BaseException:
            top.close()
            raise
        return top

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Another process opens the root anew, by the operator's path.
        if self._plain is not None:
            return _rebuild_guarded, (self._plain, self._traits)
        return _rebuild, (self.path, self._wanted, self._create, self._above)

    def __enter__(self) -> TrustedRoot:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "TrustedRoot(...)"


def _make_folders(path: Path) -> None:
    """Make a folder and the parents it lacks, each of them private whatever the umask is."""
    lacking = [path]
    with contextlib.suppress(FileExistsError):
        while True:
            try:
                lacking[-1].mkdir(mode=0o700)
                break
            except FileNotFoundError:
                if lacking[-1].parent == lacking[-1]:
                    raise
                lacking.append(lacking[-1].parent)
    for folder in reversed(lacking):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    fd = os.open(folder, _OPEN_ROOT)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _rebuild(
    path: Path,
    backend: BackendName,
    create: bool,  # noqa: FBT001 - the order is that of `__reduce__` above
    above: tuple[TrustedRoot, tuple[str, ...]] | None,
) -> TrustedRoot:
    root = TrustedRoot(path, backend=backend, create=create)
    root._above = above
    return root


def _rebuild_guarded(plain: TrustedRoot, traits: frozenset[FileTrait]) -> TrustedRoot:
    return plain.guarded(traits)
