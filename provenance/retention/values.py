"""What a collection of garbage knows, decides and says (`ctxaudit.gc/1`).

Guarantees: frozen values. No value holds text of a file or a path above the home.

Example:
    >>> str(CiterKind.STATE_VERSION)
    'state_version'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from provenance.fs import FileFacts
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "DEFAULT_GRACE",
    "CiterKind",
    "Failed",
    "GcOrder",
    "GcReport",
    "Inventory",
    "Kept",
    "KeptFor",
    "Leftover",
    "Removable",
    "StoredArtifact",
    "Unreadable",
]

DEFAULT_GRACE = timedelta(hours=24)
"""What was stored or used in this time is kept: whoever stored it may not have cited it yet."""


class CiterKind(StrEnum):
    """What kind of file cites an artifact."""

    STATE = "state"
    STATE_VERSION = "state_version"
    RECEIPT = "receipt"
    TRANSCRIPT = "transcript"
    ARTIFACT = "artifact"
    LOCK = "lock"
    SEAL = "seal"
    FILE = "file"


class KeptFor(StrEnum):
    """Why an artifact is kept that nothing cites."""

    YOUNG = "young"
    NOT_IN_LEDGER = "not_in_ledger"
    FOREIGN = "foreign"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GcOrder:
    """What the operator asks for.

    Attributes:
        cutoff: only what was stored and used before this time goes; None: `DEFAULT_GRACE` ago.
        delete: remove it; False: say what would go.
        cited_by: files and folders outside the home that cite its artifacts.
        limits: bounds on what is read.
        lock_timeout_seconds: how long to wait for audits, other collections and writers.
    """

    cutoff: datetime | None = None
    delete: bool = False
    cited_by: tuple[str, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    lock_timeout_seconds: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArtifact:
    """One file in a session's folder, and what the ledger says of it.

    Attributes:
        session_id: whose it is.
        filename: its name.
        facts: of the file; None: it is no regular file of the store's own (see `is_foreign`).
        sha256: as the ledger has it; None: no line says that it was stored.
        blake3: the same.
        last_use: the time of the last line that names it, or of its last change if that is later.
        is_removed: its last line says that it was removed, and the file is older than the line: a
            collection was killed.
        is_foreign: a link, a hard link, another owner's, or no file at all.
        lines: how many ledger lines name it.
    """

    session_id: str
    filename: str
    facts: FileFacts | None = None
    sha256: str | None = None
    blake3: str | None = None
    last_use: datetime | None = None
    is_removed: bool = False
    is_foreign: bool = False
    lines: int = 0

    @property
    def name(self) -> tuple[str, str]:
        """Session and file name: what a pointer names it by."""
        return self.session_id, self.filename

    @property
    def size(self) -> int:
        """Its bytes; 0 where they are not the store's."""
        return 0 if self.facts is None else self.facts.size

    @property
    def pointer(self) -> str:
        """Its pointer; without a digest where no ledger line has one."""
        return ":".join(("artifact", *self.name, *filter(None, (self.sha256,))))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What may cite and cannot be read: relative to the home, and one line that says why."""

    target: str
    message: str

    def to_dict(self) -> dict[str, object]:
        """Give it as a JSON object."""
        return {"target": self.target, "message": self.message}


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary file of a process that died.

    Attributes:
        folder: the names that lead to its folder, below the home.
        filename: its name.
        bytes: its size.
    """

    folder: tuple[str, ...]
    filename: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """All artifacts of a home, its temporary files, and ledgers that cannot be read."""

    artifacts: tuple[StoredArtifact, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class Removable:
    """An artifact that goes, or went; `is_finished` where an earlier removal was finished."""

    artifact: StoredArtifact
    is_finished: bool = False

    def to_dict(self) -> dict[str, object]:
        """Give it as a JSON object."""
        used = self.artifact.last_use
        return {
            "pointer": self.artifact.pointer,
            "bytes": self.artifact.size,
            "last_use": None if used is None else used.isoformat().replace("+00:00", "Z"),
            "finishes_removal": self.is_finished,
        }


@dataclass(frozen=True, slots=True)
class Kept:
    """An artifact that stays: each kind that cites it with the first such file, or why else."""

    artifact: StoredArtifact
    cited_by: Mapping[CiterKind, str] = field(default_factory=dict)
    reason: KeptFor | None = None

    def to_dict(self) -> dict[str, object]:
        """Give it as a JSON object."""
        return {
            "pointer": self.artifact.pointer,
            "bytes": self.artifact.size,
            "cited_by": [
                {"kind": str(kind), "file": self.cited_by[kind]} for kind in sorted(self.cited_by)
            ],
            "reason": None if self.reason is None else str(self.reason),
        }


@dataclass(frozen=True, slots=True)
class Failed:
    """An artifact that was to go and is still there."""

    artifact: StoredArtifact
    message: str

    def to_dict(self) -> dict[str, object]:
        """Give it as a JSON object."""
        return {
            "pointer": self.artifact.pointer,
            "bytes": self.artifact.size,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GcReport:
    """What a collection found and did.

    Attributes:
        started_at: when.
        cutoff: what was used after it was kept.
        is_dry_run: nothing was to be removed.
        removable: what nothing cites; all of it went, but for a dry run and what failed.
        kept: what stays, and why.
        failed: what was to go and did not.
        leftovers: temporary files of dead processes, that go or went.
        unreadable: what stopped the deletion; where it was found before one, nothing was removed.
        undecided: how many would go if nothing else cites them in what is unreadable.
        stopped_by: one line that says what else ended the deletion early; empty: nothing did.
    """

    started_at: datetime
    cutoff: datetime
    is_dry_run: bool
    removable: tuple[Removable, ...] = ()
    kept: tuple[Kept, ...] = ()
    failed: tuple[Failed, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    undecided: int = 0
    stopped_by: str = ""
