"""Linux system calls that Python's `os` lacks: `openat2`, `statx` for the mount id, and two more.

Guarantees: nothing is loaded before the first call; failures are plain `OSError`. The numbers are
those of the kernel's headers (`linux/openat2.h`, `linux/stat.h`; `openat2` is call 437 and `statx`
goes through the C library, on every architecture).

Example:
    >>> isinstance(is_linux(), bool)
    True
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

__all__ = [
    "file_system_type",
    "how_to_open",
    "is_linux",
    "mount_id",
    "open_at",
    "rename_exclusive",
    "start_writeout",
]

_SYS_OPENAT2 = 437
_RESOLVE = 0x01 | 0x02 | 0x04 | 0x08  # NO_XDEV | NO_MAGICLINKS | NO_SYMLINKS | BENEATH
_AT_EMPTY_PATH = 0x1000
_STATX_MNT_ID = 0x1000
_STATX_SIZE = 256
_STATFS_SIZE = 256  # more than any architecture's struct statfs; f_type is its first word
_MASK_OFFSET, _MNT_ID_OFFSET = 0, 144  # of stx_mask and stx_mnt_id in struct statx
_RENAME_NOREPLACE = 1
_SYNC_FILE_RANGE_WRITE = 2
_HOW_BYTES = 24


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def is_linux() -> bool:
    """Say whether these calls can exist here."""
    return sys.platform == "linux"


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


_call: Callable[..., int] | None = None


def _openat2() -> Callable[..., int]:
    # A library handle of its own: argument types are attributes of the function object.
    call: Any = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
    )
    call.restype = ctypes.c_long
    function: Callable[..., int] = call
    return function


@lru_cache(maxsize=16)
def how_to_open(flags: int, mode: int = 0) -> tuple[_OpenHow, int]:
    """Build the kernel's `struct open_how` once; gives it (to keep it alive) and its address."""
    how = _OpenHow(flags, mode, _RESOLVE)
    return how, ctypes.addressof(how)


def open_at(dir_fd: int, name: bytes, address: int) -> int:
    """Open `name` in `dir_fd` with `openat2`; `address` comes from `how_to_open`.

    Raises:
        OSError: with the kernel's number.
    """
    global _call  # noqa: PLW0603 - bound at first use, so that an import loads no library
    if _call is None:
        _call = _openat2()
    while (fd := _call(_SYS_OPENAT2, dir_fd, name, address, _HOW_BYTES)) < 0:
        number = ctypes.get_errno()
        if number != errno.EINTR:  # as in `os.open`: a signal is no answer
            raise OSError(number, os.strerror(number))
    return fd


def mount_id(fd: int) -> int | None:
    """Give the id of the mount that an open handle lies on; None where it cannot be known."""
    found = _mount_id_by_statx(fd)
    return _mount_id_by_proc(fd) if found is None else found


def _mount_id_by_statx(fd: int) -> int | None:
    statx = getattr(_libc(), "statx", None)
    if statx is None:
        return None
    buffer = ctypes.create_string_buffer(_STATX_SIZE)
    if statx(fd, b"", _AT_EMPTY_PATH, _STATX_MNT_ID, buffer) != 0:
        return None
    raw = buffer.raw
    mask = int.from_bytes(raw[_MASK_OFFSET : _MASK_OFFSET + 4], sys.byteorder)
    if not mask & _STATX_MNT_ID:
        return None
    return int.from_bytes(raw[_MNT_ID_OFFSET : _MNT_ID_OFFSET + 8], sys.byteorder)


def _mount_id_by_proc(fd: int) -> int | None:
    try:
        info = os.open(f"/proc/self/fdinfo/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(info, 4096)
    except OSError:
        return None
    finally:
        os.close(info)
    for line in text.split(b"\n"):
        if line.startswith(b"mnt_id:"):
            digits = line[7:].strip()
            return int(digits) if digits.isdigit() else None
    return None


def file_system_type(fd: int) -> int | None:
    """Give the magic number of the file system that a handle lies on; None where it is unknown."""
    fstatfs = getattr(_libc(), "fstatfs", None)
    buffer = ctypes.create_string_buffer(_STATFS_SIZE)
    if fstatfs is None or fstatfs(fd, buffer) != 0:
        return None
    return ctypes.c_ulong.from_buffer(buffer).value


def rename_exclusive(dir_fd: int, source: bytes, target: bytes) -> None:
    """Rename within one directory, refusing to replace (for file systems without hard links).

    Raises:
        FileExistsError: the target name is in use.
        OSError: any other refusal, ENOSYS where the call does not exist.
    """
    renameat2 = getattr(_libc(), "renameat2", None)
    if renameat2 is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if renameat2(dir_fd, source, dir_fd, target, _RENAME_NOREPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@lru_cache(maxsize=1)
def _sync_file_range() -> Callable[..., int] | None:
    call: Any = getattr(ctypes.CDLL(None), "sync_file_range", None) if is_linux() else None
    if call is None:
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    function: Callable[..., int] = call
    return function


def start_writeout(fd: int, offset: int, size: int) -> None:
    """Ask the kernel to begin writing a stretch of a file to the disk, without waiting for it.

    A hint and no more: it is over before anything is on the disk, and a refusal means nothing.
    """
    call = _sync_file_range()
    if call is not None:
        call(fd, offset, size, _SYNC_FILE_RANGE_WRITE)
