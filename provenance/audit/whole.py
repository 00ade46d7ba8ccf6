"""Checks transcripts of any format from their first record to their last.

Guarantees: a policy is asked before more than the head of a transcript is read: whose it is stands
in there. Every fault is a finding with the transcript's name as its target. The first fault that
the strict rules for native transcripts meet (spec 01.5) is a finding with the code of its reason; a
transcript that cannot be opened is one too, and has no records. An artifact ledger is never taken
for a transcript.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> part = AuditPart(transcripts=TrustedRoot("/nowhere"))
    >>> whole = check_whole(part, WholeTranscript("s1", "s1.jsonl"))
    >>> whole.checked.records, [finding.code for finding in whole.findings]
    (0, ['transcript_missing'])
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from provenance.audit.ledgers import LINES_ENDINGS, TRANSCRIPT_ENDING, is_ledger
from provenance.audit.part import AuditPart, TranscriptTree, WholeTranscript
from provenance.audit.whole_words import (
    BadLine,
    WholeCheck,
    denied,
    finding_of,
    format_not_named,
    no_transcript,
    other_file,
    reference_of,
    refused,
    strict_fault,
    unaddressable_name,
    unknown_format,
)
from provenance.audit_report import CheckedTranscript
from provenance.errors import CtxauditError
from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.fs.failures import FILE_FAILURES
from provenance.fs.reasons import reason_of
from provenance.pointers import is_name, transcript_pointer
from provenance.policy import Verdict
from provenance.resolution import Reason
from provenance.transcripts.adapters.protocol import MixedSessions, TranscriptFormat
from provenance.transcripts.checking import TranscriptCheck, check_transcript
from provenance.transcripts.content_hash import compare_content_hash, read_content_hash
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.formats import NATIVE, format_named, is_candidate
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import SourceCheck, check_source, guarded
from provenance.transcripts.sources import Source, SourceUnreadable

__all__ = ["Asked", "check_candidate", "check_whole", "is_allowed"]

# What the strict rules for native transcripts say themselves, in their own words.
_STRICT_SAYS = frozenset({"record_over_limit", "source_changed_during_read"})
# Much else is kept in such files.
_DOCUMENTS = (".json",)
_LARGEST_SHOWN = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of one candidate.

    Attributes:
        part: its limits and policies.
        tree: where it lies.
        candidate: which one.
        target: what to call it.
        tenant: who asks.
        sessions: patterns; what has no session that matches is left out. Empty: all.
        on_record: hears of each record of another agent's transcript.
    """

    part: AuditPart
    tree: TranscriptTree
    candidate: Candidate
    target: str
    tenant: str | None = None
    sessions: tuple[str, ...] = ()
    on_record: Callable[[Record], None] | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder."""
        return self.candidate.names[-1] if self.candidate.names else ""

    @property
    def is_lines(self) -> bool:
        """Whether it is called what a native transcript is."""
        return self.name.endswith(TRANSCRIPT_ENDING)

    @property
    def session_id(self) -> str:
        """The session that a native transcript of this name is of."""
        return self.name.removesuffix(TRANSCRIPT_ENDING)

    @contextlib.contextmanager
    def folder(self) -> Iterator[TrustedRoot]:
        """Open the folder that it lies in as a root; closed again where it is not the tree's."""
        names = self.candidate.names[:-1]
        if not names:
            yield self.tree.root
            return
        with self.tree.root.subroot(*names) as folder:
            yield folder

    def may_read(self, session: str) -> bool:
        """Ask the policies about a session."""
        return _may_read(self.part, session_name(session), self.tenant)

    def is_wanted(self, session: str) -> bool:
        """Say whether a session is one of those that are asked for."""
        return not self.sessions or any(fnmatchcase(session, one) for one in self.sessions)

    def wants_any(self, sessions: Iterable[object]) -> bool:
        """Say whether one of several sessions is asked for."""
        return any(isinstance(one, str) and self.is_wanted(one) for one in sessions)


def check_whole(
    part: AuditPart, asked: WholeTranscript, *, tenant: str | None = None
) -> WholeCheck:
    """Check the transcript of one session of a part, whatever its format.

    Args:
        part: its roots, limits and policies.
        asked: which transcript, and what to call it.
        tenant: who asks.
    """
    root = part.transcripts
    if root is None or not is_allowed(part, asked, tenant=tenant):
        return denied(asked.target, asked.session_id)
    return check_candidate(
        Asked(
            part=part,
            tree=TranscriptTree(root, (), is_named=True),
            candidate=Candidate((asked.session_id + TRANSCRIPT_ENDING,)),
            target=asked.target,
            tenant=tenant,
        )
    )


def check_candidate(asked: Asked) -> WholeCheck:
    """Check what may be a transcript."""
    tree, target = asked.tree, asked.target
    is_meant = tree.is_named or asked.name.endswith(LINES_ENDINGS)
    try:
        with open_candidate(
            tree.root, asked.candidate, limits=asked.part.limits, as_format=tree.as_format
        ) as opened:
            # 1. What it is, by its first bytes.
            found = opened.format
            is_meant = is_meant or found is not None
            if found is None and not tree.is_named:
                return _unknown(asked)
            # 2. Ours: its session is its name. The policy, then the strict rules.
            if found is None or found.name == NATIVE:
                return _native(asked, opened.source)
            # 3. Another agent's: its sessions, then the policy, then all of it.
            return _foreign(asked, found, opened.source)
    except SourceUnreadable as error:
        fault = Fault(error.fault, Severity.ERROR, str(error))
        return refused(target, "unknown", fault) if is_meant else WholeCheck(None)
    except FILE_FAILURES as failure:
        reason = reason_of(
            failure,
            not_a_file=Reason.TRANSCRIPT_NOT_A_FILE,
            absent=Reason.TRANSCRIPT_MISSING,
        )
        fault = strict_fault(reason, BadLine())
        # A link or pipe of another name may have been anything; what a policy refuses was a file.
        is_meant = is_meant or reason is Reason.REFUSED_BY_POLICY
        return refused(target, NATIVE, fault, asked.session_id) if is_meant else WholeCheck(None)


def is_allowed(part: AuditPart, asked: WholeTranscript, *, tenant: str | None = None) -> bool:
    """Ask the policies of a part about a whole transcript; no file is looked at."""
    return _may_read(part, asked.session_id, tenant)


def _may_read(part: AuditPart, session_id: str, tenant: str | None) -> bool:
    # A policy speaks of events; what it says of the first holds for the transcript.
    return part.verdict(transcript_pointer(session_id, 1), tenant) is Verdict.ALLOW


def _unknown(asked: Asked) -> WholeCheck:
    """Say of a file with a transcript's name that nobody knows it; of other files nothing."""
    name = asked.name.lower()
    if name.endswith(_DOCUMENTS):
        return other_file(asked.target)
    if not asked.is_lines:
        return unknown_format(asked.target) if is_candidate(name) else WholeCheck(None)
    if not asked.may_read(asked.session_id):
        return denied(asked.target, asked.session_id)
    with asked.folder() as folder:
        if is_ledger(folder, asked.name):
            return no_transcript(asked.target, asked.session_id)
    return unknown_format(asked.target)


def _native(asked: Asked, source: Source) -> WholeCheck:
    """Check by the strict rules, and then what the records say of each other."""
    target, session_id = asked.target, asked.session_id
    if not asked.is_lines or not is_name(session_id):
        is_copy = not asked.is_lines and not asked.tree.is_named
        return unaddressable_name(target, Severity.INFO if is_copy else Severity.ERROR)
    if not asked.may_read(session_id):
        return denied(target, session_id)
    if not asked.is_wanted(session_id):
        return WholeCheck(None, is_left_out=True)
    with asked.folder() as folder:
        if is_ledger(folder, asked.name):
            return no_transcript(target, session_id)
        if not asked.part.takes_format(NATIVE):
            return format_not_named(target, NATIVE, session_id)
        strict = check_transcript(folder, session_id, limits=asked.part.limits)
    number = None if strict.first_bad is None else strict.first_bad[0]
    bad = _SequenceAt(number)
    on_record = None if number is None else bad.take
    check = check_source(source, format_named(NATIVE), root=None, on_record=on_record)
    _hold_hash(asked, source, check)
    findings = [replace(finding, target=target) for finding in strict.findings]
    counts = Counter(strict.finding_counts)
    findings += [
        finding_of(fault, target) for fault in check.faults if fault.code not in _STRICT_SAYS
    ]
    counts.update(
        {code: count for code, count in check.fault_counts.items() if code not in _STRICT_SAYS}
    )
    if strict.first_bad is not None:
        torn = any(fault.code == "torn_line" and fault.line == number for fault in check.faults)
        line = BadLine(number, bad.sequence, torn, asked.part.limits)
        findings.append(finding_of(strict_fault(strict.first_bad[1], line), target))
        counts[str(strict.first_bad[1])] += 1
    return WholeCheck(_checked_native(asked, check, strict, counts), tuple(findings))


class _SequenceAt:
    """Keeps the sequence number that stands in one line."""

    def __init__(self, line: int | None) -> None:
        self._line = line
        self.sequence: int | None = None

    def take(self, record: Record) -> None:
        """Look at one record."""
        if record.line != self._line or not isinstance(record.value, dict):
            return
        found = record.value.get("sequence")
        # Longer ones fill the message, and older interpreters do not print them.
        is_number = type(found) is int and abs(found) < _LARGEST_SHOWN
        self.sequence = found if is_number else None


def _checked_native(
    asked: Asked, check: SourceCheck, strict: TranscriptCheck, counts: Counter[str]
) -> CheckedTranscript:
    return CheckedTranscript(
        target=asked.target,
        format=NATIVE,
        sessions=(asked.session_id,),
        # One that is over a limit of ours is a record all the same.
        records=check.records + check.fault_counts["record_over_limit"],
        calls=check.calls,
        call_results=check.call_results,
        unknown_types=check.unknown_types,
        first_time=strict.first_time,
        last_time=strict.last_time,
        sha256=strict.sha256,
        findings=counts,
    )


def _foreign(asked: Asked, found: TranscriptFormat, source: Source) -> WholeCheck:
    """Check another agent's transcript, once its sessions are known and may be read."""
    target = asked.target
    named = guarded(iter(found.sessions(source)))
    sessions = [one for one in named if isinstance(one, str)] or [source.stem]
    # One session of a source that is denied denies the source: what the others say of it is its.
    for session in sessions:
        if not asked.may_read(session):
            return denied(target, session_name(session))
    if not asked.wants_any(sessions) and not (
        isinstance(found, MixedSessions)
        and asked.wants_any(guarded(iter(found.record_sessions(source))))
    ):
        return WholeCheck(None, is_left_out=True)
    if not asked.part.takes_format(found.name):
        return format_not_named(target, found.name, session_name(sessions[0]))
    check = check_source(
        source,
        found,
        root=asked.tree.root,
        on_record=asked.on_record,
        wanted=asked.is_wanted if asked.sessions and found.has_separate_sessions else None,
    )
    # What a log goes on with was not known before: the same is asked of it.
    for session in check.sessions:
        if not asked.may_read(session):
            return denied(target, session_name(session))
    if not asked.wants_any(check.sessions or sessions):
        return WholeCheck(None, is_left_out=True)
    if asked.tree.as_format is not None and 0 < check.records == sum(check.unknown_types.values()):
        check.add(
            Fault(
                "unknown_format",
                Severity.ERROR,
                f"file: expected records of {found.name}, got none that it knows",
            )
        )
    _hold_hash(asked, source, check)
    _note_references(check)
    checked = CheckedTranscript(
        target=target,
        format=found.name,
        sessions=check.sessions or tuple(sessions),
        records=check.records,
        calls=check.calls,
        call_results=check.call_results,
        unknown_types=check.unknown_types,
        first_time=check.first_time,
        last_time=check.last_time,
        sha256=check.sha256,
        findings=dict(check.fault_counts),
        references=dict(check.reference_counts),
    )
    return WholeCheck(
        checked,
        tuple(
            finding_of(
                fault,
                target,
                is_folder=source.file is None,
                names_session=found.has_separate_sessions and len(checked.sessions) > 1,
            )
            for fault in check.faults
        ),
        tuple(reference_of(one, target) for one in check.references),
    )


def _note_references(check: SourceCheck) -> None:
    """Make a finding of each reference that leads nowhere, unless that is normal."""
    for one in check.references:
        if not one.is_fault:
            continue
        check.add(
            Fault(
                one.code,
                one.severity,
                one.message,
                one.ordinal,
                one.line,
                one.native_id,
                one.session,
                one.member,
            )
        )
    # What is listed is bounded, what is counted is not.
    check.fault_counts.update(check.reference_faults - _listed_faults(check))


def _listed_faults(check: SourceCheck) -> Counter[str]:
    return Counter(one.code for one in check.references if one.is_fault)


def _hold_hash(asked: Asked, source: Source, check: SourceCheck) -> None:
    """Hold the digest against the one that was written down, where there is one."""
    expected: str | Fault | None = asked.tree.expected_hash
    if expected is None and asked.candidate.has_hash is None:
        expected = Fault(
            "content_hash_invalid",
            Severity.WARNING,
            "content_hash.txt: expected one transcript beside it, got several; not compared",
        )
    elif expected is None and asked.candidate.has_hash:
        expected = read_content_hash(source)
    if expected is None or check.sha256 is None:
        return
    if isinstance(expected, Fault):
        check.add(expected)
        return
    try:
        fault = compare_content_hash(source, check.sha256, expected)
    except CtxauditError as error:
        fault = Fault("content_hash_mismatch", Severity.ERROR, f"content hash: {error}")
    if fault is not None:
        check.add(fault)
