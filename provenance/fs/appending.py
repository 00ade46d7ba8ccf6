"""Appending whole lines to a log that other processes append to as well.

Guarantees: one `append` is one write; where the disk takes only a part of it, the file is cut back
to what it was before, so that no torn line is left by a failure that we see. The lock is advisory
(`flock` on the file itself) and belongs to the handle, so it also holds between threads.

Example:
    >>> AppendFile.__name__
    'AppendFile'
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from provenance.fs._handle import Handle
from provenance.fs.failures import (
    BoundaryRefused,
    NotARegularFile,
    WriteFailed,
    translate,
)
from provenance.fs.locking import exclusive_lock

__all__ = ["AppendFile"]


class AppendFile(Handle):
    """A regular file opened for reading and appending; a context manager that closes it."""

    __slots__ = ()

    def __init__(self, fd: int) -> None:
        """Take over `fd` (it is closed here where it must not be written through)."""
        try:
            found = os.fstat(fd)
        except OSError as error:
            os.close(fd)
            raise translate(error) from None
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise NotARegularFile("log: expected a regular file, got something else")
        if found.st_nlink > 1:
            # Another name may lie outside the root: appending would alter a file that is not ours.
            os.close(fd)
            raise BoundaryRefused("log: expected one name for the file, got several hard links")
        self.fd = fd

    def size(self) -> int:
        """Size in bytes, now."""
        try:
            return os.fstat(self.fd).st_size
        except OSError as error:
            raise translate(error) from None

    def inode(self) -> int:
        """The inode number, to tell a replaced file from a grown one."""
        try:
            return os.fstat(self.fd).st_ino
        except OSError as error:
            raise translate(error) from None

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; fewer only at the end of the file."""
        parts: list[bytes] = []
        got = 0
        try:
            while got < size:
                data = os.pread(self.fd, size - got, offset + got)
                if not data:
                    break
                parts.append(data)
                got += len(data)
        except OSError as error:
            raise translate(error) from None
        return b"".join(parts)

    def append(self, data: bytes, *, sync: bool = True) -> None:
        """Append `data` with one write; hold the lock while calling.

        Args:
            data: the whole line, its end included.
            sync: also force it to the disk.

        Raises:
            WriteFailed: nothing of `data` is in the file (as far as the disk still answers).
        """
        before = self.size()
        try:
            written = os.write(self.fd, data)
            if written != len(data):
                raise OSError(errno.ENOSPC, "short write")
            if sync:
                os.fsync(self.fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, before)
            raise _write_failure(error) from None

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes; hold the lock while calling."""
        try:
            os.ftruncate(self.fd, size)
        except OSError as error:
            raise _write_failure(error) from None

    def sync(self) -> None:
        """Force what was appended to the disk."""
        try:
            os.fsync(self.fd)
        except OSError as error:
            raise _write_failure(error) from None

    @contextlib.contextmanager
    def lock(self, timeout_seconds: float = 30.0) -> Iterator[None]:
        """Hold the file's lock alone.

        Raises:
            LockTimeout: another handle held it for `timeout_seconds`.
            WriteFailed: the file system has no locks.
        """
        with exclusive_lock(self.fd, "log", timeout_seconds=timeout_seconds):
            yield


def _write_failure(error: OSError) -> WriteFailed:
    number = error.errno or 0
    name = errno.errorcode.get(number, "unknown error")
    return WriteFailed(f"log: expected to write, got {name}", number)
