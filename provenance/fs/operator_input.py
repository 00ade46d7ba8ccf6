"""Opens a file that the operator named, for reading: links are followed, a shell's pipes are read.

Guarantees: nothing from a pointer, a transcript or a state file ever reaches this. What may lie in
a home or among evidence is never waited for: there, a pipe, socket or device that lies in a folder
is refused at once, and only one that somebody opened for us (`<(...)`, `/dev/stdin`) is read.

Example:
    >>> open_operator_input("/nowhere/at/all")
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import errno
import os
import stat

from provenance.fs.failures import BoundaryRefused, NotARegularFile, translate

__all__ = ["open_operator_input"]

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


def open_operator_input(path: str | os.PathLike[str], *, named_pipes: bool = True) -> int:
    """Open what the operator named, and give its descriptor.

    Args:
        path: as it was named.
        named_pipes: read also what lies in a folder and is no regular file, and wait for it.

    Raises:
        SourceAbsent, AccessRefused, NotARegularFile, ReadFailed: what stood there.
        BoundaryRefused: links that lead to each other.
    """
    # Not blocking: to open a pipe without a writer must not hang.
    no_wait = 0 if named_pipes else getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, _FLAGS | no_wait)
    except OSError as error:
        if error.errno == errno.ELOOP:  # links are followed here: these lead nowhere
            raise BoundaryRefused(
                "source: expected a file, got links that lead to each other"
            ) from None
        if error.errno == errno.ENXIO:
            raise NotARegularFile("source: expected a regular file, got something else") from None
        raise translate(error) from None
    except ValueError:
        raise NotARegularFile("path: expected a file name, got a NUL byte") from None
    try:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise NotARegularFile("source: expected a file, got a directory")
        if no_wait and not stat.S_ISREG(found.st_mode):
            if _lies_in_a_folder(path, found):
                raise NotARegularFile("source: expected a regular file, got something else")
            os.set_blocking(fd, True)
    except OSError as error:
        os.close(fd)
        raise translate(error) from None
    except BaseException:
        os.close(fd)
        raise
    return fd


def _lies_in_a_folder(path: str | os.PathLike[str], found: os.stat_result) -> bool:
    """Say whether this is no pipe or socket that is open already and has no name of its own."""
    if not (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)):
        return True
    # One without a name is on no file system that has folders.
    folder = os.path.dirname(os.path.realpath(path))
    return os.stat(folder).st_dev == found.st_dev
