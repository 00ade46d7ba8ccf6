"""The waivers of a run in words and as JSON, for every report that lists them.

Guarantees: pure. Each waiver that was given is told, also one that is over or covered nothing, and
is called that. The texts are as they came: each format escapes them.

Example:
    >>> from datetime import date
    >>> told = tell(Waiver("lost", "ops", date(2026, 1, 31), pointer="p"), WaiverState.EXPIRED)
    >>> told.state, told.until, told.plain
    ('expired', '2026-01-31', 'expired: p: lost (owner: ops, last day: 2026-01-31)')
"""

from __future__ import annotations

from typing import NamedTuple

from provenance.waivers import Waiver, WaiverState

__all__ = ["ToldWaiver", "given_waiver", "tell"]

_STATES = {
    WaiverState.USED: "in force",
    WaiverState.UNUSED: "unused",
    WaiverState.EXPIRED: "expired",
    WaiverState.NOT_KNOWN: "not known whether used",
}


class ToldWaiver(NamedTuple):
    """One waiver, in parts that a format puts together.

    Attributes:
        state: what became of it, in our words.
        covers: the pointer, or the code and the target.
        reason: why the fault is accepted.
        owner: who answers for it.
        until: the last day on which it counts.
    """

    state: str
    covers: str
    reason: str
    owner: str
    until: str

    @property
    def plain(self) -> str:
        """Give all of it as plain text."""
        return (
            f"{self.state}: {self.covers}: {self.reason} (owner: {self.owner}, last day: "
            f"{self.until})"
        )


def tell(waiver: Waiver, state: WaiverState) -> ToldWaiver:
    """Put a waiver into words."""
    return ToldWaiver(
        _STATES[state], waiver.covers, waiver.reason, waiver.owner, waiver.expires.isoformat()
    )


def given_waiver(waiver: Waiver, state: WaiverState) -> dict[str, object]:
    """Give a waiver with what became of it, as the JSON object of a report."""
    return {**waiver.to_dict(), "state": str(state)}
