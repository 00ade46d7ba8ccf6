"""What every open handle has in common: it is closed once, and a `with` closes it.

Guarantees: closing twice is no error, and never closes a descriptor that somebody else got since.

Example:
    >>> handle = Handle()
    >>> handle.fd = -1
    >>> with handle:
    ...     pass
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

__all__ = ["Handle"]


class Handle:
    """An open descriptor; a context manager that closes it."""

    __slots__ = ("fd",)

    fd: int

    def close(self) -> None:
        """Close the handle; doing so twice is no error."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
