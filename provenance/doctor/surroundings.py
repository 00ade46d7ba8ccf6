"""Judges what all roots share: kernel, process, Python, clock.

Guarantees: pure.

Example:
    >>> from datetime import UTC, datetime
    >>> moment = datetime(2001, 1, 1, tzinfo=UTC)
    >>> [note.code for note in judge_clock(Clocks(moment, moment, 0.0), ())]
    ['clock_wrong']
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from provenance.doctor.values import Clocks, Note, Root
from provenance.findings import Severity
from provenance.fs.confinement import LEAST_ABI
from provenance.fs.machine import Machine

__all__ = ["judge_clock", "judge_machine"]

_MACHINE, _PROCESS = "machine", "process"
# Nobody had this program before.
_NOT_BEFORE = datetime(2024, 1, 1, tzinfo=UTC)
# A clock may be slewed a little while we look, and logs of other machines be a little ahead.
_JUMP_SECONDS = 1.0
_AHEAD = timedelta(minutes=1)
# 32 sessions of a store with four handles each, and what Python and the terminal have open.
_LEAST_OPEN_FILES = 256
# Since then `PRAGMA trusted_schema` keeps a schema's functions from acting.
_LEAST_SQLITE = (3, 31)
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
# Last day of security fixes, from the release schedules (PEP 664, 693, 719, 745).
_END_OF_LIFE = {
    (3, 11): date(2027, 10, 31),
    (3, 12): date(2028, 10, 31),
    (3, 13): date(2029, 10, 31),
    (3, 14): date(2030, 10, 31),
}


def judge_machine(machine: Machine, roots: Iterable[Root], *, today: date) -> Iterator[Note]:
    """Give what an answer rests on in kernel, process and Python.

    Args:
        machine: the facts.
        roots: what is to be audited on it.
        today: the day, in UTC.
    """
    yield from _judge_kernel(machine)
    if machine.is_root:
        yield Note(
            "running_as_root", Severity.WARNING, _PROCESS, "user: expected another than root"
        )
    if machine.umask is not None and machine.umask & _WRITABLE != _WRITABLE:
        yield Note(
            "umask_open",
            # With groups of one, 002 is safe; whether they are is not seen from here.
            Severity.INFO if machine.umask & stat.S_IWOTH else Severity.WARNING,
            _PROCESS,
            f"umask: expected 022 or 077, got {machine.umask:03o}",
        )
    if machine.max_open_files is not None and machine.max_open_files < _LEAST_OPEN_FILES:
        yield Note(
            "few_file_handles",
            Severity.WARNING,
            _PROCESS,
            f"open files: expected {_LEAST_OPEN_FILES} or more, got {machine.max_open_files}",
        )
    yield from _judge_python(machine, today)
    yield from _judge_temporary(machine, roots)


def _judge_kernel(machine: Machine) -> Iterator[Note]:
    if machine.backend is None:
        yield Note(
            "no_safe_open", Severity.ERROR, _MACHINE, "platform: expected openat2, or mount ids"
        )
    elif machine.backend != "openat2":
        yield Note("no_openat2", Severity.INFO, _MACHINE, "kernel: expected openat2, got none")
    abi = machine.landlock_abi
    if abi is None or abi < LEAST_ABI:
        got = "none" if abi is None else f"ABI {abi}"
        message = f"kernel: expected Landlock with ABI {LEAST_ABI} or more, got {got}"
        yield Note("no_landlock", Severity.INFO, _MACHINE, message)
    if not machine.has_leases:
        yield Note("no_leases", Severity.INFO, _MACHINE, "kernel: expected leases, got none")


def _judge_python(machine: Machine, today: date) -> Iterator[Note]:
    ends = _END_OF_LIFE.get(machine.python[:2])
    if ends is not None and today > ends:
        major, minor, _ = machine.python
        yield Note(
            "python_end_of_life",
            Severity.WARNING,
            _PROCESS,
            f"Python {major}.{minor}: expected one with security fixes",
        )
    if machine.sqlite is None or machine.sqlite < _LEAST_SQLITE:
        got = "none" if machine.sqlite is None else ".".join(map(str, machine.sqlite))
        yield Note(
            "sqlite_old", Severity.WARNING, _PROCESS, f"SQLite: expected 3.31 or newer, got {got}"
        )
    missing = tuple(name for name, is_there in machine.extras if not is_there)
    if missing:
        yield Note(
            "extra_missing",
            Severity.INFO,
            _PROCESS,
            f"extras: expected all, got none of {', '.join(missing)}",
            len(missing),
        )


def _judge_temporary(machine: Machine, roots: Iterable[Root]) -> Iterator[Note]:
    mode = machine.temporary_mode
    if mode is None or (mode & stat.S_IWOTH and not mode & stat.S_ISVTX):
        yield Note(
            "temporary_unsafe",
            Severity.ERROR,
            _PROCESS,
            "temporary files: expected a folder of one's own or with the sticky bit",
        )
    for root in roots:
        if None not in (root.device, machine.temporary_device) and (
            root.device != machine.temporary_device
        ):
            yield Note(
                "temporary_elsewhere",
                Severity.INFO,
                root.label,
                "temporary files: expected the root's file system, got another",
            )


def judge_clock(clocks: Clocks, roots: Iterable[Root]) -> Iterator[Note]:
    """Give what is wrong with the clock, as far as can be seen from here.

    Args:
        clocks: before and after the look.
        roots: what their logs say.
    """
    if clocks.began < _NOT_BEFORE:
        yield Note(
            "clock_wrong",
            Severity.ERROR,
            _MACHINE,
            f"clock: expected {_NOT_BEFORE.year} or later, got {clocks.began.year}",
        )
    off = (clocks.ended - clocks.began).total_seconds() - clocks.seconds
    if abs(off) > _JUMP_SECONDS:
        yield Note(
            "clock_jumped",
            Severity.WARNING,
            _MACHINE,
            f"clock: expected it to run on, got a jump of {off:+.0f} s",
        )
    for root in roots:
        newest = _instant(root.census.newest_time)
        if newest is not None and newest - clocks.ended > _AHEAD:
            yield Note(
                "clock_behind",
                Severity.WARNING,
                root.label,
                "clock: expected a time after the newest in its logs, got one before",
            )


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
