"""Durable state: frozen values, who may change them, and how they are rendered.

Guarantees: pure; no file, clock or network is touched. Importing it loads no JSON model: that
comes with the first `to_json` or `from_json`.

Example:
    >>> state = DurableContextState()
    >>> DurableContextState.from_json(state.to_json()) == state
    True
"""

from __future__ import annotations

from provenance.durable.capture import capture_retrieval_evidence
from provenance.durable.differences import (
    ChangeKind,
    ItemChange,
    ItemKind,
    StateDifference,
    apply_difference,
    diff_states,
)
from provenance.durable.failures import (
    DurableTypeError,
    DurableValueError,
    ForbiddenTransitionError,
    RenderedContextError,
    SourceBindingError,
    StateDocumentError,
    StateMismatchError,
    UnknownPendingItemError,
)
from provenance.durable.pending import transition_pending
from provenance.durable.reading import RenderedContext, parse_durable_context
from provenance.durable.rendering import render_durable_context
from provenance.durable.sources import durable_source_pointers, resolve_durable_sources
from provenance.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)

__all__ = [
    "ChangeKind",
    "DurableContextState",
    "DurableFact",
    "DurableTypeError",
    "DurableValueError",
    "ForbiddenTransitionError",
    "ItemChange",
    "ItemKind",
    "PendingItem",
    "RenderedContext",
    "RenderedContextError",
    "RetrievalEvidence",
    "SourceBindingError",
    "StateDifference",
    "StateDocumentError",
    "StateMismatchError",
    "UnknownPendingItemError",
    "apply_difference",
    "capture_retrieval_evidence",
    "diff_states",
    "durable_source_pointers",
    "parse_durable_context",
    "render_durable_context",
    "resolve_durable_sources",
    "transition_pending",
]
