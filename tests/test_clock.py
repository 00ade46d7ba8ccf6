"""A clock is handed in, and its times have a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from provenance.clock import ClockError, require_zoned, utc_now


def test_the_default_clock_gives_the_present_in_utc() -> None:
    before = datetime.now(UTC)
    now = utc_now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_every_zone_becomes_utc() -> None:
    moment = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert require_zoned(moment).isoformat() == "2026-03-01T20:00:00+00:00"


class _NoOffset(tzinfo):
    def utcoffset(self, moment: datetime | None) -> None:
        return None


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 2),  # noqa: DTZ001
        datetime(2026, 3, 2, tzinfo=_NoOffset()),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=2))),
        "2026-03-02T09:01:00Z",
        1_772_000_000,
        None,
    ],
)
def test_anything_else_is_refused(moment: object) -> None:
    with pytest.raises(ClockError, match="clock: expected"):
        require_zoned(moment)
