"""Who works in a folder: many at a time who read, or one alone who removes.

Guarantees: nothing is written; the lock (`flock`) is on an open handle of the folder itself and
ends with it, also by `kill -9`. It is advisory: it keeps apart those who take it. Whoever was let
in alone knows that nobody else is in. Where the file system gives folders no lock (NFS), a reader
goes on without one and can say so; who wants to be alone is refused.

Example:
    >>> FolderGuard().is_held()
    False
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable

from provenance.fs._handle import Handle
from provenance.fs.directory import Directory
from provenance.fs.failures import LockTimeout, WriteFailed, translate

if sys.platform != "win32":  # there the platform check refuses before anything is opened
    import fcntl

__all__ = ["FolderGuard"]

_FIRST_WAIT_SECONDS = 0.0005
_LONGEST_WAIT_SECONDS = 0.05
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BUSY = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


class FolderGuard(Handle):
    """A lock on a folder, or the absence of one; a context manager that lets go."""

    __slots__ = ()

    def __init__(self, fd: int = -1) -> None:
        """Take over a handle that is locked already; -1 holds nothing."""
        self.fd = fd

    @classmethod
    def among_readers(
        cls,
        folder: Directory,
        *,
        timeout_seconds: float,
        stopwatch: Callable[[], float] = time.monotonic,
        on_wait: Callable[[], None] | None = None,
    ) -> FolderGuard:
        """Be one of many who read; holds nothing where the file system gives folders no lock.

        Raises:
            LockTimeout: somebody was alone in there for `timeout_seconds`.
            ReadFailed, AccessRefused: the folder cannot be opened once more.
        """
        fd = _reopened(folder)
        try:
            if _lock(fd, fcntl.LOCK_SH, timeout_seconds, stopwatch, on_wait):
                return cls(fd)
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return cls()

    @classmethod
    def alone(
        cls,
        folder: Directory,
        *,
        timeout_seconds: float,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> FolderGuard:
        """Be the only one.

        Raises:
            LockTimeout: others were in there for `timeout_seconds`.
            WriteFailed: the file system gives folders no lock.
            ReadFailed, AccessRefused: the folder cannot be opened once more.
        """
        fd = _reopened(folder)
        try:
            if _lock(fd, fcntl.LOCK_EX, timeout_seconds, stopwatch):
                return cls(fd)
            raise WriteFailed(
                "folder: expected a file system that locks folders, got one that does not"
            )
        except BaseException:
            os.close(fd)
            raise

    def is_held(self) -> bool:
        """Say whether there is a lock."""
        return self.fd >= 0

    def close(self) -> None:
        """Let go; doing so twice is no error."""
        if self.fd >= 0:
            # By name: a child process may have inherited the handle.
            with contextlib.suppress(OSError):
                fcntl.flock(self.fd, fcntl.LOCK_UN)
        super().close()

    def __reduce__(self) -> tuple[object, tuple[()]]:
        # The lock is this process's; one that works for it needs none of its own.
        return FolderGuard, ()


def _reopened(folder: Directory) -> int:
    # A handle of its own: a duplicate would share its lock with the one that it was made of.
    try:
        return os.open(".", _OPEN, dir_fd=folder.fd)
    except OSError as error:
        raise translate(error) from None


def _lock(
    fd: int,
    kind: int,
    timeout_seconds: float,
    stopwatch: Callable[[], float],
    on_wait: Callable[[], None] | None = None,
) -> bool:
    """Take the lock; False where there is no such lock here."""
    deadline = stopwatch() + timeout_seconds
    wait = _FIRST_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                return False
        else:
            return True
        if stopwatch() >= deadline:
            raise LockTimeout(
                f"folder: expected its lock within {timeout_seconds:g} s, got none: an audit or "
                "a gc is at work in it"
            )
        if on_wait is not None:
            on_wait()
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
