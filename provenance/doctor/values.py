"""What a look at roots and machine found, before and after it is judged.

Guarantees: frozen values; no path above a root stands in any of them.

Example:
    >>> Note("no_landlock", Severity.INFO, "machine", "kernel: expected Landlock, got none").count
    1
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from provenance.audit._doctor_pages import COSTS
from provenance.audit.explanations import find_explanation
from provenance.findings import Severity
from provenance.fs.census import Census, Places
from provenance.fs.machine import Machine
from provenance.fs.surroundings import FileSystem, Step

__all__ = ["Clocks", "DoctorReport", "Note", "Root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """Facts about one root.

    Attributes:
        label: what to call it.
        way: the steps to it; the last is the root itself.
        census: what lies below it.
        file_system: what it lies on; None: it could not be looked at.
        mounts: what is mounted below it, as the kernel lists it.
        open_keys_beside: private keys that others may read, in the folder above the root.
        device: which file system it lies on.
        fault: why it could not be looked at; empty where it was.
    """

    label: str
    way: tuple[Step, ...] = ()
    census: Census = field(default_factory=Census)
    file_system: FileSystem | None = None
    mounts: tuple[str, ...] = ()
    open_keys_beside: Places = field(default_factory=Places)
    device: int | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time of day and a clock that is never set, before and after the look."""

    began: datetime
    ended: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that is unsafe, or that an answer rests on.

    Attributes:
        code: stable; `ctxaudit explain CODE` has a page.
        severity: `error` is unsafe; `warning` weakens an answer; `info` is good to know.
        target: a root's label, `machine` or `process`.
        message: one line: expected, got.
        count: how many places there are.
        places: the first of them, below the root.
    """

    code: str
    severity: Severity
    target: str
    message: str
    count: int = 1
    places: tuple[str, ...] = ()

    @property
    def cost(self) -> str:
        """What it costs in assurance."""
        return COSTS[self.code]

    @property
    def remedy(self) -> str:
        """What to do."""
        page = find_explanation(self.code)
        return "" if page is None else page.remedy

    def to_dict(self) -> dict[str, object]:
        """Give it as a JSON object."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "target": self.target,
            "message": self.message,
            "count": self.count,
            "places": list(self.places),
            "cost": self.cost,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All that was looked at and found.

    Attributes:
        started_at: when.
        roots: facts.
        machine: facts.
        notes: the worst first, then by target and code.
    """

    started_at: datetime
    roots: tuple[Root, ...]
    machine: Machine
    notes: tuple[Note, ...]
