"""What records say of each other: each rule with a good case, a bad one and the nearest miss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.transcripts.faults import Tally
from provenance.transcripts.records import Call, CallResult, Fault, Record, Speaker
from tests.transcripts.breaking import (
    CODEX,
    SEVERITIES,
    Broken,
    Entry,
    check_bytes,
    found_places,
    lines_of,
)

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
# What no rule here is about.
_FORM = {"split_message", "branch", "time_out_of_order"}


def _records(*given: dict[str, Any]) -> list[Record]:
    records = []
    for ordinal, one in enumerate(given, 1):
        fields = {"kind": "k", "raw": b"%d" % ordinal, "value": None, "line": ordinal, **one}
        fields["calls"] = tuple(Call(name) for name in one.get("calls", ()))
        fields["results"] = tuple(CallResult(name) for name in one.get("results", ()))
        records.append(Record(ordinal=ordinal, **fields))
    return records


def _tally(*given: dict[str, Any]) -> Tally:
    tally = Tally()
    for record in _records(*given):
        tally.add(record)
    return tally


def _faults(*given: dict[str, Any]) -> list[Fault]:
    faults = list(_tally(*given).faults())
    for fault in faults:
        assert fault.severity == SEVERITIES[fault.code]
    return faults


def _said(*given: dict[str, Any], form: bool = False) -> list[tuple[str, int | None]]:
    return sorted(
        (one.code, one.ordinal) for one in _faults(*given) if form or one.code not in _FORM
    )


def _user(**more: Any) -> dict[str, Any]:
    return {"speaker": USER, **more}


def _model(message: str | None = None, **more: Any) -> dict[str, Any]:
    return {"speaker": ASSISTANT, "message_id": message, **more}


CALL = _model("m", calls=["c"])
ANSWER = _user(results=["c"])


# --- calls and results --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([CALL, ANSWER], []),
        ([CALL, ANSWER, _model("n")], []),
        # Without a result: at the end, or with nothing but progress behind it.
        ([CALL], [("open_call", 1)]),
        ([CALL, {}, {}], [("open_call", 1)]),
        ([_user(), CALL], [("open_call", 2)]),
        # Another part of the same message is no later record of the conversation.
        ([CALL, _model("m")], [("open_call", 1)]),
        ([CALL, {}, _model("m"), {}], [("open_call", 1)]),
        # The conversation goes on.
        ([CALL, _user()], [("interrupted_call", 1)]),
        ([CALL, _model("n")], [("interrupted_call", 1)]),
        ([CALL, {}, _user()], [("interrupted_call", 1)]),
        ([CALL, _user(), _model("m")], [("interrupted_call", 1)]),
        ([CALL, _model("n"), _model("m"), _model("m")], [("interrupted_call", 1)]),
        ([_model("n"), CALL, _model("m")], [("open_call", 2)]),
        ([_model("n"), CALL, _model("n")], [("interrupted_call", 2)]),
        # In another strand it does not.
        ([CALL, _user(strand="a")], [("open_call", 1)]),
        ([_model("m", calls=["c"], strand="a"), _user()], [("open_call", 1)]),
        ([_model("m", calls=["c"], strand="a"), _user(strand="a")], [("interrupted_call", 1)]),
        # Without ids of messages, what the model says in a row is one.
        ([_model(calls=["c"]), _model(), _model()], [("open_call", 1)]),
        ([_model(calls=["c"]), {}, _model()], [("open_call", 1)]),
        ([_model(calls=["c"]), _user(), _model()], [("interrupted_call", 1)]),
        ([_model(calls=["c"]), _model("m")], [("interrupted_call", 1)]),
        ([_model("m", calls=["c"]), _model()], [("interrupted_call", 1)]),
        # One of several.
        ([_model("m", calls=["c", "d"]), ANSWER], [("interrupted_call", 1)]),
        ([_model("m", calls=["c", "d"])], [("open_call", 1), ("open_call", 1)]),
        # No call.
        ([ANSWER], [("orphan_result", 1)]),
        ([CALL, _user(results=["c", "x"])], [("orphan_result", 2)]),
        ([ANSWER, ANSWER], [("orphan_result", 1), ("orphan_result", 2)]),
        # Before its call; in the same record it is not.
        ([ANSWER, CALL], [("result_before_call", 1)]),
        ([_model("m", calls=["c"], results=["c"])], []),
        ([ANSWER, ANSWER, CALL], [("duplicate_result", 2), ("result_before_call", 1)]),
        # Two of them.
        ([CALL, ANSWER, ANSWER], [("duplicate_result", 3)]),
        ([CALL, _user(results=["c", "c"])], [("duplicate_result", 2)]),
        ([ANSWER, CALL, ANSWER], [("duplicate_result", 3), ("result_before_call", 1)]),
        # One id of two calls.
        ([CALL, ANSWER, CALL, ANSWER], [("duplicate_call_id", 3)]),
        ([CALL, CALL, ANSWER, ANSWER], [("duplicate_call_id", 2)]),
        (
            [_model("m", calls=["c", "c"]), ANSWER],
            [("duplicate_call_id", 1), ("interrupted_call", 1)],
        ),
    ],
)
def test_calls_and_results(given: list[dict[str, Any]], said: list[tuple[str, int]]) -> None:
    assert _said(*given) == said


def test_a_call_of_codex_whose_answer_is_over() -> None:
    talk = [
        Entry(1, "header", None, None),
        Entry(2, "user", None, None, text="go"),
        Entry(3, "assistant", None, None, calls=("c1",)),
        Entry(4, "assistant", None, None, calls=("c2",)),
        Entry(5, "user", None, None, results=("c2",)),
        Entry(6, "assistant", None, None, text="done"),
    ]
    broken = Broken(CODEX, lines_of(CODEX, talk))
    assert [place[:2] for place in broken.expected()] == [("interrupted_call", 3)]
    assert found_places(check_bytes(CODEX, broken.data)) == broken.expected()


# --- ids and parents ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([{"native_id": "a"}, {"native_id": "b", "parent": "a"}], []),
        # A parent may come later, or be the record itself, or each be the other's.
        ([{"native_id": "a", "parent": "b"}, {"native_id": "b"}], []),
        ([{"native_id": "a", "parent": "a"}], []),
        ([{"native_id": "a", "parent": "b"}, {"native_id": "b", "parent": "a"}], []),
        ([{"native_id": "a", "parent": "x"}], [("slice_start", 1)]),
        ([{}, {"native_id": "a", "parent": "x"}], [("slice_start", 2)]),
        (
            [{"native_id": "a", "parent": "x"}, {"native_id": "b", "parent": "x"}],
            [("dangling_parent", 2), ("slice_start", 1)],
        ),
        ([{"native_id": "a"}, {"native_id": "b", "parent": "x"}], [("dangling_parent", 2)]),
        # What has no id has no parent that could be followed.
        ([{"native_id": "a"}, {"parent": "x"}], []),
        # Ids again.
        ([{"native_id": "a", "raw": b"1"}, {"native_id": "a", "raw": b"1"}], [("duplicate_id", 2)]),
        (
            [{"native_id": "a", "raw": b"1"}, {"native_id": "a", "raw": b"2"}],
            [("conflicting_id", 2)],
        ),
        (
            [{"native_id": "a", "raw": b"1"}] * 3,
            [("duplicate_id", 2), ("duplicate_id", 3)],
        ),
        (
            [{"native_id": "a", "raw": b"1"}, {"native_id": "a", "raw": b"2", "supersedes": True}],
            [],
        ),
        ([{"raw": b"1"}, {"raw": b"1"}], []),
    ],
)
def test_ids_and_parents(given: list[dict[str, Any]], said: list[tuple[str, int]]) -> None:
    assert _said(*given) == said


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"native_id": "a", "parent": "x"}, "slice_orphan_result"),
        # The nearest misses: the parent is there, none is named, no id, not the first with one.
        ({"native_id": "a", "parent": "a"}, "orphan_result"),
        ({"native_id": "a"}, "orphan_result"),
        ({"parent": "x"}, "orphan_result"),
    ],
)
def test_a_result_at_the_start_of_a_slice(first: dict[str, Any], code: str) -> None:
    codes = [one for one, _ in _said({**ANSWER, **first})]
    assert code in codes
    assert {"orphan_result", "slice_orphan_result"} & set(codes) == {code}


def test_only_the_first_record_of_a_slice_may_hold_it() -> None:
    first = {"native_id": "a", "parent": "x"}
    second = {**ANSWER, "native_id": "b", "parent": "a"}
    assert _said(first, second) == [("orphan_result", 2), ("slice_start", 1)]
    # Records without id may stand before it.
    assert _said({}, {**ANSWER, **first}) == [("slice_orphan_result", 2), ("slice_start", 2)]


def test_a_copy_calls_and_answers_nothing_a_second_time() -> None:
    call = {**CALL, "native_id": "a", "raw": b"1"}
    answer = {**ANSWER, "native_id": "b", "raw": b"2"}
    assert _said(call, call, answer, answer) == [("duplicate_id", 2), ("duplicate_id", 4)]
    # Other bytes are another record, and do.
    assert _said(call, {**call, "raw": b"3"}, answer) == [
        ("conflicting_id", 2), ("duplicate_call_id", 2), ("interrupted_call", 2),
    ]  # fmt: skip


def test_each_copy_of_a_fault_is_one() -> None:
    first = {"native_id": "a", "parent": "gone", "raw": b"1"}
    dangling = {"native_id": "b", "parent": "gone too", "raw": b"2"}
    orphan = _user(native_id="c", parent="b", raw=b"3", results=["x"])
    given = [first, first, dangling, dangling, orphan, orphan]
    said = [one for one in _said(*given) if one[0] != "duplicate_id"]
    assert said == [
        ("dangling_parent", 2), ("dangling_parent", 3), ("dangling_parent", 4),
        ("orphan_result", 5), ("orphan_result", 6), ("slice_start", 1),
    ]  # fmt: skip


def test_a_later_version_calls_and_answers_nothing_a_second_time() -> None:
    whole = _model("m", calls=["c"], results=["c"], native_id="a")
    again = {**whole, "supersedes": True}
    assert _said(whole, again) == []
    assert _said(_model("m", calls=["c"], native_id="a"), again) == []
    other = {**again, "native_id": "b"}
    assert ("duplicate_call_id", 2) in _said(whole, other)


# --- messages, kinds, times, branches -----------------------------------------------------------


def test_messages_over_several_records() -> None:
    faults = _faults(_model("m"), _user(), _model("m"), _model("n"), _model("n"))
    assert [one.code for one in faults] == ["split_message"] * 2
    assert [one.ordinal for one in faults] == [1, 4]
    assert "2 records, 1 to 3, others between" in faults[0].message
    assert "2 records, 4 to 5" in faults[1].message
    assert "between" not in faults[1].message
    assert _faults(_model("m"), _model("n"), _model(), _model()) == []


def test_unknown_kinds_are_counted_and_bounded() -> None:
    strange = {"is_known": False, "kind": "hologram"}
    tally = _tally({}, strange, {"is_known": True, "kind": "hologram"}, strange)
    assert dict(tally.unknown_kinds) == {"hologram": 2}
    (fault,) = tally.faults()
    assert (fault.code, fault.ordinal) == ("unknown_record_type", 2)
    many = _tally(*[{"is_known": False, "kind": f"k{n}"} for n in range(5_000)])
    assert len(many.unknown_kinds) <= 101
    assert sum(many.unknown_kinds.values()) == 5_000
    assert len(list(many.faults())) <= 101
    hostile = _tally({"is_known": False, "kind": "\x1b[31m\n" + "x" * 10_000})
    (fault,) = hostile.faults()
    assert "\x1b" not in fault.message
    assert "\n" not in fault.message
    assert len(fault.message) < 400


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"], []),
        (["2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z"], [2]),
        (["2026-01-01T00:00:01Z", None, "2026-01-01T00:00:00Z"], [3]),
        # Times of two shapes do not compare as text.
        (["2026-01-01T00:00:01Z", "2026-01-01T00:00:00.000Z"], []),
        (["2026-01-01T00:00:01+00:00", "2026-01-01T00:00:00Z"], []),
    ],
)
def test_times_out_of_order_are_information(times: list[str | None], said: list[int]) -> None:
    faults = _faults(*[{"time": time} for time in times])
    assert [(one.code, one.ordinal) for one in faults] == [("time_out_of_order", n) for n in said]
    tally = _tally(*[{"time": time} for time in times])
    assert (tally.first_time, tally.last_time) == (times[0], times[-1])


def test_a_tree_that_branches_is_information() -> None:
    one, two = {"native_id": "b", "parent": "a"}, {"native_id": "c", "parent": "a"}
    faults = _faults({"native_id": "a"}, one, two)
    assert [(fault.code, fault.ordinal) for fault in faults] == [("branch", 3)]
    assert _faults({"native_id": "a"}, one, {"native_id": "c", "parent": "b"}) == []


def test_a_copy_is_no_branch() -> None:
    one = {"native_id": "b", "parent": "a", "raw": b"1"}
    assert _said({"native_id": "a"}, one, one, form=True) == [("duplicate_id", 3)]


def test_what_is_asked_of_a_tally() -> None:
    tally = _tally({"native_id": "a", "session": "s"}, {**CALL, "session": "t"}, {"results": ["d"]})
    assert (tally.records, tally.calls, tally.results) == (3, 1, 1)
    assert list(tally.sessions) == ["s", "t"]
    assert (tally.ordinal_of("a"), tally.ordinal_of("b")) == (1, None)
    assert tally.has_record("a")
    assert not tally.has_record("b")
    assert tally.has_call("c")
    assert tally.has_call("d")
    assert not tally.has_call("e")
    many = _tally(*[{"session": f"s{n}"} for n in range(3_000)])
    assert len(many.sessions) == 1_000


def test_a_fault_carries_the_place_of_its_record() -> None:
    record = {**CALL, "native_id": "a", "session": "s", "member": "m.json", "line": 7}
    (fault,) = _faults(record)
    assert fault[3:] == (1, 7, "a", "s", "m.json")
    assert fault.severity is Severity.INFO


# --- anything -----------------------------------------------------------------------------------

_NAMES = st.sampled_from(["a", "b", "c"])
_ANY = st.fixed_dictionaries(
    {},
    optional={
        "native_id": _NAMES,
        "parent": _NAMES,
        "message_id": _NAMES,
        "speaker": st.sampled_from([USER, ASSISTANT]),
        "strand": st.none() | _NAMES,
        "supersedes": st.booleans(),
        "is_known": st.booleans(),
        "raw": st.sampled_from([b"1", b"2"]),
        "calls": st.lists(_NAMES, max_size=3),
        "results": st.lists(_NAMES, max_size=3),
    },
)


def _unanswered(faults: Iterable[Fault]) -> int:
    return sum(one.code in ("open_call", "interrupted_call") for one in faults)


@given(st.lists(_ANY, max_size=8))
def test_every_call_and_every_result_is_accounted_for(given: list[dict[str, Any]]) -> None:
    # What is written a second time for the same record is left out of the sum.
    given = [{**one, "native_id": f"n{n}", "supersedes": False} for n, one in enumerate(given)]
    tally = _tally(*given)
    faults = list(tally.faults())
    orphans = sum(one.code in ("orphan_result", "slice_orphan_result") for one in faults)
    second = sum(one.code == "duplicate_result" for one in faults)
    paired = tally.results - orphans - second
    assert paired == tally.calls - _unanswered(faults)
    assert all(one.code in SEVERITIES for one in faults)


@given(st.lists(_ANY, max_size=8))
def test_no_records_raise(given: list[dict[str, Any]]) -> None:
    for fault in _faults(*given):
        assert fault.ordinal is not None
        assert 1 <= fault.ordinal <= len(given)
