"""The report as JUnit XML, for servers that show test results.

Guarantees: well-formed and valid against the schema that Jenkins has for it, ASCII, the same for
the same report. A suite for each target, a case for each source, each finding and each transcript
without one, and a suite for the run, with its waivers and seals; the numbers of a suite are those
of its cases. What was not checked is skipped and never passed, and a run that fails has a case that
does. A waived fault is skipped, with who answers for it. No text of the evidence and no path of the
machine.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> text = "".join(write_junit(AuditReport(), describe=lambda code: None, failed="Nothing."))
    >>> text.count("<testcase"), text.count("<error")
    (1, 1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Finding, Severity
from provenance.reports._consequence_words import claims_of, further, plain_line
from provenance.reports._sarif_text import cut
from provenance.reports._sources import Describe, is_reported, meaning_of, state_of, target_of
from provenance.reports._waiver_words import tell as tell_waiver
from provenance.reports._xml_text import xml_lines, xml_text
from provenance.waivers import Waiver

__all__ = ["Outcome", "Weigh", "write_junit"]

# What becomes of a finding: an element of JUnit, or empty for a case that passes.
Outcome = str
# Says what a finding of a code and severity is: `failure`, `error` or empty.
Weigh = Callable[[str, Severity], Outcome]

_RUN = "the run"
_POINTER_CHARACTERS = 500
_CLAIM_CHARACTERS = 160
_LISTED_CLAIMS = 20


class _Case(NamedTuple):
    """One test case.

    Attributes:
        kind: what it is about; the class of the case.
        name: of the case.
        outcome: `failure`, `error`, `skipped` or empty.
        type: the code.
        message: one line.
        lines: what stands below it.
    """

    kind: str
    name: str
    outcome: str = ""
    type: str = ""
    message: str = ""
    lines: tuple[str, ...] = ()


def write_junit(
    report: AuditReport, *, describe: Describe, weigh: Weigh | None = None, failed: str = ""
) -> Iterator[str]:
    """Write the report piece by piece; the pieces joined are the document.

    Args:
        report: what was found.
        describe: gives the texts of a code.
        weigh: what a finding is in the verdict; None: an error is a failure, nothing else is.
        failed: why the run fails, as a sentence; empty where it does not.
    """
    writer = _Writer(report, describe, weigh or _by_severity, failed)
    counts = {name: writer.count(name) for name in writer.names}
    run_cases = writer.run_cases(any(_fails(count) for count in counts.values()))
    total = sum(counts.values(), Counter(case.outcome or "passed" for case in run_cases))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="ctxaudit"{_numbers(total)}{_duration(report)}>\n'
    moment = _moment(report.started_at)
    time = "" if moment is None else f' timestamp="{moment:%Y-%m-%dT%H:%M:%S}"'
    for name, count in counts.items():
        yield from _suite(name, count, time, writer.cases(name))
    if run_cases:
        count = Counter(case.outcome or "passed" for case in run_cases)
        yield from _suite(_RUN, count, time, iter(run_cases))
    yield "</testsuites>\n"


def _suite(name: str, count: Counter[str], time: str, cases: Iterator[_Case]) -> Iterator[str]:
    skipped = f' skipped="{count["skipped"]}"'
    yield f'  <testsuite name="{xml_text(name)}"{_numbers(count)}{skipped}{time}>\n'
    for case in cases:
        yield _element(case)
    yield "  </testsuite>\n"


class _Writer:
    """Turns what a report says into cases, suite by suite."""

    def __init__(self, report: AuditReport, describe: Describe, weigh: Weigh, failed: str) -> None:
        self._report = report
        self._describe = describe
        self._weigh = weigh
        self._failed = failed
        self.names = report.targets or (("ctxaudit",) if report.sources or report.findings else ())
        self._others = () if len(self.names) < 2 else self.names
        self._sources: dict[str, list[AuditedSource]] = {name: [] for name in self.names}
        self._findings: dict[str, list[Finding]] = {name: [] for name in self.names}
        for source in report.sources:
            file = source.cited_by[0].file if source.cited_by else ""
            self._sources[self._suite_of(file)].append(source)
        for finding in report.findings:
            self._findings[self._suite_of(finding.target)].append(finding)

    def _suite_of(self, file: str) -> str:
        if not self._others:
            return self.names[0]
        # What is of none of them, a pointer of the command line for one, goes with the first.
        return target_of(file, self._others) or self.names[0]

    def count(self, name: str) -> Counter[str]:
        """Count the cases of a suite by what became of them."""
        return Counter(case.outcome or "passed" for case in self.cases(name))

    def cases(self, name: str) -> Iterator[_Case]:
        """Give the cases of a suite: sources, findings, then transcripts without any."""
        yield from map(self._of_source, self._sources[name])
        yield from map(self._of_finding, self._findings[name])
        for one in self._report.transcripts:
            if not one.findings and self._suite_of(one.target) == name:
                yield _Case("ctxaudit.transcript", one.target)

    def run_cases(self, has_failure: bool) -> list[_Case]:  # noqa: FBT001 - private, one caller
        """Give the cases of the run itself: what no source and no finding says."""
        report = self._report
        found = []
        for number, noun in (
            (report.not_checked, "sources"),
            (report.transcripts_not_checked, "files that may be transcripts"),
        ):
            if number:
                name = f"{noun} that were not checked"
                found.append(_Case("ctxaudit.run", name, "skipped", "", f"{number:,} {name}"))
        found += self._unlisted()
        if report.is_interrupted:
            message = "The run was interrupted before its work was done."
            found.append(_Case("ctxaudit.run", "interrupted", "error", "", message))
        for variable in report.weakened_by_environment:
            name = f"set by the environment, and weakens the verdict: {variable}"
            found.append(_Case("ctxaudit.run", name))
        for given in report.given_waivers:
            told = tell_waiver(*given)
            name = f"waiver, {told.state}: {cut(told.covers, _POINTER_CHARACTERS)}"
            found.append(_Case("ctxaudit.run", name, lines=(f"Waiver, {told.plain}",)))
        for seal in report.seals:
            sound = "sound" if seal.is_sound else "NOT sound"
            name = f"seals of {seal.target}: log {sound}"
            root = seal.root or "none"
            said = f"{seal.seals:,} seals by {seal.key}, {seal.size:,} entries, root {root}"
            said += f"; {seal.not_compared}" if seal.denied else ""
            found.append(_Case("ctxaudit.run", name, lines=(said,)))
        fails = has_failure or any(case.outcome in ("failure", "error") for case in found)
        if self._failed and not fails:
            found.append(_Case("ctxaudit.run", "verdict", "error", "", self._failed))
        return found

    def _unlisted(self) -> Iterator[_Case]:
        """Give a case for each code of which more was noticed than is listed."""
        listed = Counter(finding.code for finding in self._report.findings)
        for code, number in sorted(self._report.finding_counts.items()):
            more = number - listed[code]
            if more > 0:
                # One of those that are listed decides; where none is, one of these may be an error.
                outcome = "" if listed[code] else self._weigh(code, Severity.ERROR)
                name = f"{code}: more than are listed"
                said = f"{more:,} more than are listed"
                yield _Case("ctxaudit.finding", name, outcome, code, said, (said,))

    def _of_source(self, source: AuditedSource) -> _Case:
        answer = source.resolution
        pointer = cut(answer.pointer, _POINTER_CHARACTERS)
        if not is_reported(source):
            return _Case("ctxaudit.source", pointer)
        code = answer.reason or str(answer.status)
        state = state_of(source)
        message = f"{state}: {meaning_of(code, self._describe) or code}"
        lines = [message]
        shown = claims_of(source, _LISTED_CLAIMS)
        lines += [
            f"rests on it: {plain_line(one, claim_characters=_CLAIM_CHARACTERS)}" for one in shown
        ]
        if more := further(source, len(shown)):
            lines.append(f"rests on it: {more}")
        outcome = "error" if state == "inconclusive" else "failure"
        return _waived(
            _Case("ctxaudit.source", pointer, outcome, code, message, tuple(lines)), source.waiver
        )

    def _of_finding(self, finding: Finding) -> _Case:
        place = finding.location
        where = finding.target if place.line is None else f"{finding.target}:{place.line}"
        if place.native_id is not None:
            where += f" ({place.native_id})"
        elif place.ordinal is not None:
            where += f" (record {place.ordinal})"
        message = finding.message or meaning_of(finding.code, self._describe) or finding.code
        case = _Case(
            "ctxaudit.finding",
            f"{finding.code} {where}",
            self._weigh(finding.code, finding.severity),
            finding.code,
            f"{finding.severity}: {message}",
            (f"{finding.severity}: {message}", meaning_of(finding.code, self._describe)),
        )
        return _waived(case, finding.waiver)


def _waived(case: _Case, waiver: Waiver | None) -> _Case:
    if waiver is None:
        return case
    until = waiver.expires.isoformat()
    message = f"waived by {waiver.owner} until {until}: {waiver.reason}"
    return case._replace(outcome="skipped", message=message, lines=(message, *case.lines))


def _by_severity(code: str, severity: Severity) -> Outcome:
    return "failure" if severity is Severity.ERROR else ""


def _fails(count: Counter[str]) -> bool:
    return bool(count["failure"] or count["error"])


def _element(case: _Case) -> str:
    name = xml_text(case.name) or "unnamed"
    head = f'    <testcase classname="{case.kind}" name="{name}"'
    text = xml_lines([line for line in case.lines if line])
    if not case.outcome and not text:
        return f"{head}/>\n"
    if not case.outcome:
        return f"{head}><system-out>{text}</system-out></testcase>\n"
    code = f' type="{xml_text(case.type)}"' if case.type else ""
    message = f' message="{xml_text(case.message)}"'
    return f"{head}><{case.outcome}{code}{message}>{text}</{case.outcome}></testcase>\n"


def _numbers(count: Counter[str]) -> str:
    return f' tests="{count.total()}" failures="{count["failure"]}" errors="{count["error"]}"'


def _moment(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None


def _duration(report: AuditReport) -> str:
    begin, end = _moment(report.started_at), _moment(report.finished_at)
    if begin is None or end is None or (begin.tzinfo is None) != (end.tzinfo is None):
        return ""
    return f' time="{max(0.0, (end - begin).total_seconds()):.3f}"'
