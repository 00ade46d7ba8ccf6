"""What a target's own policy keeps from the audit although the operator's would let it be read.

Guarantees: a target may withhold evidence, and it is never silent: each source and transcript that
its own rules or its own list `refuse` alone keep back is counted, and each home with any has one
finding `denied_by_target`, an error. `--fail-on` says which states of evidence count, and what a
target decides of its own audit is none of them. Where the operator refuses kinds of evidence too
and the target refuses more kinds, a refused file counts: nobody looks at it to tell for which.

Example:
    >>> withheld = Withheld()
    >>> withheld.add(AuditPart(prefix="home/"), 2)
    >>> [(one.target, one.message) for one in withheld.findings()]
    [('home/ctxaudit.toml', 'policy: expected what the operator may read, got 2 sources withheld')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from provenance.audit.home_config import CONFIG_FILE
from provenance.audit.part import AuditPart
from provenance.audit.whole_words import WholeCheck
from provenance.findings import Finding, Severity
from provenance.pointers import transcript_pointer
from provenance.resolution import Reason

__all__ = ["DENIED_BY_TARGET", "Withheld", "is_transcript_withheld"]

DENIED_BY_TARGET = "denied_by_target"


class Withheld:
    """Counts what homes withhold, by the home."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._counts: Counter[str] = Counter()

    def add(self, part: AuditPart, count: int) -> None:
        """Count sources of a part that its home's policy alone keeps back."""
        if count > 0:
            self._counts[part.prefix] += count

    def findings(self) -> Iterator[Finding]:
        """Give one finding for each home, in the order of their names."""
        for prefix, count in sorted(self._counts.items()):
            sources = "source" if count == 1 else "sources"
            yield Finding(
                DENIED_BY_TARGET,
                Severity.ERROR,
                prefix + CONFIG_FILE,
                message=(
                    f"policy: expected what the operator may read, got {count} {sources} withheld"
                ),
            )


def is_transcript_withheld(whole: WholeCheck, part: AuditPart, *, tenant: str | None) -> bool:
    """Say whether a transcript was not read because of the target's policy alone."""
    if whole.checked is None:
        return False
    codes = set(whole.checked.findings)
    if Reason.REFUSED_BY_POLICY in codes and part.target_refuses_more:
        return True
    return Reason.POLICY_DENIED in codes and any(
        part.is_withheld(transcript_pointer(session, 1), tenant)
        for session in whole.checked.sessions
    )
