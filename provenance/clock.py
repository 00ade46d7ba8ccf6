"""The time of day as a parameter: whoever writes a time is handed a clock.

Guarantees: nothing reads the time before the clock is called. `require_zoned` gives only times
with a zone, in UTC.

Example:
    >>> from datetime import datetime, timedelta, timezone
    >>> moment = datetime(2026, 3, 2, 11, 1, tzinfo=timezone(timedelta(hours=2)))
    >>> require_zoned(moment).isoformat()
    '2026-03-02T09:01:00+00:00'
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from provenance.errors import CallerError

__all__ = ["Clock", "ClockError", "require_zoned", "utc_now"]

Clock = Callable[[], datetime]


class ClockError(CallerError, ValueError):
    """A clock gave a time without a zone, or no time at all."""

    code = "clock_without_zone"


def utc_now() -> datetime:
    """Give the present time in UTC: the default clock."""
    return datetime.now(UTC)


def require_zoned(moment: object) -> datetime:
    """Give the moment in UTC.

    Raises:
        ClockError: it is no `datetime` with a zone, or lies outside the calendar in UTC.
    """
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise ClockError(f"clock: expected a time with a zone, got {type(moment).__name__}")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ClockError("clock: expected a time in the calendar, got one outside") from error
