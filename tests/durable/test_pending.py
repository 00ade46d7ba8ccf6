"""Who may finish a pending item."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable import (
    DurableContextState,
    DurableTypeError,
    ForbiddenTransitionError,
    PendingItem,
    UnknownPendingItemError,
    transition_pending,
)
from tests.durable.strategies import POINTER, T0, T1, a_fact, an_item, some_evidence, states

NEW_POINTER = "transcript:s1:7"
MOVES = [(old, new) for old in ("open", "blocked", "done") for new in ("open", "blocked", "done")]
ALLOWED = {("open", "blocked"), ("open", "done"), ("blocked", "open"), ("blocked", "done")}


def _state(status: str = "open") -> DurableContextState:
    return DurableContextState(
        [a_fact()],
        [an_item("before"), an_item("p1", status), an_item("after")],
        [some_evidence()],
        session="s1",
        turn=4,
    )


def _move(state: DurableContextState, to: str, **changed: Any) -> DurableContextState:
    arguments: dict[str, Any] = {
        "confirmed_at": T1,
        "confirmed_by": "user",
        "source_pointer": NEW_POINTER,
        "reason": "waits for review" if to == "blocked" else None,
    }
    return transition_pending(state, "p1", to, **{**arguments, **changed})


@pytest.mark.parametrize(("old", "new"), MOVES)
def test_only_four_moves_are_allowed(old: str, new: str) -> None:
    state = _state(old)
    if (old, new) not in ALLOWED:
        with pytest.raises(ForbiddenTransitionError, match=r"^to: expected a move"):
            _move(state, new)
        return
    moved = _move(state, new).pending_items[1]
    assert moved == PendingItem(
        "p1", "Ship it.", NEW_POINTER, T1, new, "waits for review" if new == "blocked" else None
    )


@pytest.mark.parametrize(("old", "new"), sorted(ALLOWED))
def test_everything_else_is_the_identical_object(old: str, new: str) -> None:
    state = _state(old)
    before = state.pending_items
    after = _move(state, new)
    assert after is not state
    assert state.pending_items is before
    assert [item.item_id for item in after.pending_items] == ["before", "p1", "after"]
    assert after.pending_items[0] is before[0]
    assert after.pending_items[2] is before[2]
    assert after.facts is state.facts
    assert after.retrieval_evidence is state.retrieval_evidence
    assert (after.session, after.turn) == ("s1", 4)


@pytest.mark.parametrize(
    "time",
    [
        T0,
        "2026-01-01T08:59:59Z",
        "2026-01-01T17:00:00+08:00",
        "2026-01-01T09:00:00.000Z",
        "2026-01-01T22:59:59+14:00",
    ],
)
def test_a_confirmation_is_strictly_later_as_an_instant(time: str) -> None:
    with pytest.raises(ForbiddenTransitionError, match=r"^confirmed_at: expected an instant later"):
        _move(_state(), "done", confirmed_at=time)


@pytest.mark.parametrize("time", ["2026-01-01T09:00:00.001Z", "2026-01-01T04:00:01-05:00"])
def test_an_instant_later_in_another_zone_will_do(time: str) -> None:
    assert _move(_state(), "done", confirmed_at=time).pending_items[1].last_confirmed_at == time


@pytest.mark.parametrize("time", ["", "later", "2026-01-01T10:00:00", None])
def test_a_confirmation_needs_a_time_with_a_zone(time: object) -> None:
    with pytest.raises(ValueError, match=r"^confirmed_at: "):
        _move(_state(), "done", confirmed_at=time)


def test_the_latest_confirmation_counts_along_a_chain() -> None:
    blocked = _move(_state(), "blocked", confirmed_at="2026-01-01T18:00:00+08:00")
    with pytest.raises(ForbiddenTransitionError):
        _move(blocked, "open", confirmed_at="2026-01-01T09:30:00Z")
    reopened = _move(blocked, "open", confirmed_at="2026-01-01T11:00:00Z", source_pointer=None)
    assert reopened.pending_items[1].reason is None
    assert reopened.pending_items[1].source_pointer == NEW_POINTER
    done = _move(reopened, "done", confirmed_at="2026-01-01T12:00:00Z")
    assert done.pending_items[1].status == "done"


@pytest.mark.parametrize("to", ["blocked", "done"])
@pytest.mark.parametrize("pointer", [None, "", " "])
def test_blocked_and_done_need_a_pointer_in_that_call(to: str, pointer: object) -> None:
    with pytest.raises(ValueError, match=r"^source_pointer: "):
        _move(_state(), to, source_pointer=pointer)


@pytest.mark.parametrize("reason", [None, "", "\n"])
def test_blocked_needs_a_reason_in_that_call(reason: object) -> None:
    with pytest.raises(ValueError, match=r"^reason: "):
        _move(_state(), "blocked", reason=reason)


@pytest.mark.parametrize(("old", "new"), [("open", "done"), ("blocked", "open")])
def test_only_a_blocked_item_keeps_a_reason(old: str, new: str) -> None:
    assert _move(_state(old), new, reason="because").pending_items[1].reason is None


def test_a_reopened_item_keeps_its_pointer_or_takes_the_new_one() -> None:
    kept = _move(_state("blocked"), "open", source_pointer=None).pending_items[1]
    assert kept.source_pointer == POINTER
    assert _move(_state("blocked"), "open").pending_items[1].source_pointer == NEW_POINTER


@pytest.mark.parametrize("item_id", ["nope", "", " ", "P1", "f1"])
def test_an_unknown_id_is_a_key_error(item_id: str) -> None:
    with pytest.raises(KeyError) as caught:
        transition_pending(
            _state(), item_id, "done", confirmed_at=T1, confirmed_by="user", source_pointer=POINTER
        )
    assert isinstance(caught.value, UnknownPendingItemError)
    assert "item_id" in str(caught.value)


def test_an_id_is_compared_as_it_is_kept() -> None:
    state = transition_pending(
        _state(), "  p1 ", "done", confirmed_at=T1, confirmed_by="user", source_pointer=POINTER
    )
    assert state.pending_items[1].status == "done"


class _Spoof(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("p1")


def test_an_id_that_claims_to_equal_all_matches_nothing() -> None:
    with pytest.raises(KeyError):
        transition_pending(
            _state(),
            _Spoof("nope"),
            "done",
            confirmed_at=T1,
            confirmed_by="user",
            source_pointer=POINTER,
        )


@pytest.mark.parametrize("item_id", [1, None])
def test_an_id_that_is_no_text_matches_nothing(item_id: Any) -> None:
    with pytest.raises(DurableTypeError, match=r"^item_id: "):
        transition_pending(
            _state(), item_id, "done", confirmed_at=T1, confirmed_by="user", source_pointer=POINTER
        )


class _Status(StrEnum):
    DONE = "done"


def test_a_status_may_come_as_an_enum_member() -> None:
    status = _move(_state(), _Status.DONE).pending_items[1].status
    assert status == "done"
    assert type(status) is str


@pytest.mark.parametrize("to", ["closed", "Done", "", 1, None, _Spoof("gone")])
def test_an_unknown_status_is_a_value_error(to: Any) -> None:
    with pytest.raises(ValueError, match=r"^to: "):
        _move(_state(), to)


@pytest.mark.parametrize(
    "name", ["harness", "user", "tool:pytest", "user:model-team", "tool:model-checker", "Ada"]
)
def test_a_confirmer_is_named(name: str) -> None:
    assert _move(_state(), "done", confirmed_by=name).pending_items[1].status == "done"


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_a_confirmer_that_is_not_named_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"^confirmed_by: "):
        _move(_state(), "done", confirmed_by=name)


@pytest.mark.parametrize(
    "name",
    [
        "summary",
        "model",
        "the model's summary",
        "Assistant",
        "LLM:gpt",
        "summarizer: x",
        "tool:model",
        "tool:llm-2",
        "user:x:summary",
        "\uff4dodel",
        "mo\u200bdel",
    ],
)
def test_the_model_and_its_summary_confirm_nothing(name: str) -> None:
    with pytest.raises(ForbiddenTransitionError, match=r"^confirmed_by: "):
        _move(_state(), "done", confirmed_by=name)


def test_a_state_is_needed() -> None:
    nothing: Any = None
    with pytest.raises(DurableTypeError, match=r"^state: "):
        _move(nothing, "done")


@given(states(), st.data())
def test_any_transition_keeps_the_rest_and_the_order(
    state: DurableContextState, data: st.DataObject
) -> None:
    if not state.pending_items:
        return
    position = data.draw(st.integers(0, len(state.pending_items) - 1))
    item = state.pending_items[position]
    to = data.draw(st.sampled_from(("open", "blocked", "done")))
    try:
        after = transition_pending(
            state,
            item.item_id,
            to,
            confirmed_at=T1,
            confirmed_by="harness",
            source_pointer=POINTER,
            reason="why" if to == "blocked" else None,
        )
    except ForbiddenTransitionError:
        return
    assert (item.status, to) in ALLOWED
    for index, (old, new) in enumerate(zip(state.pending_items, after.pending_items, strict=True)):
        assert (old is new) == (index != position)
    assert after.pending_items[position].item_id == item.item_id
    assert after.pending_items[position].description == item.description
