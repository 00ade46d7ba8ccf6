"""Bytes on their way to a name in a session's folder.

Guarantees: nothing is visible before `link_as`. The draft holds a directory handle of its own, so
that it never ends up elsewhere when the session's handles are opened again meanwhile.

Example:
    >>> PendingArtifact.__name__
    'PendingArtifact'
"""

from __future__ import annotations

from types import TracebackType

from provenance.fs.directory import Directory

__all__ = ["PendingArtifact"]


class PendingArtifact:
    """A draft and its directory; a context manager that discards what has got no name.

    `generation` says which opening of the session's handles the directory belongs to.
    """

    __slots__ = ("_directory", "_draft", "_synced", "generation")

    def __init__(self, directory: Directory, generation: int) -> None:
        """Take over `directory` and open a draft in it."""
        self.generation = generation
        self._synced = False
        self._directory = directory
        try:
            self._draft = directory.draft()
        except BaseException:
            directory.close()
            raise

    def write(self, data: bytes) -> None:
        """Add all of `data`."""
        self._draft.write(data)

    def start_writeout(self) -> None:
        """Begin to write the bytes to the disk."""
        self._draft.start_writeout()

    def sync(self) -> None:
        """Force the bytes to the disk; a second time it does nothing."""
        if self._synced:
            return
        self._draft.sync()
        self._synced = True

    def link_as(self, name: str) -> None:
        """Give the bytes their name, exclusively."""
        self._draft.link_as(name)

    def __enter__(self) -> PendingArtifact:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draft.close()
        self._directory.close()
