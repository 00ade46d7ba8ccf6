"""What tells two states apart, and that it makes the later one from the earlier one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance.durable import (
    ChangeKind,
    DurableContextState,
    StateMismatchError,
    apply_difference,
    diff_states,
    transition_pending,
)
from tests.durable.strategies import T1, a_fact, an_item, some_evidence, states


@st.composite
def _related(draw: st.DrawFn) -> tuple[DurableContextState, DurableContextState]:
    """Two states that have members in common, in any order."""
    first, second = draw(states(half_pairs=False)), draw(states(half_pairs=False))
    kept = draw(st.lists(st.sampled_from(first.facts), unique=True)) if first.facts else []
    new = [fact for fact in second.facts if fact.fact_id not in {one.fact_id for one in kept}]
    facts = draw(st.permutations([*kept, *new]))
    items = draw(st.permutations(first.pending_items))
    moved = [
        replace(item, status=draw(st.sampled_from(("open", "blocked", "done")))) for item in items
    ]
    evidence = draw(st.permutations(first.retrieval_evidence))
    return first, replace(second, facts=facts, pending_items=moved, retrieval_evidence=evidence)


@settings(max_examples=25)
@given(_related())
def test_a_difference_makes_the_later_state(
    pair: tuple[DurableContextState, DurableContextState],
) -> None:
    before, after = pair
    difference = diff_states(before, after)
    assert apply_difference(before, difference) == after
    assert difference.is_empty == (before == after)
    assert {change.item_id for change in difference} == {one.item_id for one in difference.changes}


@settings(max_examples=25)
@given(states(half_pairs=False), states(half_pairs=False))
def test_of_any_two_states(first: DurableContextState, second: DurableContextState) -> None:
    assert apply_difference(first, diff_states(first, second)) == second
    assert diff_states(first, first).is_empty


@settings(max_examples=25)
@given(_related())
def test_what_did_not_change_is_the_same_object(
    pair: tuple[DurableContextState, DurableContextState],
) -> None:
    before, after = pair
    applied = apply_difference(before, diff_states(before, after))
    old = {fact.fact_id: fact for fact in before.facts}
    for fact in applied.facts:
        if old.get(fact.fact_id) == fact:
            assert fact is old[fact.fact_id]


def _change(before: DurableContextState, after: DurableContextState) -> ChangeKind:
    (change,) = diff_states(before, after)
    return change.change


def test_each_kind_of_change_of_a_fact() -> None:
    empty, fact = DurableContextState(), a_fact()
    one = DurableContextState([fact])
    assert _change(empty, one) is ChangeKind.ADDED
    assert _change(one, empty) is ChangeKind.REMOVED
    later = DurableContextState([replace(fact, last_confirmed_at=T1)])
    assert _change(one, later) is ChangeKind.CONFIRMED
    moved = DurableContextState([replace(fact, source_pointer="transcript:s1:9")])
    assert _change(one, moved) is ChangeKind.CONFIRMED
    other = DurableContextState([replace(fact, content="It is not.", last_confirmed_at=T1)])
    assert _change(one, other) is ChangeKind.CHANGED


@pytest.mark.parametrize(
    ("status", "to", "kind"),
    [
        ("open", "blocked", ChangeKind.BLOCKED),
        ("open", "done", ChangeKind.COMPLETED),
        ("blocked", "open", ChangeKind.REOPENED),
        ("blocked", "done", ChangeKind.COMPLETED),
    ],
)
def test_each_move_of_an_item(status: str, to: str, kind: ChangeKind) -> None:
    before = DurableContextState((), [an_item(status=status)])
    after = transition_pending(
        before, "p1", to, confirmed_at=T1, confirmed_by="user",
        source_pointer="transcript:s1:8", reason="waits" if to == "blocked" else None,
    )  # fmt: skip
    assert _change(before, after) is kind


def test_an_item_that_does_not_move() -> None:
    before = DurableContextState((), [an_item()])
    again = DurableContextState((), [replace(an_item(), last_confirmed_at=T1)])
    other = DurableContextState((), [replace(an_item(), description="Ship it twice.")])
    assert _change(before, again) is ChangeKind.CONFIRMED
    assert _change(before, other) is ChangeKind.CHANGED


def test_order_session_and_turn_are_differences_too() -> None:
    before = DurableContextState([a_fact("a"), a_fact("b")], session="s1")
    after = DurableContextState([a_fact("b"), a_fact("a")], turn=3)
    difference = diff_states(before, after)
    assert difference.changes == ()
    assert dict(difference.orders) == {"fact": ("b", "a")}
    assert difference.session == ("s1", None)
    assert difference.turn == (None, 3)
    assert apply_difference(before, difference) == after


def test_a_turn_of_zero_is_a_difference_from_none() -> None:
    difference = diff_states(DurableContextState(), DurableContextState(turn=0))
    assert not difference.is_empty
    assert apply_difference(DurableContextState(), difference).turn == 0


def test_evidence_that_changed() -> None:
    before = DurableContextState((), (), [some_evidence()])
    after = DurableContextState((), (), [some_evidence(title="Another")])
    assert _change(before, after) is ChangeKind.CHANGED


@pytest.mark.parametrize(
    "other",
    [
        DurableContextState([a_fact(content="Not what it was.")]),
        DurableContextState(),
        DurableContextState([a_fact(), a_fact("f2")], session="s2"),
    ],
)
def test_a_difference_is_not_applied_to_another_state(other: DurableContextState) -> None:
    before = DurableContextState([a_fact(), a_fact("f2")], session="s1")
    after = DurableContextState([a_fact("f2"), a_fact(content="It changed.")], session="s3")
    with pytest.raises(StateMismatchError):
        apply_difference(other, diff_states(before, after))


def test_an_order_of_other_members_is_refused() -> None:
    before = DurableContextState([a_fact("a"), a_fact("b")])
    swap = diff_states(before, DurableContextState([a_fact("b"), a_fact("a")]))
    with pytest.raises(StateMismatchError, match="order"):
        apply_difference(DurableContextState([a_fact("a")]), swap)
