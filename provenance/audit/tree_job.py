"""What is asked of every transcript of a tree, and checking one of them.

Guarantees: what comes of a candidate depends on it and the job alone: any process may do it.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> tree = TranscriptTree(TrustedRoot("/nowhere"), (Candidate(("a.jsonl",)),))
    >>> job = Job(AuditPart(), tree, None, (), with_ids=True)
    >>> check_here(job, 0, tree.candidates[0])[1].checked.findings
    {'transcript_missing': 1}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from provenance.audit.part import AuditPart, TranscriptTree
from provenance.audit.whole import Asked, check_candidate
from provenance.audit.whole_words import WholeCheck
from provenance.errors import CtxauditError
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.id_index import IdRows
from provenance.transcripts.records import Record
from provenance.transcripts.source_check import guarded

__all__ = ["Checked", "Job", "check_here", "native_ids_of"]


class Job(NamedTuple):
    """What is asked of every transcript of a tree."""

    part: AuditPart
    tree: TranscriptTree
    tenant: str | None
    sessions: tuple[str, ...]
    with_ids: bool


# number of the candidate, what came of it, the ids of its records
Checked = tuple[int, WholeCheck, IdRows]


def check_here(job: Job, number: int, candidate: Candidate) -> Checked:
    """Check one candidate in this process."""
    rows = IdRows(number)
    whole = check_candidate(
        Asked(
            part=job.part,
            tree=job.tree,
            candidate=candidate,
            target=job.tree.name_of(candidate),
            tenant=job.tenant,
            sessions=job.sessions,
            on_record=rows.add if job.with_ids else None,
        )
    )
    return number, whole, rows


def native_ids_of(job: Job, candidate: Candidate) -> Mapping[int, str]:
    """Give the native ids of a transcript's records by their ordinals; nothing where it went."""
    try:
        with open_candidate(
            job.tree.root, candidate, limits=job.part.limits, as_format=job.tree.as_format
        ) as opened:
            if opened.format is None:
                return {}
            return {
                item.ordinal: item.native_id
                for item in guarded(opened.format.records(opened.source))
                if isinstance(item, Record) and item.native_id is not None
            }
    except CtxauditError:
        return {}
