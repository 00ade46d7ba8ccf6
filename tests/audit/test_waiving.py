"""Which waivers cover what, until when, and what is said of the others."""

from __future__ import annotations

from datetime import date

import pytest

from provenance.audit.notes import Notes
from provenance.audit.waiving import WaiverBook
from provenance.findings import Finding, Location, Severity
from provenance.waivers import Waiver, WaiverEntry

_DAY = date(2026, 3, 31)


def _source(pointer: str, expires: date = _DAY) -> WaiverEntry:
    return WaiverEntry(Waiver("why", "ops", expires, pointer=pointer), 1, 1)


def _finding(code: str, target: str, expires: date = _DAY) -> WaiverEntry:
    return WaiverEntry(Waiver("why", "ops", expires, code=code, target=target), 2, 7)


@pytest.mark.parametrize(
    ("today", "counts"),
    [(date(2026, 3, 30), True), (date(2026, 3, 31), True), (date(2026, 4, 1), False)],
)
def test_the_last_day_is_the_last(today: date, counts: bool) -> None:
    book = WaiverBook([_source("transcript:s1:3")], today=today)
    assert (book.of_source("transcript:s1:3") is not None) is counts
    found = [(one.code, one.severity) for one in book.findings("w.toml", is_whole=True)]
    assert found == ([] if counts else [("waiver_expired", Severity.ERROR)])


def test_a_pointer_is_compared_as_a_pointer() -> None:
    book = WaiverBook([_source("artifact:s:a:0123456789AB"), _source("no pointer")], today=_DAY)
    assert book.of_source("artifact:s:a:0123456789ab") is not None
    assert book.of_source("no pointer") is not None
    for other in ("artifact:s:a:0123456789ac", "artifact:S:a:0123456789ab", "no pointer "):
        assert book.of_source(other) is None


def test_a_code_is_covered_at_its_target_alone() -> None:
    book = WaiverBook([_finding("torn_line", "a.jsonl")], today=_DAY)
    assert book.of_finding("torn_line", "a.jsonl") is not None
    assert book.of_finding("torn_line", "b/a.jsonl") is None
    assert book.of_finding("nul_line", "a.jsonl") is None
    assert book.of_source("a.jsonl") is None


def test_nothing_that_a_file_holds_can_cover_what_is_said_of_waivers() -> None:
    forged = WaiverEntry(Waiver("why", "x", _DAY, code="waiver_expired", target="w.toml"))
    book = WaiverBook([forged], today=_DAY)
    assert book.of_finding("waiver_expired", "w.toml") is None


def test_what_covered_nothing_is_told_where_all_was_checked() -> None:
    book = WaiverBook([_source("transcript:s1:3"), _finding("x", "a")], today=_DAY)
    book.of_source("transcript:s1:3")
    assert list(book.findings("w.toml", is_whole=False)) == []
    (unused,) = book.findings("w.toml", is_whole=True)
    assert (unused.code, unused.severity, unused.target) == (
        "waiver_unused",
        Severity.INFO,
        "w.toml",
    )
    assert unused.location == Location(line=7)
    assert unused.message == (
        "waiver 2: expected something that it covers, got nothing (x at a; owner: ops)"
    )


def _error(target: str, line: int) -> Finding:
    return Finding("torn_line", Severity.ERROR, target, Location(line=line))


def test_what_is_waived_takes_no_room_from_the_others() -> None:
    notes = Notes(WaiverBook([_finding("torn_line", "a")], today=_DAY))
    for line in range(25_000):
        notes.add(_error("a", line))
    notes.count_unlisted("torn_line", 7, target="a")
    notes.count_unlisted("torn_line", 5)
    notes.add(_error("b", 1))
    listed = notes.listed()
    assert [one.target for one in listed if one.waiver is None] == ["b"]
    assert sum(one.waiver is not None for one in listed) == 1_000
    assert notes.counts() == {"torn_line": 25_013}
    assert notes.waived_counts() == {"torn_line": 25_007}


def test_many_that_are_not_waived_leave_room_for_one_that_is() -> None:
    notes = Notes(WaiverBook([_finding("torn_line", "zzz")], today=_DAY))
    for number in range(30_000):
        notes.add(_error(f"f{number}", 1))
    notes.add(_error("zzz", 1))
    assert [one.target for one in notes.listed() if one.waiver is not None] == ["zzz"]


def test_a_prefix_belongs_to_the_target() -> None:
    notes = Notes(WaiverBook([_finding("torn_line", "home/a")], today=_DAY))
    notes.add(_error("a", 1), prefix="home/")
    notes.add(_error("a", 1))
    assert [one.waiver is not None for one in notes.listed()] == [False, True]


def test_facts_can_be_waived_and_are_counted_once() -> None:
    notes = Notes(WaiverBook([_finding("hard_link", "s/tool-results/a")], today=_DAY))
    for name in ("b", "a"):
        notes.add(Finding("hard_link", Severity.INFO, f"s/tool-results/{name}"))
    assert [one.waiver is not None for one in notes.listed()] == [True]
    assert (notes.counts(), notes.waived_counts()) == ({"hard_link": 1}, {"hard_link": 1})
