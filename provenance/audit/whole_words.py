"""What a checked transcript comes to, and putting its faults into the words of the report.

Guarantees: pure. A finding's target is the transcript's name, with the member's behind it where the
transcript is a folder or an archive.

Example:
    >>> refused("a.jsonl", "native", Fault("x", Severity.ERROR, "m")).checked.findings
    {'x': 1}
"""

from __future__ import annotations

from typing import NamedTuple

from provenance.audit_report import CheckedReference, CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.resolution import Reason
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.records import Fault
from provenance.transcripts.references import ResolvedReference

__all__ = [
    "SOUND",
    "WholeCheck",
    "denied",
    "finding_of",
    "no_transcript",
    "reference_of",
    "refused",
    "unaddressable_name",
    "unknown_format",
]

SOUND = "transcript: expected a sound one up to its end, got a fault"
_LEDGER = "ledger_not_transcript"


class WholeCheck(NamedTuple):
    """What came of one transcript.

    Attributes:
        checked: what was read; None where it is none, or was not asked for.
        findings: the first of each code, with the transcript's name as their target.
        references: the first of each state.
        is_left_out: it is a transcript, and what was asked for leaves it out.
    """

    checked: CheckedTranscript | None
    findings: tuple[Finding, ...] = ()
    references: tuple[CheckedReference, ...] = ()
    is_left_out: bool = False


def finding_of(fault: Fault, target: str) -> Finding:
    """Give the finding that a fault of a transcript is."""
    return Finding(
        fault.code,
        fault.severity,
        target if fault.member is None else f"{target}/{fault.member}",
        Location(ordinal=fault.ordinal, native_id=fault.native_id, line=fault.line),
        fault.message,
    )


def reference_of(resolved: ResolvedReference, target: str) -> CheckedReference:
    """Give the line of the report that a reference of a transcript is."""
    return CheckedReference(
        target=target,
        location=Location(
            ordinal=resolved.ordinal, native_id=resolved.native_id, line=resolved.line
        ),
        kind=resolved.kind,
        status=resolved.status,
        conclusive=resolved.is_conclusive,
        message=resolved.message,
    )


def refused(target: str, kind: str, fault: Fault, session_id: str | None = None) -> WholeCheck:
    """Say of a transcript that it could not be read at all."""
    sessions = () if session_id is None else (session_id,)
    checked = CheckedTranscript(target, kind, sessions, 0, 0, 0, findings={fault.code: 1})
    return WholeCheck(checked, (finding_of(fault, target),))


def denied(target: str, session_id: str) -> WholeCheck:
    """Say that a policy denies a transcript."""
    fault = Fault(str(Reason.POLICY_DENIED), Severity.ERROR, SOUND)
    return refused(target, NATIVE, fault, session_id)


def no_transcript(target: str, session_id: str) -> WholeCheck:
    """Say that a file is an artifact ledger."""
    fault = Fault(_LEDGER, Severity.ERROR, "file: expected a transcript, got an artifact ledger")
    return refused(target, NATIVE, fault, session_id)


def unaddressable_name(target: str) -> WholeCheck:
    """Say that no pointer can name a native transcript, so that nobody can cite it."""
    finding = Finding(
        "unaddressable_file",
        Severity.ERROR,
        target,
        message="file name: expected one that a pointer can cite, got another",
    )
    return WholeCheck(None, (finding,))


def unknown_format(target: str) -> WholeCheck:
    """Say that nobody knows what a file of lines is."""
    finding = Finding(
        "unknown_format",
        Severity.WARNING,
        target,
        message="file: expected transcripts of a known format, got another; not checked",
    )
    return WholeCheck(None, (finding,))
