"""What should be said of a transcript's events: the rules of the specification, line by line.

Guarantees: the slow and obvious way, one line after the other with the strict judge; nothing of
blocks, passes or the fast check is used.

Example:
    >>> outcomes(b'{"sequence":1}', [1, 2])[2].value
    'transcript_event_missing'
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts.envelope import evidence_of, judge_line
from tests.transcripts.lines import SESSION

__all__ = ["lines_of", "outcomes", "sha256_of_line"]


def lines_of(data: bytes) -> list[bytes]:
    """Split at LF alone; the last line may have no end."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def outcomes(
    data: bytes, sequences: Iterable[int], *, limits: Limits = DEFAULT_LIMITS
) -> dict[int, Reason]:
    """The reason of each event."""
    lines = lines_of(data)
    good = 0
    otherwise = Reason.TRANSCRIPT_EVENT_MISSING
    for number, line in enumerate(lines, 1):
        reason = judge_line(line, number, SESSION, limits=limits).reason
        if reason is not None:
            otherwise = reason
            break
        good = number
    return {
        number: Reason.VERIFIED_TRANSCRIPT_EVENT if number <= good else otherwise
        for number in sequences
    }


def sha256_of_line(data: bytes, number: int) -> str:
    """The digest of a line without its end."""
    return hashlib.sha256(evidence_of(lines_of(data)[number - 1])).hexdigest()
