"""Whether a lock file can be read as what it is (`ctxaudit.lock/1`).

Guarantees: only a lock file that is whole counts as read: strict JSON, its schema, entries that
each name a well-formed pointer. A merge conflict, a newer schema or a cut file is none.

Example:
    >>> require_lock(b'{"schema":"ctxaudit.lock/1","entries":[{"pointer":"transcript:s1:1"}]}')
    >>> require_lock(b"<<<<<<< ours")
    Traceback (most recent call last):
    provenance.retention.locks.LockUnreadable: file: expected JSON, got something else
"""

from __future__ import annotations

from provenance.errors import DataError
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import SourcePointerError, parse_source_pointer
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["LOCK_NAME", "LockUnreadable", "require_lock"]

LOCK_NAME = "ctxaudit.lock"
_SCHEMA = "ctxaudit.lock/1"


class LockUnreadable(DataError):
    """A lock file is there and nobody can say what it pins."""

    code = "lock_unreadable"


def require_lock(data: bytes, *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Refuse what is no lock file.

    Raises:
        LockUnreadable: the message says which field.
    """
    try:
        value = parse_strict(data, max_nesting=limits.max_nesting)
    except (NotStrictJson, UnicodeDecodeError):
        raise LockUnreadable("file: expected JSON, got something else") from None
    if not isinstance(value, dict):
        raise LockUnreadable("file: expected a JSON object, got something else")
    if value.get("schema") != _SCHEMA:
        raise LockUnreadable(f"schema: expected {_SCHEMA}, got another")
    entries = value.get("entries")
    if not isinstance(entries, list):
        raise LockUnreadable("entries: expected an array, got something else")
    for number, entry in enumerate(entries, 1):
        pointer = entry.get("pointer") if isinstance(entry, dict) else None
        try:
            if not isinstance(pointer, str):
                raise SourcePointerError("pointer: expected text")
            parse_source_pointer(pointer)
        except SourcePointerError:
            raise LockUnreadable(
                f"entries: {number}: pointer: expected a source pointer, got something else"
            ) from None
