"""The four handles that adding to a session needs, opened together and checked together.

Guarantees: each is opened from the one above it with no link or mount followed; missing folders
are made with mode 0700, a missing ledger with 0600.

Example:
    >>> SessionHandles.__name__
    'SessionHandles'
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from provenance.artifacts.ledger import LEDGER_NAME
from provenance.artifacts.verify import ARTIFACT_FOLDER
from provenance.fs.appending import AppendFile
from provenance.fs.directory import Directory
from provenance.fs.root import TrustedRoot

__all__ = ["SessionHandles"]


@dataclass(frozen=True, slots=True)
class SessionHandles:
    """Root, session folder, artifact folder and ledger; `close` closes all of them."""

    session_id: str
    root: Directory
    session: Directory
    artifacts: Directory
    ledger: AppendFile
    identities: tuple[tuple[int, int] | None, ...]

    @classmethod
    def open(cls, root: TrustedRoot, session_id: str, *, create: bool = True) -> SessionHandles:
        """Open a session for writing; `create` makes what is missing.

        Raises:
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed, WriteFailed:
                why not; nothing stays open.
        """
        with contextlib.ExitStack() as opened:
            top = opened.enter_context(root.open_directory())
            session = opened.enter_context(top.open_directory(session_id, create=create))
            artifacts = opened.enter_context(session.open_directory(ARTIFACT_FOLDER, create=create))
            ledger = opened.enter_context(session.open_append(LEDGER_NAME, create=create))
            here = session.identity()
            # No mount lies between: the ledger is on the session's device.
            ledger_is = None if here is None else (here[0], ledger.inode())
            identities = (ledger_is, artifacts.identity(), here)
            opened.pop_all()
            return cls(session_id, top, session, artifacts, ledger, identities)

    def are_current(self) -> bool:
        """Say whether the names still lead to what the handles are on."""
        ledger, artifacts, session = self.identities
        return (
            self.session.identity(LEDGER_NAME) == ledger
            and self.session.identity(ARTIFACT_FOLDER) == artifacts
            and self.root.identity(self.session_id) == session
        )

    def sync(self) -> None:
        """Force ledger and names to the disk."""
        self.ledger.sync()
        self.artifacts.sync()

    def close(self) -> None:
        """Close all handles; doing so twice is no error."""
        for handle in (self.ledger, self.artifacts, self.session, self.root):
            handle.close()
