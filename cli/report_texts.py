"""The report in each format, as text: what a format needs to know of the run and the command line.

Guarantees: pure but for the pages that explain a code. Each format is written of the same report;
none of them changes the exit code.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> words = Words(ExitCode.NOTHING_VERIFIED, "Nothing was verified.")
    >>> "".join(report_text("ndjson", AuditReport(), words))
    ''
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenance._version import __version__
from provenance.audit_report import AuditReport
from provenance.findings import Severity
from provenance.reports import (
    write_github,
    write_html,
    write_json,
    write_junit,
    write_markdown,
    write_ndjson,
    write_sarif,
)

from .exit_codes import ExitCode
from .verdict import COUNTS_AS_WARNING, fault_of_code

__all__ = ["Words", "describe", "report_text"]


@dataclass(frozen=True, slots=True)
class Words:
    """What a format cannot know of the report alone.

    Attributes:
        code: the exit code of the run.
        verdict: what it ended with, in a sentence or two.
        folder: label of the one folder that was audited, which the names of its files lack; empty
            where there is none.
        command: what the operator called.
    """

    code: ExitCode
    verdict: str
    folder: str = ""
    command: str = "ctxaudit verify"


def report_text(kind: str, report: AuditReport, words: Words) -> Iterator[str]:
    """Write a report in one of the formats that are no console.

    Raises:
        ValueError: there is no such format.
    """
    match kind:
        case "json":
            return write_json(report, version=__version__)
        case "ndjson":
            return write_ndjson(report)
        case "sarif":
            return write_sarif(report, version=__version__, describe=describe, folder=words.folder)
        case "junit":
            failed = "" if words.code is ExitCode.OK else words.verdict
            return write_junit(report, describe=describe, weigh=_weigh, failed=failed)
        case "github":
            return write_github(
                report, describe=describe, verdict=words.verdict, folder=words.folder
            )
        case "markdown":
            return write_markdown(report, describe=describe, verdict=words.verdict)
        case "html":
            return write_html(
                report,
                version=__version__,
                describe=describe,
                exit_code=words.code.value,
                verdict_words=words.verdict,
                command=words.command,
            )
        case _:
            raise ValueError(f"format: expected one of the reports, got {kind!r}")


def describe(code: str) -> tuple[str, str, str] | None:
    """Give what a code means, how it arises and what to do about it; None without a page."""
    from provenance.audit.explanations import find_explanation

    page = find_explanation(code)
    return None if page is None else (page.meaning, page.arises, page.remedy)


def _weigh(code: str, severity: Severity) -> str:
    """Say what a finding is in the verdict, in the words of JUnit; as `faults_of_findings`."""
    counts_too = severity is Severity.WARNING and code == COUNTS_AS_WARNING
    if severity is not Severity.ERROR and not counts_too:
        return ""
    match fault_of_code(code):
        case ExitCode.OK:
            return ""
        case ExitCode.INCONCLUSIVE:
            return "error"
        case _:
            return "failure"
