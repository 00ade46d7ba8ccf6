"""A waiver: somebody answers for a fault until a day, so that it no longer fails the run.

Guarantees: pure. A waiver hides nothing: what it covers stays in every report, with the waiver
beside it. It covers one pointer, or one code of finding at one target, never more.

Example:
    >>> from datetime import date
    >>> Waiver("lost with the old disk", "ops", date(2027, 1, 31), code="x", target="a").target
    'a'
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from provenance.frozen import sealed

__all__ = ["NEVER_WAIVED", "Waiver", "WaiverEntry", "WaiverState"]

# What says that waivers themselves are not in order cannot be waived.
NEVER_WAIVED = frozenset({"waiver_expired", "waiver_unused"})


class WaiverState(StrEnum):
    """What became of a waiver in a run; `NOT_KNOWN` where the run did not come to its end."""

    USED = "used"
    UNUSED = "unused"
    EXPIRED = "expired"
    NOT_KNOWN = "not_known"


@sealed
@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver.

    Attributes:
        reason: why the fault is accepted.
        owner: who answers for it.
        expires: the last day on which it counts, in UTC.
        pointer: the source that it covers; None: it covers findings.
        code: the code of the findings that it covers; None: it covers a source.
        target: the target of those findings, relative to what was audited; of a source: the target
            of the run that it is cited in, None: whichever it is.
    """

    reason: str
    owner: str
    expires: date
    pointer: str | None = None
    code: str | None = None
    target: str | None = None

    @property
    def covers(self) -> str:
        """Say what it covers, in words."""
        if self.pointer is None:
            return f"{self.code} at {self.target}"
        return self.pointer if self.target is None else f"{self.pointer} in {self.target}"

    def to_dict(self) -> dict[str, object]:
        """Give the waiver as the JSON object of the report."""
        return {
            "reason": self.reason,
            "owner": self.owner,
            "expires": self.expires.isoformat(),
            "pointer": self.pointer,
            "code": self.code,
            "target": self.target,
        }


class WaiverEntry(NamedTuple):
    """A waiver, its number in its file from 1, and the line it begins on where that is known."""

    waiver: Waiver
    number: int = 1
    line: int | None = None
