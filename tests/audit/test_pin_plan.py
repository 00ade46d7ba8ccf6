"""What a run of `pin` changes: nothing that was confirmed again, and nothing it may not drop."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.pin_plan import ChangeKind, Evidence, plan_pins
from provenance.clock import ClockError
from provenance.locks import LockFile, encode_lock, parse_lock

FIRST = datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)
LATER = FIRST + timedelta(days=1)
A, B, C = (Evidence(f"transcript:s1:{n}", f"{n:064x}", n) for n in (1, 2, 3))

_evidence = st.lists(
    st.builds(
        Evidence,
        st.sampled_from([f"transcript:s1:{n}" for n in range(1, 12)]),
        st.sampled_from(["ab" * 32, "cd" * 32]),
        st.integers(0, 3),
    ),
    unique_by=lambda one: one.pointer,
)


def _kinds(plan: object) -> list[tuple[str, str]]:
    return [(change.kind.value, change.pointer) for change in plan.changes]  # type: ignore[attr-defined]


def test_what_is_new_is_added_with_time_and_run() -> None:
    plan = plan_pins(LockFile(), [B, A], at=FIRST)
    assert _kinds(plan) == [("added", A.pointer), ("added", B.pointer)]
    assert {pin.pinned_at for pin in plan.lock.pins} == {"2026-01-02T03:04:05Z"}
    (run,) = {pin.run for pin in plan.lock.pins}
    assert run.startswith("20260102T030405Z-")
    # The order in which they come says nothing.
    assert plan_pins(LockFile(), [A, B], at=FIRST) == plan
    assert plan_pins(LockFile(), [A], at=FIRST).lock.pins[0].run != run


def test_what_is_confirmed_again_stays_to_the_byte() -> None:
    before = plan_pins(LockFile(), [A, B], at=FIRST).lock
    again = plan_pins(before, [A, B], at=LATER)
    assert again.changes == ()
    assert encode_lock(again.lock) == encode_lock(before)
    more = plan_pins(before, [A, B, C], at=LATER)
    assert _kinds(more) == [("added", C.pointer)]
    assert more.lock.pins[:2] == before.pins
    assert more.unchanged == 2


@pytest.mark.parametrize(
    "other", [A._replace(sha256="ff" * 32), A._replace(bytes=7)], ids=["digest", "length"]
)
def test_other_bytes_are_a_change(other: Evidence) -> None:
    before = plan_pins(LockFile(), [A, B], at=FIRST).lock
    plan = plan_pins(before, [other, B], at=LATER)
    assert _kinds(plan) == [("changed", A.pointer)]
    (change,) = plan.changes
    assert change.old == before.by_pointer[A.pointer]
    assert change.new == plan.lock.by_pointer[A.pointer]
    assert change.new.pinned_at == "2026-01-03T03:04:05Z"
    assert plan.lock.by_pointer[B.pointer] == before.by_pointer[B.pointer]


def test_only_what_is_droppable_goes_and_only_if_it_was_not_confirmed() -> None:
    before = plan_pins(LockFile(), [A, B, C], at=FIRST).lock
    assert plan_pins(before, [A], at=LATER).lock == before
    plan = plan_pins(before, [A], at=LATER, droppable={A.pointer, B.pointer})
    assert _kinds(plan) == [("removed", B.pointer)]
    assert plan.changes[0].new is None
    assert [pin.pointer for pin in plan.lock.pins] == [A.pointer, C.pointer]
    assert plan.count(ChangeKind.REMOVED) == 1


def test_a_time_needs_a_zone_and_is_written_in_utc() -> None:
    with pytest.raises(ClockError):
        plan_pins(LockFile(), [A], at=datetime(2026, 1, 1))  # noqa: DTZ001
    zone = timezone(timedelta(hours=5))
    (pin,) = plan_pins(LockFile(), [A], at=datetime(2026, 1, 2, 1, tzinfo=zone)).lock.pins
    assert pin.pinned_at == "2026-01-01T20:00:00Z"


@given(_evidence, _evidence, st.sets(st.sampled_from([f"transcript:s1:{n}" for n in range(12)])))
def test_the_changes_lead_from_the_old_lock_to_the_new_one(
    old: list[Evidence], new: list[Evidence], droppable: set[str]
) -> None:
    before = plan_pins(LockFile(), old, at=FIRST).lock
    plan = plan_pins(before, new, at=LATER, droppable=droppable)
    pins = dict(before.by_pointer)
    for change in plan.changes:
        assert pins.get(change.pointer) == change.old
        if change.new is None:
            assert change.pointer in droppable
            del pins[change.pointer]
        else:
            pins[change.pointer] = change.new
    assert pins == dict(plan.lock.by_pointer)
    for one in new:
        pin = pins[one.pointer]
        assert (pin.sha256, pin.bytes) == (one.sha256, one.bytes)
    assert parse_lock(encode_lock(plan.lock)) == plan.lock


def test_the_id_of_a_run_is_what_the_page_says() -> None:
    # docs/lock.md: the time, and the digest of a sorted line for each pin added or changed.
    before = plan_pins(LockFile(), [A], at=FIRST).lock
    (_, new) = plan_pins(before, [B, A], at=LATER).lock.pins
    line = f"{B.pointer} {B.sha256} {B.bytes}\n".encode()
    assert new.run == f"20260103T030405Z-{hashlib.sha256(line).hexdigest()[:16]}"
