"""Evidence that was asked for and cannot be had: the face of the five states that raises.

Guarantees: `reason` is never one of an available source, and the message holds no text of the
evidence and no path.

Example:
    >>> EvidenceUnavailable(Reason.ARTIFACT_MISSING).status.value
    'missing'
"""

from __future__ import annotations

from provenance.errors import DataError
from provenance.resolution import REASON_STATUS, Reason, SourceResolutionStatus

__all__ = ["EvidenceUnavailable"]


class EvidenceUnavailable(DataError):
    """The source is missing, denied, corrupt or unsupported; `reason` says which and why."""

    code = "evidence_unavailable"

    def __init__(self, reason: Reason) -> None:
        """Take the reason; it decides the state."""
        super().__init__(f"source: expected available, got {REASON_STATUS[reason]} ({reason})")
        self.reason = reason

    @property
    def status(self) -> SourceResolutionStatus:
        """The state that the reason belongs to."""
        return REASON_STATUS[self.reason]

    def __reduce__(self) -> tuple[type[EvidenceUnavailable], tuple[Reason]]:
        return type(self), (self.reason,)
