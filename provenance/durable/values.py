"""The values of durable state: facts, pending items, retrieval evidence, and all three together.

Guarantees: values are frozen and checked when they are built, so that none exists that cannot be
rendered and read back. A pointer's grammar is not checked: a bad pointer must be storable, so that
an audit can report it. Nothing here verifies a source.

Example:
    >>> fact = DurableFact("f1", "The  store uses WAL.", "transcript:s1:3", "2026-01-01T09:00:00Z")
    >>> DurableContextState([fact]).facts[0].content
    'The store uses WAL.'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provenance.durable.failures import DurableValueError
from provenance.durable.fields import (
    optional_text,
    require_items,
    require_score,
    require_text,
    require_unique,
    require_whole_number,
)
from provenance.durable.instants import require_time
from provenance.frozen import sealed
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "PENDING_STATUSES",
    "DurableContextState",
    "DurableFact",
    "PendingItem",
    "RetrievalEvidence",
]

PENDING_STATUSES = ("open", "blocked", "done")


@sealed
@dataclass(frozen=True, slots=True)
class DurableFact:
    """One confirmed fact.

    Attributes:
        fact_id: unique among the facts of a state.
        content: what is believed.
        source_pointer: where the evidence lies; any text but an empty one.
        last_confirmed_at: ISO 8601 date and time with a zone, kept as given.
    """

    fact_id: str
    content: str
    source_pointer: str
    last_confirmed_at: str

    def __post_init__(self) -> None:
        _set(self, "fact_id", require_text(self.fact_id, "fact_id"))
        _set(self, "content", require_text(self.content, "content"))
        _set(self, "source_pointer", require_text(self.source_pointer, "source_pointer"))
        _set(self, "last_confirmed_at", require_time(self.last_confirmed_at, "last_confirmed_at"))


@sealed
@dataclass(frozen=True, slots=True)
class PendingItem:
    """One task that is not forgotten.

    `transition_pending` leaves a reason on blocked items alone. Another writer's item may break
    that rule and is kept as it is, so that an audit can show it.

    Attributes:
        item_id: unique among the pending items of a state.
        description: what is to be done.
        source_pointer: where the latest confirmation of its status lies.
        last_confirmed_at: ISO 8601 date and time with a zone, kept as given.
        status: `open`, `blocked` or `done`.
        reason: why it is blocked, where somebody said so.
    """

    item_id: str
    description: str
    source_pointer: str
    last_confirmed_at: str
    status: str = "open"
    reason: str | None = None

    def __post_init__(self) -> None:
        _set(self, "item_id", require_text(self.item_id, "item_id"))
        _set(self, "description", require_text(self.description, "description"))
        _set(self, "source_pointer", require_text(self.source_pointer, "source_pointer"))
        _set(self, "last_confirmed_at", require_time(self.last_confirmed_at, "last_confirmed_at"))
        status = require_text(self.status, "status")
        if status not in PENDING_STATUSES:
            raise DurableValueError("status: expected open, blocked or done, got another text")
        _set(self, "status", status)
        _set(self, "reason", optional_text(self.reason, "reason"))


@sealed
@dataclass(frozen=True, slots=True)
class RetrievalEvidence:
    """Where a selected memory came from and why it won; the recalled text is not in here.

    Attributes:
        memory_id: unique among the evidence of a state.
        source_id: the source, as the memory system names it.
        source_type: what kind of source it is.
        source_title: its title; may be empty.
        captured_at: ISO 8601 date and time with a zone, kept as given.
        score: 0 to 1, as the retrieval gave it.
        source_rank: place in the selection, from 1.
        conflict_key: the conflict that it won; None where there was none.
    """

    memory_id: str
    source_id: str
    source_type: str
    source_title: str
    captured_at: str
    score: float
    source_rank: int
    conflict_key: str | None = None

    def __post_init__(self) -> None:
        _set(self, "memory_id", require_text(self.memory_id, "memory_id"))
        _set(self, "source_id", require_text(self.source_id, "source_id"))
        _set(self, "source_type", require_text(self.source_type, "source_type"))
        title = require_text(self.source_title, "source_title", may_be_empty=True)
        _set(self, "source_title", title)
        _set(self, "captured_at", require_time(self.captured_at, "captured_at"))
        _set(self, "score", require_score(self.score, "score"))
        rank = require_whole_number(self.source_rank, "source_rank", minimum=1)
        _set(self, "source_rank", rank)
        _set(self, "conflict_key", optional_text(self.conflict_key, "conflict_key"))


@sealed
@dataclass(frozen=True, slots=True)
class DurableContextState:
    """What an agent carries past compaction, unchanged.

    Attributes:
        facts: confirmed facts; any collection, kept as a tuple.
        pending_items: tasks; any collection, kept as a tuple.
        retrieval_evidence: what was retrieved; any collection, kept as a tuple.
        session: the session that the state belongs to, where it is known; by keyword.
        turn: the turn after which it held, from 0, where it is known; by keyword.
    """

    facts: tuple[DurableFact, ...] = ()
    pending_items: tuple[PendingItem, ...] = ()
    retrieval_evidence: tuple[RetrievalEvidence, ...] = ()
    session: str | None = field(default=None, kw_only=True)
    turn: int | None = field(default=None, kw_only=True)

    if TYPE_CHECKING:  # the generated one, with what it takes instead of what it keeps

        def __init__(
            self,
            facts: Iterable[DurableFact] = (),
            pending_items: Iterable[PendingItem] = (),
            retrieval_evidence: Iterable[RetrievalEvidence] = (),
            *,
            session: str | None = None,
            turn: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        facts = require_items(self.facts, "facts", of=DurableFact)
        items = require_items(self.pending_items, "pending_items", of=PendingItem)
        evidence = require_items(
            self.retrieval_evidence, "retrieval_evidence", of=RetrievalEvidence
        )
        require_unique((fact.fact_id for fact in facts), "fact ids")
        require_unique((item.item_id for item in items), "pending item ids")
        require_unique((one.memory_id for one in evidence), "retrieval evidence memory ids")
        _set(self, "facts", facts)
        _set(self, "pending_items", items)
        _set(self, "retrieval_evidence", evidence)
        _set(self, "session", optional_text(self.session, "session"))
        if self.turn is not None:
            _set(self, "turn", require_whole_number(self.turn, "turn", minimum=0))

    def to_json(self) -> str:
        """Write the state as a `ctxaudit.state/1` document that `from_json` reads back as equal.

        Raises:
            StateDocumentError: a text holds half a surrogate pair, which no file can hold.
        """
        from provenance.durable.wire import write_state  # noqa: PLC0415 - loads pydantic

        return write_state(self)

    @staticmethod
    def from_json(text: str, *, limits: Limits = DEFAULT_LIMITS) -> DurableContextState:
        """Read a `ctxaudit.state/1` document.

        Args:
            text: the whole document.
            limits: bounds its size.

        Raises:
            StateDocumentError: it is none; the message names the field.
        """
        from provenance.durable.wire import read_state  # noqa: PLC0415 - loads pydantic

        return read_state(text, limits=limits)


def _set(value: object, name: str, checked: object) -> None:
    """Put a checked field into a frozen value, while it is being built."""
    object.__setattr__(value, name, checked)
