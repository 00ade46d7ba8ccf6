r"""The report `ctxaudit.report/1`: one JSON document with everything a run found (spec 05).

Guarantees: valid against the published schema (`ctxaudit schema report`); keys in a fixed order,
results sorted by pointer and one a line, so that two reports can be compared line by line.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> import json
    >>> json.loads("".join(write_json(AuditReport(targets=("home",)), version="0")))["targets"]
    ['home']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenance.audit_report import AuditReport
from provenance.reports._encoding import to_json
from provenance.reports._waiver_words import given_waiver

__all__ = ["REPORT_SCHEMA", "write_json"]

REPORT_SCHEMA = "ctxaudit.report/1"


def write_json(report: AuditReport, *, version: str) -> Iterator[str]:
    """Write the report piece by piece; the pieces joined are the document.

    Args:
        report: what was found.
        version: of the tool that found it.
    """
    yield "{\n"
    head: dict[str, object] = {
        "schema": REPORT_SCHEMA,
        "tool": {"name": "ctxaudit", "version": version},
        "started_at": report.started_at,
        "finished_at": report.finished_at,
        "targets": list(report.targets),
        "weakened_by_environment": list(report.weakened_by_environment),
        "sandboxed": report.is_sandboxed,
        "summary": report.summary.to_dict(),
    }
    if report.tenant is not None:
        head["tenant"] = report.tenant
    if report.waivers:
        head["waivers"] = [given_waiver(*given) for given in report.given_waivers]
    for key, value in head.items():
        yield f'  "{key}": {to_json(value)},\n'
    yield from _lines("results", (source.to_dict() for source in report.sources))
    yield ",\n"
    yield from _lines("findings", (finding.to_dict() for finding in report.findings))
    yield ",\n"
    yield from _lines("transcripts", (one.to_dict() for one in report.transcripts))
    yield ",\n"
    yield from _lines("references", (one.to_dict() for one in report.references))
    yield ",\n"
    yield from _lines("seals", (one.to_dict() for one in report.seals))
    yield "\n}\n"


def _lines(key: str, values: Iterable[object]) -> Iterator[str]:
    yield f'  "{key}": ['
    separator = "\n    "
    for value in values:
        yield separator + to_json(value)
        separator = ",\n    "
    yield "]" if separator == "\n    " else "\n  ]"
