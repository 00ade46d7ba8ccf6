"""A file that does not exist until it is whole.

Guarantees: bytes go to an unnamed file (`O_TMPFILE`), or to a hidden temporary name where the file
system has none; the final name is linked only if it is free. Killed at any instant, a reader sees
the whole file under its name, or nothing. Nothing is ever overwritten.

The system calls, in order: open, write..., fsync, linkat, and (by the caller) fsync of the
directory.

Example:
    >>> is_temporary_name(".ctxaudit-0123456789abcdef.tmp")
    True
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from functools import lru_cache
from types import TracebackType

from provenance.fs import _linux
from provenance.fs.failures import NameTaken, WriteFailed

__all__ = ["Draft", "discard_stale", "is_stale", "is_temporary_name", "temporary_name"]

_PREFIX, _SUFFIX = ".ctxaudit-", ".tmp"
_MODE = 0o600


def is_temporary_name(name: str) -> bool:
    """Say whether `name` is one of ours, left by a process that died."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def temporary_name() -> str:
    """Make a name of ours that nobody else has."""
    return f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"


def is_stale(dir_fd: int, name: str, *, before_seconds: float) -> int | None:
    """Give the size of a temporary file that a process left when it died, None for any other file.

    It must carry one of our names, be a regular file and belong to our user. One that has another
    name too is published already, and no writer needs it; any other must have been written to last
    before the time `before_seconds` (since the epoch), so that no live writer loses its file.

    Raises:
        WriteFailed: the file system refused to say.
    """
    if not is_temporary_name(name):
        return None
    try:
        found = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failure(error) from None
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return None
    if found.st_nlink < 2 and found.st_mtime >= before_seconds:
        return None
    return found.st_size


def discard_stale(dir_fd: int, name: str, *, before_seconds: float) -> bool:
    """Remove a temporary file for which `is_stale` gives a size; True where it was removed.

    Raises:
        WriteFailed: the file system refused.
    """
    if is_stale(dir_fd, name, before_seconds=before_seconds) is None:
        return False
    try:
        os.unlink(name, dir_fd=dir_fd)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _failure(error) from None
    return True


class Draft:
    """Bytes on their way into a directory; a context manager that discards what has no name."""

    __slots__ = ("_dir_fd", "_fd", "_temporary")

    def __init__(self, dir_fd: int) -> None:
        """Open a draft in the directory `dir_fd`, which stays the caller's.

        Raises:
            WriteFailed: the directory takes no new file.
        """
        self._dir_fd = dir_fd
        self._temporary: str | None = None
        try:
            self._fd = self._open()
        except OSError as error:
            raise _failure(error) from None

    def write(self, data: bytes | memoryview) -> None:
        """Add all of `data`.

        Raises:
            WriteFailed: the disk is full or broken; the draft is of no use any more.
        """
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise _failure(error) from None

    def start_writeout(self) -> None:
        """Begin to write the bytes to the disk, so that a later `sync` has less to wait for."""
        _linux.start_writeout(self._fd, 0, 0)

    def sync(self) -> None:
        """Force the bytes to the disk; call it before `link_as`."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise _failure(error) from None

    def link_as(self, name: str) -> None:
        """Give the draft its name, exclusively; with `NameTaken` another name may be tried.

        Raises:
            NameTaken: the name is in use.
            WriteFailed: the file system refused.
        """
        try:
            self._link(name)
        except FileExistsError:
            raise NameTaken("name: expected a free name, got one in use") from None
        except OSError as error:
            raise _failure(error) from None

    def identity(self) -> tuple[int, int]:
        """Give device and inode, which stay the same under its name."""
        try:
            found = os.fstat(self._fd)
        except OSError as error:
            raise _failure(error) from None
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close the draft and remove its temporary name, if it has one; twice is no error."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        self._drop_temporary_name()

    def _drop_temporary_name(self) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._dir_fd)

    def _open(self) -> int:
        unnamed = getattr(os, "O_TMPFILE", 0)
        flags = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
        if unnamed and _has_descriptor_folder():
            try:
                return os.open(".", unnamed | flags, _MODE, dir_fd=self._dir_fd)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
                    raise
        name = temporary_name()
        fd = os.open(name, flags | os.O_CREAT | os.O_EXCL, _MODE, dir_fd=self._dir_fd)
        self._temporary = name
        return fd

    def _link(self, name: str) -> None:
        if self._temporary is None:
            os.link(
                f"/proc/self/fd/{self._fd}", name, dst_dir_fd=self._dir_fd, follow_symlinks=True
            )
            return
        try:
            os.link(
                self._temporary,
                name,
                src_dir_fd=self._dir_fd,
                dst_dir_fd=self._dir_fd,
                follow_symlinks=False,
            )
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            # A file system without hard links still renames without replacing.
            _linux.rename_exclusive(self._dir_fd, self._temporary.encode(), name.encode())
            self._temporary = None
        else:
            # At once: a reader takes a file with two names for somebody's trick.
            self._drop_temporary_name()

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@lru_cache(maxsize=1)
def _has_descriptor_folder() -> bool:
    """Say whether an unnamed file can be given a name through `/proc`; asked once."""
    return os.access("/proc/self/fd", os.X_OK)


def _failure(error: OSError) -> WriteFailed:
    number = error.errno or 0
    name = errno.errorcode.get(number, "unknown error")
    return WriteFailed(f"file: expected to write, got {name}", number)
