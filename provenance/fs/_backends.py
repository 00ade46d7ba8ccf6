"""The two ways to open one component below a directory handle without being led elsewhere.

Guarantees: both refuse a symbolic link, a mount and an escape at the component they open; neither
looks at a path and then opens it by name. `openat2` lets the kernel decide; the walk opens with
`O_NOFOLLOW` and compares the mount of what it got. Components are never joined: a trailing slash
would make `O_NOFOLLOW` follow the last link (the shape of CVE-2026-39822).

Example:
    >>> choose_backend("walk").name
    'walk'
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import Literal, Protocol

from provenance.fs import _linux
from provenance.fs.failures import (
    BoundaryRefused,
    FileFailure,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    UnsafePlatform,
    translate,
)

__all__ = [
    "Backend",
    "BackendName",
    "Openat2Backend",
    "WalkBackend",
    "choose_backend",
    "require_platform",
]

BackendName = Literal["auto", "openat2", "walk"]

# O_NONBLOCK: opening a FIFO or a device must not hang; O_NOCTTY: nor may a terminal become ours.
_GUARDS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# How often the walk looks again at a name whose link and directory change places under it.
_LOOKS = 16


class Backend(Protocol):
    """Opens one component of a name below a directory handle."""

    @property
    def name(self) -> str:
        """`openat2` or `walk`."""
        ...

    def open_at(self, dir_fd: int, name: str, flags: int, mode: int = 0) -> int:
        """Open `name` in `dir_fd`; gives a descriptor that the caller closes.

        Raises:
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: the answer.
            FileExistsError: with O_EXCL, the name is in use.
        """
        ...


@dataclass(frozen=True, slots=True)
class WalkBackend:
    """`openat` with `O_NOFOLLOW`, then the mount of the handle compared with its directory's."""

    name: str = "walk"

    def open_at(self, dir_fd: int, name: str, flags: int, mode: int = 0) -> int:
        """See `Backend.open_at`."""
        fd = _open_no_link(dir_fd, name, flags, mode)
        try:
            same = _mount_of(fd) == _mount_of(dir_fd)
        except OSError as error:
            os.close(fd)
            raise translate(error) from None
        if not same:
            os.close(fd)
            raise BoundaryRefused("source: expected no mount below the root, got one")
        return fd


def _open_no_link(dir_fd: int, name: str, flags: int, mode: int) -> int:
    for _ in range(_LOOKS):
        try:
            return os.open(name, flags | _GUARDS | _NO_LINK, mode, dir_fd=dir_fd)
        except FileExistsError:
            raise
        except OSError as error:
            found = _found(error, dir_fd, name)
            if error.errno != errno.ENOTDIR or not stat.S_ISDIR(found):
                raise _refusal(error, found) from None
            # Refused as a link or a file, and a directory now: neither answer would be true.
    raise ReadFailed("source: expected it to rest, got a change at each look", errno.EAGAIN)


# Built once: a hundred thousand small files are opened with the same flags. O_NOFOLLOW is left out:
# with O_DIRECTORY it would answer ENOTDIR for a link, where NO_SYMLINKS alone answers ELOOP.
_READ = os.O_RDONLY
_READ_HOW, _READ_ADDRESS = _linux.how_to_open(_READ | _GUARDS)


@dataclass(frozen=True, slots=True)
class Openat2Backend:
    """One `openat2` with BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV."""

    name: str = "openat2"

    def open_at(self, dir_fd: int, name: str, flags: int, mode: int = 0) -> int:
        """See `Backend.open_at`."""
        address = _READ_ADDRESS if flags == _READ else _linux.how_to_open(flags | _GUARDS, mode)[1]
        try:
            encoded = name.encode() if name.isascii() else os.fsencode(name)
            return _linux.open_at(dir_fd, encoded, address)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.EPERM):
                # A filter may refuse the call itself at any time: the walk gives the true answer.
                return _WALK.open_at(dir_fd, name, flags, mode)
            raise _refusal(error, _found(error, dir_fd, name)) from None


_WALK = WalkBackend()


def choose_backend(name: BackendName = "auto", *, probe_fd: int | None = None) -> Backend:
    """Choose the back end at run time.

    Args:
        name: `auto` takes `openat2` where the kernel answers it, else the walk.
        probe_fd: an open directory on which to try `openat2`; without one only `walk` is sure.

    Raises:
        UnsafePlatform: neither is safe here, or `openat2` was asked for and is not there.
        ValueError: another name.
    """
    if name not in ("auto", "openat2", "walk"):
        raise ValueError(f"backend: expected auto, openat2 or walk, got {name!r}")
    if name != "walk" and probe_fd is not None and _kernel_has_openat2(probe_fd):
        return Openat2Backend()
    if name == "openat2":
        raise UnsafePlatform("backend: expected openat2, got a kernel without it")
    if not _walk_is_safe(probe_fd):
        raise UnsafePlatform("platform: expected openat2, or openat with O_NOFOLLOW; got neither")
    return _WALK


def require_platform() -> None:
    """Refuse, before anything is opened, where no back end can be safe (Windows).

    Raises:
        UnsafePlatform: the flags are missing that every back end needs.
    """
    if not (getattr(os, "O_NOFOLLOW", 0) and getattr(os, "O_DIRECTORY", 0)):
        raise UnsafePlatform("platform: expected O_NOFOLLOW and O_DIRECTORY, got one missing")


def _kernel_has_openat2(fd: int) -> bool:
    if not _linux.is_linux():
        return False
    _, address = _linux.how_to_open(os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_linux.open_at(fd, b".", address))
    except OSError as error:
        # Only these two mean "no such call"; with any other answer the call is there.
        return error.errno not in (errno.ENOSYS, errno.EPERM)
    return True


def _walk_is_safe(fd: int | None) -> bool:
    if os.open not in os.supports_dir_fd or os.stat not in os.supports_dir_fd:
        return False
    if not (getattr(os, "O_NOFOLLOW", 0) and getattr(os, "O_DIRECTORY", 0)):
        return False
    # On Linux a bind mount keeps the device number, so only the mount id can tell.
    return not (_linux.is_linux() and fd is not None and _linux.mount_id(fd) is None)


def _mount_of(fd: int) -> int | None:
    if _linux.is_linux():
        mount = _linux.mount_id(fd)
        if mount is None:
            raise OSError(errno.EIO, "mount id unknown")
        return mount
    return os.fstat(fd).st_dev


def _found(error: OSError, dir_fd: int, name: str) -> int:
    """Give `st_mode` of what stands where opening failed; 0 for nothing, or what is not known."""
    if error.errno == errno.ENOENT:
        return 0
    try:
        return os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _refusal(error: OSError, found: int) -> FileFailure:
    """Name what was refused: the error's number alone tells no link from a file (ENOTDIR)."""
    failure = translate(error)
    if stat.S_ISLNK(found):
        return BoundaryRefused("source: expected no link below the root, got one")
    if not found or stat.S_ISREG(found) or stat.S_ISDIR(found):
        return failure
    if isinstance(failure, BoundaryRefused | SourceAbsent):
        return failure
    return NotARegularFile("source: expected a regular file, got something else")
