"""What the console report says, before it is laid out: the same words for a pipe and a terminal.

Guarantees: pure. Every text is one line in which nothing steers a terminal, whatever the audited
files hold. The worst comes first; within a state, sources are sorted by pointer. What is not listed
is counted. Findings are told one by one while they are few and no transcript was checked whole,
else by code.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> view_of(AuditReport(), ExitCode.NOTHING_VERIFIED).verdict
    'Exit code 3. Nothing was verified: there was nothing to verify.'
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from provenance.audit import find_explanation
from provenance.audit_report import AuditedSource, AuditReport, Citation
from provenance.consequences import Consequence
from provenance.findings import Finding, Severity
from provenance.reports.places import place_of

from .closing import Asked, closing_words
from .console_faults import FaultGroup, fault_groups
from .console_transcripts import TranscriptsView, is_tree, transcripts_view
from .console_waivers import waived_note, waiver_notes, waiver_words
from .exit_codes import ExitCode
from .streams import one_line

__all__ = ["ConsoleView", "FindingLine", "Row", "view_of"]

# Worst first. `inconclusive` is no state of a source, but it is one of a check.
_ORDER = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")
_LISTED_AVAILABLE = 50
_LISTED_CLAIMS = 5
_LISTED_BEYOND = 3
_CLAIM_CHARACTERS = 160
_LISTED_FINDINGS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One source, in words.

    Attributes:
        state: one of the five states, or `inconclusive`.
        pointer: the whole pointer.
        reason: its code.
        found: what the reason means, in a sentence.
        place: where to look below the roots; empty where nothing lies anywhere.
        strength: what an available source proves; empty otherwise.
        waiver: who answers for it; empty where nobody does.
        claims: what rests on it, the first few.
        more_claims: how many more there are.
    """

    state: str
    pointer: str
    reason: str
    found: str
    place: str
    strength: str
    waiver: str
    claims: tuple[str, ...]
    more_claims: int


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One finding: its severity and code, and where and what."""

    severity: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """A whole report, in words; see the module.

    Attributes:
        title: the command, without machine paths.
        rows: sources, the worst first.
        more_available: how many available ones are not among them.
        findings: errors and warnings one by one; empty where they are grouped.
        more_findings: how many findings are not among them.
        groups: errors and warnings by code.
        transcripts: what was checked whole.
        legend: states and what they mean.
        advice: codes of sources and single findings, and what to do.
        notes: what a reader has to know first.
        counts: of the sources; empty where transcripts alone were checked.
        verdict: the last line.
    """

    title: str
    rows: tuple[Row, ...]
    more_available: int
    findings: tuple[FindingLine, ...]
    more_findings: int
    groups: tuple[FaultGroup, ...]
    transcripts: TranscriptsView | None
    legend: tuple[tuple[str, str], ...]
    advice: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    counts: str
    verdict: str


def view_of(report: AuditReport, code: ExitCode, asked: Asked | None = None) -> ConsoleView:
    """Put a report and its exit code into words.

    Args:
        report: what was found.
        code: the exit code of the run.
        asked: what of the command line the words depend on.
    """
    asked = asked or Asked()
    rows = sorted((_row(source) for source in report.sources), key=lambda row: _rank(row.state))
    available = sum(row.state == "available" for row in rows)
    hidden = max(0, available - _LISTED_AVAILABLE)
    states = [state for state in _ORDER if any(row.state == state for row in rows)]
    said = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    is_grouped = bool(report.transcripts) or len(said) > _LISTED_FINDINGS
    if is_grouped:
        groups = fault_groups(report, with_messages=not is_tree(report))
        said, more = [], 0
    else:
        groups, more = (), sum(report.finding_counts.values()) - len(said)
    return ConsoleView(
        title=" ".join([asked.command, *map(one_line, report.targets)]),
        rows=tuple(rows[: len(rows) - hidden]),
        more_available=hidden,
        findings=tuple(_finding_line(finding) for finding in said),
        more_findings=more,
        groups=groups,
        transcripts=transcripts_view(report) if report.transcripts else None,
        legend=tuple((state, _meaning(state)) for state in states),
        advice=_advice(rows, said),
        notes=_notes(report),
        counts=_counts(report, check_all=asked.check_all),
        verdict=closing_words(report, code, asked),
    )


def _row(source: AuditedSource) -> Row:
    resolution = source.resolution
    reason = str(resolution.reason or "")
    claims = source.cited_by
    beyond = source.beyond_cited
    unlisted = max(0, len(claims) - _LISTED_CLAIMS) + max(0, len(beyond) - _LISTED_BEYOND)
    # Of those that cite it, what is left out there is counted here already.
    unlisted += max(0, source.consequences_left_out - _left_out_of(claims, source))
    return Row(
        state=str(resolution.status) if resolution.conclusive else "inconclusive",
        pointer=one_line(resolution.pointer),
        reason=reason,
        found=_found(source, reason),
        place=place_of(resolution.pointer, reason, source.folder),
        strength=str(resolution.strength or ""),
        waiver="" if source.waiver is None else waiver_words(source.waiver),
        claims=(
            *(_claim(claim) for claim in claims[:_LISTED_CLAIMS]),
            *(_beyond(one) for one in beyond[:_LISTED_BEYOND]),
        ),
        more_claims=unlisted,
    )


def _found(source: AuditedSource, reason: str) -> str:
    why = f" The policy says: {_cut(one_line(source.denied_why))}" if source.denied_why else ""
    return _meaning(reason) + why


def _rank(state: str) -> int:
    return _ORDER.index(state)


def _meaning(code: str) -> str:
    page = find_explanation(code)
    return "" if page is None else page.meaning


def _claim(claim: Citation) -> str:
    item = "" if claim.item is None else f" {one_line(claim.item)}"
    text = "" if claim.text is None else f": {_cut(one_line(claim.text))}"
    return one_line(claim.file) + item + text


def _beyond(one: Consequence) -> str:
    """Say what rests on a source at second hand."""
    item = "" if one.item is None else f" {one_line(one.item)}"
    steps = "speaks of it" if one.steps == 1 else f"{one.steps} steps away"
    return f"{one_line(one.file)}{item} ({one.kind.replace('_', ' ')}, {steps})"


def _left_out_of(claims: tuple[Citation, ...], source: AuditedSource) -> int:
    """Say how many of the places that cite a source are not among its consequences."""
    return max(0, len(claims) - (len(source.consequences) - len(source.beyond_cited)))


def _cut(text: str) -> str:
    return text if len(text) <= _CLAIM_CHARACTERS else text[: _CLAIM_CHARACTERS - 3] + "..."


def _finding_line(finding: Finding) -> FindingLine:
    place = finding.location
    where = one_line(finding.target)
    if place.line is not None:
        where += f", line {place.line}"
    if place.native_id is not None:
        where += f", {one_line(place.native_id)}"
    waived = "" if finding.waiver is None else f" ({waiver_words(finding.waiver)})"
    return FindingLine(
        str(finding.severity),
        one_line(finding.code),
        f"{where}: {one_line(finding.message)}{waived}",
    )


def _advice(rows: list[Row], findings: list[Finding]) -> tuple[tuple[str, str], ...]:
    """Say what to do, once for each reason and finding that is no good news."""
    codes = [row.reason for row in rows if row.state != "available"]
    codes += [finding.code for finding in findings]
    pages = (find_explanation(code) for code in dict.fromkeys(codes))
    return tuple((page.code, page.remedy) for page in pages if page is not None)


def _notes(report: AuditReport) -> tuple[str, ...]:
    notes = []
    if report.is_interrupted:
        notes.append("Interrupted: what was not checked is counted as that.")
    if report.transcripts_not_checked:
        notes.append(
            f"Files that may be transcripts, not looked at: {report.transcripts_not_checked}."
        )
    if report.tenant is not None:
        notes.append(f"Asked as tenant: {_cut(one_line(report.tenant))}")
    waived = waived_note(report)
    notes += [waived] if waived else []
    notes += waiver_notes(report)
    if report.weakened_by_environment:
        names = ", ".join(report.weakened_by_environment)
        notes.append(f"Set by the environment, and weakens the verdict: {names}")
    for seal in report.seals:
        sound = "sound" if seal.is_sound else "NOT sound"
        left_out = f"; {seal.not_compared}" if seal.denied else ""
        notes.append(
            f"Seals of {one_line(seal.target)}: {seal.seals} by {one_line(seal.key)}, "
            f"{seal.size} entries, log {sound}{left_out}"
        )
    return tuple(notes)


def _counts(report: AuditReport, *, check_all: bool) -> str:
    summary = report.summary
    if report.transcripts and not (summary.total or summary.uncited):
        return ""  # nothing was cited; the transcripts have their own numbers
    numbers = Counter(
        corrupt=summary.corrupt,
        denied=summary.denied,
        missing=summary.missing,
        unsupported=summary.unsupported,
        inconclusive=summary.inconclusive,
        available=summary.available,
    )
    states = ", ".join(f"{numbers[state]} {state}" for state in _ORDER)
    hint = f" ({'looked at too' if check_all else '--all checks them'})" if summary.uncited else ""
    noun = "source" if summary.total == 1 else "sources"
    return (
        f"{summary.total} {noun}: {states}, {summary.not_checked} not checked. "
        f"Files that nothing cites: {summary.uncited}{hint}."
    )
