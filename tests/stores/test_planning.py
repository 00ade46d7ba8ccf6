"""What a new version will be, decided without any file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance import ConflictKeyTaken, DurableContextState, PendingItem, StateConflict
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
    assert [(one.kind, one.item_id, one.change.partition("_")[0]) for one in plan.changes] == [
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


_DONE = an_item(status="done")
_BLOCKED = an_item(status="blocked", time=T1)


def _plan(
    before: PendingItem | None,
    after: PendingItem,
    *,
    by: str | None = None,
    earlier: PendingItem | None = None,
) -> str:
    """Plan a version that makes one item of another; give the word of its change."""
    plan = plan_version(
        "run",
        DurableContextState((), [after]),
        current=_stored(DurableContextState((), [] if before is None else [before])),
        replaces=1,
        signature=Signature("h", None, by),
        left_out={} if earlier is None else {earlier.item_id: earlier},
    )
    return plan.changes[0].change if plan.changes else ""


@pytest.mark.parametrize("by", [None, "user"])
@pytest.mark.parametrize(
    "after",
    [
        replace(_DONE, description="Something else."),
        replace(_DONE, source_pointer="transcript:s9:9"),
        replace(_DONE, last_confirmed_at=T1),
        replace(_DONE, status="open"),
        replace(_DONE, status="blocked", reason="why", last_confirmed_at=T1),
    ],
)
def test_what_is_done_is_never_another_item(after: PendingItem, by: str | None) -> None:
    for before, earlier in ((_DONE, None), (None, _DONE)):
        with pytest.raises(ForbiddenTransitionError, match="done as it was"):
            _plan(before, after, by=by, earlier=earlier)


def test_what_is_done_may_stay_go_and_come_back() -> None:
    assert _plan(_DONE, _DONE) == ""
    assert _plan(None, _DONE, earlier=_DONE) == "added_done"


def test_what_comes_as_done_needs_somebody() -> None:
    for earlier in (None, an_item()):
        with pytest.raises(ForbiddenTransitionError, match="confirmed_by"):
            _plan(None, _DONE, earlier=earlier)
        assert _plan(None, _DONE, earlier=earlier, by="user") == "added_done"
    # The nearest that does not.
    assert _plan(None, an_item()) == "added"
    assert _plan(None, _BLOCKED) == "added_blocked"
    assert _plan(None, replace(an_item(), description="New."), earlier=an_item()) == "added"


def test_another_reason_is_confirmed_later_and_by_somebody() -> None:
    later = replace(_BLOCKED, reason="a vote", last_confirmed_at="2027-01-01T00:00:00Z")
    assert _plan(_BLOCKED, later, by="user") == "changed"
    with pytest.raises(ForbiddenTransitionError, match="confirmed_by"):
        _plan(_BLOCKED, later)
    for time in (_BLOCKED.last_confirmed_at, "2020-01-01T00:00:00Z"):
        with pytest.raises(ForbiddenTransitionError, match="later than"):
            _plan(_BLOCKED, replace(later, last_confirmed_at=time), by="user")


def test_no_item_goes_back_in_time() -> None:
    later = replace(_BLOCKED, description="In other words.")
    assert _plan(_BLOCKED, later) == "changed"
    with pytest.raises(ForbiddenTransitionError, match="or later"):
        _plan(_BLOCKED, replace(later, last_confirmed_at="2020-01-01T00:00:00Z"))


@pytest.mark.parametrize("key", ["K\u200b", "K\x07", "\ufeffK", " K "])
def test_conflict_keys_that_look_alike_are_one(key: str) -> None:
    facts = DurableContextState([a_fact("f1"), a_fact("f2")])
    with pytest.raises(ConflictKeyTaken):
        plan_version(
            "run", facts, current=None, replaces=None, conflict_keys={"f1": "K", "f2": key}
        )
    made = plan_version(
        "run", facts, current=None, replaces=None, conflict_keys={"f1": "K", "f2": "K2"}
    )
    assert len(made.fact_keys) == 2
