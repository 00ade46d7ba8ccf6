"""What an audit notices beside the five states: one finding, with a code, a place and a severity.

Guarantees: a finding names its target relative to what was audited and never holds evidence text
or a host path. Codes are stable; each has a page (`ctxaudit explain CODE`).

Example:
    >>> Finding("envelope_field_absent", Severity.INFO, "s1.jsonl", Location(line=3)).code
    'envelope_field_absent'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from provenance.frozen import sealed
from provenance.waivers import Waiver

__all__ = ["Finding", "Location", "Severity"]


class Severity(StrEnum):
    """How much a finding weighs; `error` findings count as corrupt in the exit code."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@sealed
@dataclass(frozen=True, slots=True)
class Location:
    """Where in the target: `ordinal` and `line` count from 1; `native_id` is the format's own."""

    ordinal: int | None = None
    native_id: str | None = None
    line: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Give the location as the JSON object of the report (spec 05)."""
        return {"ordinal": self.ordinal, "native_id": self.native_id, "line": self.line}


@sealed
@dataclass(frozen=True, slots=True)
class Finding:
    """One thing noticed.

    Attributes:
        code: what it is; see `explain`.
        severity: how much it weighs.
        target: the file, relative to what was audited.
        location: where in it.
        message: one line: field, expected, got.
        part: which member or session of the target, where it holds several; the message says it
            too. It tells apart what is at one location of two of them.
        waiver: who answers for it, so that it does not count; None: it counts.
    """

    code: str
    severity: Severity
    target: str
    location: Location = field(default_factory=Location)
    message: str = ""
    part: str = ""
    waiver: Waiver | None = None

    def to_dict(self) -> dict[str, object]:
        """Give the finding as the JSON object of the report (spec 05)."""
        payload: dict[str, object] = {
            "code": self.code,
            "severity": str(self.severity),
            "target": self.target,
            "location": self.location.to_dict(),
            "message": self.message,
        }
        if self.waiver is not None:
            payload["waiver"] = self.waiver.to_dict()
        return payload
