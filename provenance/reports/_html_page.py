"""What every section of the page is made from, worked out once.

Guarantees: pure. Findings are grouped by code, the gravest first; a code that was counted and of
which nothing is listed has a group too. A group's number is its id on the page, `c<number>`.

Example:
    >>> groups_of(AuditReport(finding_counts={"hard_link": 3}))[0].count
    3
"""

from __future__ import annotations

from dataclasses import dataclass

from provenance.audit_report import AuditReport
from provenance.findings import Finding, Severity
from provenance.reports._html_rows import Describe, Row

__all__ = ["FindingGroup", "Page", "groups_of", "is_about_transcripts", "is_softened"]

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """All findings of one code.

    Attributes:
        number: its place among the groups, from 1.
        code: of the findings.
        severity: the gravest of those listed; `error` where none is listed: one may be.
        count: how many there are.
        listed: those that the report lists.
    """

    number: int
    code: str
    severity: Severity
    count: int
    listed: tuple[Finding, ...]

    @property
    def waived(self) -> int:
        """How many of those listed a waiver covers."""
        return sum(finding.waiver is not None for finding in self.listed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The report with what is known about the run.

    Attributes:
        report: what was found.
        rows: its sources, the worst first.
        groups: its findings.
        describe: gives the texts of a code.
        version: of the tool.
        command: what the operator called, without targets.
        exit_code: of the run.
        verdict: what it stands for, in words.
    """

    report: AuditReport
    rows: tuple[Row, ...]
    groups: tuple[FindingGroup, ...]
    describe: Describe
    version: str
    command: str
    exit_code: int
    verdict: str

    @property
    def has_excerpts(self) -> bool:
        """Say whether evidence is shown on the page."""
        return any(source.resolution.excerpt is not None for source in self.report.sources)


def groups_of(report: AuditReport) -> tuple[FindingGroup, ...]:
    """Group the findings by code, the gravest first, then the most frequent."""
    listed: dict[str, list[Finding]] = {code: [] for code, count in report.finding_counts.items()}
    for finding in report.findings:
        listed.setdefault(finding.code, []).append(finding)
    groups = []
    for code, found in listed.items():
        severity = min((one.severity for one in found), key=_RANK.__getitem__, default=None)
        number = max(report.finding_counts.get(code, 0), len(found))
        if number:
            groups.append((code, severity or Severity.ERROR, number, tuple(found)))
    groups.sort(key=lambda group: (_RANK[group[1]], -group[2], group[0]))
    return tuple(FindingGroup(number, *group) for number, group in enumerate(groups, 1))


def is_about_transcripts(report: AuditReport) -> bool:
    """Say whether transcripts were checked and nothing is cited: no source has a state."""
    return bool(report.transcripts) and not report.summary.total


def is_softened(page: Page) -> bool:
    """Say whether the run passed although something is not as it should be."""
    return page.exit_code == 0 and (
        any(row.is_fault for row in page.rows)
        or any(group.severity is Severity.ERROR for group in page.groups)
        or bool(page.report.not_checked or page.report.transcripts_not_checked)
    )
