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

from provenance.frozen import sealed

__all__ = ["Waiver"]


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
        target: the target of those findings, relative to what was audited.
    """

    reason: str
    owner: str
    expires: date
    pointer: str | None = None
    code: str | None = None
    target: str | None = None

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
