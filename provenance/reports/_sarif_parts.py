"""Parts of a SARIF document that are the same whatever the result is about.

Guarantees: pure; no text of the evidence, no claim.

Example:
    >>> logical_place("f1", "item")
    [{'name': 'f1', 'kind': 'item'}]
"""

from __future__ import annotations

import re

from provenance.audit_report import AuditReport
from provenance.consequences import Consequence
from provenance.reports._sarif_text import one_line
from provenance.reports._waiver_words import given_waiver
from provenance.waivers import Waiver

__all__ = ["consequence", "invocation", "logical_place", "suppression"]

_is_time = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z"
).fullmatch


def consequence(one: Consequence) -> dict[str, object]:
    """Give a consequence without what is claimed: the report goes to a service."""
    return {key: value for key, value in one.to_dict().items() if key != "text"}


def suppression(waiver: Waiver) -> dict[str, object]:
    """Give a waiver as a suppression."""
    until = waiver.expires.isoformat()
    said = one_line(f"{waiver.reason} (waived by {waiver.owner} until {until})")
    return {"kind": "external", "status": "accepted", "justification": said}


def invocation(report: AuditReport) -> dict[str, object]:
    """Give what is to be said of the run."""
    invocation: dict[str, object] = {"executionSuccessful": not report.is_interrupted}
    times = {"startTimeUtc": report.started_at, "endTimeUtc": report.finished_at}
    invocation |= {key: time for key, time in times.items() if _is_time(time)}
    if report.is_interrupted:
        text = f"The run was interrupted: {report.not_checked} sources were not checked."
        notification = {"level": "error", "message": {"text": text}}
        invocation["toolExecutionNotifications"] = [notification]
    invocation["properties"] = {
        "targets": list(report.targets),
        "summary": report.summary.to_dict(),
        "interrupted": report.is_interrupted,
        "weakened_by_environment": list(report.weakened_by_environment),
        "seals": [seal.to_dict() for seal in report.seals],
        "waivers": [given_waiver(*given) for given in report.given_waivers],
    }
    return invocation


def logical_place(name: str, kind: str) -> list[dict[str, object]]:
    """Give a name that is no file as a list of logical locations; empty where nothing is left."""
    shown = one_line(name)
    return [{"name": shown, "kind": kind}] if shown else []
