"""What a run of `pin` changes in a lock file.

Guarantees: pure. A pin whose bytes are confirmed again stays as it is, with its time and run, so
that the same evidence gives the same file. Nothing is taken out but what the caller offers as
droppable. The run's id follows from its time and from what it confirmed anew.

Example:
    >>> from datetime import UTC, datetime
    >>> moment = datetime(2026, 1, 2, tzinfo=UTC)
    >>> plan = plan_pins(LockFile(), [Evidence("transcript:s1:1", "ab" * 32, 9)], at=moment)
    >>> [(change.kind.value, change.pointer) for change in plan.changes]
    [('added', 'transcript:s1:1')]
    >>> plan_pins(plan.lock, [Evidence("transcript:s1:1", "ab" * 32, 9)], at=moment).changes
    ()
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from provenance.clock import require_zoned
from provenance.locks import LockFile, Pin

__all__ = ["Change", "ChangeKind", "Evidence", "PinPlan", "plan_pins"]

_RUN_DIGITS = 16


class Evidence(NamedTuple):
    """What was confirmed: a canonical pointer, the SHA-256 of its evidence, how many bytes."""

    pointer: str
    sha256: str
    bytes: int

    def is_pinned_by(self, pin: Pin | None) -> bool:
        """Say whether a pin is of these very bytes."""
        return pin is not None and (pin.sha256, pin.bytes) == (self.sha256, self.bytes)


class ChangeKind(StrEnum):
    """What happens to one pin."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One pin before and after; None where there is none."""

    kind: ChangeKind
    pointer: str
    old: Pin | None = None
    new: Pin | None = None


@dataclass(frozen=True, slots=True)
class PinPlan:
    """The lock as it will be, and what changes, by pointer."""

    lock: LockFile
    changes: tuple[Change, ...]

    def count(self, kind: ChangeKind) -> int:
        """Say how many changes are of a kind."""
        return sum(change.kind is kind for change in self.changes)

    @property
    def unchanged(self) -> int:
        """How many pins stay as they are."""
        fresh = self.count(ChangeKind.ADDED) + self.count(ChangeKind.CHANGED)
        return len(self.lock.pins) - fresh


def plan_pins(
    present: LockFile,
    confirmed: Iterable[Evidence],
    *,
    at: datetime,
    droppable: Collection[str] = (),
) -> PinPlan:
    """Plan a run.

    Args:
        present: the lock as it is.
        confirmed: what was verified just now; a pointer may come more than once.
        at: when; it has a zone.
        droppable: pointers whose pins go where they were not confirmed.
    """
    moment = require_zoned(at)
    found = {one.pointer: one for one in confirmed}
    fresh = [
        one for one in found.values() if not one.is_pinned_by(present.by_pointer.get(one.pointer))
    ]
    run = _run_id(moment, fresh)
    pinned_at = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    kept = {
        pin.pointer: pin
        for pin in present.pins
        if pin.pointer in found or pin.pointer not in droppable
    }
    changes = [
        Change(ChangeKind.REMOVED, pin.pointer, old=pin)
        for pin in present.pins
        if pin.pointer not in kept
    ]
    for one in fresh:
        old = kept.get(one.pointer)
        new = kept[one.pointer] = Pin(one.pointer, one.sha256, one.bytes, pinned_at, run)
        kind = ChangeKind.ADDED if old is None else ChangeKind.CHANGED
        changes.append(Change(kind, one.pointer, old=old, new=new))
    lock = LockFile(tuple(kept[pointer] for pointer in sorted(kept)))
    return PinPlan(lock, tuple(sorted(changes, key=lambda change: change.pointer)))


def _run_id(moment: datetime, fresh: list[Evidence]) -> str:
    lines = sorted(f"{one.pointer} {one.sha256} {one.bytes}\n" for one in fresh)
    digest = hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
    return f"{moment:%Y%m%dT%H%M%SZ}-{digest[:_RUN_DIGITS]}"
