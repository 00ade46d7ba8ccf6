"""What can go wrong below a trusted root, one class for each answer a caller has to give.

Guarantees: no message holds a path, a name from a hostile tree or any content. `translate` maps
every `OSError` to exactly one class; what is not understood becomes `ReadFailed`, which proves
nothing about the evidence.

Example:
    >>> import errno
    >>> type(translate(OSError(errno.ELOOP, "x"))).__name__
    'BoundaryRefused'
"""

from __future__ import annotations

import errno as _errno

from provenance.errors import CallerError, DataError, MachineError

__all__ = [
    "FILE_FAILURES",
    "AccessRefused",
    "BoundaryRefused",
    "FileFailure",
    "LockTimeout",
    "NameTaken",
    "NotARegularFile",
    "ReadFailed",
    "SourceAbsent",
    "TraitRefused",
    "UnsafePlatform",
    "WriteFailed",
    "translate",
]


class SourceAbsent(DataError):
    """Nothing of that name, or something else than a directory where a directory belongs."""

    code = "source_absent"


class BoundaryRefused(DataError):
    """A symbolic link, a mount or another stored name stands between the root and the source."""

    code = "ownership_boundary"


class AccessRefused(MachineError):
    """The operating system's permissions refuse."""

    code = "filesystem_denied"


class TraitRefused(DataError):
    """The operator's policy refuses what the open file or a folder on the way is.

    Attributes:
        fact: the code of the finding that says the same.
    """

    code = "refused_by_policy"

    def __init__(self, message: str, fact: str) -> None:
        """Take one line and the code of the fact."""
        super().__init__(message)
        self.fact = fact


class NotARegularFile(DataError):
    """A directory, FIFO, socket or device stands where a file belongs."""

    code = "not_a_file"


class NameTaken(DataError):
    """An exclusive publish found its name in use; nothing was overwritten."""

    code = "name_taken"


class _NumberedFailure(MachineError):
    def __init__(self, message: str, errno: int = 0) -> None:
        super().__init__(message)
        self.errno = errno


class ReadFailed(_NumberedFailure):
    """Reading failed for a reason that says nothing about the evidence; `errno` says which."""

    code = "source_read_failed"


class WriteFailed(_NumberedFailure):
    """Writing failed (full disk, quota, I/O error); `errno` says which; nothing torn was left."""

    code = "write_failed"


class LockTimeout(MachineError):
    """Another process held the lock for the whole waiting time."""

    code = "lock_timeout"


class UnsafePlatform(CallerError):
    """This platform has no way to open below a root safely; nothing was opened."""

    code = "unsafe_platform"


FileFailure = (
    SourceAbsent | BoundaryRefused | AccessRefused | TraitRefused | NotARegularFile | ReadFailed
)
# The same as a tuple, for `except`.
FILE_FAILURES = (
    SourceAbsent,
    BoundaryRefused,
    AccessRefused,
    TraitRefused,
    NotARegularFile,
    ReadFailed,
)

# EXDEV is openat2's answer for a mount or an escape, ELOOP its answer for a link; ENAMETOOLONG
# means that no file of that name can exist on that file system.
_ABSENT = frozenset({_errno.ENOENT, _errno.ENOTDIR, _errno.ENAMETOOLONG})
_BOUNDARY = frozenset({_errno.ELOOP, _errno.EXDEV, getattr(_errno, "EMLINK", _errno.ELOOP)})
_ACCESS = frozenset({_errno.EACCES, _errno.EPERM})
_NOT_A_FILE = frozenset({_errno.ENXIO, _errno.ENODEV, _errno.EISDIR})


def translate(error: OSError) -> FileFailure:
    """Give the failure that an `OSError` from opening or reading stands for."""
    number = error.errno or 0
    if number in _ABSENT:
        return SourceAbsent("source: expected a file, got nothing of that name")
    if number in _BOUNDARY:
        return BoundaryRefused("source: expected no link and no mount below the root, got one")
    if number in _ACCESS:
        return AccessRefused("source: expected permission to read, got a refusal")
    if number in _NOT_A_FILE:
        return NotARegularFile("source: expected a regular file, got something else")
    name = _errno.errorcode.get(number, "unknown error")
    return ReadFailed(f"source: expected to read, got {name}", number)
