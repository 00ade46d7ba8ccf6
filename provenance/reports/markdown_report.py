"""The report as GitHub-flavoured Markdown, for a step summary or a comment on a change.

Guarantees: the verdict first, then the numbers, then what is wrong, the worst first, each with what
rests on it. It holds less than 65,536 characters, what GitHub takes for a comment (a step summary
may have 1 MiB): what does not fit is counted. Nothing that the audited files hold can become
markup, a link or a mention. No text of the evidence and no path of the machine.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> report = AuditReport(targets=("home",))
    >>> text = "".join(write_markdown(report, describe=lambda code: None, verdict="Fine."))
    >>> print(text.splitlines()[0])
    # ctxaudit: `home`
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.audit_report import AuditedSource, AuditReport
from provenance.consequences import Consequence
from provenance.findings import Finding, Severity
from provenance.reports._consequence_words import claims_of, further, how_many, tell
from provenance.reports._markdown_text import code_span, plain
from provenance.reports._sources import (
    WORST_FIRST,
    Describe,
    is_reported,
    meaning_of,
    state_of,
)
from provenance.reports._waiver_words import ToldWaiver
from provenance.reports._waiver_words import tell as tell_waiver
from provenance.waivers import Waiver

__all__ = ["write_markdown"]

# GitHub refuses a comment of more than 65,536 characters; some room for what others put around it.
_MOST_CHARACTERS = 64_000
# Of it: for the head and the foot, whatever the rest is.
_MOST_TARGETS = 10
_MOST_CODES = 40
_TEXT_CHARACTERS = 300
_CLAIM_CHARACTERS = 160
_LISTED_CLAIMS = 12
# More than these are folded: the list of faults stays one that can be looked over.
_OPEN_CLAIMS = 3
_WAIVER_CHARACTERS = 200


def write_markdown(report: AuditReport, *, describe: Describe, verdict: str) -> Iterator[str]:
    """Write the report piece by piece; the pieces joined are the document.

    Args:
        report: what was found.
        describe: gives the texts of a code.
        verdict: what the run ended with, in a sentence or two.
    """
    return _Writer(report, describe, verdict).pieces()


class _Writer:
    def __init__(self, report: AuditReport, describe: Describe, verdict: str) -> None:
        self._report = report
        self._describe = describe
        self._verdict = verdict
        self._room = _MOST_CHARACTERS

    def pieces(self) -> Iterator[str]:
        head = "".join(self._head())
        foot = "".join(self._foot())
        self._room -= len(head) + len(foot)
        yield head
        sources = [one for one in self._report.sources if is_reported(one)]
        sources.sort(key=lambda source: WORST_FIRST.index(state_of(source)))
        counted = [one for one in sources if one.waiver is None]
        findings = [one for one in self._report.findings if one.waiver is None]
        errors = [one for one in findings if one.severity is Severity.ERROR]
        warnings = [one for one in findings if one.severity is Severity.WARNING]
        waived_sources = [one for one in sources if one.waiver is not None]
        waived_findings = [one for one in self._report.findings if one.waiver is not None]
        yield from self._section(
            f"Sources that are not available: {len(counted):,}", map(self._source, counted)
        )
        yield from self._section(f"Errors: {len(errors):,}", map(self._finding, errors))
        yield from self._section(
            f"Warnings: {len(warnings):,}", map(self._finding, warnings), is_folded=True
        )
        given = self._report.given_waivers
        yield from self._section(
            f"Waivers: {len(given):,}", (_given(tell_waiver(*one)) for one in given)
        )
        waived = [*map(self._source, waived_sources), *map(self._finding, waived_findings)]
        yield from self._section(f"Waived: {len(waived):,}", iter(waived), is_folded=True)
        yield foot

    def _head(self) -> Iterator[str]:
        report = self._report
        targets = [code_span(name, most=100) for name in report.targets[:_MOST_TARGETS]]
        more = len(report.targets) - len(targets)
        title = ", ".join(targets) or "pointers"
        yield f"# ctxaudit: {title}{f' and {more:,} more' if more else ''}\n\n"
        yield f"**{plain(self._verdict)}**\n\n"
        if report.is_interrupted:
            yield "Interrupted: what was not checked is counted as that.\n\n"
        names = report.weakened_by_environment
        if names:
            shown = ", ".join(code_span(name, most=100) for name in names[:_MOST_TARGETS])
            yield f"Set by the environment, and weakens the verdict: {shown}.\n\n"
        yield from self._numbers()

    def _numbers(self) -> Iterator[str]:
        summary = self._report.summary
        counts = {name: getattr(summary, name) for name in WORST_FIRST}
        counts["not checked"] = summary.not_checked
        if summary.total or not self._report.transcripts:
            yield "| sources | number |\n|:--|--:|\n"
            for name, number in counts.items():
                yield f"| {name} | {number:,} |\n"
            yield f"| **all** | **{summary.total:,}** |\n\n"
        said = []
        if summary.uncited:
            said.append(f"Files that nothing cites: {summary.uncited:,}.")
        if self._report.transcripts:
            said.append(f"Transcripts checked whole: {len(self._report.transcripts):,}.")
        if summary.transcripts_not_checked:
            said.append(
                "Files that may be transcripts, not looked at: "
                f"{summary.transcripts_not_checked:,}."
            )
        waived = sum(one.waiver is not None for one in self._report.sources)
        waived += sum(self._report.waived_counts.values())
        if waived:
            said.append(f"Waived: {waived:,}.")
        for seal in self._report.seals[:_MOST_TARGETS]:
            sound = "sound" if seal.is_sound else "**not sound**"
            left_out = f"; **{seal.not_compared}**" if seal.denied else ""
            said.append(
                f"Seals of {code_span(seal.target, most=100)}: {seal.seals:,} by "
                f"{code_span(seal.key, most=100)}, {seal.size:,} entries, log {sound}{left_out}."
            )
        codes = sorted(self._report.finding_counts.items())
        if codes:
            shown = [f"{code_span(code, most=80)} {n:,}" for code, n in codes[:_MOST_CODES]]
            rest = len(codes) - len(shown)
            said.append(f"Findings: {', '.join(shown)}{f' and {rest} more codes' if rest else ''}.")
        if said:
            yield " ".join(said) + "\n\n"

    def _foot(self) -> Iterator[str]:
        if self._report.findings or any(map(is_reported, self._report.sources)):
            yield (
                "What a code means and what to do about it: `ctxaudit explain CODE`. "
                "Everything that was found: `--format json`.\n"
            )

    def _section(
        self, title: str, entries: Iterator[str], *, is_folded: bool = False
    ) -> Iterator[str]:
        """Write one list, as far as there is room; what does not fit is counted."""
        first = next(entries, None)
        if first is None:
            return
        begin, end = f"## {title}\n\n", "\n"
        if is_folded:
            begin, end = f"<details><summary>{title}</summary>\n\n", "\n</details>\n\n"
        # Of what there is room for, each section that follows gets a part too.
        self._room -= len(begin) + len(end) + 100
        yield begin
        left_out = 0
        entry: str | None = first
        while entry is not None:
            if left_out or len(entry) > self._room:
                left_out += 1
            else:
                self._room -= len(entry)
                yield entry
            entry = next(entries, None)
        if left_out:
            yield f"- {left_out:,} more, for which there is no room here: see `--format json`\n"
        yield end

    def _source(self, source: AuditedSource) -> str:
        answer = source.resolution
        code = answer.reason or str(answer.status)
        meaning = meaning_of(code, self._describe)
        said = f": {plain(meaning)}" if meaning else ""
        head = f"- **{state_of(source)}** {code_span(answer.pointer)} ({code_span(code)})"
        if source.denied_why:
            said += f" The policy says: {code_span(source.denied_why, most=_TEXT_CHARACTERS)}"
        lines = [head + said, *_waiver(source.waiver)]
        shown = claims_of(source, _LISTED_CLAIMS)
        if shown:
            more = further(source, len(shown))
            told = [f"  - {self._consequence(one, source)}" for one in shown]
            told += [f"  - {more}"] if more else []
            if len(told) <= _OPEN_CLAIMS:
                lines += ["  Rests on it:", *told]
            else:
                summary = f"  <details><summary>Rests on it: {how_many(source)}</summary>"
                lines += [summary, "", *told, "", "  </details>", ""]
        return "\n".join(lines) + "\n"

    @staticmethod
    def _consequence(one: Consequence, source: AuditedSource) -> str:
        told = tell(one)
        item = f" {code_span(told.item, most=120)}" if told.item else ""
        text = f"{told.what}{item} in {code_span(told.file, most=200)}"
        if one.parent is not None:
            before = source.consequences[one.parent]
            through = code_span(before.item or before.file, most=120)
            text += f", {told.steps}, through {through} in {code_span(before.file, most=200)}"
        elif told.steps:
            text += f", {told.steps}"
        return text + (f": {code_span(told.claim, most=_CLAIM_CHARACTERS)}" if told.claim else "")

    def _finding(self, finding: Finding) -> str:
        place = finding.location
        where = code_span(finding.target, most=_TEXT_CHARACTERS)
        if place.line is not None:
            where += f" line {place.line}"
        if place.native_id is not None:
            where += f", record {code_span(place.native_id, most=120)}"
        elif place.ordinal is not None:
            where += f", record {place.ordinal}"
        said = code_span(finding.message, most=_TEXT_CHARACTERS) if finding.message else ""
        said = said or plain(meaning_of(finding.code, self._describe))
        head = f"- **{finding.severity}** {code_span(finding.code, most=80)} in {where}"
        return "\n".join([f"{head}{f': {said}' if said else ''}", *_waiver(finding.waiver)]) + "\n"


def _given(told: ToldWaiver) -> str:
    covers, reason, owner = (
        code_span(one, most=_WAIVER_CHARACTERS) for one in (told.covers, told.reason, told.owner)
    )
    return f"- **{told.state}** {covers}: {reason} (owner {owner}, last day {told.until})\n"


def _waiver(waiver: Waiver | None) -> list[str]:
    if waiver is None:
        return []
    owner = code_span(waiver.owner, most=_WAIVER_CHARACTERS)
    reason = code_span(waiver.reason, most=_WAIVER_CHARACTERS)
    return [f"  waived by {owner} until {waiver.expires.isoformat()}: {reason}"]
