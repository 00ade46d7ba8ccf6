"""Lock files in an audit: read below a home, cited like a state, and held against what was found.

Guarantees: a lock only takes `available` away: other bytes under a pinned pointer are `corrupt`,
whatever else they are; where the bytes are the pinned ones, the strength becomes `pinned`. What is
missing, denied or unsupported stays that, so that a lock says nothing about what it may not see. A
lock that cannot be read is told apart from one that holds nothing.

Where the operator names a lock, that one alone raises the strength; a home's own still has to fit.

Example:
    >>> read_home_lock(TrustedRoot("/nowhere"), limits=Limits()) is None
    True
    >>> HeldPins().hold(SourceResolution("p", SourceResolutionStatus.MISSING)).status.value
    'missing'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from provenance.audit_report import Citation
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import SourceAbsent, TrustedRoot, read_whole
from provenance.limits import Limits
from provenance.locks import LOCK_FILE, LockFile, Pin, canonical_pointer, parse_lock
from provenance.resolution import (
    STRENGTH_ORDER,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
    resolution_for,
)

__all__ = [
    "NO_PINS",
    "HeldPins",
    "NamedLock",
    "lock_citations",
    "read_home_lock",
    "unreadable_lock",
]

# What a citation by a lock file calls its item.
_ITEM = "pin"


@dataclass(frozen=True, slots=True)
class NamedLock:
    """A lock that the operator named; `label` is what to call it."""

    lock: LockFile
    label: str


@dataclass(frozen=True, slots=True)
class HeldPins:
    """The pins that hold for one part of an audit.

    Attributes:
        own: the home's own lock; None: it has none.
        named: the operator's; None: none was named.
    """

    own: LockFile | None = None
    named: LockFile | None = None

    def hold(self, found: SourceResolution) -> SourceResolution:
        """Hold an answer against the pins."""
        # 1. Only what was verified can be other bytes than before.
        if found.status is not SourceResolutionStatus.AVAILABLE:
            return found
        pointer = canonical_pointer(found.pointer) or found.pointer
        # 2. Every pin has to fit.
        for lock in (self.own, self.named):
            pin = None if lock is None else lock.by_pointer.get(pointer)
            if pin is not None and not _is_pinned(found, pin):
                return resolution_for(
                    found.pointer, Reason.PINNED_DIGEST_MISMATCH, source_type=found.source_type
                )
        # 3. The lock that counts raises the strength, and never lowers it.
        raising = self.own if self.named is None else self.named
        if raising is None or pointer not in raising.by_pointer:
            return found
        strength = None if found.strength is None else Strength(found.strength)
        if strength is not None and STRENGTH_ORDER[strength] >= STRENGTH_ORDER[Strength.PINNED]:
            return found
        return replace(found, strength=Strength.PINNED)


NO_PINS = HeldPins()


def _is_pinned(found: SourceResolution, pin: Pin) -> bool:
    # The digest alone decides about the bytes; a length beside it that is not theirs is no pin.
    return found.evidence_sha256 == pin.sha256 and found.evidence_bytes == pin.bytes


def read_home_lock(home: TrustedRoot, *, limits: Limits) -> LockFile | Finding | None:
    """Read a home's own lock: None where it has none, a finding where it cannot be read."""
    try:
        with home.open_file(LOCK_FILE) as file:
            data = read_whole(file, max_bytes=limits.max_document_bytes)
        return parse_lock(data, max_bytes=limits.max_document_bytes)
    except SourceAbsent:
        return None
    except CtxauditError as error:
        return unreadable_lock(LOCK_FILE, error)


def unreadable_lock(target: str, error: CtxauditError) -> Finding:
    """Build the finding for a lock that is there and cannot be read."""
    return Finding("lock_unreadable", Severity.ERROR, target, message=str(error))


def lock_citations(lock: LockFile, file: str) -> Iterator[tuple[str, Citation]]:
    """Give each pinned pointer with the lock that rests on it."""
    citation = Citation(file, _ITEM, kind="pin")
    for pin in lock.pins:
        yield pin.pointer, citation
