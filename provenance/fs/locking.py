"""One holder at a time, among processes and threads that ask for it.

Guarantees: the lock is advisory (`flock`) and belongs to the handle, so that it holds between
threads too and is gone when its holder dies. Waiting ends at a time that the caller chooses.

Example:
    >>> import os
    >>> fd = os.open(".", os.O_RDONLY)
    >>> with exclusive_lock(fd, "folder", timeout_seconds=1):
    ...     pass
    >>> os.close(fd)
"""

from __future__ import annotations

import contextlib
import errno
import sys
import time
from collections.abc import Iterator

from provenance.fs.failures import LockTimeout, WriteFailed

if sys.platform != "win32":  # there the platform check refuses before anything is locked
    import fcntl

__all__ = ["exclusive_lock"]

_FIRST_WAIT_SECONDS = 0.0005
_LONGEST_WAIT_SECONDS = 0.02


@contextlib.contextmanager
def exclusive_lock(fd: int, what: str, *, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock of an open file or directory alone.

    Args:
        fd: the handle; it stays the caller's.
        what: what messages call it.
        timeout_seconds: how long to wait.

    Raises:
        LockTimeout: another handle held it for so long.
        WriteFailed: the file system has no locks.
    """
    deadline = time.monotonic() + timeout_seconds
    wait = _FIRST_WAIT_SECONDS
    while not _try_lock(fd, what):
        if time.monotonic() >= deadline:
            raise LockTimeout(f"{what}: expected its lock within {timeout_seconds:g} s, got none")
        time.sleep(wait)
        wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def _try_lock(fd: int, what: str) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        number = error.errno or 0
        if number in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return False
        name = errno.errorcode.get(number, "unknown error")
        raise WriteFailed(f"{what}: expected to lock, got {name}", number) from None
    return True
