"""A read lease: the kernel's word that nobody has the file open for writing while we read it.

Guarantees: taking one changes no signal handling. The kernel announces a break with a signal that
by default kills (SIGIO); ours is routed to SIGURG, whose default is to be ignored, and only where
the program has no handler for it. Where that, the file system, the owner or an open writer says
no, there is no lease and the caller falls back to comparing `stat`. The same on file systems whose
files somebody else may write, unseen by this kernel (network, FUSE). A writer waits until the lease
is gone, so it is polled between blocks and let go at once (a lease left lying held an append for
47 s, says spec 01.4).

Example:
    >>> with ReadLease.on(-1) as lease:
    ...     lease.is_held()
    False
"""

from __future__ import annotations

import contextlib
import errno
import signal
import sys
import time
from types import TracebackType

from provenance.fs import _linux

if sys.platform == "linux":
    import fcntl

__all__ = ["ReadLease"]

_F_SETSIG = 10  # linux/fcntl.h; Python exports it only in some builds
# Magic numbers of the file systems whose writers this kernel knows, all of them (linux/magic.h).
_LOCAL = frozenset(
    {
        0xEF53,  # ext2, ext3, ext4
        0x58465342,  # xfs
        0x9123683E,  # btrfs
        0xF2F52010,  # f2fs
        0xCA451A4E,  # bcachefs
        0x2FC12FC1,  # zfs
        0x01021994,  # tmpfs
        0x858458F6,  # ramfs
        0x794C7630,  # overlayfs
    }
)
_WAITS_SECONDS = (0.0, 0.001, 0.004)  # a writer that is just closing; then `stat` it is


class ReadLease:
    """A lease on one open file, or the absence of one; a context manager that lets go."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    @classmethod
    def on(cls, fd: int) -> ReadLease:
        """Try to take a lease on a handle opened for reading; never raises, may hold nothing."""
        if sys.platform != "linux" or fd < 0 or not _may_route_signal():
            return cls(None)
        if _linux.file_system_type(fd) not in _LOCAL:
            return cls(None)
        for wait in _WAITS_SECONDS:
            time.sleep(wait)
            try:
                fcntl.fcntl(fd, _F_SETSIG, signal.SIGURG)
                fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except OSError as error:
                if error.errno == errno.EAGAIN:
                    continue
                return cls(None)
            return cls(fd)
        return cls(None)

    def is_held(self) -> bool:
        """Say whether the lease is still whole; lets go of it at once where it is breaking."""
        if sys.platform != "linux" or self._fd is None:
            return False
        try:
            state = fcntl.fcntl(self._fd, fcntl.F_GETLEASE, 0)
        except OSError:
            state = None
        if state == fcntl.F_RDLCK:
            return True
        self.release()
        return False

    def release(self) -> None:
        """Let go; doing so twice is no error."""
        fd, self._fd = self._fd, None
        if sys.platform == "linux" and fd is not None:
            # The handle may be gone already, and the lease with it.
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    def __enter__(self) -> ReadLease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _may_route_signal() -> bool:
    # None means: set by something that is not Python, so not ours to judge.
    return signal.getsignal(signal.SIGURG) in (signal.SIG_DFL, signal.SIG_IGN)
