"""How a collection of garbage says what it found and did.

Guarantees: pure. Names relative to the home, counts and digests; no text of any file. The same
collection gives the same document but for its times.

Example:
    >>> from datetime import UTC, datetime
    >>> moment = datetime(2026, 1, 2, tzinfo=UTC)
    >>> report = GcReport(started_at=moment, cutoff=moment, is_dry_run=True)
    >>> document_of(report, home="home", version="0")["summary"]["kept"]
    {'count': 0, 'bytes': 0}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from provenance.retention.values import CiterKind, GcReport, KeptFor

__all__ = ["GC_SCHEMA", "document_of", "kept_by"]

GC_SCHEMA = "ctxaudit.gc/1"
_WHY = (*map(str, CiterKind), *map(str, KeptFor))


def document_of(report: GcReport, *, home: str, version: str) -> dict[str, Any]:
    """Give the document of a report.

    Args:
        report: what was found and done.
        home: what to call the home.
        version: of this tool.
    """
    return {
        "schema": GC_SCHEMA,
        "tool": {"name": "ctxaudit", "version": version},
        "home": home,
        "started_at": _instant(report.started_at),
        "cutoff": _instant(report.cutoff),
        "dry_run": report.is_dry_run,
        "summary": {
            "removable": _amount(one.artifact.size for one in report.removable),
            "kept": _amount(one.artifact.size for one in report.kept),
            "kept_by": {
                why: {"count": count, "bytes": size}
                for why, (count, size) in kept_by(report).items()
            },
            "failed": _amount(one.artifact.size for one in report.failed),
            "leftovers": _amount(one.bytes for one in report.leftovers),
            "undecided": report.undecided,
        },
        "removable": [one.to_dict() for one in report.removable],
        "kept": [one.to_dict() for one in report.kept],
        "failed": [one.to_dict() for one in report.failed],
        "leftovers": [
            {"folder": "/".join(one.folder) or ".", "bytes": one.bytes} for one in report.leftovers
        ],
        "unreadable": [one.to_dict() for one in report.unreadable],
        "stopped_by": report.stopped_by or None,
    }


def kept_by(report: GcReport) -> Mapping[str, tuple[int, int]]:
    """Give number and bytes of what stays, by why, in the order of the kinds.

    An artifact counts under each kind that cites it, else under why it stays.
    """
    found: dict[str, tuple[int, int]] = {}
    for one in report.kept:
        reasons: list[str] = [str(kind) for kind in one.cited_by]
        if one.reason is not None:
            reasons.append(str(one.reason))
        for why in reasons:
            count, size = found.get(why, (0, 0))
            found[why] = count + 1, size + one.artifact.size
    return {why: found[why] for why in _WHY if why in found}


def _amount(sizes: Iterable[int]) -> dict[str, int]:
    listed = list(sizes)
    return {"count": len(listed), "bytes": sum(listed)}


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
