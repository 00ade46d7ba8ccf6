"""What several reports say of a source alike: its state, its weight, the target it belongs to.

Guarantees: pure. A source that is inconclusive is never called available.

Example:
    >>> target_of("home/states/a.json", ("home", "other"))
    'home'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenance.audit_report import AuditedSource
from provenance.resolution import SourceResolutionStatus

__all__ = ["WORST_FIRST", "Describe", "is_reported", "meaning_of", "state_of", "target_of"]

# Gives what a code means, how it arises and what to do about it; None for a code without a page.
Describe = Callable[[str], tuple[str, str, str] | None]

# `inconclusive` is no state of a source, but it is one of a check.
WORST_FIRST = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")


def is_reported(source: AuditedSource) -> bool:
    """Say whether a source is not available, or nobody knows that it is."""
    answer = source.resolution
    return answer.status is not SourceResolutionStatus.AVAILABLE or not answer.conclusive


def state_of(source: AuditedSource) -> str:
    """Give the state of a source, or `inconclusive`."""
    answer = source.resolution
    return str(answer.status) if answer.conclusive else "inconclusive"


def meaning_of(code: str, describe: Describe) -> str:
    """Give the first sentence of what a code means; empty where it has no page."""
    page = describe(code)
    if page is None:
        return ""
    head, separator, _ = page[0].partition(". ")
    return f"{head}." if separator else head


def target_of(file: str, targets: Sequence[str]) -> str:
    """Give the one of several targets that a file belongs to; empty where it is of none."""
    held = (name for name in targets if file == name or file.startswith(name + "/"))
    return max(held, key=len, default="")
