"""Times with a zone: text that is kept as given, and the instant that it denotes.

Guarantees: one strict shape decides, the same on every Python: date and time of ISO 8601 in
extended or basic form, separated by `T` or a space, with `Z` or a numeric offset. Instants compare
exactly across zones and to the last digit of a fraction, also at the ends of the calendar.

Example:
    >>> instant_of("2026-01-01T10:00:00+02:00") == instant_of("2026-01-01T08:00:00.0Z")
    True
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from provenance.durable.failures import DurableTypeError, DurableValueError

__all__ = ["TIME_SCHEMA_PATTERN", "Instant", "instant_of", "require_time"]

# The longest useful text has 9 fraction digits and 35 characters; a longer one is no time.
_MAX_CHARS = 64
_DATE = r"([0-9]{4})(-)?(0[1-9]|1[0-2])(?(2)-)(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"([01][0-9]|2[0-3])(?(2):)([0-5][0-9])(?:(?(2):)([0-5][0-9])(?:[.,]([0-9]+))?)?"
_ZONE = r"(?:(Z)|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)"
_match_time = re.compile(f"{_DATE}[T ]{_CLOCK}{_ZONE}").fullmatch
_match_time_without_zone = re.compile(f"{_DATE}(?:[T ]{_CLOCK})?").fullmatch

# What the published JSON Schema can say of the shape; `require_time` is the judge.
TIME_SCHEMA_PATTERN = (
    r"^[0-9]{4}-?[0-9]{2}-?[0-9]{2}[T ][0-9]{2}:?[0-9]{2}(:?[0-9]{2}([.,][0-9]+)?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
)


class Instant(NamedTuple):
    """A point in time that compares with others.

    Attributes:
        seconds: whole seconds since the start of 1 January of year 1, UTC; may be negative.
        fraction: digits of the fraction without trailing zeros, so that text order is order.
    """

    seconds: int
    fraction: str


def require_time(value: object, field: str) -> str:
    """Give back `value` as it is, if it is a date and time with a zone.

    Args:
        value: what the caller gave.
        field: its name, for the message.

    Raises:
        DurableTypeError: it is not a `str`.
        DurableValueError: it is no such time; without a zone the message says "must include a
            timezone".
    """
    if not isinstance(value, str):
        raise DurableTypeError(f"{field}: expected text, got {type(value).__name__}")
    text = str.__str__(value)
    _parse(text, field)
    return text


def instant_of(text: str) -> Instant:
    """Give the instant of a text that `require_time` accepts; raises as it does for others."""
    return _parse(text, "time")


def _parse(text: str, field: str) -> Instant:
    if len(text) > _MAX_CHARS:
        raise DurableValueError(
            f"{field}: expected a time of at most {_MAX_CHARS} characters, got {len(text)}"
        )
    match = _match_time(text)
    if match is None:
        if _match_time_without_zone(text):
            raise DurableValueError(f"{field}: must include a timezone, got {text!a}")
        raise DurableValueError(
            f"{field}: expected an ISO 8601 date and time with a zone, got {text!a}"
        )
    year, _, month, day, hour, minute, second, fraction, _, sign, off_hour, off_minute = (
        match.groups()
    )
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError as error:
        raise DurableValueError(f"{field}: expected a day of the calendar, got {text!a}") from error
    # Whole numbers instead of datetime: converting 0001-01-01T00:00+14:00 to UTC overflows there.
    offset = int(off_hour or 0) * 3600 + int(off_minute or 0) * 60
    seconds = days * 86_400 + int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    seconds += offset if sign == "-" else -offset
    return Instant(seconds, (fraction or "").rstrip("0"))
