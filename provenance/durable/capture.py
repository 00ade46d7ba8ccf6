"""Freezes what a retrieval has selected, as evidence.

Guarantees: hits are taken in the order given; none is left out, moved or scored anew, and no
recalled text is copied.

Example:
    >>> from types import SimpleNamespace as Hit
    >>> source = Hit(source_id="s1", source_type="note", title="", captured_at="2026-01-01T09:00Z")
    >>> hit = Hit(memory_id="m1", score=0.5, rank=1, conflict_key=None, provenance=source)
    >>> capture_retrieval_evidence([hit])[0].source_rank
    1
"""

from __future__ import annotations

from collections.abc import Iterable

from provenance.durable.failures import DurableTypeError, DurableValueError
from provenance.durable.fields import (
    optional_text,
    require_score,
    require_text,
    require_unique,
    require_whole_number,
)
from provenance.durable.instants import require_time
from provenance.durable.values import RetrievalEvidence

__all__ = ["capture_retrieval_evidence"]


def capture_retrieval_evidence(selected_hits: Iterable[object]) -> tuple[RetrievalEvidence, ...]:
    """Copy source, score, rank and conflict of each hit that was selected.

    Args:
        selected_hits: objects with `memory_id`, `score`, `source_rank` or `rank` (the first that
            is there and not None), `conflict_key` (None or not there: no conflict) and
            `provenance`, which has `source_id`, `source_type`, `title` and `captured_at`.

    Returns:
        One piece of evidence for each hit, in their order.

    Raises:
        DurableTypeError: `selected_hits` is no collection, or a value has the wrong type.
        DurableValueError: a hit has no provenance or lacks an attribute, a value breaks its rule,
            or a memory id comes twice.
    """
    if isinstance(selected_hits, str | bytes) or not isinstance(selected_hits, Iterable):
        raise DurableTypeError(
            f"selected_hits: expected a collection of hits, got {type(selected_hits).__name__}"
        )
    captured: list[RetrievalEvidence] = []
    for index, hit in enumerate(selected_hits):
        try:
            captured.append(_capture(hit))
        except DurableValueError as error:
            raise type(error)(f"selected_hits[{index}]: {error}") from error
    require_unique((one.memory_id for one in captured), "retrieval evidence memory ids")
    return tuple(captured)


def _capture(hit: object) -> RetrievalEvidence:
    source: object = getattr(hit, "provenance", None)
    if source is None:
        raise DurableValueError("provenance: expected where the hit came from, got None")
    rank: object = getattr(hit, "source_rank", None)
    if rank is None:
        rank = _attribute(hit, "rank")
    title = _attribute(source, "title")
    return RetrievalEvidence(
        memory_id=require_text(_attribute(hit, "memory_id"), "memory_id"),
        source_id=require_text(_attribute(source, "source_id"), "source_id"),
        source_type=require_text(_attribute(source, "source_type"), "source_type"),
        source_title=require_text(title, "title", may_be_empty=True),
        captured_at=require_time(_attribute(source, "captured_at"), "captured_at"),
        score=require_score(_attribute(hit, "score"), "score"),
        source_rank=require_whole_number(rank, "source_rank", minimum=1),
        conflict_key=optional_text(getattr(hit, "conflict_key", None), "conflict_key"),
    )


def _attribute(holder: object, name: str) -> object:
    try:
        value: object = getattr(holder, name)
    except AttributeError as error:
        raise DurableValueError(f"{name}: expected a value, got none") from error
    return value
