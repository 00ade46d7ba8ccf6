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

from .console_view import ConsoleView, Row

__all__ = ["write_plain"]

_STATE_WIDTH = len("inconclusive")


def write_plain(view: ConsoleView, *, quiet: bool) -> str:
    """Lay a report out as plain lines; `quiet` leaves out all but what is wrong and the counts."""
    return "\n".join(_lines(view, quiet=quiet)) + "\n"


def _lines(view: ConsoleView, *, quiet: bool) -> Iterator[str]:
    if not quiet:
        yield view.title
        yield ""
    rows = [row for row in view.rows if not (quiet and row.state == "available")]
    for row in rows:
        yield from _row_lines(row)
    if view.more_available and not quiet:
        yield f"{'available':{_STATE_WIDTH}}  ... and {view.more_available} more"
    for finding in view.findings:
        yield f"{finding.severity:{_STATE_WIDTH}}  {finding.code}  {finding.text}"
    if not quiet:
        yield from _explanations(view)
    if not quiet and rows:
        yield ""
    yield from view.notes
    yield view.counts
    yield view.verdict


def _row_lines(row: Row) -> Iterator[str]:
    indent = " " * (_STATE_WIDTH + 2)
    yield f"{row.state:{_STATE_WIDTH}}  {row.pointer}"
    strength = f" ({row.strength})" if row.strength else ""
    yield f"{indent}{row.reason}{strength}: {row.found}"
    if row.place and row.state != "available":
        yield f"{indent}look at: {row.place}"
    for claim in row.claims:
        yield f"{indent}rests on it: {claim}"
    if row.more_claims:
        yield f"{indent}rests on it: ... and {row.more_claims} more"


def _explanations(view: ConsoleView) -> Iterator[str]:
    if view.more_findings:
        yield f"{'info':{_STATE_WIDTH}}  {view.more_findings} more findings: see --format json"
    if view.transcripts:
        yield ""
        yield "Transcripts that were checked whole"
        for line in view.transcripts:
            yield f"  {line}"
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
