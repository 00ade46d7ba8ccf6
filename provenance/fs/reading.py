"""A regular file opened for reading, with the facts it had when it was opened.

Guarantees: what is read comes from the handle that was checked, never from a name looked up again.
`is_unchanged` compares device, inode, size, mtime and ctime with those of the opening; a writer
through a shared mapping can escape that comparison, which is why large files take a lease too.

Example:
    >>> FileFacts(device=1, inode=2, size=3, mtime_ns=4, ctime_ns=5, nlink=1, uid=0, mode=0).size
    3
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from provenance.fs._handle import Handle
from provenance.fs.failures import NotARegularFile, translate

__all__ = ["FileFacts", "OpenFile", "facts_of"]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the file system says of an open file; sizes in bytes, times in nanoseconds."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    nlink: int
    uid: int
    mode: int
    gid: int = 0


class OpenFile(Handle):
    """A handle on one regular file; a context manager that closes it."""

    __slots__ = ("_stat",)

    def __init__(self, fd: int) -> None:
        """Take over `fd` (it is closed here where it is no regular file)."""
        try:
            found = os.fstat(fd)
        except OSError as error:
            os.close(fd)
            raise translate(error) from None
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise NotARegularFile("source: expected a regular file, got something else")
        self.fd = fd
        self._stat = found

    @property
    def size(self) -> int:
        """Size in bytes when it was opened (or last refreshed)."""
        return self._stat.st_size

    @property
    def stat(self) -> os.stat_result:
        """What `fstat` said at opening, or at the last `refresh`."""
        return self._stat

    @property
    def facts(self) -> FileFacts:
        """The facts at opening, or at the last `refresh`."""
        return facts_of(self._stat)

    def now(self) -> FileFacts:
        """The facts at this moment; those of the opening stay the ones to compare with.

        Raises:
            ReadFailed: the device or file system refused.
        """
        return facts_of(self._now())

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; fewer only at the end of the file.

        Raises:
            ReadFailed: the device or file system refused.
        """
        try:
            data = os.pread(self.fd, size, offset)
            if len(data) == size or not data:
                return data
            parts = [data]
            got = len(data)
            while got < size:
                data = os.pread(self.fd, size - got, offset + got)
                if not data:
                    break
                parts.append(data)
                got += len(data)
            return b"".join(parts)
        except OSError as error:
            raise translate(error) from None

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill `buffer` from `offset`; gives the number of bytes, fewer only at the end."""
        got = 0
        try:
            while got < len(buffer):
                count = _read_into(self.fd, buffer[got:], offset + got)
                if count == 0:
                    break
                got += count
        except OSError as error:
            raise translate(error) from None
        return got

    def is_unchanged(self) -> bool:
        """Say whether the five facts are those of the opening."""
        now, then = self._now(), self._stat
        return (
            now.st_mtime_ns == then.st_mtime_ns
            and now.st_size == then.st_size
            and now.st_ctime_ns == then.st_ctime_ns
            and now.st_ino == then.st_ino
            and now.st_dev == then.st_dev
        )

    def refresh(self) -> FileFacts:
        """Take the present facts as the ones to compare with, and give them."""
        self._stat = self._now()
        return self.facts

    def _now(self) -> os.stat_result:
        try:
            return os.fstat(self.fd)
        except OSError as error:
            raise translate(error) from None


def facts_of(found: os.stat_result) -> FileFacts:
    """Give the facts that a `stat` holds."""
    return FileFacts(
        device=found.st_dev,
        inode=found.st_ino,
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        nlink=found.st_nlink,
        uid=found.st_uid,
        mode=found.st_mode,
        gid=found.st_gid,
    )


def _read_into(fd: int, buffer: memoryview, offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(fd, [buffer], offset)
    data = os.pread(fd, len(buffer), offset)  # a Python built without it
    buffer[: len(data)] = data
    return len(data)
