"""Which sources a state rests on, and what a resolver says of them now.

Guarantees: each distinct pointer is asked for once, in the order of first occurrence, facts before
pending items. Retrieval evidence is frozen metadata and is not resolved here. Nothing is judged:
the resolver answers, `render_durable_context` checks that the answers fit.

Example:
    >>> from provenance.durable.values import DurableContextState, DurableFact
    >>> fact = DurableFact("f1", "It is so.", "transcript:s1:3", "2026-01-01T09:00:00Z")
    >>> durable_source_pointers(DurableContextState([fact]))
    ('transcript:s1:3',)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from provenance.durable.failures import DurableTypeError
from provenance.durable.values import DurableContextState
from provenance.resolution import SourceResolution

__all__ = [
    "BatchResolver",
    "PointerResolver",
    "durable_source_pointers",
    "resolve_durable_sources",
]


@runtime_checkable
class BatchResolver(Protocol):
    """Resolves many pointers in one pass, one answer each, in their order."""

    def resolve_many(self, pointers: Sequence[str], /) -> tuple[SourceResolution, ...]:
        """Answer for each pointer; never raises for a `str`."""
        ...


@runtime_checkable
class PointerResolver(Protocol):
    """Resolves one pointer at a time."""

    def resolve(self, pointer: str, /) -> SourceResolution:
        """Answer for the pointer; never raises for a `str`."""
        ...


def durable_source_pointers(state: DurableContextState) -> tuple[str, ...]:
    """Give the distinct pointers of facts and pending items, in the order of first occurrence."""
    cited = [fact.source_pointer for fact in state.facts]
    cited += [item.source_pointer for item in state.pending_items]
    return tuple(dict.fromkeys(cited))


def resolve_durable_sources(
    state: DurableContextState, resolver: BatchResolver | PointerResolver
) -> tuple[SourceResolution, ...]:
    """Ask a resolver for every source that a state rests on.

    Args:
        state: the state; of its retrieval evidence nothing is resolved.
        resolver: something with `resolve_many`, such as `SourcePointerResolver`, or else with
            `resolve`. A state that cites nothing asks it nothing.

    Returns:
        One resolution for each distinct pointer, in the order of `durable_source_pointers`.

    Raises:
        DurableTypeError: `resolver` has neither method.
    """
    pointers = durable_source_pointers(state)
    if isinstance(resolver, BatchResolver):
        return tuple(resolver.resolve_many(pointers)) if pointers else ()
    if isinstance(resolver, PointerResolver):
        return tuple(resolver.resolve(pointer) for pointer in pointers)
    raise DurableTypeError(
        f"resolver: expected something with resolve_many or resolve, got {type(resolver).__name__}"
    )
