"""Entries of a ledger, for Hypothesis."""

from __future__ import annotations

from datetime import UTC

from hypothesis import strategies as st

from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent
from provenance.artifacts.names import encode_name

__all__ = ["ledger_entries"]

_DIGESTS = st.text(alphabet="0123456789abcdef", min_size=64, max_size=64)
_NOTES = st.none() | st.text(max_size=30)


@st.composite
def ledger_entries(
    draw: st.DrawFn, *, events: tuple[LedgerEvent, ...] = tuple(LedgerEvent)
) -> LedgerEntry:
    """Any valid entry."""
    event = draw(st.sampled_from(events))
    length = draw(st.integers(1, 50))
    size = draw(st.integers(0, 200))
    count = -(-size // length)
    if event is not LedgerEvent.STORED and draw(st.booleans()):
        count = 0
    rooms = [min(length, size - number * length) for number in range(count)]
    return LedgerEntry(
        event=event,
        filename=encode_name(draw(st.text(max_size=20))),
        sha256=draw(_DIGESTS),
        blake3=draw(_DIGESTS),
        bytes=size,
        segment_bytes=length,
        segments=tuple(draw(_DIGESTS) for _ in rooms),
        segment_lines=tuple(draw(st.integers(0, room)) for room in rooms),
        tool=draw(_NOTES),
        call_id=draw(_NOTES),
        recorded_at=draw(st.datetimes(timezones=st.just(UTC))).isoformat(),
        reason=draw(_NOTES),
    )
