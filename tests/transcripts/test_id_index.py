"""Ids that stand in several files, against a search of every pair."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.transcripts.id_index import Conflict, IdIndex, IdRows
from provenance.transcripts.records import Record

# Number of the file, session, ordinal, line, id, bytes.
Row = tuple[int, str | None, int, int | None, str, bytes]


# A shorter one is a number in its own file.
_LONG = "an-id-of-13-c"
assert len(_LONG) == 13


def _record(
    session: str | None, ordinal: int, line: int | None, name: str, raw: bytes, **more: bool
) -> Record:
    return Record(
        ordinal=ordinal, kind="k", raw=raw, value=None, line=line, session=session,
        native_id=_LONG + name, **more,
    )  # fmt: skip


def _conflicts(rows: Sequence[Row]) -> list[Conflict]:
    with IdIndex() as index:
        for file, session, ordinal, line, name, raw in rows:
            one = IdRows(file)
            one.add(_record(session, ordinal, line, name, raw))
            index.extend(one)
        return list(index.conflicts())


_ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["s", "t", None]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([b"1", b"2", b"3"]),
    ),
    max_size=10,
)


@given(_ROWS, st.randoms())
def test_each_id_with_other_bytes_in_another_file_is_found_in_any_order(
    given: list[tuple[int, str | None, str, bytes]], random: object
) -> None:
    rows: list[Row] = [
        # What says of which session it is has other bytes in another one.
        (file, session, ordinal, ordinal * 2, name, f"{session}".encode() + raw)
        for ordinal, (file, session, name, raw) in enumerate(given, 1)
    ]
    found = _conflicts(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    key = lambda one: (one.first, one.second)  # noqa: E731
    assert sorted(_conflicts(shuffled), key=key) == sorted(found, key=key)
    by_place = {(file, ordinal): row for row in rows for file, ordinal in [(row[0], row[2])]}
    for one in found:
        first, second = by_place[one.first[:2]], by_place[one.second[:2]]
        # What is said of a pair is true of it.
        assert first[4] == second[4]
        assert one.first[0] != one.second[0]
        assert one.first[2] == one.first[1] * 2
        assert one.is_one_session == (first[1] == second[1])
        if one.is_one_session:
            assert first[5] != second[5]
    # Where no file holds two versions itself, each version after the first is told, once.
    for session, name in {(row[1], row[4]) for row in rows}:
        own = sorted(row for row in rows if (row[1], row[4]) == (session, name))
        files = {row[0]: row[5] for row in own}
        if any(files[row[0]] != row[5] for row in own):
            continue
        others = {row[5] for row in own} - {own[0][5]}
        told = [
            by_place[one.second[:2]][5]
            for one in found
            if one.is_one_session and by_place[one.second[:2]][1:5:3] == (session, name)
        ]
        assert sorted(told) == sorted(others)
    assert len(set(map(key, found))) == len(found)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], []),
        # The same bytes, or one file alone, is no conflict.
        ([(0, "s", 1, 1, "a", b"1"), (1, "s", 1, 1, "a", b"1")], []),
        ([(0, "s", 1, 1, "a", b"1"), (0, "s", 2, 2, "a", b"2")], []),
        ([(0, "s", 1, 1, "a", b"1"), (1, "s", 1, 1, "b", b"2")], []),
        (
            [(0, "s", 1, 3, "a", b"1"), (1, "s", 7, None, "a", b"2")],
            [Conflict((0, 1, 3), (1, 7, None), is_one_session=True)],
        ),
        (
            [(0, "s", 1, 3, "a", b"1"), (1, "t", 7, None, "a", b"2")],
            [Conflict((0, 1, 3), (1, 7, None), is_one_session=False)],
        ),
        # The first of the same session speaks.
        (
            [(0, "t", 1, 1, "a", b"0"), (1, "s", 1, 1, "a", b"1"), (2, "s", 1, 1, "a", b"2")],
            [
                Conflict((0, 1, 1), (1, 1, 1), is_one_session=False),
                Conflict((1, 1, 1), (2, 1, 1), is_one_session=True),
            ],
        ),
    ],
)
def test_the_rows_of_each_rule(rows: list[Row], said: list[Conflict]) -> None:
    assert _conflicts(rows) == said
    assert _conflicts(rows[::-1]) == said


def test_the_same_bytes_in_another_session_are_no_other_bytes() -> None:
    assert _conflicts([(0, "s", 1, 1, "a", b"1"), (1, "t", 1, 1, "a", b"1")]) == []


def test_the_same_bytes_in_another_session_hide_nothing() -> None:
    rows: list[Row] = [
        (0, "s", 1, 1, "a", b"1"),
        (1, "t", 1, 1, "a", b"2"),
        (2, "s", 1, 1, "a", b"2"),
    ]
    assert Conflict((0, 1, 1), (2, 1, 1), is_one_session=True) in _conflicts(rows)


def test_more_rows_than_a_batch() -> None:
    rows: list[Row] = [(n % 2, "s", n, n + 1, f"{n // 2}", b"%d" % (n % 2)) for n in range(9_000)]
    found = _conflicts(rows)
    assert len(found) == 4_500
    assert all(one.is_one_session for one in found)


def test_odd_text_is_an_id_like_any_other() -> None:
    for name in ("\ud83d", "\0", "", "é" * 10_000):
        assert len(_conflicts([(0, name, 1, 1, name, b"1"), (1, name, 1, 1, name, b"2")])) == 1


def test_what_is_no_id_of_its_own_is_passed_over() -> None:
    rows = IdRows(0)
    for name in ("", "1", _LONG[1:], None):
        rows.add(Record(ordinal=1, kind="k", raw=b"1", value=None, native_id=name))
    rows.add(_record("s", 1, 1, "", b"1", supersedes=True))
    assert len(rows.numbers) == 0
    rows.add(_record("s", 1, 1, "", b"1"))
    assert len(rows.numbers) == 5


def test_the_rows_of_one_file_may_come_at_once() -> None:
    with IdIndex() as index:
        for file in (1, 0):
            rows = IdRows(file)
            for ordinal in range(1, 51):
                rows.add(_record("s", ordinal, None, str(ordinal), b"%d" % (file * (ordinal % 2))))
            index.extend(rows)
        found = list(index.conflicts())
    assert sorted(one.second for one in found) == [(1, n, None) for n in range(1, 51, 2)]
