"""The console report for a pipe, a file or a log: plain lines, the same on every machine.

Guarantees: no colour, no boxes, no width that depends on a terminal. A source begins a line with
its state; whatever belongs to it is indented below it.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> from .console_view import view_of
    >>> from .exit_codes import ExitCode
    >>> write_plain(view_of(AuditReport(), ExitCode.NOTHING_VERIFIED), quiet=True).splitlines()[-1]
    'Exit code 3. Nothing was verified: there was nothing to verify.'
"""

from __future__ import annotations

from collections.abc import Iterator

from .console_faults import HINT, FaultGroup
from .console_transcripts import FileRow, TranscriptsView
from .console_view import ConsoleView, Row
from .console_words import number

__all__ = ["write_plain"]

_STATE_WIDTH = len("inconclusive")
_INDENT = " " * (_STATE_WIDTH + 2)
_NAME_WIDTH = len("unknown types")


def write_plain(view: ConsoleView, *, quiet: bool) -> str:
    """Lay a report out as plain lines; `quiet` leaves out all but what is wrong and the counts."""
    return "\n".join(_lines(view, quiet=quiet)) + "\n"


def _lines(view: ConsoleView, *, quiet: bool) -> Iterator[str]:
    if not quiet:
        yield view.title
        if view.rows or view.findings or view.groups or not view.transcripts:
            yield ""
    rows = [row for row in view.rows if not (quiet and row.state == "available")]
    for row in rows:
        yield from _row_lines(row)
    if view.more_available and not quiet:
        yield f"{'available':{_STATE_WIDTH}}  ... and {view.more_available} more"
    for finding in view.findings:
        yield f"{finding.severity:{_STATE_WIDTH}}  {finding.code}  {finding.text}"
    for group in view.groups:
        yield from _group_lines(group, quiet=quiet)
    if not quiet:
        if view.groups:
            yield f"{_INDENT}{HINT}"
        yield from _explanations(view)
    if view.transcripts is not None:
        yield from _transcript_lines(view.transcripts, quiet=quiet)
    if not quiet and (rows or view.transcripts is not None or view.groups):
        yield ""
    yield from view.notes
    if view.counts:
        yield view.counts
    yield view.verdict


def _row_lines(row: Row) -> Iterator[str]:
    yield f"{row.state:{_STATE_WIDTH}}  {row.pointer}"
    strength = f" ({row.strength})" if row.strength else ""
    yield f"{_INDENT}{row.reason}{strength}: {row.found}"
    if row.place and row.state != "available":
        yield f"{_INDENT}look at: {row.place}"
    if row.waiver:
        yield f"{_INDENT}{row.waiver}"
    for claim in row.claims:
        yield f"{_INDENT}rests on it: {claim}"
    if row.more_claims:
        yield f"{_INDENT}rests on it: ... and {row.more_claims} more"


def _group_lines(group: FaultGroup, *, quiet: bool) -> Iterator[str]:
    meaning = f": {group.meaning}" if group.meaning and not quiet else ""
    yield f"{group.severity:{_STATE_WIDTH}}  {group.code}  {group.count}{meaning}"
    for place in group.places:
        message = f": {place.message}" if place.message else ""
        yield f"{_INDENT}{place.variants()[0]}{message}"


def _transcript_lines(view: TranscriptsView, *, quiet: bool) -> Iterator[str]:
    if view.references and not quiet:
        yield ""
        yield "What its records refer to"
        for reference in view.references:
            yield f"  {reference.state:{_STATE_WIDTH}}  {reference.place}: {reference.message}"
        if view.more_references:
            yield f"  ... and {view.more_references:,} more: see --format json"
    if view.files and not quiet:
        yield ""
        yield view.title
        for row in view.files:
            yield f"  {_file_line(row)}"
        if more := view.more_files(len(view.files)):
            yield f"  {more}"
    if not quiet:
        yield ""
        yield "All together"
    for name, value in view.totals:
        yield f"  {name:{_NAME_WIDTH}}  {value}"


def _file_line(row: FileRow) -> str:
    time = f", {row.first} to {row.last}" if row.first or row.last else ""
    return (
        f"{row.name}: {row.format}, {row.sessions}, {row.records}, {row.calls}, {row.results}"
        f"{time}; faults: {row.faults}"
    )


def _explanations(view: ConsoleView) -> Iterator[str]:
    if view.more_findings:
        more = number(view.more_findings, "more finding")
        yield f"{'info':{_STATE_WIDTH}}  {more}: see --format json"
    if view.legend:
        yield ""
        yield "What the states mean"
        for state, meaning in view.legend:
            yield f"  {state:{_STATE_WIDTH}}  {meaning}"
    if view.advice:
        yield ""
        yield "What to do next (more: ctxaudit explain CODE)"
        for code, remedy in view.advice:
            yield f"  {code}: {remedy}"
