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
from provenance.waiver_file import NEVER_WAIVED, WaiverEntry
from provenance.waivers import Waiver

__all__ = ["WaiverBook"]


class WaiverBook:
    """The waivers of one run; remembers which ones covered something."""

    def __init__(self, entries: Iterable[WaiverEntry] = (), *, today: date = date.min) -> None:
        """Take the waivers and the day it is in UTC."""
        self._entries = tuple(entries)
        self._today = today
        live = [one.waiver for one in self._entries if one.waiver.expires >= today]
        self._sources = {
            canonical_text(one.pointer): one for one in live if one.pointer is not None
        }
        self._findings = {(one.code, one.target): one for one in live if one.pointer is None}
        self._used: set[Waiver] = set()

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """All of them, also those that are over, in the order of their file."""
        return tuple(one.waiver for one in self._entries)

    def of_source(self, pointer: str) -> Waiver | None:
        """Give the waiver of a source that is not available; None: nobody answers for it."""
        return self._take(self._sources.get(canonical_text(pointer))) if self._sources else None

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
            if waiver.expires < self._today:
                yield Finding(
                    "waiver_expired",
                    Severity.ERROR,
                    file,
                    place,
                    f"waiver {number}: expires: expected a day that is not over, got "
                    f"{waiver.expires.isoformat()} ({_covered(waiver)}; owner: {waiver.owner})",
                )
            elif is_whole and waiver not in self._used:
                yield Finding(
                    "waiver_unused",
                    Severity.INFO,
                    file,
                    place,
                    f"waiver {number}: expected something that it covers, got nothing "
                    f"({_covered(waiver)}; owner: {waiver.owner})",
                )

    def _take(self, waiver: Waiver | None) -> Waiver | None:
        if waiver is not None:
            self._used.add(waiver)
        return waiver


def _covered(waiver: Waiver) -> str:
    return waiver.pointer if waiver.pointer is not None else f"{waiver.code} at {waiver.target}"
