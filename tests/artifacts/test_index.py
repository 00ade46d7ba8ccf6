"""Names that were chosen once are never chosen again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.index import SessionIndex
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent


def _stored(name: str, sha256: str = "0" * 64) -> LedgerEntry:
    return LedgerEntry(
        event=LedgerEvent.STORED,
        filename=name,
        sha256=sha256,
        blake3="0" * 64,
        bytes=0,
        segment_bytes=1,
        recorded_at="2026-01-02T03:04:05Z",
    )


@given(st.lists(st.none() | st.text(alphabet="aAbB.é", max_size=3), max_size=40))
def test_no_two_choices_fold_to_one_name(suggestions: list[str | None]) -> None:
    index = SessionIndex()
    chosen = []
    for suggested in suggestions:
        name = index.choose_name(suggested)
        assert index.choose_name(suggested) == name
        index.apply(_stored(name))
        chosen.append(name.casefold())
    assert len(set(chosen)) == len(suggestions)


def test_numbers_go_on_behind_what_was_removed_or_merely_seen() -> None:
    index = SessionIndex()
    index.apply(_stored("tool_result_007.txt"))
    index.apply(LedgerEntry(event=LedgerEvent.REMOVED, filename="tool_result_007.txt"))
    assert index.choose_name(None) == "tool_result_008.txt"
    index.reserve("tool_result_1234.txt")
    assert index.choose_name(None) == "tool_result_1235.txt"


def test_a_number_that_no_store_reached_does_not_move_the_count() -> None:
    index = SessionIndex()
    index.reserve(f"tool_result_{'9' * 150}.txt")
    assert index.choose_name(None) == "tool_result_001.txt"
    index.reserve(f"tool_result_{'9' * 18}.txt")
    index.reserve(f"tool_result_{10**18}.txt")
    assert index.choose_name(None) == f"tool_result_{10**18 + 1}.txt"


def test_a_digest_leads_to_the_last_file_of_it_until_that_is_removed() -> None:
    index = SessionIndex()
    index.apply(_stored("a.txt"))
    index.apply(_stored("b.txt"))
    assert index.find_by_digest("0" * 64) == "b.txt"
    index.apply(LedgerEntry(event=LedgerEvent.REMOVED, filename="a.txt"))
    assert index.find_by_digest("0" * 64) == "b.txt"
    index.apply(LedgerEntry(event=LedgerEvent.REMOVED, filename="b.txt"))
    assert index.find_by_digest("0" * 64) is None


def test_a_successor_knows_the_names_alone() -> None:
    index = SessionIndex()
    index.apply(_stored("tool_result_001.txt"))
    index.apply(LedgerEntry(event=LedgerEvent.RENAMED, filename="a", reason="b"))
    following = index.successor()
    assert following.choose_name(None) == "tool_result_002.txt"
    assert not following.is_recorded("tool_result_001.txt")
    assert following.find_by_digest("0" * 64) is None
    assert index.has_note("a", "b")
    assert not following.has_note("a", "b")
