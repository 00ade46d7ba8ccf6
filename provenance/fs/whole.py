"""Whole files: small ones read stably, operator-named ones read and written.

Guarantees: a size limit is applied before the bytes are in memory. `read_whole` gives bytes that
did not change while they were read. `atomic_write` leaves either the old file or the new one.
Operator-named paths come from a person's command line and may be links or pipes; nothing from a
pointer, a transcript or a state file ever reaches these two functions.

Example:
    >>> read_operator_file("/nowhere/at/all", max_bytes=10)
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat

from provenance.errors import DataError
from provenance.fs.failures import BoundaryRefused, NotARegularFile, WriteFailed, translate
from provenance.fs.reading import OpenFile

__all__ = [
    "FileTooLarge",
    "SourceChanged",
    "atomic_write",
    "read_operator_file",
    "read_whole",
]

_BLOCK = 1 << 20
_LONGEST_LINK_CHAIN = 40  # the kernel's own bound


class FileTooLarge(DataError):
    """A file is larger than its limit; nothing of it was kept."""

    code = "file_too_large"


class SourceChanged(DataError):
    """A file changed during each attempt to read it."""

    code = "source_changed_during_read"


def read_whole(file: OpenFile, *, max_bytes: int, attempts: int = 3) -> bytes:
    """Read all of an open file, again where it changed meanwhile.

    Raises:
        FileTooLarge: it has more than `max_bytes`.
        SourceChanged: it changed during each of `attempts` readings.
        ReadFailed: the device or file system refused.
    """
    for _ in range(attempts):
        size = file.size
        if size > max_bytes:
            raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got {size}")
        data = file.read_at(0, size)
        if len(data) == size and file.is_unchanged():
            return data
        file.refresh()
    raise SourceChanged("file: expected no change during the read, got one each time")


def read_operator_file(path: str | os.PathLike[str], *, max_bytes: int) -> bytes:
    """Read a file that the operator named; links are followed, pipes are read to their end.

    Raises:
        SourceAbsent, AccessRefused, NotARegularFile, ReadFailed: what stood there.
        BoundaryRefused: links that lead to each other.
        FileTooLarge: it has more than `max_bytes`.
    """
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:  # links are followed here: these lead nowhere
            raise BoundaryRefused(
                "source: expected a file, got links that lead to each other"
            ) from None
        raise translate(error) from None
    except ValueError:
        raise NotARegularFile("path: expected a file name, got a NUL byte") from None
    try:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise NotARegularFile("source: expected a file, got a directory")
        if stat.S_ISREG(found.st_mode) and found.st_size > max_bytes:
            raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got {found.st_size}")
        parts: list[bytes] = []
        total = 0
        while data := os.read(fd, _BLOCK):
            total += len(data)
            if total > max_bytes:
                raise FileTooLarge(f"file: expected at most {max_bytes} bytes, got more")
            parts.append(data)
        return b"".join(parts)
    except OSError as error:
        raise translate(error) from None
    finally:
        os.close(fd)


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that the operator named: a temporary one beside it, fsync, rename.

    A link is followed to its target, an old file's permissions are kept. What is no regular file (a
    pipe, a device), and a name that stands for what is open already (`/dev/stdout`), is written to
    and never replaced.

    Raises:
        WriteFailed: the old file, if there was one, is as it was.
    """
    try:
        own = _own_handle(os.fspath(path))
        if own is not None:
            _write_all(own, data)
            return
        target = os.path.realpath(path)
        old = os.stat(target) if os.path.lexists(target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            _write_through(target, data)
            return
        _write_beside(target, data, mode=None if old is None else old.st_mode & 0o777)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "unknown error")
        raise WriteFailed(f"file: expected to write, got {name}", error.errno or 0) from None
    except ValueError:
        raise WriteFailed("path: expected a file name, got a NUL byte") from None


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


def _write_through(target: str, data: bytes) -> None:
    fd = os.open(target, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        _write_all(fd, data)
    finally:
        os.close(fd)


def _write_beside(target: str, data: bytes, *, mode: int | None) -> None:
    folder = os.path.dirname(target)
    temporary = f"{folder}/.ctxaudit-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    # A new file: the operator's umask decides, as for any output. An old one: it stays as private.
    fd = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        try:
            if mode is not None:
                os.fchmod(fd, mode)
            _write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    folder_fd = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(folder_fd)
    finally:
        os.close(folder_fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
