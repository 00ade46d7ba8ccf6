"""Resolving records of other agents' transcripts: one pass over a source for all that is asked.

Guarantees: a record is found by its ordinal, and given with its native id and the digest of its own
bytes. It is available only if those bytes were read as one strict JSON object, in a pass during
which the file did not change. Damage elsewhere in the file does not matter; where it may have
swallowed the record, the answer is corrupt and not missing.

Example:
    >>> from provenance.fs.root import TrustedRoot
    >>> index = SessionIndex(TrustedRoot("/nowhere"), limits=Limits())
    >>> found = resolve_records(
    ...     index, TrustedRoot("/nowhere"), "s1", [3], limits=Limits(), excerpt_chars=0
    ... )
    >>> found[3].reason.value
    'transcript_missing'
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from provenance.evidence import EvidenceUnavailable
from provenance.fs.failures import FILE_FAILURES
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.resolution import Outcome, Quiescence, Reason, Strength
from provenance.transcripts.damage import judge_json
from provenance.transcripts.discovery import open_candidate
from provenance.transcripts.envelope import excerpt_of
from provenance.transcripts.locate import Holder, SessionIndex
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import HIDING, holds_still
from provenance.transcripts.sources import Source, SourceUnreadable

__all__ = ["read_foreign_record", "resolve_records"]

_MISSING = Outcome(Reason.TRANSCRIPT_EVENT_MISSING)
_OVER_LIMIT = Outcome(Reason.TRANSCRIPT_RECORD_TOO_LARGE, is_conclusive=False)
_UNREADABLE = {
    "container_over_limit": _OVER_LIMIT,
    "container_unsupported": Outcome(Reason.SOURCE_READ_FAILED),
}


class Found(NamedTuple):
    """One record, and what is said of it."""

    outcome: Outcome
    raw: bytes = b""


_ABSENT = Found(_MISSING)


def resolve_records(
    index: SessionIndex,
    root: TrustedRoot,
    session_id: str,
    ordinals: Collection[int],
    *,
    limits: Limits,
    excerpt_chars: int,
    formats: Collection[str] | None = None,
) -> Mapping[int, Outcome]:
    """Give the answer for records of a session, by their ordinals.

    Args:
        index: of the root.
        root: the transcript root.
        session_id: as the pointers name it.
        ordinals: which records.
        limits: bounds on what is read, and on how often a changing file is read again.
        excerpt_chars: the most characters of an excerpt; 0 for none.
        formats: only sources of these are evidence, what the others say of a session counts
            against them as ever; None: all.
    """
    found = _find(
        index,
        root,
        session_id,
        ordinals,
        limits=limits,
        excerpt_chars=excerpt_chars,
        formats=formats,
    )
    return {ordinal: one.outcome for ordinal, one in found.items()}


def read_foreign_record(
    root: TrustedRoot, session_id: str, ordinal: int, *, limits: Limits
) -> bytes:
    """Give the bytes of one record of another agent's transcript, verified as they were read.

    Args:
        root: the transcript root.
        session_id: as a pointer names it.
        ordinal: which record.
        limits: bounds on what is read.

    Raises:
        EvidenceUnavailable: it is not available; `reason` says why.
    """
    index = SessionIndex(root, limits=limits)
    found = _find(index, root, session_id, [ordinal], limits=limits, excerpt_chars=0)[ordinal]
    if found.outcome.sha256 is None:
        raise EvidenceUnavailable(found.outcome.reason)
    return found.raw


def _find(
    index: SessionIndex,
    root: TrustedRoot,
    session_id: str,
    ordinals: Collection[int],
    *,
    limits: Limits,
    excerpt_chars: int,
    formats: Collection[str] | None = None,
) -> dict[int, Found]:
    # 1. Which sources say that they hold the session.
    holders = index.holders(session_id)
    if not holders:
        return dict.fromkeys(ordinals, Found(Outcome(Reason.TRANSCRIPT_MISSING)))

    def read(holders: Iterable[Holder], wanted: frozenset[int]) -> list[_Said]:
        return [
            _Said(
                _read(root, holder, session_id, wanted, limits=limits, excerpt_chars=excerpt_chars),
                is_evidence=formats is None or holder.format.name in formats,
            )
            for holder in holders
        ]

    # 2. What each of them holds.
    wanted = frozenset(ordinals)
    answers = read(holders, wanted)
    # 3. A record that none of them has may stand in a log that begins with another session.
    absent = frozenset(
        ordinal for ordinal in wanted if all(one.found[ordinal] == _ABSENT for one in answers)
    )
    if absent:
        further = [one for one in index.further_holders(session_id) if one not in holders]
        answers += read(further, absent)
    # 4. They have to agree.
    return {
        ordinal: _admitted(ordinal, [one for one in answers if ordinal in one.found])
        for ordinal in ordinals
    }


def _admitted(ordinal: int, answers: list[_Said]) -> Found:
    """Give what all sources of a session say, where one that is evidence has the record."""
    agreed = _agreed([one.found[ordinal] for one in answers])
    is_evidence = any(
        one.is_evidence and one.found[ordinal].outcome.sha256 is not None for one in answers
    )
    if agreed.outcome.sha256 is not None and not is_evidence:
        return Found(Outcome(Reason.REFUSED_BY_POLICY))
    return agreed


def _agreed(found: list[Found]) -> Found:
    """Give what all sources of a session say; two records of one ordinal are none."""
    available = [one for one in found if one.outcome.sha256 is not None]
    if len({one.outcome.sha256 for one in available}) > 1:
        return Found(Outcome(Reason.TRANSCRIPT_SESSION_MISMATCH))
    if available:
        return available[0]
    # What could not be read says more than what is not there.
    others = [one for one in found if one.outcome.reason is not Reason.TRANSCRIPT_EVENT_MISSING]
    return (others or found)[0]


class _Said(NamedTuple):
    """What one source says, and whether that may be relied on."""

    found: Mapping[int, Found]
    is_evidence: bool


@dataclass(slots=True)
class _Pass:
    """What one pass over a source found."""

    found: dict[int, Found] = field(default_factory=dict)
    otherwise: Outcome = _MISSING


def _read(
    root: TrustedRoot,
    holder: Holder,
    session_id: str,
    wanted: frozenset[int],
    *,
    limits: Limits,
    excerpt_chars: int,
) -> Mapping[int, Found]:
    try:
        with open_candidate(
            root, holder.candidate, limits=limits, as_format=holder.format.name
        ) as opened:
            source = opened.source
            for attempt in range(limits.read_attempts + 1):
                source.forget_pass()
                one = _one_pass(source, holder, session_id, wanted, excerpt_chars)
                if holds_still(source):
                    return {
                        ordinal: one.found.get(ordinal, Found(one.otherwise)) for ordinal in wanted
                    }
                if attempt < limits.read_attempts and source.file is not None:
                    source.file.refresh()
        outcome = Outcome(Reason.SOURCE_CHANGED_DURING_READ)
    except FILE_FAILURES as failure:
        outcome = Outcome(reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE))
    except SourceUnreadable as error:
        outcome = _UNREADABLE.get(error.fault, Outcome(Reason.TRANSCRIPT_INVALID_JSON))
    return dict.fromkeys(wanted, Found(outcome))


def _one_pass(
    source: Source, holder: Holder, session_id: str, wanted: frozenset[int], excerpt_chars: int
) -> _Pass:
    one = _Pass()
    last = max(wanted)
    separate = holder.format.has_separate_sessions
    try:
        for item in holder.format.records(source):
            if separate and item.session is not None and item.session != holder.session:
                continue
            if isinstance(item, Fault):
                _note_fault(item, one)
                continue
            ordinal = item.ordinal
            if ordinal in wanted:
                session = holder.session if item.session is None else item.session
                if session_name(session) == session_id:
                    one.found[ordinal] = _judged(item, source.limits, excerpt_chars)
                elif ordinal not in one.found:
                    one.found[ordinal] = Found(_MISSING)  # another session's record
            if ordinal >= last and not separate:
                break
    except SourceUnreadable as error:
        one.otherwise = _UNREADABLE.get(error.fault, Outcome(Reason.TRANSCRIPT_INVALID_JSON))
    return one


def _note_fault(fault: Fault, one: _Pass) -> None:
    if fault.code == "record_over_limit" and fault.ordinal is not None:
        one.found[fault.ordinal] = Found(_OVER_LIMIT)
    elif fault.code in HIDING:
        # A record past the readable ones may have been among these bytes.
        one.otherwise = Outcome(Reason.TRANSCRIPT_INVALID_JSON)


def _judged(record: Record, limits: Limits, excerpt_chars: int) -> Found:
    """Say what a cited record is: its own bytes, held against the strict grammar once more."""
    value = judge_json(record.raw, limits=limits)
    if isinstance(value, Fault):
        over = value.code == "record_over_limit"
        return Found(_OVER_LIMIT if over else Outcome(Reason.TRANSCRIPT_INVALID_JSON))
    excerpt: str | None = None
    if excerpt_chars > 0:
        text = record.text
        content: Iterable[tuple[str, object]] = [("content", text)] if text else value.items()
        excerpt = excerpt_of(dict(content), excerpt_chars)
    return Found(
        Outcome(
            Reason.VERIFIED_TRANSCRIPT_EVENT,
            record.sha256,
            excerpt,
            Strength.POSITION,
            Quiescence.STAT,
            record.native_id,
            size=len(record.raw),
        ),
        record.raw,
    )
