"""The sources of a report as the page shows them: numbered, with the worst first.

Guarantees: pure. A row's number is its source's place in the report, so that ids on the page are
made of numbers alone. A page lists the first `MOST_ROWS`, and links to no other. The order is the
same for the same report: worst state first, waived sources after those that count, then by pointer.

Example:
    >>> [state for state in STATES if state != "available"][0]
    'corrupt'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from provenance.audit_report import AuditedSource, AuditReport
from provenance.pointers import SourcePointerError, parse_source_pointer

__all__ = [
    "MOST_ROWS",
    "STATES",
    "Describe",
    "Row",
    "describe_or_blank",
    "rows_of",
    "state_of",
    "targets_of",
]

# Gives what a code means, how it arises and what to do about it; None for a code without a page.
Describe = Callable[[str], tuple[str, str, str] | None]

# A page of 10,000 has some 9 MB and opens in about two seconds; one of 100,000 opened in none.
MOST_ROWS = 20_000

# Worst first. `inconclusive` is no state of a source, but it is one of a check.
STATES = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")
_RANK = {state: rank for rank, state in enumerate(STATES)}


class Row(NamedTuple):
    """One source.

    Attributes:
        number: its place in the report, from 1; `r<number>` is its id on the page.
        state: one of `STATES`.
        source: what was found.
        session: whose it is; None where the pointer is not of the grammar.
        ordinal: which record of the session's transcript; None for an artifact.
        target: the named target that it belongs to; empty where there is one alone.
        is_listed: whether the table has it; else nothing links to it.
    """

    number: int
    state: str
    source: AuditedSource
    session: str | None
    ordinal: int | None
    target: str = ""
    is_listed: bool = True

    @property
    def is_fault(self) -> bool:
        """Say whether it is anything but available."""
        return self.state != "available"


def state_of(source: AuditedSource) -> str:
    """Give the one of `STATES` that a source is counted under."""
    answer = source.resolution
    return str(answer.status) if answer.conclusive else "inconclusive"


def rows_of(report: AuditReport) -> tuple[Row, ...]:
    """Give the rows, the worst first."""
    target_of = targets_of(report)
    rows = sorted(
        (_row(number, source, target_of) for number, source in enumerate(report.sources, 1)),
        key=_order,
    )
    rest = (row._replace(is_listed=False) for row in rows[MOST_ROWS:])
    return (*rows[:MOST_ROWS], *rest)


def targets_of(report: AuditReport) -> Callable[[str], str]:
    """Give what tells a file's target, where several were named: two may hold one session."""
    if len(report.targets) < 2:
        return lambda file: ""
    # The longest first: a target may lie below another.
    named = sorted(report.targets, key=len, reverse=True)
    return lambda file: next(
        (name for name in named if file == name or file.startswith(f"{name}/")), ""
    )


def describe_or_blank(describe: Describe, code: str) -> tuple[str, str, str]:
    """Give the texts of a code, empty ones where it has no page."""
    return describe(code) or ("", "", "")


def _row(number: int, source: AuditedSource, target_of: Callable[[str], str]) -> Row:
    target = target_of(source.cited_by[0].file) if source.cited_by else ""
    try:
        pointer = parse_source_pointer(source.resolution.pointer)
    except SourcePointerError:
        return Row(number, state_of(source), source, None, None, target)
    ordinal = pointer.sequence if pointer.artifact_name is None else None
    return Row(number, state_of(source), source, pointer.session_id, ordinal, target)


def _order(row: Row) -> tuple[int, bool, int]:
    return _RANK[row.state], row.source.waiver is not None, row.number
