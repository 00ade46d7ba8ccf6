"""What a state store gives: versions, their changes, selections and what verified them.

Guarantees: frozen values; nothing in here reaches a file.

Example:
    >>> StateChange("fact", "f1", "added", "transcript:s1:3", "2026-01-01T09:00:00Z").confirmed_by
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provenance.durable.differences import ChangeKind
from provenance.durable.values import DurableContextState
from provenance.frozen import sealed

__all__ = [
    "ADDED_BLOCKED",
    "ADDED_DONE",
    "CHANGE_WORDS",
    "LinkedResolution",
    "Selection",
    "SelectionCandidate",
    "StateChange",
    "StateVersion",
    "StateVersionBytes",
    "StoredState",
]

# A pending item that came with the status that it has.
ADDED_DONE, ADDED_BLOCKED = "added_done", "added_blocked"
# What may stand in a history.
CHANGE_WORDS = frozenset({*map(str, ChangeKind), ADDED_DONE, ADDED_BLOCKED})


@sealed
@dataclass(frozen=True, slots=True)
class StateChange:
    """One member of a state that a version added, altered or left out.

    Attributes:
        kind: `fact`, `pending` or `evidence`.
        item_id: its id in the state.
        change: `added`, `removed`, `changed`, `confirmed`, `blocked`, `reopened` or `completed`;
            of a pending item that came with another status than open `added_done` or
            `added_blocked`.
        source_pointer: from where, as it stands in this version (removed: as it stood).
        confirmed_at: when, as it stands in this version (removed: as it stood).
        confirmed_by: who, where the writer said so.
    """

    kind: str
    item_id: str
    change: str
    source_pointer: str
    confirmed_at: str
    confirmed_by: str | None = None


@sealed
@dataclass(frozen=True, slots=True)
class StateVersion:
    """One version of one state, without the state itself.

    Attributes:
        name: the state.
        version: counted from 1.
        replaces: the version that its writer had read; None for the first.
        created_at: by the store's clock, in UTC.
        author: who wrote it.
        note: why, in the author's words.
        sha256: of the state's canonical JSON, 64 hex digits.
        bytes: length of that JSON.
        changes: what it changed, in the order of the state, removed members last.
        conflict_keys: the conflict that each fact of this version won, by fact id.
    """

    name: str
    version: int
    replaces: int | None
    created_at: str
    author: str
    note: str | None
    sha256: str
    bytes: int
    changes: tuple[StateChange, ...] = ()
    conflict_keys: Mapping[str, str] = field(default_factory=dict)


@sealed
@dataclass(frozen=True, slots=True)
class StoredState:
    """One version, with the state as it was.

    Attributes:
        info: when, by whom, what changed.
        state: the state.
        document: its JSON, byte for byte as it was stored; `info.sha256` is its digest.
    """

    info: StateVersion
    state: DurableContextState
    document: bytes

    @property
    def name(self) -> str:
        """The state's name."""
        return self.info.name

    @property
    def version(self) -> int:
        """The version's number: what an update of it names as `replaces`."""
        return self.info.version

    @property
    def sha256(self) -> str:
        """The digest of `document`."""
        return self.info.sha256


@sealed
@dataclass(frozen=True, slots=True)
class StateVersionBytes:
    """One version as a seal or a clean-up needs it.

    Attributes:
        name: the state.
        version: counted from 1.
        sha256: of `document`, 64 hex digits.
        document: the state's canonical JSON.
    """

    name: str
    version: int
    sha256: str
    document: bytes


@sealed
@dataclass(frozen=True, slots=True)
class SelectionCandidate:
    """A memory that a retrieval considered; the recalled text is not in here.

    Attributes:
        memory_id: as the memory system names it.
        score: as the retrieval gave it, 0 to 1.
        source_rank: place in the ranking, from 1.
        source_id: where the memory came from; a pointer where there is one.
        conflict_key: the conflict it takes part in.
    """

    memory_id: str
    score: float | None = None
    source_rank: int | None = None
    source_id: str | None = None
    conflict_key: str | None = None


@sealed
@dataclass(frozen=True, slots=True)
class LinkedResolution:
    """What a verification said of a source of a selection.

    Attributes:
        linked_at: when it was linked, by the store's clock.
        resolution: `SourceResolution.to_dict` without the excerpt.
    """

    linked_at: str
    resolution: Mapping[str, object]


@sealed
@dataclass(frozen=True, slots=True)
class Selection:
    """The trace of one retrieval.

    Attributes:
        selection_id: counted from 1 in this store.
        name: the state that it was made for.
        version: the version that was current (or was named) then; None: there was none.
        recorded_at: by the store's clock.
        query: what was asked for.
        candidates: what was considered, in the order given.
        winners: memory ids that were selected, best first.
        losers: memory ids that were not.
        reasons: why, by memory id.
        resolutions: verification results that concern it, in the order they were linked.
    """

    selection_id: int
    name: str
    version: int | None
    recorded_at: str
    query: str
    candidates: tuple[SelectionCandidate, ...]
    winners: tuple[str, ...]
    losers: tuple[str, ...]
    reasons: Mapping[str, str]
    resolutions: tuple[LinkedResolution, ...] = ()
