"""Retrieval evidence freezes what was selected."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable import (
    DurableTypeError,
    DurableValueError,
    RetrievalEvidence,
    capture_retrieval_evidence,
)
from tests.durable.strategies import T0


def _hit(memory_id: str = "m1", **changed: Any) -> SimpleNamespace:
    provenance = SimpleNamespace(source_id="s1", source_type="note", title="T", captured_at=T0)
    given: dict[str, Any] = {
        "memory_id": memory_id,
        "text": "the recalled text",
        "score": 0.5,
        "rank": 3,
        "conflict_key": None,
        "provenance": provenance,
    }
    return SimpleNamespace(**{**given, **changed})


def test_source_score_rank_and_conflict_are_copied() -> None:
    hit = _hit(conflict_key="db")
    assert capture_retrieval_evidence([hit]) == (
        RetrievalEvidence("m1", "s1", "note", "T", T0, 0.5, 3, "db"),
    )


def test_no_hits_give_no_evidence() -> None:
    assert capture_retrieval_evidence(()) == ()


def test_the_rank_has_two_names() -> None:
    hit = _hit(source_rank=9)
    assert capture_retrieval_evidence([hit])[0].source_rank == 9
    assert capture_retrieval_evidence([_hit(source_rank=None)])[0].source_rank == 3
    del hit.rank
    assert capture_retrieval_evidence([hit])[0].source_rank == 9


def test_a_hit_may_have_no_conflict_key() -> None:
    hit = _hit()
    del hit.conflict_key
    assert capture_retrieval_evidence([hit])[0].conflict_key is None


def test_no_recalled_text_is_copied() -> None:
    assert "recalled" not in repr(capture_retrieval_evidence([_hit()]))


def test_a_generator_is_taken_as_it_comes() -> None:
    hits = (_hit(name, score=score, rank=1) for name, score in (("b", 0.1), ("a", 0.9)))
    assert [one.memory_id for one in capture_retrieval_evidence(hits)] == ["b", "a"]


@pytest.mark.parametrize(
    "spoil", [lambda hit: setattr(hit, "provenance", None), lambda hit: delattr(hit, "provenance")]
)
def test_a_hit_without_provenance_is_refused(spoil: Callable[[SimpleNamespace], None]) -> None:
    hit = _hit()
    spoil(hit)
    with pytest.raises(DurableValueError, match=r"^selected_hits\[1\]: provenance: "):
        capture_retrieval_evidence([_hit("m0"), hit])


@pytest.mark.parametrize("name", ["memory_id", "score", "rank"])
def test_a_missing_attribute_is_refused_by_name(name: str) -> None:
    hit = _hit()
    delattr(hit, name)
    with pytest.raises(DurableValueError, match=rf"^selected_hits\[0\]: {name}: expected a value"):
        capture_retrieval_evidence([hit])


@pytest.mark.parametrize("name", ["source_id", "source_type", "title", "captured_at"])
def test_a_missing_attribute_of_the_provenance_is_refused_by_name(name: str) -> None:
    hit = _hit()
    delattr(hit.provenance, name)
    with pytest.raises(DurableValueError, match=rf"^selected_hits\[0\]: {name}: expected a value"):
        capture_retrieval_evidence([hit])


@pytest.mark.parametrize(
    ("name", "value"), [("score", 1.5), ("rank", 0), ("memory_id", " "), ("conflict_key", "")]
)
def test_a_value_that_breaks_its_rule_is_refused(name: str, value: object) -> None:
    changed: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=r"^selected_hits\[0\]: "):
        capture_retrieval_evidence([_hit(**changed)])


def test_a_time_without_a_zone_is_refused() -> None:
    hit = _hit()
    hit.provenance.captured_at = "2026-01-01T09:00:00"
    with pytest.raises(ValueError, match="captured_at: must include a timezone"):
        capture_retrieval_evidence([hit])


def test_a_repeated_memory_id_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^retrieval evidence memory ids: "):
        capture_retrieval_evidence([_hit("m1"), _hit("m2"), _hit(" m1")])


@pytest.mark.parametrize("hits", [None, 3, "hits", b"hits"])
def test_what_is_no_collection_is_refused(hits: Any) -> None:
    with pytest.raises(DurableTypeError, match=r"^selected_hits: "):
        capture_retrieval_evidence(hits)


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.floats(0, 1), st.integers(1, 9)),
        unique_by=lambda row: row[0],
    )
)
def test_nothing_is_reordered_filtered_or_scored_anew(rows: list[tuple[int, float, int]]) -> None:
    hits = [_hit(f"m{number}", score=score, rank=rank) for number, score, rank in rows]
    captured = capture_retrieval_evidence(hits)
    assert [(one.memory_id, one.score, one.source_rank) for one in captured] == [
        (f"m{number}", score, rank) for number, score, rank in rows
    ]
