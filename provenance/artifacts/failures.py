"""Why the store refuses or fails, split by whose fault it is.

Guarantees: no message holds content, a tool's words or a host path.

Example:
    >>> StoreWriteError("store: expected to write, got ENOSPC", 28).code
    'store_write_failed'
"""

from __future__ import annotations

from provenance.errors import CallerError, MachineError

__all__ = ["ContentRefused", "SpillArgumentError", "StoreWriteError", "WindowError"]


class SpillArgumentError(CallerError, ValueError):
    """A session, tool name or call id that the store cannot take; nothing was written."""

    code = "invalid_spill_argument"


class ContentRefused(CallerError, ValueError):
    """Content that a text store cannot hold (no UTF-8), or above the limit; nothing is visible."""

    code = "content_refused"


class WindowError(CallerError, ValueError):
    """A window that cannot exist: an offset, limit or pointer that makes no sense."""

    code = "invalid_window"


class StoreWriteError(MachineError):
    """The disk or file system refused; `errno` says how (0: unknown). Nothing is half there."""

    code = "store_write_failed"

    def __init__(self, message: str, errno: int = 0) -> None:
        super().__init__(message)
        self.errno = errno
