"""Renders durable state for the system context, with what a resolver found for each source.

Guarantees: one line an item, in the order of the state; no text of a state can add a line, a field
or a status; `parse_durable_context` reads every field back as it went in. A status is printed only
from a resolution that fits, and `available` only with the full digest. Excerpts, reasons of
resolutions and bodies of sources are never printed.

Example:
    >>> from provenance.durable.values import DurableContextState, DurableFact
    >>> fact = DurableFact("f1", "It is so.", "transcript:s1:3", "2026-01-01T09:00:00Z")
    >>> print(render_durable_context(DurableContextState([fact])))
    [Durable context — do not reinterpret as conversation summary]
    Confirmed facts:
    - f1: It is so. (source=transcript:s1:3; confirmed=2026-01-01T09:00:00Z)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from provenance.durable.escaping import (
    escape_label,
    escape_pointer,
    escape_quoted,
    escape_text,
)
from provenance.durable.failures import DurableTypeError, SourceBindingError
from provenance.durable.instants import instant_of
from provenance.durable.sources import durable_source_pointers
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.resolution import SourceResolution, SourceResolutionStatus

__all__ = [
    "EVIDENCE_HEADING",
    "FACTS_HEADING",
    "HEADER",
    "MAX_DONE_SHOWN",
    "PENDING_HEADING",
    "render_durable_context",
]

HEADER = "[Durable context — do not reinterpret as conversation summary]"
FACTS_HEADING = "Confirmed facts:"
PENDING_HEADING = "Pending work:"
EVIDENCE_HEADING = "Selected retrieval evidence:"
MAX_DONE_SHOWN = 3  # the contract's number: finished work is for orientation only

_LOWER_HEX = str.maketrans("ABCDEF", "abcdef")
_is_full_digest = re.compile(r"[0-9A-Fa-f]{64}").fullmatch


def render_durable_context(
    state: DurableContextState,
    *,
    source_resolutions: Iterable[SourceResolution] | None = None,
) -> str:
    """Render a state; an empty one gives an empty text.

    Args:
        state: what to render.
        source_resolutions: one resolution for each distinct pointer of facts and pending items
            (also of those `done` items that are not shown), in any order; None prints no status.

    Returns:
        Lines joined by a line feed, with none at the end.

    Raises:
        SourceBindingError: (a `ValueError`) the resolutions do not match the pointers one to one,
            or a digest is there where none may be, or not where one must be.
        DurableTypeError: an argument has the wrong type.
    """
    if not isinstance(state, DurableContextState):
        raise DurableTypeError(f"state: expected DurableContextState, got {type(state).__name__}")
    statuses = (
        None
        if source_resolutions is None
        else _bind(durable_source_pointers(state), source_resolutions)
    )
    lines: list[str] = []
    if state.facts:
        lines.append(FACTS_HEADING)
        lines.extend(_fact_line(fact, statuses) for fact in state.facts)
    if state.pending_items:
        lines.append(PENDING_HEADING)
        shown = _shown_items(state.pending_items)
        lines.extend(_pending_line(item, statuses) for item in shown)
        if omitted := len(state.pending_items) - len(shown):
            lines.append(f"- done_omitted={omitted}")
    if state.retrieval_evidence:
        lines.append(EVIDENCE_HEADING)
        lines.extend(_evidence_line(one) for one in state.retrieval_evidence)
    return "\n".join((HEADER, *lines)) if lines else ""


def _bind(pointers: Sequence[str], resolutions: Iterable[SourceResolution]) -> Mapping[str, str]:
    """Give the status fields of each pointer; numbered, since a forged status ends here."""
    # 1. Each is a resolution, and the only one of its pointer.
    found: dict[str, SourceResolution] = {}
    for resolution in resolutions:
        if not isinstance(resolution, SourceResolution):
            raise DurableTypeError(
                f"source_resolutions: expected SourceResolution, got {type(resolution).__name__}"
            )
        pointer: object = resolution.pointer
        if type(pointer) is not str:
            raise DurableTypeError(
                f"source_resolutions: pointer: expected text, got {type(pointer).__name__}"
            )
        if pointer in found:
            raise SourceBindingError(
                "source_resolutions: expected one for each pointer, got a duplicate source "
                "resolution"
            )
        found[pointer] = resolution
    # 2. Together they answer for this state, and for nothing else.
    if found.keys() != set(pointers):
        raise SourceBindingError(
            "source_resolutions: must match every durable source pointer exactly, expected "
            f"{len(pointers)}, got {len(found)} of which {len(found.keys() & set(pointers))} match"
        )
    # 3. Each status is one of the five and fits its digest.
    return {pointer: _status_fields(resolution) for pointer, resolution in found.items()}


def _status_fields(resolution: SourceResolution) -> str:
    try:
        status = SourceResolutionStatus(resolution.status)
    except ValueError as error:
        raise SourceBindingError(
            "source_resolutions: status: expected one of the five states, got something else"
        ) from error
    digest: object = resolution.evidence_sha256
    if status is not SourceResolutionStatus.AVAILABLE:
        if digest is not None:
            raise SourceBindingError(
                f"source_resolutions: evidence_sha256: expected None for {status}, since a full "
                "SHA-256 digest belongs to available alone"
            )
        return f"; source_status={status}; evidence_unavailable=true"
    if type(digest) is not str or not _is_full_digest(digest):
        raise SourceBindingError(
            "source_resolutions: evidence_sha256: expected a full SHA-256 digest for available, "
            "got something else"
        )
    return f"; source_status=available; evidence_sha256={digest.translate(_LOWER_HEX)}"


def _shown_items(items: Sequence[PendingItem]) -> list[PendingItem]:
    """Leave out all but the latest `done` items; of two at one instant the later one is newer."""
    done = (
        (instant_of(item.last_confirmed_at), position)
        for position, item in enumerate(items)
        if item.status == "done"
    )
    latest = {position for _, position in nlargest(MAX_DONE_SHOWN, done)}
    return [
        item for position, item in enumerate(items) if item.status != "done" or position in latest
    ]


def _fact_line(fact: DurableFact, statuses: Mapping[str, str] | None) -> str:
    return (
        f"- {escape_label(fact.fact_id)}: {escape_text(fact.content)} "
        f"({_source_fields(fact, statuses)})"
    )


def _pending_line(item: PendingItem, statuses: Mapping[str, str] | None) -> str:
    status = "" if item.status == "open" else f"status={item.status}; "
    reason = "" if item.reason is None else f"reason={escape_quoted(item.reason)}; "
    return (
        f"- {escape_label(item.item_id)}: {escape_text(item.description)} "
        f"({status}{reason}{_source_fields(item, statuses)})"
    )


def _source_fields(item: DurableFact | PendingItem, statuses: Mapping[str, str] | None) -> str:
    status = "" if statuses is None else statuses[item.source_pointer]
    return (
        f"source={escape_pointer(item.source_pointer)}{status}; confirmed={item.last_confirmed_at}"
    )


def _evidence_line(one: RetrievalEvidence) -> str:
    conflict = (
        "conflict=none"
        if one.conflict_key is None
        else f"conflict_winner={escape_text(one.conflict_key)}"
    )
    return (
        f"- {escape_label(one.memory_id)}: "
        f"source={escape_label(one.source_type)}:{escape_text(one.source_id)}; "
        f"title={escape_text(one.source_title)}; captured={one.captured_at}; "
        f"score={one.score!r}; rank={one.source_rank}; {conflict}"
    )
