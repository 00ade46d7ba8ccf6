"""Which pointers are asked for, how often and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from provenance.durable import (
    DurableContextState,
    DurableTypeError,
    PendingItem,
    durable_source_pointers,
    resolve_durable_sources,
)
from provenance.resolution import SourceResolution, SourceResolutionStatus
from tests.durable.strategies import T0, a_fact, some_evidence, states


class _Many:
    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def resolve_many(self, pointers: Sequence[str]) -> tuple[SourceResolution, ...]:
        self.asked.append(tuple(pointers))
        return tuple(SourceResolution(one, SourceResolutionStatus.MISSING) for one in pointers)


class _One:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def resolve(self, pointer: str) -> SourceResolution:
        self.asked.append(pointer)
        return SourceResolution(pointer, SourceResolutionStatus.DENIED)


STATE = DurableContextState(
    [a_fact("f1", pointer="b"), a_fact("f2", pointer="a"), a_fact("f3", pointer="b")],
    [PendingItem("p1", "x", "c", T0), PendingItem("p2", "x", "a", T0)],
    [some_evidence()],
)


def test_distinct_pointers_come_in_the_order_of_first_occurrence() -> None:
    assert durable_source_pointers(STATE) == ("b", "a", "c")


def test_pointers_are_told_apart_by_their_text() -> None:
    # Two spellings of one artifact: the state cites both, so both are asked for.
    state = DurableContextState(
        [
            a_fact("f1", pointer="artifact:s1:x:0123456789AB"),
            a_fact("f2", pointer="artifact:s1:x:0123456789ab"),
        ]
    )
    assert len(durable_source_pointers(state)) == 2


def test_a_batch_resolver_is_asked_once() -> None:
    resolver = _Many()
    found = resolve_durable_sources(STATE, resolver)
    assert resolver.asked == [("b", "a", "c")]
    assert [one.pointer for one in found] == ["b", "a", "c"]


def test_another_resolver_is_asked_pointer_by_pointer() -> None:
    resolver = _One()
    found = resolve_durable_sources(STATE, resolver)
    assert resolver.asked == ["b", "a", "c"]
    assert {one.status for one in found} == {SourceResolutionStatus.DENIED}


def test_a_state_that_cites_nothing_asks_nothing() -> None:
    resolver = _Many()
    assert resolve_durable_sources(DurableContextState((), (), [some_evidence()]), resolver) == ()
    assert resolver.asked == []


def test_what_cannot_resolve_is_refused() -> None:
    nothing: Any = object()
    with pytest.raises(DurableTypeError, match=r"^resolver: "):
        resolve_durable_sources(STATE, nothing)


@given(states())
def test_each_pointer_of_a_state_is_asked_for_once(state: DurableContextState) -> None:
    pointers = durable_source_pointers(state)
    cited = [fact.source_pointer for fact in state.facts]
    cited += [item.source_pointer for item in state.pending_items]
    assert set(pointers) == set(cited)
    assert [one for n, one in enumerate(cited) if one not in cited[:n]] == list(pointers)
