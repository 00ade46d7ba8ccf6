"""What is refused about a history.

Guarantees: one line, "field: expected X, got Y", with no text of any message.

Example:
    >>> issubclass(HistoryError, ValueError)
    True
"""

from __future__ import annotations

from provenance.errors import DataError

__all__ = ["HistoryError"]


class HistoryError(DataError, ValueError):
    """A file or transcript gives no list of messages."""

    code = "history_invalid"
