"""Collects the references of transcripts: all counted, the first of each state and file listed.

Guarantees: memory is bounded whatever the number of files and references.

Example:
    >>> ReferenceNotes().counts()
    {}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from provenance.audit_report import CheckedReference
from provenance.resolution import SourceResolutionStatus

__all__ = ["ReferenceNotes"]

# What is not there is looked at one by one; what is as it should be, seldom.
_MOST_LISTED = 20_000
_MOST_AVAILABLE = 2_000
_ORDER = {status: rank for rank, status in enumerate(SourceResolutionStatus)}


class ReferenceNotes:
    """A growing collection of resolved references."""

    def __init__(self) -> None:
        self._listed: list[CheckedReference] = []
        self._counts: Counter[str] = Counter()
        self._listed_counts: Counter[str] = Counter()

    def extend(self, references: Iterable[CheckedReference], counts: Mapping[str, int]) -> None:
        """Take those of one transcript.

        Args:
            references: the first of each state.
            counts: how many there are by state.
        """
        self._counts.update(counts)
        for reference in references:
            status = str(reference.status)
            most = _MOST_AVAILABLE if status == "available" else _MOST_LISTED
            if self._listed_counts[status] < most:
                self._listed_counts[status] += 1
                self._listed.append(reference)

    def listed(self) -> tuple[CheckedReference, ...]:
        """Give the listed ones, by target and place."""
        return tuple(
            sorted(
                self._listed,
                key=lambda one: (
                    one.target,
                    one.location.ordinal or 0,
                    one.kind,
                    _ORDER[one.status],
                    one.message,
                ),
            )
        )

    def counts(self) -> Mapping[str, int]:
        """Give how many there are by state."""
        return dict(sorted(self._counts.items()))
