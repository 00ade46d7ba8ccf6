"""Session ids of other agents as pointers can name them (spec 01.5).

Guarantees: pure. A name of the pointer grammar stays as it is; any other text becomes `x-` and the
first 32 hex digits of its SHA-256. No two texts that occur meet.

Example:
    >>> session_name("chat-1"), session_name("a/b")
    ('chat-1', 'x-c14cddc033f64b9dea80ea675cf280a0')
"""

from __future__ import annotations

import hashlib

from provenance.pointers import is_name

__all__ = ["session_name"]

_DIGITS = 32


def session_name(session: str) -> str:
    """Give the session id of a pointer for a session in its format's own words."""
    if is_name(session):
        return session
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return f"x-{digest[:_DIGITS]}"
