"""A file that is replaced as a whole, below a handle on its directory.

Guarantees: killed at any instant, a reader sees the old file or the new one. The new one is on the
disk before it gets the name. What had the name is never opened, followed or written through: a link
in its place is replaced itself. A failure leaves what was there, and no temporary file (a kill may
leave one, under a name that `is_temporary_name` knows).

The system calls, in order: open (exclusive), write..., fsync, rename, fsync of the directory.

Example:
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fd = os.open(folder, os.O_RDONLY)
    ...     replace_file(fd, "a.lock", b"new")
    ...     os.close(fd)
    ...     os.listdir(folder)
    ['a.lock']
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from provenance.fs.drafts import temporary_name
from provenance.fs.failures import WriteFailed

__all__ = ["replace_file"]

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
# A new file is for whoever the umask lets read it, and never for others to write.
_NEW_MODE = 0o644


def replace_file(dir_fd: int, name: str, data: bytes) -> None:
    """Write `data` under `name`, in the place of what has that name; an old file's mode is kept.

    Raises:
        WriteFailed: what had the name still has it.
    """
    temporary = temporary_name()
    try:
        mode = _mode_of(dir_fd, name)
        fd = os.open(temporary, _FLAGS, _NEW_MODE if mode is None else 0o600, dir_fd=dir_fd)
        try:
            try:
                if mode is not None:
                    os.fchmod(fd, mode)
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                os.fsync(fd)
            finally:
                os.close(fd)
            os.rename(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=dir_fd)
            raise
        os.fsync(dir_fd)
    except OSError as error:
        number = error.errno or 0
        text = errno.errorcode.get(number, "unknown error")
        raise WriteFailed(f"file: expected to write, got {text}", number) from None


def _mode_of(dir_fd: int, name: str) -> int | None:
    """Give the permissions of a regular file of that name; None where there is none."""
    try:
        found = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found.st_mode) & 0o777 if stat.S_ISREG(found.st_mode) else None
