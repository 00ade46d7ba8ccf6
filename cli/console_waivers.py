"""Waivers in the console report: who answers for what, until when.

Guarantees: pure. Every text is one bounded line in which nothing steers a terminal. Every waiver
that was given is told, the first of many one by one and the others by their number.

Example:
    >>> from datetime import date
    >>> waiver = Waiver("lost with the disk", "ops", date(2027, 1, 31), pointer="transcript:s1:3")
    >>> waiver_words(waiver)
    'waived by ops until 2027-01-31: lost with the disk'
"""

from __future__ import annotations

from provenance.audit_report import AuditReport
from provenance.reports import tell_waiver as tell
from provenance.waivers import Waiver, WaiverState

from .console_words import cut, number
from .streams import one_line

__all__ = ["waived_note", "waiver_notes", "waiver_words"]

_MOST_LISTED = 20
_NAME_CHARACTERS = 80
_REASON_CHARACTERS = 200


def waiver_words(waiver: Waiver) -> str:
    """Say who answers for a fault."""
    owner = cut(one_line(waiver.owner), _NAME_CHARACTERS)
    reason = cut(one_line(waiver.reason), _REASON_CHARACTERS)
    return f"waived by {owner} until {waiver.expires.isoformat()}: {reason}"


def waiver_notes(report: AuditReport) -> list[str]:
    """Name all waivers that were given, those that are over first."""
    given = sorted(report.given_waivers, key=lambda pair: pair[1] is not WaiverState.EXPIRED)
    notes = []
    for waiver, state in given:
        told = tell(waiver, state)
        told = told._replace(
            covers=cut(one_line(told.covers), _REASON_CHARACTERS),
            reason=cut(one_line(told.reason), _REASON_CHARACTERS),
            owner=cut(one_line(told.owner), _NAME_CHARACTERS),
        )
        notes.append(f"Waiver, {told.plain}")
    more = len(notes) - _MOST_LISTED
    return notes[:_MOST_LISTED] + ([f"Waivers, more: {more}; see --format json"] * (more > 0))


def waived_note(report: AuditReport) -> str:
    """Say how much a waiver covers; empty where none does."""
    sources = report.summary.waived
    findings = sum(report.waived_counts.values())
    if not (sources or findings):
        return ""
    covered = f"{number(sources, 'source')}, {number(findings, 'finding')}"
    return f"Covered by waivers, and not counted for the exit code: {covered}."
