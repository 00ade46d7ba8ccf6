"""What a target's own policy or limits keep from the audit although the operator's would not.

Guarantees: a target may withhold evidence, and it is never silent: each source and transcript that
its own rules or its own list `refuse` alone keep back is counted, and each home with any has one
finding `denied_by_target`, an error. `--fail-on` says which states of evidence count, and what a
target decides of its own audit is none of them. What has another answer under the target's lower
limits than under the operator's is `limited_by_target` in the same way. Where the operator refuses
kinds of evidence too and the target refuses more kinds, a refused file counts: nobody looks at it
to tell for which.

Example:
    >>> withheld = Withheld()
    >>> withheld.add(AuditPart(prefix="home/"), 2)
    >>> [(one.target, one.message) for one in withheld.findings()]
    [('home/ctxaudit.toml', 'policy: expected what the operator may read, got 2 sources withheld')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from provenance.audit.home_config import CONFIG_FILE
from provenance.audit.part import AuditPart
from provenance.audit.verifying import PartVerifier
from provenance.audit.whole_words import WholeCheck
from provenance.findings import Finding, Severity
from provenance.limits import Limits
from provenance.pointers import transcript_pointer
from provenance.resolution import Reason, SourceResolution, SourceResolutionStatus

__all__ = [
    "DENIED_BY_TARGET",
    "LIMITED_BY_TARGET",
    "LIMITS",
    "Withheld",
    "answered_otherwise",
    "is_cut_by_limits",
    "is_transcript_withheld",
]

DENIED_BY_TARGET = "denied_by_target"
LIMITED_BY_TARGET = "limited_by_target"
LIMITS = "limits"
_POLICY = "policy"
_OVER_A_LIMIT = frozenset({"record_over_limit", str(Reason.TRANSCRIPT_RECORD_TOO_LARGE)})


class Withheld:
    """Counts what homes withhold, by the home."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, part: AuditPart, count: int, *, by: str = _POLICY) -> None:
        """Count sources of a part that its home's `policy` or `limits` alone keep back."""
        if count > 0:
            self._counts[part.prefix, by] += count

    def findings(self) -> Iterator[Finding]:
        """Give one finding for each home, in the order of their names."""
        for (prefix, by), count in sorted(self._counts.items()):
            sources = "source" if count == 1 else "sources"
            yield Finding(
                LIMITED_BY_TARGET if by == LIMITS else DENIED_BY_TARGET,
                Severity.ERROR,
                prefix + CONFIG_FILE,
                message=(
                    f"{by}: expected what the operator may read, got {count} {sources} withheld"
                ),
            )


def is_transcript_withheld(whole: WholeCheck, part: AuditPart, *, tenant: str | None) -> bool:
    """Say whether a transcript was not read because of the target's policy alone."""
    if whole.checked is None:
        return False
    codes = set(whole.checked.findings)
    refuses_more = part.target_refuses_more or not part.takes_format(whole.checked.format)
    if Reason.REFUSED_BY_POLICY in codes and refuses_more:
        return True
    return Reason.POLICY_DENIED in codes and any(
        part.is_withheld(transcript_pointer(session, 1), tenant)
        for session in whole.checked.sessions
    )


def is_cut_by_limits(whole: WholeCheck, part: AuditPart, limits: Limits) -> bool:
    """Say whether records of a transcript were left out for limits that are not the operator's."""
    if part.limits == limits or whole.checked is None:
        return False
    codes = set(whole.checked.findings)
    if part.limits.max_nesting < limits.max_nesting and Reason.TRANSCRIPT_INVALID_JSON in codes:
        return True  # too deep is no JSON that is read: which of both it is, nobody looked
    return not _OVER_A_LIMIT.isdisjoint(codes)


def answered_otherwise(
    answers: Iterable[SourceResolution],
    part: AuditPart,
    limits: Limits,
    *,
    tenant: str | None,
    jobs: int,
) -> frozenset[str]:
    """Give the pointers that have another answer under the operator's limits than under the home's.

    Args:
        answers: under the part's own limits.
        part: below its own limits.
        limits: the operator's.
        tenant: who asks.
        jobs: processes that verify.
    """
    if part.limits == limits:
        return frozenset()
    # What is available, too: a limit may hide the second log that makes a session ambiguous.
    first = {
        one.pointer: (one.status, one.reason, one.conclusive)
        for one in answers
        if one.status is not SourceResolutionStatus.DENIED
    }
    if not first:
        return frozenset()
    with PartVerifier(replace(part, limits=limits), tenant=tenant) as verifier:
        again = verifier.verify(list(first), jobs=jobs)
    return frozenset(
        one.pointer
        for one in again
        if (one.status, one.reason, one.conclusive) != first[one.pointer]
    )
