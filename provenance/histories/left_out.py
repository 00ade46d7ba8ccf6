"""What of a transcript is no part of its messages, counted by why.

Guarantees: bounded, whatever kinds of records a file makes up. A reason is a word of ours, or the
format's own name for a kind of record.

Example:
    >>> left_out = LeftOut()
    >>> left_out.add("progress")
    >>> left_out.counts()
    {'progress': 1}
"""

from __future__ import annotations

from collections import Counter

__all__ = [
    "API_ERROR",
    "DAMAGED",
    "META",
    "NO_MESSAGE",
    "OTHER_SESSION",
    "REPEATED",
    "REWOUND",
    "SUB_AGENT",
    "SUMMARY",
    "UPDATED",
    "LeftOut",
]

META = "meta"
"""What a harness put into the conversation for itself."""
SUMMARY = "summary"
"""What stands for messages that are in the transcript too."""
SUB_AGENT = "sub-agent"
"""Another conversation in the same log."""
API_ERROR = "api-error"
"""What the harness said in the place of an answer that it did not get."""
REPEATED = "repeated"
"""The same record again, byte for byte."""
NO_MESSAGE = "no-message"
"""A record of the conversation that holds no message."""
OTHER_SESSION = "other-session"
"""A record of another session than the one that was asked for."""
REWOUND = "rewound"
"""A message that was taken back."""
UPDATED = "updated"
"""A message that was written again later."""
DAMAGED = "damaged"
"""A line or row that holds no whole record."""

_MOST_REASONS = 100
_LONGEST_REASON = 60
_OTHERS = "(others)"


class LeftOut:
    """Counts what is left out."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counts: Counter[str] = Counter()

    def add(self, reason: str) -> None:
        """Count one record."""
        name = reason[:_LONGEST_REASON]
        if name not in self._counts and len(self._counts) >= _MOST_REASONS:
            name = _OTHERS
        self._counts[name] += 1

    def counts(self) -> dict[str, int]:
        """Give how many records were left out, by why, sorted."""
        return dict(sorted(self._counts.items()))
