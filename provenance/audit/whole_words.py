"""What a checked transcript comes to, and putting its faults into the words of the report.

Guarantees: pure. A finding's target is a file that is there: the transcript's name, with that of a
file in it where the transcript is a folder. The member of an archive, and the session where a file
holds several, stand in the message. What the strict rules refuse is told by its reason; no message
holds text of the evidence.

Example:
    >>> refused("a.jsonl", "native", Fault("x", Severity.ERROR, "m")).checked.findings
    {'x': 1}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from provenance.audit_report import CheckedReference, CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.records import Fault
from provenance.transcripts.references import ResolvedReference

__all__ = [
    "STRICT_REASONS",
    "BadLine",
    "WholeCheck",
    "denied",
    "finding_of",
    "format_not_named",
    "no_transcript",
    "other_file",
    "reference_of",
    "refused",
    "strict_fault",
    "unaddressable_name",
    "unknown_format",
]

_LEDGER = "ledger_not_transcript"
_NAME_CHARACTERS = 200


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


class BadLine(NamedTuple):
    """The first line that the strict rules for native transcripts refuse.

    Attributes:
        number: counted from 1; None where the file as a whole is refused.
        sequence: the number that stands in it, where it is the wrong one.
        is_torn: its end is missing.
        limits: the bounds that it was held to.
    """

    number: int | None = None
    sequence: int | None = None
    is_torn: bool = False
    limits: Limits = DEFAULT_LIMITS


# Where the file as a whole is refused.
_NO_LINE = BadLine()


def _json(line: BadLine) -> str:
    if line.is_torn:
        return "record: expected a whole JSON object, got one that is cut short"
    return (
        f"record: expected strict JSON of at most {line.limits.max_nesting} levels, got another "
        "text"
    )


def _sequence(line: BadLine) -> str:
    got = "another value" if line.sequence is None else f"{line.sequence}"
    return f"sequence: expected the number of its line, {line.number}, got {got}"


def _always(message: str) -> Callable[[BadLine], str]:
    return lambda _: message


# What the strict rules and the file system answer about a native transcript, each in its words.
STRICT_REASONS: dict[Reason, Callable[[BadLine], str]] = {
    Reason.POLICY_DENIED: _always("policy: expected it to allow this session, got a refusal"),
    Reason.TRANSCRIPT_MISSING: _always("file: expected a transcript, got nothing of that name"),
    Reason.SOURCE_DISAPPEARED: _always(
        "file: expected it to stay while it was read, got nothing of that name any more"
    ),
    Reason.OWNERSHIP_BOUNDARY: _always(
        "file: expected one that lies below the root, got a link, a mount or another spelling"
    ),
    Reason.REFUSED_BY_POLICY: _always(
        "file: expected one that the policy takes as evidence, got one that it refuses"
    ),
    Reason.FILESYSTEM_DENIED: _always("file: expected permission to read, got a refusal"),
    Reason.TRANSCRIPT_NOT_A_FILE: _always("file: expected a regular file, got something else"),
    Reason.SOURCE_READ_FAILED: _always(
        "file: expected to read it to its end, got an error of the device or file system"
    ),
    Reason.SOURCE_CHANGED_DURING_READ: _always(
        "file: expected no change during the read, got one each time"
    ),
    Reason.TRANSCRIPT_RECORD_TOO_LARGE: lambda line: (
        f"record: expected at most {line.limits.max_record_bytes} bytes, got more"
    ),
    Reason.SOURCE_NOT_UTF8: _always("record: expected UTF-8, got other bytes"),
    Reason.TRANSCRIPT_INVALID_JSON: _json,
    Reason.TRANSCRIPT_RECORD_NOT_OBJECT: _always(
        "record: expected a JSON object, got another JSON value"
    ),
    Reason.TRANSCRIPT_SEQUENCE_MISMATCH: _sequence,
    Reason.TRANSCRIPT_SESSION_MISMATCH: _always(
        "session_id: expected the session that the file is named after, got another value"
    ),
    Reason.TRANSCRIPT_EVENT_ID_MISMATCH: _always(
        "event_id: expected the pointer of this very line, got another value"
    ),
}


def strict_fault(reason: Reason, line: BadLine) -> Fault:
    """Give the fault of what the strict rules refuse, in words of its own."""
    said = STRICT_REASONS.get(reason)
    message = f"transcript: expected a sound one, got a fault ({reason})"
    return Fault(
        str(reason),
        Severity.ERROR,
        message if said is None else said(line),
        ordinal=line.number,
        line=line.number,
    )


def finding_of(
    fault: Fault, target: str, *, is_folder: bool = False, names_session: bool = False
) -> Finding:
    """Give the finding that a fault of a transcript is.

    Args:
        fault: what is wrong.
        target: the transcript's name.
        is_folder: it is a folder, and a member of it a file; else a member is part of the file.
        names_session: it holds several sessions, each with ordinals of its own.
    """
    member = None if fault.member is None else _shown(fault.member)
    line, part = fault.line, ""
    if fault.member is not None and is_folder:
        target = f"{target}/{fault.member}"
    elif member is not None:
        part = f"member {member}"
        if line is not None:
            # That line is none of the file's.
            part, line = f"{part}, line {line}", None
    elif names_session and fault.session is not None:
        part = f"session {_shown(fault.session)}"
    return Finding(
        fault.code,
        fault.severity,
        target,
        Location(ordinal=fault.ordinal, native_id=fault.native_id, line=line),
        f"{fault.message} ({part})" if part else fault.message,
        part,
    )


def _shown(name: str) -> str:
    """Give a name so that nothing in it steers a terminal, and its end where it is long."""
    name = "".join(char if char.isprintable() else "?" for char in name)
    return name if len(name) <= _NAME_CHARACTERS else f"...{name[3 - _NAME_CHARACTERS :]}"


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
    fault = strict_fault(Reason.POLICY_DENIED, _NO_LINE)
    return refused(target, NATIVE, fault, session_id)


def format_not_named(target: str, kind: str, session_id: str) -> WholeCheck:
    """Say that the target's own settings do not take a transcript of this format as evidence."""
    fault = Fault(
        str(Reason.REFUSED_BY_POLICY),
        Severity.ERROR,
        "format: expected one of the formats that ctxaudit.toml names, got another",
    )
    return refused(target, kind, fault, session_id)


def no_transcript(target: str, session_id: str) -> WholeCheck:
    """Say that a file is an artifact ledger."""
    fault = Fault(_LEDGER, Severity.ERROR, "file: expected a transcript, got an artifact ledger")
    return refused(target, NATIVE, fault, session_id)


def unaddressable_name(target: str, severity: Severity = Severity.ERROR) -> WholeCheck:
    """Say that no pointer can name a native transcript, so that nobody can cite it."""
    finding = Finding(
        "unaddressable_file",
        severity,
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


def other_file(target: str) -> WholeCheck:
    """Say that a document is no transcript of a known format: most are none."""
    message = "file: a document of no known format of transcripts; not checked"
    return WholeCheck(None, (Finding("other_file", Severity.INFO, target, message=message),))
