r"""Newline-delimited JSON: a line a result, in the order they come.

Guarantees: a line that has `pointer` is a result and has the keys of `results` in the JSON report.
What no result can say comes after them, and only where there is something to say: a line
`{"finding": ...}` for each warning and error, and for each information where transcripts were
checked whole (elsewhere that is facts about the machine), a line `{"transcript": ...}` for each
transcript that was checked whole, a line `{"reference": ...}` for what its records refer to, a line
`{"waiver": ...}` for each waiver that the operator gave, and `{"run": ...}` where the run was not
whole or its verdict weakened.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> "".join(write_ndjson(AuditReport()))
    ''
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Severity
from provenance.reports._encoding import to_json
from provenance.reports._waiver_words import given_waiver

__all__ = ["closing_lines", "result_line", "write_ndjson"]


def result_line(source: AuditedSource) -> str:
    """Write one result, with its line end."""
    return to_json(source.to_dict()) + "\n"


def closing_lines(report: AuditReport) -> Iterator[str]:
    """Write what no result says, to follow the last one."""
    for finding in report.findings:
        is_of_waivers = finding.waiver is not None or finding.code == "waiver_unused"
        if finding.severity is Severity.INFO and not (report.transcripts or is_of_waivers):
            continue  # facts about the machine, such as a file's owner: the JSON report has them
        yield to_json({"finding": finding.to_dict()}) + "\n"
    for transcript in report.transcripts:
        yield to_json({"transcript": transcript.to_dict()}) + "\n"
    for reference in report.references:
        yield to_json({"reference": reference.to_dict()}) + "\n"
    for seal in report.seals:
        yield to_json({"seal": seal.to_dict()}) + "\n"
    for given in report.given_waivers:
        yield to_json({"waiver": given_waiver(*given)}) + "\n"
    if report.not_checked or report.is_interrupted or report.weakened_by_environment:
        run = {
            "interrupted": report.is_interrupted,
            "weakened_by_environment": list(report.weakened_by_environment),
            "summary": report.summary.to_dict(),
        }
        yield to_json({"run": run}) + "\n"


def write_ndjson(report: AuditReport) -> Iterator[str]:
    """Write a whole report, results first, sorted by pointer."""
    for source in report.sources:
        yield result_line(source)
    yield from closing_lines(report)
