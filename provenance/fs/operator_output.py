"""A file that the operator named, written piece by piece: whole under its name, or not there.

Guarantees: pieces go to a temporary file beside the target, which takes the target's name once it
is whole and on the disk; until then an old file is as it was. A link is followed to its target, an
old file's permissions are kept. What is no regular file (a pipe, a device), and a name that stands
for what is open already (`/dev/stdout`), is written to and never replaced. Nothing from a pointer,
a transcript or a state file ever reaches this.

Example:
    >>> OperatorOutput("/nowhere/at/all")
    Traceback (most recent call last):
    provenance.fs.failures.WriteFailed: file: expected to write, got ENOENT
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from types import TracebackType

from provenance.fs.failures import WriteFailed

__all__ = ["OperatorOutput"]

_LONGEST_LINK_CHAIN = 40  # the kernel's own bound
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)


class OperatorOutput:
    """A file on its way; a context manager that discards what was not committed."""

    __slots__ = ("_fd", "_is_own", "_target", "_temporary")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open what is written to until `commit`.

        Raises:
            WriteFailed: there is no such folder, or it takes no new file.
        """
        self._target = ""
        self._temporary: str | None = None
        self._is_own = False
        try:
            self._fd = self._open(os.fspath(path))
        except OSError as error:
            raise _failure(error) from None
        except ValueError:
            raise WriteFailed("path: expected a file name, got a NUL byte") from None

    def write(self, data: bytes) -> None:
        """Add all of `data`.

        Raises:
            WriteFailed: the disk is full or broken; an old file is as it was.
        """
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise _failure(error) from None

    def commit(self) -> None:
        """Give the file its name, once its bytes are on the disk.

        Raises:
            WriteFailed: an old file is as it was.
        """
        temporary = self._temporary
        try:
            if temporary is None:
                self._close()
                return
            os.fsync(self._fd)
            self._close()
            os.replace(temporary, self._target)
            self._temporary = None
            folder = os.open(os.path.dirname(self._target), os.O_RDONLY | _CLOSE_ON_EXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise _failure(error) from None

    def discard(self) -> None:
        """Close, and remove what has not got its name; twice is no error."""
        self._close()
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def _open(self, path: str) -> int:
        own = _own_handle(path)
        if own is not None:
            self._is_own = True
            return own
        target = self._target = os.path.realpath(path)
        old = os.stat(target) if os.path.lexists(target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            return os.open(target, os.O_WRONLY | _CLOSE_ON_EXEC)
        temporary = f"{os.path.dirname(target)}/.ctxaudit-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE_ON_EXEC
        # A new file: the operator's umask decides, as for any output. An old one: as private.
        fd = os.open(temporary, flags, 0o666 if old is None else 0o600)
        self._temporary = temporary
        if old is not None:
            try:
                os.fchmod(fd, old.st_mode & 0o777)
            except BaseException:
                self._fd = fd
                self.discard()
                raise
        return fd

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0 and not self._is_own:
            os.close(fd)

    def __enter__(self) -> OperatorOutput:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def _own_handle(path: str) -> int | None:
    """Give the descriptor of ours that a name like `/dev/stdout` or `/proc/self/fd/1` stands for.

    The target of such a link may be a regular file: replacing it would cut off who redirected us.
    """
    for _ in range(_LONGEST_LINK_CHAIN):
        folder = os.path.realpath(os.path.dirname(path))
        name = os.path.basename(path)
        if folder == "/dev/fd" or re.fullmatch(rf"/proc/{os.getpid()}/(task/[0-9]+/)?fd", folder):
            return int(name) if re.fullmatch(r"[0-9]{1,9}", name) else None
        try:
            path = os.path.join(folder, os.readlink(path))
        except OSError:
            return None
    return None


def _failure(error: OSError) -> WriteFailed:
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    return WriteFailed(f"file: expected to write, got {name}", error.errno or 0)
