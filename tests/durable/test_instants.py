"""Times: one strict shape, a zone, and an exact order."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable.failures import DurableTypeError, DurableValueError
from provenance.durable.instants import instant_of, require_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T09:00:00Z",
        "2026-01-01T09:00:00+00:00",
        "2026-01-01T09:00:00-00:00",
        "2026-01-01T09:00:00+08:00",
        "2026-01-01T09:00:00+0800",
        "2026-01-01T09:00:00+08",
        "2026-01-01T09:00Z",
        "2026-01-01 09:00:00Z",
        "2026-01-01T09:00:00.5Z",
        "2026-01-01T09:00:00,123456789Z",
        "20260101T090000Z",
        "20260101T0900+0100",
        "2024-02-29T23:59:59-23:59",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_a_time_with_a_zone_is_kept_as_given(text: str) -> None:
    assert require_time(text, "captured_at") is text


@pytest.mark.parametrize(
    "text",
    ["2026-01-01T09:00:00", "2026-01-01 09:00", "20260101T090000", "2026-01-01", "20260101"],
)
def test_a_time_without_a_zone_is_refused_as_such(text: str) -> None:
    with pytest.raises(DurableValueError, match="captured_at: must include a timezone"):
        require_time(text, "captured_at")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "soon",
        "Z",
        " 2026-01-01T09:00:00Z",
        "2026-01-01T09:00:00Z\n",
        "2026-01-01T09:00:00 Z",
        "2026-01-01T09:00:00z",
        "2026-01-01t09:00:00Z",
        "2026-01-01x09:00:00Z",
        "2026-01-01T09:00:00ZZ",
        "2026-01-01T09:00:00Z+00:00",
        "2026-01-01T9:00:00Z",
        "2026-01-01T09Z",
        "2026-01-01T09:00:00.Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T09:60:00Z",
        "2026-01-01T09:00:60Z",
        "2026-01-01T09:00:00+24:00",
        "2026-01-01T09:00:00+00:60",
        "2026-01-01T09:00:00+00:00:30",
        "2026-01-01T09:00:00\u221208:00",
        "2026-01T09:00:00Z",
        "2026-0101T09:00:00Z",
        "2026-01-01T0900Z",
        "20260101T09:00Z",
        "2026-W01-4T09:00:00Z",
        "2026-001T09:00:00Z",
        "2026-00-01T09:00:00Z",
        "2026-13-01T09:00:00Z",
        "2026-02-29T09:00:00Z",
        "2026-04-31T09:00:00Z",
        "0000-01-01T00:00:00Z",
        "12026-01-01T09:00:00Z",
        "\u0662\u0660\u0662\u0666-01-01T09:00:00Z",
        "2026-01-01T09:00:00\ud800Z",
        "2026-01-01T09:00:00." + "1" * 60 + "Z",
        "2026-01-01T09:00:00." + "1" * 100_000 + "Z",
    ],
)
def test_another_shape_is_refused_in_one_short_line(text: str) -> None:
    with pytest.raises(DurableValueError, match=r"^captured_at: expected") as caught:
        require_time(text, "captured_at")
    message = str(caught.value)
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 600


@pytest.mark.parametrize("value", [None, 3, True, b"2026-01-01T09:00:00Z", date(2026, 1, 1), ["x"]])
def test_what_is_no_text_is_refused_by_type(value: object) -> None:
    with pytest.raises(DurableTypeError, match="captured_at: expected text, got"):
        require_time(value, "captured_at")


class _Sly(str):
    __slots__ = ()

    def __len__(self) -> int:
        return 1


def test_of_a_subclass_of_str_its_plain_text_is_kept() -> None:
    kept = require_time(_Sly("2026-01-01T09:00:00Z"), "captured_at")
    assert type(kept) is str
    assert kept == "2026-01-01T09:00:00Z"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2026-01-01T17:59:59+08:00", "2026-01-01T10:00:00Z"),
        ("2026-01-02T00:00:00+14:00", "2026-01-01T11:00:00Z"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.000000001Z"),
        ("2026-01-01T10:00:00.09Z", "2026-01-01T10:00:00.1Z"),
        ("2026-01-01T10:00:00.1Z", "2026-01-01T10:00:00.1000001Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00"),
    ],
)
def test_instants_compare_across_zones_and_to_the_last_digit(earlier: str, later: str) -> None:
    assert instant_of(earlier) < instant_of(later)


@pytest.mark.parametrize(
    "text", ["2026-01-01T18:00:00+08:00", "2026-01-01T10:00Z", "20260101T100000,000Z"]
)
def test_one_instant_has_many_texts(text: str) -> None:
    assert instant_of(text) == instant_of("2026-01-01T10:00:00Z")


_OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
_MOMENTS = st.datetimes(
    datetime(2, 1, 1),  # noqa: DTZ001 - the bounds of Hypothesis have no zone
    datetime(9998, 12, 31),  # noqa: DTZ001 - likewise
    timezones=_OFFSETS,
)


@given(_MOMENTS, _MOMENTS)
def test_the_order_is_that_of_datetime(one: datetime, other: datetime) -> None:
    left, right = instant_of(one.isoformat()), instant_of(other.isoformat())
    assert (left < right) == (one < other)
    assert (left == right) == (one == other)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_one_error(text: str) -> None:
    try:
        kept = require_time(text, "captured_at")
    except DurableValueError:
        return
    assert kept == text
