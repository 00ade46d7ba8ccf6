"""What a new version will be, decided without any file."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance import ConflictKeyTaken, DurableContextState, StateConflict
from provenance.durable import ForbiddenTransitionError, diff_states
from provenance.stores.planning import Signature, changes_between, plan_version
from provenance.stores.values import StateVersion, StoredState
from tests.durable.strategies import T1, a_fact, an_item, states
from tests.stores.stores import a_state


def _stored(state: DurableContextState, version: int = 1, **keys: str) -> StoredState:
    document = state.to_json().encode()
    digest = hashlib.sha256(document).hexdigest()
    info = StateVersion(
        "run", version, version - 1 or None, T1, "h", None, digest, len(document), (), keys
    )
    return StoredState(info, state, document)


@settings(max_examples=25)
@given(states(half_pairs=False), states(half_pairs=False))
def test_a_plan_lists_what_differs(before: DurableContextState, after: DurableContextState) -> None:
    try:
        plan = plan_version(
            "run",
            after,
            current=_stored(before, 4),
            replaces=4,
            signature=Signature("h", None, "user"),
        )
    except (ConflictKeyTaken, ForbiddenTransitionError):
        return
    assert (plan.version, plan.document) == (5, after.to_json().encode())
    assert plan.sha256 == hashlib.sha256(plan.document).hexdigest()
    assert [(one.kind, one.item_id, one.change) for one in plan.changes] == [
        (one.kind, one.item_id, one.change) for one in diff_states(before, after)
    ]
    for one in plan.changes:
        assert (one.confirmed_by is None) == (one.change == "removed")


@settings(max_examples=25)
@given(st.integers(1, 9), st.one_of(st.none(), st.integers(1, 9)))
def test_only_the_current_version_is_replaced(current: int, read: int | None) -> None:
    stored = _stored(a_state("x"), current)
    if read == current:
        plan = plan_version("run", a_state("y"), current=stored, replaces=read)
        assert plan.version == current + 1
    else:
        with pytest.raises(StateConflict):
            plan_version("run", a_state("y"), current=stored, replaces=read)


def test_a_fact_that_went_takes_its_key_along() -> None:
    both = DurableContextState([a_fact("f1"), a_fact("f2")])
    plan = plan_version("run", both, current=_stored(both, f1="a", f2="b"), replaces=1)
    assert plan.fact_keys == {"f1": "a", "f2": "b"}
    alone = DurableContextState([a_fact("f2")])
    plan = plan_version("run", alone, current=_stored(both, f1="a", f2="b"), replaces=1)
    assert plan.fact_keys == {"f2": "b"}


def test_an_item_that_is_left_out_needs_nobody() -> None:
    before = DurableContextState((), [an_item()])
    (change,) = changes_between(before, DurableContextState(), None)
    assert (change.change, change.confirmed_by) == ("removed", None)
