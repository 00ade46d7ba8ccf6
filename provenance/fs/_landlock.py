"""Landlock: a process gives up, for good, what it could do to files, networks and processes.

Guarantees: nothing is loaded before the first call; failures are plain `OSError`. What is given up
is all that the running kernel can forbid, by its own word (the ABI); a right that is newer than
this table stays. Numbers, names and structures are those of `linux/landlock.h`; the calls have
the same numbers on every architecture but Alpha.

Example:
    >>> abi = landlock_abi()
    >>> abi is None or abi >= 1
    True
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

__all__ = [
    "READ_DIR",
    "READ_FILE",
    "SCRATCH",
    "add_place",
    "close_handles",
    "create_ruleset",
    "give_up_privileges",
    "landlock_abi",
    "restrict_this_thread",
]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CLOSE_RANGE = 436  # older than any Landlock that is taken here
_LAST_HANDLE = (1 << 32) - 1
_ASK_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38

_WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_TRUNCATE = 1 << 14
# What a folder for temporary files needs; never to execute, nor links, devices or sockets.
SCRATCH = (
    READ_FILE
    | READ_DIR
    | _WRITE_FILE
    | _REMOVE_DIR
    | _REMOVE_FILE
    | _MAKE_DIR
    | _MAKE_REG
    | _TRUNCATE
)
# The number of file system rights that an ABI knows: refer came with 2, truncate with 3, ioctl on
# devices with 5.
_FS_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_MOST_FS_RIGHTS = 16
_TCP = 0b11  # bind and connect, from ABI 4 on
_SCOPES = 0b11  # abstract sockets and signals of processes outside, from ABI 6 on


@lru_cache(maxsize=1)
def _libc() -> Any:  # noqa: ANN401 - functions of C have no types of their own
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _system_call(number: int, *arguments: object) -> int:
    """Make one of the three calls; tests put a kernel of their own in its place."""
    call: Callable[..., int] = _libc().syscall
    return call(ctypes.c_long(number), *arguments)


def close_handles(first: int, last: int | None = None) -> None:
    """Close all handles from `first` to `last`, both included; None: to the highest there can be.

    Raises:
        OSError: with the kernel's number.
    """
    end = _LAST_HANDLE if last is None else last
    _checked(
        _libc().syscall(
            ctypes.c_long(_CLOSE_RANGE), ctypes.c_uint(first), ctypes.c_uint(end), ctypes.c_uint(0)
        )
    )


def landlock_abi() -> int | None:
    """Give the version of Landlock that this kernel offers; None where it offers none.

    None also where it is compiled in and switched off, or hidden by a filter of system calls.
    """
    if sys.platform != "linux":
        return None
    found = _system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    return found if found > 0 else None


def create_ruleset(abi: int) -> int:
    """Make a set of rules that forbids all that this ABI can forbid; gives its handle.

    Raises:
        OSError: with the kernel's number.
    """
    rights = (1 << _FS_RIGHTS.get(abi, _MOST_FS_RIGHTS)) - 1
    fields = [rights]
    if abi >= 4:
        fields.append(_TCP)
    if abi >= 6:
        fields.append(_SCOPES)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    return _checked(
        _system_call(
            _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
        )
    )


def add_place(ruleset: int, place: int, rights: int) -> None:
    """Permit `rights` at the file or folder of a handle, and at all that lies below it.

    Raises:
        OSError: with the kernel's number.
    """
    attributes = struct.pack("=Qi", rights, place)
    _checked(
        _system_call(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            attributes,
            ctypes.c_uint32(0),
        )
    )


def give_up_privileges() -> None:
    """See to it that no program that this process starts gets more than it has (setuid).

    Raises:
        OSError: with the kernel's number.
    """
    one, zero = ctypes.c_ulong(1), ctypes.c_ulong(0)
    _checked(_libc().prctl(ctypes.c_int(_SET_NO_NEW_PRIVS), one, zero, zero, zero))


def restrict_this_thread(ruleset: int) -> None:
    """Put the rules into force for this thread and all that it starts from here on.

    Raises:
        OSError: with the kernel's number.
    """
    _checked(_system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
