"""Frozen values: order of the fields, what is refused, what is kept."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from provenance.durable import (
    DurableContextState,
    DurableFact,
    DurableValueError,
    PendingItem,
    RetrievalEvidence,
)
from tests.durable.strategies import POINTER, T0, a_fact, an_item, some_evidence

FACT: dict[str, Any] = {
    "fact_id": "f1",
    "content": "It is so.",
    "source_pointer": POINTER,
    "last_confirmed_at": T0,
}
ITEM: dict[str, Any] = {
    "item_id": "p1",
    "description": "Ship it.",
    "source_pointer": POINTER,
    "last_confirmed_at": T0,
    "status": "blocked",
    "reason": "waits",
}
EVIDENCE: dict[str, Any] = {
    "memory_id": "m1",
    "source_id": "s1",
    "source_type": "note",
    "source_title": "A title",
    "captured_at": T0,
    "score": 0.5,
    "source_rank": 2,
    "conflict_key": "db",
}
KINDS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (DurableFact, FACT),
    (PendingItem, ITEM),
    (RetrievalEvidence, EVIDENCE),
]


@pytest.mark.parametrize(("kind", "given"), KINDS)
def test_the_positional_order_is_that_of_the_contract(
    kind: Callable[..., Any], given: dict[str, Any]
) -> None:
    value = kind(*given.values())
    assert value == kind(**given)
    assert {one.name: getattr(value, one.name) for one in fields(value)} == given


def test_the_defaults_are_those_of_the_contract() -> None:
    item = PendingItem("p1", "Ship it.", POINTER, T0)
    assert (item.status, item.reason) == ("open", None)
    assert some_evidence().conflict_key is None
    state = DurableContextState()
    assert (state.facts, state.pending_items, state.retrieval_evidence) == ((), (), ())
    assert (state.session, state.turn) == (None, None)


@pytest.mark.parametrize(("kind", "given"), KINDS)
def test_no_field_can_be_assigned_or_deleted(
    kind: Callable[..., Any], given: dict[str, Any]
) -> None:
    value = kind(**given)
    for name in given:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)
    assert value == kind(**given)


def test_no_field_of_a_state_can_be_assigned() -> None:
    state = DurableContextState([a_fact()])
    for name in ("facts", "pending_items", "retrieval_evidence", "session", "turn"):
        with pytest.raises(FrozenInstanceError):
            setattr(state, name, ())


@pytest.mark.parametrize(("kind", "given"), KINDS)
def test_a_value_can_be_hashed_copied_and_pickled(
    kind: Callable[..., Any], given: dict[str, Any]
) -> None:
    value = kind(**given)
    assert hash(value) == hash(kind(**given))
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value


_TEXT_FIELDS = [
    (kind, given, name)
    for kind, given in KINDS
    for name, value in given.items()
    if isinstance(value, str) and name not in ("status", "source_title")
]


@pytest.mark.parametrize(("kind", "given", "name"), _TEXT_FIELDS)
def test_an_empty_text_is_refused_by_name(
    kind: Callable[..., Any], given: dict[str, Any], name: str
) -> None:
    for empty in ("", " ", "\n\t\u00a0"):
        with pytest.raises(ValueError, match=rf"^{name}: "):
            kind(**{**given, name: empty})


@pytest.mark.parametrize(("kind", "given", "name"), _TEXT_FIELDS)
def test_another_type_is_refused_by_name(
    kind: Callable[..., Any], given: dict[str, Any], name: str
) -> None:
    for wrong in (3, True, b"bytes", ["list"], object()):
        with pytest.raises(TypeError, match=rf"^{name}: expected text, got"):
            kind(**{**given, name: wrong})


@pytest.mark.parametrize(
    ("kind", "given", "name"), [row for row in _TEXT_FIELDS if not row[2].endswith("_at")]
)
def test_white_space_is_collapsed_in_every_text(
    kind: Callable[..., Any], given: dict[str, Any], name: str
) -> None:
    value = kind(**{**given, name: "  two \n words\t"})
    assert getattr(value, name) == "two words"


def test_a_title_may_be_empty() -> None:
    assert some_evidence(title=" \n ").source_title == ""


@pytest.mark.parametrize(
    "pointer",
    [
        "no colon",
        "transcript:s1:0",
        "artifact:s1:../x:0123456789ab",
        "https://example.com/a?b=c;d",
        'x"; source_status=available',
        "\x00",
        "\ud800",
    ],
)
def test_a_bad_pointer_is_storable(pointer: str) -> None:
    assert a_fact(pointer=pointer).source_pointer == pointer
    assert PendingItem("p1", "Ship it.", pointer, T0).source_pointer == pointer


@pytest.mark.parametrize(
    ("kind", "given", "name"), [row for row in _TEXT_FIELDS if row[2].endswith("_at")]
)
def test_a_time_needs_a_zone_and_is_kept_as_given(
    kind: Callable[..., Any], given: dict[str, Any], name: str
) -> None:
    with pytest.raises(ValueError, match=rf"{name}.*must include a timezone"):
        kind(**{**given, name: "2026-01-01T09:00:00"})
    given_text = "2026-01-01 17:00:00.50+0800"
    assert getattr(kind(**{**given, name: given_text}), name) == given_text


@pytest.mark.parametrize("status", ["closed", "Open", "DONE", "done ish"])
def test_an_unknown_status_is_refused(status: str) -> None:
    with pytest.raises(DurableValueError, match=r"^status: expected open, blocked or done"):
        PendingItem("p1", "Ship it.", POINTER, T0, status)


@pytest.mark.parametrize("status", ["open", "blocked", "done"])
def test_an_item_of_another_writer_is_kept_with_or_without_a_reason(status: str) -> None:
    assert PendingItem("p1", "Ship it.", POINTER, T0, status, "waits").reason == "waits"
    assert PendingItem("p1", "Ship it.", POINTER, T0, status).reason is None
    with pytest.raises(DurableValueError, match=r"^reason: "):
        PendingItem("p1", "Ship it.", POINTER, T0, status, " ")


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None])
def test_a_score_outside_0_to_1_is_refused(score: object) -> None:
    with pytest.raises(ValueError, match=r"^score: "):
        RetrievalEvidence(**{**EVIDENCE, "score": score})


@pytest.mark.parametrize("rank", [0, -1, True, 1.0, "1", None, 10**301])
def test_a_rank_below_1_is_refused(rank: object) -> None:
    with pytest.raises(ValueError, match=r"^source_rank: "):
        RetrievalEvidence(**{**EVIDENCE, "source_rank": rank})


def test_a_conflict_key_is_none_or_not_empty() -> None:
    assert RetrievalEvidence(**{**EVIDENCE, "conflict_key": None}).conflict_key is None
    with pytest.raises(ValueError, match=r"^conflict_key: "):
        RetrievalEvidence(**{**EVIDENCE, "conflict_key": " "})


def test_collections_become_tuples_that_the_caller_does_not_share() -> None:
    mine = [a_fact()]
    state = DurableContextState(mine, (an_item(n) for n in "ab"), iter([some_evidence()]))
    mine.clear()
    assert state.facts == (a_fact(),)
    assert [item.item_id for item in state.pending_items] == ["a", "b"]
    assert type(state.retrieval_evidence) is tuple


@pytest.mark.parametrize(
    ("name", "member", "what"),
    [
        ("facts", a_fact(), "fact ids"),
        ("pending_items", an_item(), "pending item ids"),
        ("retrieval_evidence", some_evidence(), "retrieval evidence memory ids"),
    ],
)
def test_an_id_comes_once_in_its_collection(name: str, member: object, what: str) -> None:
    collections: dict[str, Any] = {name: [member, member]}
    with pytest.raises(ValueError, match=rf"^{what}: "):
        DurableContextState(**collections)


def test_ids_are_compared_as_they_are_kept() -> None:
    with pytest.raises(ValueError, match="fact ids"):
        DurableContextState([a_fact("a b"), a_fact(" a  b ")])
    # The nearest miss: another letter case, and the same id in another collection.
    DurableContextState([a_fact("a"), a_fact("A")], [an_item("a")], [some_evidence("a")])


@pytest.mark.parametrize("wrong", [None, 3, "facts", {"fact_id": "f1"}, [FACT], [an_item()]])
def test_a_collection_holds_its_own_type_only(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^facts"):
        DurableContextState(wrong)


def test_session_and_turn_go_by_keyword_and_count_for_equality() -> None:
    state = DurableContextState(session=" s1 ", turn=0)
    assert (state.session, state.turn) == ("s1", 0)
    assert state != DurableContextState()
    too_many: Any = ((), (), (), "s1")
    with pytest.raises(TypeError):
        DurableContextState(*too_many)


@pytest.mark.parametrize(("name", "value"), [("session", ""), ("session", 3), ("turn", -1)])
def test_a_session_has_a_name_and_a_turn_counts_from_0(name: str, value: object) -> None:
    where: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=rf"^{name}: "):
        DurableContextState(**where)


@pytest.mark.parametrize("turn", [True, 1.0, "1"])
def test_a_turn_is_a_whole_number(turn: Any) -> None:
    with pytest.raises(TypeError, match=r"^turn: "):
        DurableContextState(turn=turn)


def test_replacing_a_field_checks_it_again() -> None:
    with pytest.raises(ValueError, match="content"):
        replace(a_fact(), content="")
