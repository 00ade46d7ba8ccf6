"""What root may do beside others: given up for good.

Guarantees: after `drop_capabilities` this process and all that it starts have no capability but
those of `KEPT` that it had, and can get none. Kept are the ones that decide which evidence can be
read, so that root reads the same confined: what they open, Landlock judges all the same. Structures
are those of `linux/capability.h`.

Example:
    >>> KEPT == 1 << 2 | 1 << 28
    True
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

__all__ = ["KEPT", "drop_capabilities"]

# CAP_DAC_READ_SEARCH: files of others; CAP_LEASE: the guard that holds while they are read.
KEPT = 1 << 2 | 1 << 28
_VERSION_3 = 0x2008_0522
_BOUNDS_DROP, _SET_DUMPABLE = 24, 4  # prctl
_MOST = 64


def drop_capabilities() -> None:
    """Give up capabilities, and let no other process of the same user look into this one.

    Raises:
        OSError: the kernel refused, with its number.
    """
    library: Any = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    # The bounding set first: that takes a capability itself. Without it there is nothing to bound.
    for number in range(_MOST):
        if library.prctl(_BOUNDS_DROP, ctypes.c_ulong(number), zero, zero, zero):
            break
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(24)
    _require(library.capget(header, data))
    _, low, _, _, high, _ = struct.unpack("=6I", data.raw)  # effective, permitted, inheritable
    low, high = low & KEPT, high & KEPT >> 32
    # The ambient ones follow.
    kept = struct.pack("=6I", low, low, 0, high, high, 0)
    _require(library.capset(header, ctypes.create_string_buffer(kept, len(kept))))
    _require(library.prctl(_SET_DUMPABLE, zero, zero, zero, zero))


def _require(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
