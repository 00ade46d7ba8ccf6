"""What a failure of the file system means for a source: the reason that its owner reports.

Guarantees: each failure has exactly one reason; what is not understood is `source_read_failed`,
which proves nothing about the evidence.

Example:
    >>> from provenance.fs.failures import BoundaryRefused
    >>> reason = reason_of(BoundaryRefused("a link"), not_a_file=Reason.ARTIFACT_NOT_A_FILE)
    >>> reason.value
    'ownership_boundary'
"""

from __future__ import annotations

from typing import assert_never

from provenance.fs.failures import (
    AccessRefused,
    BoundaryRefused,
    FileFailure,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    TraitRefused,
)
from provenance.resolution import Reason

__all__ = ["reason_of"]


def reason_of(
    failure: FileFailure,
    *,
    not_a_file: Reason,
    absent: Reason = Reason.SOURCE_DISAPPEARED,
) -> Reason:
    """Give the reason of a failure (spec 01.2).

    Args:
        failure: what the file system said.
        not_a_file: the owner's own reason for something else than a regular file.
        absent: what nothing of that name means here; while it is being read, it disappeared.
    """
    match failure:
        case SourceAbsent():
            return absent
        case BoundaryRefused():
            return Reason.OWNERSHIP_BOUNDARY
        case AccessRefused():
            return Reason.FILESYSTEM_DENIED
        case TraitRefused():
            return Reason.REFUSED_BY_POLICY
        case NotARegularFile():
            return not_a_file
        case ReadFailed():
            return Reason.SOURCE_READ_FAILED
        case _:
            assert_never(failure)
