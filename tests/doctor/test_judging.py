"""Each finding has a sample of facts that shows it, and the nearest facts that must not."""

from __future__ import annotations

import stat
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from provenance.audit._doctor_pages import COSTS, DOCTOR_PAGES
from provenance.audit.explanations import find_explanation
from provenance.doctor.roots import judge_root
from provenance.doctor.surroundings import judge_clock, judge_machine
from provenance.doctor.values import Clocks, Note, Root
from provenance.findings import Severity
from provenance.fs.census import Census, Places
from provenance.fs.machine import Machine
from provenance.fs.surroundings import FileSystem, Step

_ME, _OTHER = 1000, 1001
_NOW = datetime(2026, 6, 1, tzinfo=UTC)
_TODAY = _NOW.date()
_FOLDER = stat.S_IFDIR | 0o755
_TOP = Step(0, _FOLDER, _ME, _ME)
_SOUND = FileSystem("ext", free_bytes=1 << 40, free_inodes=1 << 20, folds_case=False)
_ROOT = Root(
    label="home",
    way=(Step(2, _FOLDER, 0, 0, entry_uid=0), Step(1, _FOLDER, 0, 0, entry_uid=_ME), _TOP),
    file_system=_SOUND,
    device=1,
)
_MACHINE = Machine(
    system="Linux",
    kernel="6.1",
    backend="openat2",
    landlock_abi=3,
    has_leases=True,
    has_unnamed_files=True,
    python=(3, 11, 2),
    sqlite=(3, 40, 1),
    extras=(("zstd", True), ("tokens", True)),
    is_root=False,
    umask=0o022,
    max_open_files=1024,
    temporary_mode=0o1777,
    temporary_free_bytes=1 << 30,
    temporary_device=1,
)
_CLOCKS = Clocks(_NOW, _NOW + timedelta(seconds=2), 2.0)


def _some(*names: str) -> Places:
    return Places(len(names), list(names))


def _above(**changes: Any) -> Root:
    """The root, with other facts about the folder above it."""
    above = replace(_ROOT.way[1], **changes)
    return replace(_ROOT, way=(_ROOT.way[0], above, _TOP))


def _holding(**found: Any) -> Root:
    return replace(_ROOT, census=Census(entries=9, **found))


def _on(**changes: Any) -> Root:
    return replace(_ROOT, file_system=replace(_SOUND, **changes))


def _notes(
    root: Root = _ROOT,
    machine: Machine = _MACHINE,
    clocks: Clocks = _CLOCKS,
    *,
    today: date = _TODAY,
) -> list[Note]:
    return [
        *judge_root(root, user=_ME),
        *judge_machine(machine, (root,), today=today),
        *judge_clock(clocks, (root,)),
    ]


def _machine(**changes: Any) -> dict[str, Any]:
    return {"machine": replace(_MACHINE, **changes)}


_LINK = Step(None, stat.S_IFLNK | 0o777, _ME, _ME, is_link=True)
_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
# code, severity, what shows it, the nearest that does not
_SAMPLES: list[tuple[str, Severity, dict[str, Any], dict[str, Any]]] = [
    ("way_writable", _E, {"root": _above(mode=_FOLDER | 0o002)},
     {"root": _above(mode=_FOLDER | 0o1002)}),
    # Sticky: its owner may replace a link. (A folder's owner is told as one.)
    ("way_foreign_owner", _E,
     {"root": _above(mode=_FOLDER | 0o1002, entry_uid=_OTHER, entry_is_link=True)},
     {"root": _above(mode=_FOLDER | 0o1002, entry_uid=_OTHER)}),
    ("way_writable", _W, {"root": _above(mode=_FOLDER | 0o020, gid=50)},
     {"root": _above(mode=_FOLDER | 0o020, uid=_ME, gid=_ME)}),
    ("way_foreign_owner", _E, {"root": _above(uid=_OTHER)}, {"root": _above(uid=_ME)}),
    ("root_through_link", _I, {"root": replace(_ROOT, way=(_LINK, *_ROOT.way))}, {}),
    ("root_writable_by_others", _E,
     {"root": replace(_ROOT, way=(replace(_TOP, mode=_FOLDER | 0o002),))},
     {"root": replace(_ROOT, way=(replace(_TOP, mode=_FOLDER | 0o020),))}),
    ("foreign_owner", _W, {"root": replace(_ROOT, way=(replace(_TOP, uid=_OTHER),))},
     {"root": replace(_ROOT, way=(replace(_TOP, uid=0),))}),
    ("world_writable", _E, {"root": _holding(world_writable=_some("a"))}, {"root": _holding()}),
    ("group_writable", _W, {"root": _holding(group_writable=_some("a"))}, {"root": _holding()}),
    ("mixed_owners", _W, {"root": _holding(foreign_owner=_some("a"))}, {"root": _holding()}),
    ("link_inside", _W, {"root": _holding(links=_some("a"))}, {"root": _holding()}),
    ("hard_link", _W, {"root": _holding(hard_links=_some("a"))}, {"root": _holding()}),
    ("mount_inside", _W, {"root": replace(_ROOT, mounts=("a",))}, {"root": _holding()}),
    ("mount_inside", _W, {"root": _holding(mounts=_some("a"))}, {"root": _holding()}),
    ("special_file", _W, {"root": _holding(specials=_some("a"))}, {"root": _holding()}),
    ("key_inside", _E, {"root": _holding(keys=_some("a"))}, {"root": _holding()}),
    ("key_open", _E, {"root": _holding(open_keys=_some("a"))}, {"root": _holding(keys=_some("a"))}),
    ("entry_unreadable", _W, {"root": _holding(unreadable=_some("a"))}, {"root": _holding()}),
    ("entry_unreadable", _W, {"root": Root(label="x", fault="gone")}, {}),
    ("walk_cut_short", _W, {"root": _holding(is_cut_short=True)}, {"root": _holding()}),
    ("file_system_network", _W, {"root": _on(name="nfs")}, {"root": _on(name="ext")}),
    ("file_system_fuse", _W, {"root": _on(name="fuse")}, {"root": _on(name="btrfs")}),
    ("file_system_overlay", _I, {"root": _on(name="overlay")}, {"root": _on(name="xfs")}),
    ("file_system_unknown", _I, {"root": _on(name="unknown (0x1)")}, {"root": _on(name="zfs")}),
    ("file_system_without_owners", _W, {"root": _on(name="vfat")}, {"root": _on(name="ext")}),
    ("file_system_folds_case", _W, {"root": _on(folds_case=True)}, {"root": _on(folds_case=None)}),
    ("file_system_no_locks", _W, {"root": _on(locks_folders=False)}, {}),
    ("file_system_read_only", _I, {"root": _on(is_read_only=True)}, {}),
    ("space_low", _W, {"root": _on(free_bytes=(64 << 20) - 1)},
     {"root": _on(free_bytes=64 << 20)}),
    ("space_low", _W, {"root": replace(_on(free_bytes=1 << 30), census=Census(bytes=11 << 30))},
     {"root": replace(_on(free_bytes=1 << 30), census=Census(bytes=10 << 30))}),
    # An image that is full by its nature.
    ("space_low", _W, {"root": _on(free_bytes=0)}, {"root": _on(free_bytes=0, is_read_only=True)}),
    ("inodes_low", _W, {"root": _on(free_inodes=999)}, {"root": _on(free_inodes=1_000)}),
    ("inodes_low", _W, {"root": _on(free_inodes=0)}, {"root": _on(free_inodes=None)}),
    ("clock_wrong", _E,
     {"clocks": Clocks(datetime(2023, 12, 31, tzinfo=UTC), _NOW, 0.0)},
     {"clocks": Clocks(datetime(2024, 1, 1, tzinfo=UTC), _NOW, 0.0)}),
    ("clock_behind", _W, {"root": _holding(newest_time="2026-06-01T00:01:03Z")},
     {"root": _holding(newest_time="2026-06-01T00:01:02Z")}),
    ("clock_behind", _W, {"root": _holding(newest_time="2099-01-01T00:00:00Z")},
     {"root": _holding(newest_time="2099-99-99T00:00:00Z")}),
    ("clock_jumped", _W, {"clocks": Clocks(_NOW, _NOW + timedelta(hours=1), 2.0)},
     {"clocks": Clocks(_NOW, _NOW + timedelta(hours=1), 3600.9)}),
    ("no_safe_open", _E, _machine(backend=None), _machine(backend="walk")),
    ("no_openat2", _I, _machine(backend="walk"), {}),
    ("no_landlock", _I, _machine(landlock_abi=None), _machine(landlock_abi=3)),
    ("no_leases", _I, _machine(has_leases=False), {}),
    ("running_as_root", _W, _machine(is_root=True), {}),
    ("umask_open", _W, _machine(umask=0), _machine(umask=0o077)),
    ("umask_open", _I, _machine(umask=0o002), _machine(umask=None)),
    ("few_file_handles", _W, _machine(max_open_files=255), _machine(max_open_files=256)),
    ("few_file_handles", _W, _machine(max_open_files=64), _machine(max_open_files=None)),
    ("python_end_of_life", _W, {"today": date(2027, 11, 1)}, {"today": date(2027, 10, 31)}),
    ("sqlite_old", _W, _machine(sqlite=(3, 30, 9)), _machine(sqlite=(3, 31, 0))),
    ("sqlite_old", _W, _machine(sqlite=None), {}),
    ("extra_missing", _I, _machine(extras=(("zstd", False),)), _machine(extras=())),
    ("temporary_unsafe", _E, _machine(temporary_mode=0o777), _machine(temporary_mode=0o700)),
    ("temporary_unsafe", _E, _machine(temporary_mode=None), {}),
    ("temporary_elsewhere", _I, _machine(temporary_device=2), _machine(temporary_device=None)),
]  # fmt: skip


def test_a_sound_machine_and_root_have_no_finding() -> None:
    assert _notes() == []


@pytest.mark.parametrize(("code", "severity", "shows", "harmless"), _SAMPLES)
def test_the_sample_shows_it_and_the_nearest_does_not(
    code: str, severity: Severity, shows: dict[str, Any], harmless: dict[str, Any]
) -> None:
    found = [note for note in _notes(**shows) if note.code == code]
    assert [note.severity for note in found] == [severity]
    severities = {note.severity for note in _notes(**harmless) if note.code == code}
    # A group instead of anybody is the milder form of the same.
    assert severities in (set(), {Severity.WARNING} - {severity})


def test_every_code_has_a_sample_a_cost_and_a_page() -> None:
    sampled = {code for code, *_ in _SAMPLES}
    assert sampled == set(COSTS)
    assert set(DOCTOR_PAGES) < sampled
    for code in sampled:
        page = find_explanation(code)
        assert page is not None
        note = Note(code, Severity.INFO, "x", "y")
        assert note.cost.endswith(".")
        assert note.remedy == page.remedy


def test_a_mount_that_is_seen_twice_counts_once() -> None:
    root = replace(_holding(mounts=_some("a", "b")), mounts=("a", "c"))
    (note,) = [note for note in _notes(root) if note.code == "mount_inside"]
    assert (note.count, note.places) == (3, ("a", "b", "c"))
