"""The report as annotations of GitHub Actions: one workflow command a line, on standard output.

Guarantees: the worst comes first, since GitHub shows ten errors and ten warnings of a step and
drops the rest without a word; notices follow with what the run rests on, and the last line is one
that says how many there are of each, and how many were left out. What is waived is counted there
and not annotated. A file is named only where its name leads to it from where the command ran. No
claim, no text of the evidence, no path of the machine.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> print("".join(write_github(AuditReport(), describe=lambda code: None, verdict="Fine.")))
    ::notice title=ctxaudit::Fine. 0 sources.
    <BLANKLINE>
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Finding, Severity
from provenance.reports._consequence_words import claims_of, further, plain_line
from provenance.reports._github_notices import run_notices
from provenance.reports._github_text import command, is_as_it_is
from provenance.reports._sarif_text import cut, one_line, uri_path
from provenance.reports._sources import (
    WORST_FIRST,
    Describe,
    is_reported,
    meaning_of,
    state_of,
)
from provenance.reports._store_places import store_file

__all__ = ["write_github"]

# Of each level: what a person still reads in a log. GitHub itself shows ten.
_MOST_LINES = 1_000
_POINTER_CHARACTERS = 300
_LISTED_CLAIMS = 3
_LAST_LINE = 2**31 - 1
_NO_FILES = frozenset({"-", "--pointer"})
_UNCLEAR = frozenset({"unsupported", "inconclusive"})
_cited_line = re.compile(r"line ([1-9][0-9]{0,9})").fullmatch


def write_github(
    report: AuditReport, *, describe: Describe, verdict: str, folder: str = ""
) -> Iterator[str]:
    """Write the commands, one by one.

    Args:
        report: what was found.
        describe: gives the texts of a code.
        verdict: what the run ended with, in a sentence or two.
        folder: the target, where a single folder was audited: its label comes before the names of
            its files.
    """
    writer = _Writer(describe, folder, _NO_FILES | report.outside_names)
    wanted = [source for source in report.sources if is_reported(source) and not source.waiver]
    wanted.sort(key=lambda source: WORST_FIRST.index(state_of(source)))
    findings = [finding for finding in report.findings if finding.waiver is None]
    said = {"error": 0, "warning": 0}
    for level, severity in (("error", Severity.ERROR), ("warning", Severity.WARNING)):
        sources = [one for one in wanted if _level(one) == level]
        found = [one for one in findings if one.severity is severity]
        said[level] = len(sources) + len(found)
        for source in sources[:_MOST_LINES]:
            yield writer.source(source, level)
        for finding in found[: max(0, _MOST_LINES - len(sources))]:
            yield writer.finding(finding, level)
    yield from run_notices(report)
    yield command("notice", f"{verdict} {_closing(report, said)}", title="ctxaudit")


class _Writer:
    def __init__(self, describe: Describe, folder: str, no_files: frozenset[str]) -> None:
        self._describe = describe
        self._no_files = no_files
        self._before = "" if uri_path(folder) is None else f"{folder}/"

    def source(self, source: AuditedSource, level: str) -> str:
        answer = source.resolution
        code = answer.reason or str(answer.status)
        state = state_of(source)
        pointer = cut(answer.pointer, _POINTER_CHARACTERS)
        parts = [f"{pointer}: {state}.", meaning_of(code, self._describe)]
        shown = claims_of(source, _LISTED_CLAIMS)
        if shown:
            lines = [plain_line(one, claim_characters=0) for one in shown]
            more = further(source, len(shown))
            lines += [more] if more else []
            parts.append(f"Rests on it: {'; '.join(lines)}.")
        file, line = "", None
        if source.cited_by:
            first = source.cited_by[0]
            match = _cited_line(first.item or "")
            file, line = first.file, int(match[1]) if match else None
            if (store := store_file(file)) is not None:
                if not any(first.file in part for part in parts):
                    parts.append(f"Cited in {first.file}.")
                file, line = store, None
        message = " ".join(part for part in parts if part)
        return command(level, message, **self._place(file, line), title=f"{state}: {code}")

    def finding(self, finding: Finding, level: str) -> str:
        message = one_line(finding.message) or meaning_of(finding.code, self._describe)
        message = message or one_line(finding.code) or "finding"
        store = store_file(finding.target, finding.code)
        line = finding.location.line if store is None else None
        place = self._place(store or finding.target, line)
        if (store is not None or not place.get("file")) and finding.target:
            message = f"{finding.target}: {message}"
        return command(level, message, **place, title=finding.code or "finding")

    def _place(self, name: str, line: int | None) -> dict[str, str]:
        file = self._before + name
        # A name that had to be altered to stand here would lead elsewhere.
        if name in self._no_files or uri_path(name) is None or not is_as_it_is(file):
            return {}
        place = {"file": file}
        if line is not None and 1 <= line <= _LAST_LINE:
            place["line"] = str(line)
        return place


def _level(source: AuditedSource) -> str:
    return "warning" if state_of(source) in _UNCLEAR else "error"


def _closing(report: AuditReport, said: dict[str, int]) -> str:
    """Say how much there is, how much of it GitHub shows, and what was not said at all."""
    summary = report.summary
    states = Counter(state_of(source) for source in report.sources)
    numbers = [f"{states[name]:,} {name}" for name in WORST_FIRST if states[name]]
    numbers += [f"{summary.not_checked:,} not checked"] if summary.not_checked else []
    parts = []
    if summary.total or not report.transcripts:
        said_of_all = f": {', '.join(numbers)}" if numbers else ""
        parts.append(f"{_count(summary.total, 'source')}{said_of_all}.")
    if report.transcripts:
        parts.append(f"{_count(len(report.transcripts), 'transcript')} checked whole.")
    if summary.transcripts_not_checked:
        parts.append(f"{_count(summary.transcripts_not_checked, 'file')} not looked at.")
    total = sum(report.finding_counts.values()) or len(report.findings)
    if total:
        parts.append(f"{_count(total, 'finding')}.")
    waived = sum(source.waiver is not None for source in report.sources)
    waived += sum(report.waived_counts.values()) or sum(
        one.waiver is not None for one in report.findings
    )
    if waived:
        parts.append(f"{waived:,} waived.")
    if any(number > 10 for number in said.values()):
        parts.append(
            f"{_count(said['error'], 'error')} and {_count(said['warning'], 'warning')}: "
            "GitHub shows ten of each for a step."
        )
    hidden = sum(max(0, number - _MOST_LINES) for number in said.values())
    if hidden:
        parts.append(f"{hidden:,} of them are not listed here: see --format json.")
    return " ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
