"""How `doctor` says what it found (`ctxaudit.doctor/1`).

Guarantees: pure; names below a root, labels, numbers, and no path above a root.

Example:
    >>> DOCTOR_SCHEMA
    'ctxaudit.doctor/1'
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from provenance.doctor.values import DoctorReport, Root
from provenance.findings import Severity
from provenance.fs.machine import Machine

__all__ = ["DOCTOR_SCHEMA", "document_of", "is_incomplete"]

DOCTOR_SCHEMA = "ctxaudit.doctor/1"
_NOT_LOOKED_AT = frozenset({"entry_unreadable", "walk_cut_short"})


def is_incomplete(report: DoctorReport) -> bool:
    """Say whether something could not be looked at."""
    return any(note.code in _NOT_LOOKED_AT for note in report.notes)


def document_of(report: DoctorReport, *, version: str) -> dict[str, Any]:
    """Give the document of a report.

    Args:
        report: what was found.
        version: of this tool.
    """
    counts = Counter(note.severity for note in report.notes)
    return {
        "schema": DOCTOR_SCHEMA,
        "tool": {"name": "ctxaudit", "version": version},
        "started_at": report.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "summary": {
            **{str(severity): counts[severity] for severity in Severity},
            "is_complete": not is_incomplete(report),
        },
        "roots": [_root(root) for root in report.roots],
        "machine": _machine(report.machine),
        "findings": [note.to_dict() for note in report.notes],
    }


def _root(root: Root) -> dict[str, Any]:
    on, census = root.file_system, root.census
    return {
        "label": root.label,
        "file_system": None if on is None else on.name,
        "free_bytes": None if on is None else on.free_bytes,
        "free_inodes": None if on is None else on.free_inodes,
        "entries": census.entries,
        "folders": census.folders,
        "files": census.files,
        "bytes": census.bytes,
        "newest_time": census.newest_time,
    }


def _machine(machine: Machine) -> dict[str, Any]:
    return {
        "system": machine.system,
        "kernel": machine.kernel,
        "backend": machine.backend,
        "landlock_abi": machine.landlock_abi,
        "leases": machine.has_leases,
        "unnamed_files": machine.has_unnamed_files,
        "python": ".".join(map(str, machine.python)),
        "sqlite": None if machine.sqlite is None else ".".join(map(str, machine.sqlite)),
        "extras": dict(machine.extras),
        "is_root": machine.is_root,
        "umask": None if machine.umask is None else f"{machine.umask:03o}",
        "max_open_files": machine.max_open_files,
    }
