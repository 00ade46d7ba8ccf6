"""Looks at roots and machine, and judges what was seen (`ctxaudit doctor`).

Guarantees: nothing is written, no link is followed below a root, no more than is bounded is looked
at. It works without root's rights and on hostile trees; what cannot be looked at is told.

Example:
    >>> from datetime import UTC, datetime
    >>> moment = datetime(2026, 1, 2, tzinfo=UTC)
    >>> report = examine((), clock=lambda: moment, stopwatch=lambda: 0.0)
    >>> report.roots
    ()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from provenance.audit.labels import target_labels
from provenance.clock import Clock, require_zoned
from provenance.doctor.roots import judge_root
from provenance.doctor.surroundings import judge_clock, judge_machine
from provenance.doctor.values import Clocks, DoctorReport, Note, Root
from provenance.errors import CtxauditError
from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.fs.census import MOST_ENTRIES, open_keys_in, take_census
from provenance.fs.machine import look_at_machine
from provenance.fs.surroundings import file_system_of, mounts_below, way_to

__all__ = ["examine"]

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def examine(
    paths: Sequence[str],
    *,
    clock: Clock,
    stopwatch: Callable[[], float],
    most_entries: int = MOST_ENTRIES,
) -> DoctorReport:
    """Look at roots and at the machine.

    Args:
        paths: the roots, by the operator's paths.
        clock: the time of day, with a zone.
        stopwatch: seconds that only go up.
        most_entries: so many files and folders of each root are looked at.
    """
    began, started = require_zoned(clock()), stopwatch()
    roots = tuple(
        _look_at(path, label, most_entries)
        for path, label in zip(paths, target_labels(paths), strict=True)
    )
    machine = look_at_machine()
    clocks = Clocks(began, require_zoned(clock()), stopwatch() - started)
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    notes: list[Note] = []
    for root in roots:
        notes += judge_root(root, user=user)
    notes += judge_machine(machine, roots, today=clocks.ended.date())
    notes += judge_clock(clocks, roots)
    return DoctorReport(
        started_at=began,
        roots=roots,
        machine=machine,
        notes=tuple(sorted(notes, key=_order)),
    )


def _look_at(path: str, label: str, most_entries: int) -> Root:
    try:
        way = way_to(path)
        with TrustedRoot(path) as root:
            with root.open_directory() as folder:
                file_system = file_system_of(folder)
                device = folder.facts_of_self().device
            census = take_census(root, most_entries=most_entries)
        with TrustedRoot(f"{path}/..") as above:
            keys = open_keys_in(above)
    except CtxauditError as error:
        return Root(label=label, fault=str(error))
    return Root(
        label=label,
        way=way,
        census=census,
        file_system=file_system,
        mounts=mounts_below(path),
        open_keys_beside=keys,
        device=device,
    )


def _order(note: Note) -> tuple[int, str, str, str]:
    return _RANK[note.severity], note.target, note.code, note.message
