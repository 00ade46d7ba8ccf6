"""The exit codes of ctxaudit, and which of several faults decides (spec 05).

Guarantees: a number here never changes its meaning. The worst fault wins: 14, 13, 12, 11, 4, then
3. No report format changes a code. An unknown code is to be read as failure.

Example:
    >>> worst([ExitCode.MISSING, ExitCode.CORRUPT])
    <ExitCode.CORRUPT: 14>
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

__all__ = ["VERDICTS", "ExitCode", "worst"]


class ExitCode(IntEnum):
    """What a run of ctxaudit ended with."""

    OK = 0
    TOOL_FAILED = 1
    USAGE = 2
    NOTHING_VERIFIED = 3
    INCONCLUSIVE = 4
    UNSUPPORTED = 11
    MISSING = 12
    DENIED = 13
    CORRUPT = 14
    INTERRUPTED = 130


# Worst first. These are judgements of evidence; the others say that there is no judgement.
VERDICTS = (
    ExitCode.CORRUPT,
    ExitCode.DENIED,
    ExitCode.MISSING,
    ExitCode.UNSUPPORTED,
    ExitCode.INCONCLUSIVE,
    ExitCode.NOTHING_VERIFIED,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Give the verdict that decides, or `OK` where there is none among `codes`."""
    found = frozenset(codes)
    return next((verdict for verdict in VERDICTS if verdict in found), ExitCode.OK)
