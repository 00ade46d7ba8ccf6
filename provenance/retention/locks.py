"""Whether a lock file can be read as what it is (`ctxaudit.lock/1`).

Guarantees: only a lock file that is whole counts as read. A merge conflict, a newer schema or a cut
file is none.

Example:
    >>> require_lock(b"<<<<<<< ours")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    provenance.retention.locks.LockUnreadable: expected a lock file, got ... in line 1
"""

from __future__ import annotations

from provenance.errors import DataError
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.locks import LockError, parse_lock

__all__ = ["LOCK_NAME", "LockUnreadable", "require_lock"]

LOCK_NAME = "ctxaudit.lock"


class LockUnreadable(DataError):
    """A lock file is there and nobody can say what it pins."""

    code = "lock_unreadable"


def require_lock(data: bytes, *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Refuse what is no lock file.

    Raises:
        LockUnreadable: the message says which field.
    """
    try:
        parse_lock(data, max_bytes=limits.max_document_bytes)
    except LockError as error:
        raise LockUnreadable(str(error)) from None
