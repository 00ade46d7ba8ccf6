"""Checks a transcript from its first record to its last.

Guarantees: a policy is asked before the file is opened. The first fault of the transcript is a
finding of severity error with the code of its reason; a transcript that cannot be opened is one
too, and has no records. An artifact ledger is never taken for a transcript.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> part = AuditPart(transcripts=TrustedRoot("/nowhere"))
    >>> checked, findings = check_whole(part, WholeTranscript("s1", "s1.jsonl"))
    >>> checked.records, [finding.code for finding in findings]
    (0, ['transcript_missing'])
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from provenance.audit.ledgers import TRANSCRIPT_ENDING, is_ledger
from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit_report import CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.pointers import transcript_pointer
from provenance.policy import Verdict
from provenance.resolution import Reason
from provenance.transcripts.checking import TranscriptCheck, check_transcript

__all__ = ["check_whole", "is_allowed"]

_FORMAT = "native"
_LEDGER = "ledger_not_transcript"


def check_whole(
    part: AuditPart, asked: WholeTranscript, *, tenant: str | None = None
) -> tuple[CheckedTranscript, tuple[Finding, ...]]:
    """Check one transcript of a part.

    Args:
        part: its roots, limits and policies.
        asked: which transcript, and what to call it.
        tenant: who asks.

    Returns:
        What was read, and every finding with the transcript's name as its target.
    """
    is_ours = True
    if part.transcripts is None or not is_allowed(part, asked, tenant=tenant):
        check = TranscriptCheck(asked.session_id, first_bad=(None, Reason.POLICY_DENIED))
    elif is_ledger(part.transcripts, asked.session_id + TRANSCRIPT_ENDING):
        is_ours, check = False, TranscriptCheck(asked.session_id)
    else:
        check = check_transcript(part.transcripts, asked.session_id, limits=part.limits)
    findings = tuple(replace(finding, target=asked.target) for finding in check.findings)
    counts = Counter(check.finding_counts)
    if not is_ours:
        findings = (_no_transcript(asked),)
        counts[_LEDGER] += 1
    if check.first_bad is not None:
        line, reason = check.first_bad
        findings = (*findings, _fault(asked, line, reason))
        counts[str(reason)] += 1
    checked = CheckedTranscript(
        target=asked.target,
        format=_FORMAT,
        sessions=(asked.session_id,),
        records=check.records,
        calls=check.calls,
        call_results=check.call_results,
        unknown_types=check.unknown_types,
        first_time=check.first_time,
        last_time=check.last_time,
        sha256=check.sha256,
        findings=counts,
    )
    return checked, findings


def is_allowed(part: AuditPart, asked: WholeTranscript, *, tenant: str | None = None) -> bool:
    """Ask the policies of a part about a whole transcript; no file is looked at."""
    # A policy speaks of events; what it says of the first holds for the transcript.
    return part.verdict(transcript_pointer(asked.session_id, 1), tenant) is Verdict.ALLOW


def _no_transcript(asked: WholeTranscript) -> Finding:
    return Finding(
        _LEDGER,
        Severity.ERROR,
        asked.target,
        message="file: expected a transcript, got an artifact ledger",
    )


def _fault(asked: WholeTranscript, line: int | None, reason: Reason) -> Finding:
    return Finding(
        str(reason),
        Severity.ERROR,
        asked.target,
        Location(ordinal=line, line=line),
        "transcript: expected a sound one up to its end, got a fault",
    )
