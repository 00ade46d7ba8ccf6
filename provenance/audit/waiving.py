"""Which waivers cover what in one run, which ones are over, and which ones nothing needed.

Guarantees: a waiver counts to the end of its last day in UTC, by the clock that was passed in, and
not a moment longer. One that is over covers nothing and is an error of the run. What a waiver
covers is told by its own pointer, or by the code and the target of a finding, and by nothing else.

Example:
    >>> from datetime import date
    >>> entry = WaiverEntry(Waiver("lost", "ops", date(2026, 1, 31), pointer="transcript:s1:3"))
    >>> WaiverBook([entry], today=date(2026, 1, 31)).of_source("transcript:s1:3").owner
    'ops'
    >>> WaiverBook([entry], today=date(2026, 2, 1)).of_source("transcript:s1:3") is None
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from provenance.findings import Finding, Location, Severity
from provenance.pointers import canonical_text
from provenance.waivers import NEVER_WAIVED, Waiver, WaiverEntry, WaiverState

__all__ = ["WaiverBook"]


class WaiverBook:
    """The waivers of one run; remembers which ones covered something."""

    def __init__(self, entries: Iterable[WaiverEntry] = (), *, today: date = date.min) -> None:
        """Take the waivers and the day it is in UTC."""
        self._entries = tuple(entries)
        self._today = today
        live = [one.waiver for one in self._entries if one.waiver.expires >= today]
        self._sources = {
            (canonical_text(one.pointer), one.target): one
            for one in live
            if one.pointer is not None
        }
        self._findings = {(one.code, one.target): one for one in live if one.pointer is None}
        self._used: set[Waiver] = set()

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """All of them, also those that are over, in the order of their file."""
        return tuple(one.waiver for one in self._entries)

    def states(self, *, is_whole: bool) -> tuple[WaiverState, ...]:
        """Say what became of each waiver, as `findings`."""
        return tuple(self._state(one.waiver, is_whole=is_whole) for one in self._entries)

    def _state(self, waiver: Waiver, *, is_whole: bool) -> WaiverState:
        if waiver.expires < self._today:
            return WaiverState.EXPIRED
        if waiver in self._used:
            return WaiverState.USED
        return WaiverState.UNUSED if is_whole else WaiverState.NOT_KNOWN

    def of_source(self, pointer: str, target: str = "") -> Waiver | None:
        """Give the waiver of a source that is not available; None: nobody answers for it.

        Args:
            pointer: as it is cited.
            target: what the report calls the target that it is cited in; the waiver that names it
                goes before the one that names none.
        """
        if not self._sources:
            return None
        text = canonical_text(pointer)
        tied = self._sources.get((text, target)) if target else None
        return self._take(tied or self._sources.get((text, None)))

    def of_finding(self, code: str, target: str) -> Waiver | None:
        """Give the waiver of findings of a code at a target; None: nobody answers for them."""
        if not self._findings or code in NEVER_WAIVED:
            return None
        return self._take(self._findings.get((code, target)))

    def findings(self, file: str, *, is_whole: bool) -> Iterator[Finding]:
        """Say what is wrong with the waivers themselves, once all is verified.

        Args:
            file: what to call their file.
            is_whole: everything was checked; else nobody knows whether one is needed.
        """
        for waiver, number, line in self._entries:
            place = Location(line=line)
            state = self._state(waiver, is_whole=is_whole)
            if state is WaiverState.EXPIRED:
                yield Finding(
                    "waiver_expired",
                    Severity.ERROR,
                    file,
                    place,
                    f"waiver {number}: expires: expected a day that is not over, got "
                    f"{waiver.expires.isoformat()} ({waiver.covers}; owner: {waiver.owner})",
                )
            elif state is WaiverState.UNUSED:
                yield Finding(
                    "waiver_unused",
                    Severity.INFO,
                    file,
                    place,
                    f"waiver {number}: expected something that it covers, got nothing "
                    f"({waiver.covers}; owner: {waiver.owner})",
                )

    def _take(self, waiver: Waiver | None) -> Waiver | None:
        if waiver is not None:
            self._used.add(waiver)
        return waiver
