"""Files that hold a secret, and the public half beside it, as the operator names them.

Guarantees: a secret is written with mode 0600 into a file that was not there before, whatever the
umask, and is never in a file that others may read. A file with a secret is read only if it is a
regular one of our own user (or root's) that nobody else may read or write; a pipe, a device or a
folder is refused at once. Links in the operator's own path are followed when reading, never when
writing.

Example:
    >>> read_secret_file("/nowhere/at/all", max_bytes=10)
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from provenance.errors import CallerError
from provenance.fs.failures import NameTaken, NotARegularFile, WriteFailed, translate

__all__ = ["SecretExposed", "create_key_files", "read_secret_file"]

_OTHERS = 0o077
_CLOSE = getattr(os, "O_CLOEXEC", 0)


class SecretExposed(CallerError):
    """Somebody else may read a file that holds a secret, or owns it; it was not read."""

    code = "secret_exposed"


def read_secret_file(path: str | os.PathLike[str], *, max_bytes: int) -> bytes:
    """Read a small file that holds a secret.

    Raises:
        SecretExposed: others may read or write it, or it belongs to another user.
        SourceAbsent, AccessRefused, NotARegularFile, ReadFailed: what stood there.
    """
    try:
        # Not blocking: a pipe with no writer must not hang us.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _CLOSE)
    except OSError as error:
        raise translate(error) from None
    except ValueError:
        raise NotARegularFile("path: expected a file name, got a NUL byte") from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise NotARegularFile("source: expected a regular file, got something else")
        if found.st_mode & _OTHERS:
            mode = f"{found.st_mode & 0o777:04o}"
            raise SecretExposed(f"mode: expected 0600, got {mode}; nobody else may read a key")
        if found.st_uid not in (os.geteuid(), 0):
            raise SecretExposed("owner: expected our own user, got another")
        if found.st_size > max_bytes:
            raise NotARegularFile(f"source: expected at most {max_bytes} bytes, got more")
        return os.pread(fd, max_bytes, 0)
    except OSError as error:
        raise translate(error) from None
    finally:
        os.close(fd)


def create_key_files(
    path: str | os.PathLike[str], secret: bytes, public_path: str, public: bytes
) -> None:
    """Write a secret (0600) and its public half (0644) into two files that are both new.

    Raises:
        NameTaken: one of the names is in use, by a link too; nothing was written.
        WriteFailed: the disk or file system refused; nothing is left behind.
    """
    # The public half first: a secret whose public half is missing would be of no use.
    _create(public_path, public, 0o644)
    try:
        _create(os.fspath(path), secret, 0o600)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(public_path)
        raise


def _create(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE
    try:
        fd = os.open(path, flags, 0o600)
    except FileExistsError:
        raise NameTaken(
            "file: expected a new name, got one in use; nothing is overwritten"
        ) from None
    except OSError as error:
        raise _failure(error) from None
    except ValueError:
        raise WriteFailed("path: expected a file name, got a NUL byte") from None
    try:
        try:
            os.fchmod(fd, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(path)
        if isinstance(error, OSError):
            raise _failure(error) from None
        raise


def _failure(error: OSError) -> WriteFailed:
    number = error.errno or 0
    name = errno.errorcode.get(number, "unknown error")
    return WriteFailed(f"file: expected to write, got {name}", number)
