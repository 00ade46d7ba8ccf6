"""Entries: read as they are written, and no two things have one entry."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.sealing.history import (
    History,
    HistoryError,
    HomeLeaves,
    differences,
    new_leaves,
    unsealed,
)
from provenance.sealing.leaves import (
    REMOVED,
    EntryError,
    EventLeaf,
    Leaf,
    LedgerLeaf,
    LockLeaf,
    PoolLeaf,
    StateLeaf,
    parse_entry,
)

A, B, C = (hashlib.sha256(text).hexdigest() for text in (b"a", b"b", b"c"))
_session = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
_digest = st.sampled_from([A, B, C])
_number = st.integers(1, 10**17)
_leaves = st.one_of(
    st.builds(EventLeaf, _session, _number, _digest),
    st.builds(LedgerLeaf, _session, _number, _digest),
    st.builds(
        LedgerLeaf,
        _session,
        _number,
        _digest,
        st.sampled_from(["stored", "renamed", "removed"]),
        _session,
        st.none() | _digest,
    ),
    st.builds(PoolLeaf, _session, st.from_regex("[a-z]{1,32}", fullmatch=True), _number, _digest),
    st.builds(StateLeaf, st.binary(max_size=20), _number, _digest | st.just(REMOVED)),
    st.builds(LockLeaf, st.binary(max_size=20), _number, _digest),
)


@given(_leaves, _leaves)
def test_an_entry_reads_back_and_is_of_one_thing(leaf: Leaf, other: Leaf) -> None:
    assert parse_entry(leaf.entry) == leaf
    assert (leaf.entry == other.entry) is (leaf == other)
    assert b"\n" not in leaf.entry


@given(st.binary(max_size=100))
def test_other_bytes_are_refused_or_print_back(tail: bytes) -> None:
    for data in (tail, b"ctxaudit.leaf/1 event s1 " + tail, b"ctxaudit.leaf/1 state " + tail):
        try:
            leaf = parse_entry(data)
        except EntryError:
            continue
        assert leaf.entry == data


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "ctxaudit.leaf/1",
        f"ctxaudit.leaf/2 event s1 1 {A}",
        f"ctxaudit.leaf/1 event s1 01 {A}",
        f"ctxaudit.leaf/1 event s1 0 {A}",
        f"ctxaudit.leaf/1 event s1 1 {A.upper()}",
        f"ctxaudit.leaf/1 event s1 1 {A[:-1]}",
        f"ctxaudit.leaf/1 event ../s1 1 {A}",
        f"ctxaudit.leaf/1 event s1 1 {A} ",
        f"ctxaudit.leaf/1  event s1 1 {A}",
        "ctxaudit.leaf/1 event s1 1 -",
        f"ctxaudit.leaf/1 ledger s1 1 {A} - x.txt {A}",
        f"ctxaudit.leaf/1 ledger s1 1 {A} deleted x.txt {A}",
        f"ctxaudit.leaf/1 ledger s1 1 {A} stored ../x {A}",
        f"ctxaudit.leaf/1 state %61 1 {A}",
        f"ctxaudit.leaf/1 state %c3%a9 1 {A}",
        f"ctxaudit.leaf/1 other x 1 {A}",
        "x" * 9_000,
    ],
)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(EntryError):
        parse_entry(entry.encode())


def _history(now: HomeLeaves) -> History:
    history = History()
    for leaf in new_leaves(history, now):
        history.add(parse_entry(leaf.entry))
    return history


NOW = HomeLeaves(
    events={"s1": [A, B], "s2": [C]},
    ledgers={"s1": [LedgerLeaf("s1", 1, A, "stored", "x.txt", C)]},
    states={b"a.json": [A]},
    lock={b"transcript:s1:1": A},
)


def test_what_is_as_it_was_sealed_has_no_difference_and_nothing_new() -> None:
    history = _history(NOW)
    assert list(differences(history, NOW)) == []
    assert new_leaves(history, NOW) == []
    assert not any(count for _, _, count in unsealed(history, NOW))
    assert history.size == 6


@pytest.mark.parametrize(
    ("changed", "code", "number"),
    [
        ({"events": {"s1": [A, C], "s2": [C]}}, "sealed_event_edited", 2),
        ({"events": {"s1": [A], "s2": [C]}}, "sealed_events_removed", 2),
        ({"events": {"s1": [A, B]}}, "sealed_events_removed", 1),
        ({"ledgers": {}}, "sealed_ledger_lines_removed", 1),
        (
            {"ledgers": {"s1": [LedgerLeaf("s1", 1, B, "stored", "x.txt", B)]}},
            "sealed_ledger_line_edited",
            1,
        ),
        ({"states": {b"a.json": [B]}}, "sealed_state_changed", None),
        ({"states": {}}, "sealed_state_removed", None),
        ({"lock": {b"transcript:s1:1": B}}, "sealed_lock_entry_changed", None),
        ({"lock": {}}, "sealed_lock_entry_removed", None),
    ],
)
def test_each_difference_has_its_code(
    changed: dict[str, object], code: str, number: int | None
) -> None:
    parts = {name: getattr(NOW, name) for name in ("events", "ledgers", "states", "lock")}
    (found,) = differences(_history(NOW), HomeLeaves(**(parts | changed)))  # type: ignore[arg-type]
    assert (str(found.code), found.number) == (code, number)


def test_what_was_added_is_new_and_no_difference() -> None:
    later = HomeLeaves(
        events={"s1": [A, B, C], "s2": [C], "s3": [A]},
        ledgers={"s1": [*NOW.ledgers["s1"], LedgerLeaf("s1", 2, B, "removed", "x.txt")]},
        states={b"a.json": [A], b"b.json": [B]},
        lock={b"transcript:s1:1": A, b"transcript:s1:2": B},
    )
    history = _history(NOW)
    assert list(differences(history, later)) == []
    added = [leaf.key for leaf in new_leaves(history, later)]
    assert added == [
        ("event", "s1", "3"),
        ("event", "s3", "1"),
        ("ledger", "s1", "2"),
        ("state", "b.json", "1"),
        ("lock", "transcript%3As1%3A2", "1"),
    ]
    assert sum(count for _, _, count in unsealed(history, later)) == 5


def test_a_changed_and_a_removed_state_are_sealed_as_further_versions() -> None:
    history = _history(NOW)
    for digest in (B, A, REMOVED, C):
        states = {} if digest == REMOVED else {b"a.json": [digest]}
        later = HomeLeaves(NOW.events, NOW.ledgers, states, NOW.lock)
        (leaf,) = new_leaves(history, later)
        history.add(leaf)
        assert list(differences(history, later)) == []
    assert history.states[b"a.json"] == [A, B, A, REMOVED, C]


def test_a_store_keeps_every_version() -> None:
    name = b"store/plan"
    history = _history(HomeLeaves(states={name: [A, B]}))
    store = HomeLeaves(states={name: [A, B, C]})
    assert [leaf.entry for leaf in new_leaves(history, store)] == [StateLeaf(name, 3, C).entry]
    assert list(differences(history, store)) == []
    assert list(unsealed(history, store)) == [("state", "store/plan", 1), ("lock", "", 0)]
    for versions in ([A, C, C], [A], [B], [], [B, A]):
        altered = HomeLeaves(states={name: versions} if versions else {})
        codes = [str(one.code) for one in differences(history, altered)]
        assert codes == ["sealed_state_versions_rewritten"]
        assert new_leaves(history, altered) == (
            [StateLeaf(name, 3, C)] if len(versions) > 2 else []
        )


def test_what_was_not_looked_at_is_no_difference() -> None:
    everything = {("event", "s1"), ("event", "s2"), ("ledger", "s1"), ("state", ""), ("lock", "")}
    blind = HomeLeaves(skipped=frozenset(everything))
    history = _history(NOW)
    assert list(differences(history, blind)) == []
    assert new_leaves(history, blind) == []


@pytest.mark.parametrize("ordinal", [1, 3])
def test_an_entry_has_to_follow(ordinal: int) -> None:
    history = _history(HomeLeaves(events={"s1": [A]}))
    with pytest.raises(HistoryError):
        history.add(EventLeaf("s1", ordinal, B))


def test_a_digest_that_is_stored() -> None:
    history = _history(NOW)
    assert history.stored_digests("s1", "x.txt") == {C}
    assert history.stored_digests("s1", "y.txt") == history.stored_digests("s9", "x.txt") == set()


_digests = st.lists(_digest, max_size=4)


@given(sealed=_digests, later=_digests)
def test_a_pool_only_grows(sealed: list[str], later: list[str]) -> None:
    """Every other change is told once, and what differs is never sealed in its place."""
    events = {"s1": [A]}
    history = _history(HomeLeaves(events, pools={("s1", "messages"): sealed}))
    now = HomeLeaves(events, pools={("s1", "messages"): later})
    found = [str(one.code) for one in differences(history, now)]
    assert found == ([] if later[: len(sealed)] == sealed else ["sealed_pool_rewritten"])
    assert [leaf.entry for leaf in new_leaves(history, now)] == [
        PoolLeaf("s1", "messages", number, digest).entry
        for number, digest in list(enumerate(later, 1))[len(sealed) :]
    ]
    assert ("pool", "s1", len(later) - len(sealed)) in list(unsealed(history, now))
    # Where its events are gone, or nobody looked, that is what is told.
    assert [str(one.code) for one in differences(history, HomeLeaves())] == [
        "sealed_events_removed"
    ]
    skipped = HomeLeaves(skipped=frozenset({("event", "s1")}))
    assert list(differences(history, skipped)) == []
