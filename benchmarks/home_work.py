"""What runs inside the measured interpreters of the rows about whole homes.

Guarantees: as `benchmarks.tasks`: one JSON object with the seconds of the work alone, what was
computed, and the peak of this process. What the work needs is read or made before the clock starts.

Example:
    python -m benchmarks.home_work report-html HOME
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from provenance.audit_report import AuditReport
    from provenance.durable import DurableContextState

__all__ = ["main"]

_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
_FACTS = 20
_POINTER = re.compile(rb"artifact:[\w.-]+:[\w.-]+:[0-9a-f]{8,64}")

_TABLE = "CREATE TABLE IF NOT EXISTS version (number INTEGER PRIMARY KEY, body BLOB)"

# What is timed; it says what was computed.
_Work = Callable[[], str]


def main() -> None:
    """Run one task and print its report."""
    from benchmarks.tasks import peak_kib

    parser = argparse.ArgumentParser(prog="benchmarks.home_work")
    parser.add_argument("task", choices=sorted(_TASKS))
    parser.add_argument("home", type=Path)
    parser.add_argument("--count", type=int, default=0)
    arguments = parser.parse_args()
    work = _TASKS[arguments.task](arguments.home, arguments.count)
    started = time.perf_counter()
    check = work()
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "check": check, "peak_kib": peak_kib()}))


def _report(home: Path, _count: int, *, name: str) -> _Work:
    """Audit, and give the writing of the report alone."""
    from cli.report_texts import describe
    from provenance import reports

    report = _audited(home)
    pieces: dict[str, Callable[[], Any]] = {
        "json": lambda: reports.write_json(report, version="0"),
        "sarif": lambda: reports.write_sarif(report, version="0", describe=describe),
        "html": lambda: reports.write_html(
            report, version="0", describe=describe, exit_code=0, verdict_words="Exit code 0."
        ),
    }

    def work() -> str:
        size = sum(map(len, pieces[name]()))
        if not size:
            raise SystemExit("report: expected some text")
        return str(len(report.sources))

    return work


def _print_json(home: Path, _count: int) -> _Work:
    """Print the JSON report again, as a plain program prints a value."""
    from provenance.reports import write_json

    document = json.loads("".join(write_json(_audited(home), version="0")))

    def work() -> str:
        json.dumps(document, indent=2)
        return str(len(document["results"]))

    return work


def _audited(home: Path) -> AuditReport:
    from provenance.audit import AuditRequest, run_audit

    return run_audit(
        AuditRequest(targets=(str(home),)), clock=lambda: _MOMENT, stopwatch=time.perf_counter
    )


def _collect(home: Path, count: int) -> _Work:
    """Look for what nothing cites; removes nothing."""
    from provenance.fs import TrustedRoot
    from provenance.retention import GcOrder, collect_garbage

    # Everything was stored just now: without a cut-off in the future all would be kept for that.
    order = GcOrder(cutoff=datetime.now(UTC) + timedelta(days=1))

    def work() -> str:
        with TrustedRoot(home) as root:
            report = collect_garbage(root, order, clock=lambda: datetime.now(UTC))
        if report.unreadable:
            raise SystemExit("gc: expected to read everything")
        return str(count - len(report.removable))

    return work


def _collect_by_hand(home: Path, _count: int) -> _Work:
    """Search every file of the home for pointers, nothing else."""

    def work() -> str:
        cited: set[bytes] = set()
        for path in home.rglob("*"):
            if path.is_file():
                cited.update(_POINTER.findall(path.read_bytes()))
        return str(len(cited))

    return work


def _put(home: Path, count: int) -> _Work:
    """Store version after version of one state."""
    from provenance.stores import DurableStateStore

    store = DurableStateStore(_fresh(home))
    states = [_state(number) for number in range(count)]

    def work() -> str:
        before = None
        for state in states:
            before = store.put("run-1", state, replaces=before, author="bench").version
        return str(before)

    return work


def _put_by_hand(home: Path, count: int) -> _Work:
    """Insert the same documents into a table, one durable transaction each."""
    documents = [_state(number).to_json().encode() for number in range(count)]
    path = _fresh(home) / "states.sqlite3"

    def work() -> str:
        found = 0
        for number, document in enumerate(documents, 1):
            # Opened each time, as ours: the next writer may be another process.
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = FULL")
                database.execute(_TABLE)
                with database:
                    database.execute("INSERT INTO version VALUES (?, ?)", (number, document))
                (found,) = database.execute("SELECT max(number) FROM version").fetchone()
        return str(found)

    return work


def _fresh(home: Path) -> Path:
    """Give a home of its own, and remove that of the turn before."""
    for old in home.glob("turn-*"):
        shutil.rmtree(old)
    return Path(tempfile.mkdtemp(prefix="turn-", dir=home))


def _state(number: int) -> DurableContextState:
    """Give a state of twenty facts, one of which is another than in the version before."""
    from provenance.durable import DurableContextState, DurableFact

    facts = [
        DurableFact(
            fact_id=f"f{place}",
            content=f"what was found out in step {number - (number - place) % _FACTS}",
            source_pointer=f"transcript:run-1:{place + 1}",
            last_confirmed_at=_MOMENT.isoformat(),
        )
        for place in range(_FACTS)
    ]
    return DurableContextState(facts=tuple(facts))


_TASKS: dict[str, Callable[[Path, int], _Work]] = {
    "gc": _collect,
    "gc-by-hand": _collect_by_hand,
    "print-json": _print_json,
    "put": _put,
    "put-by-hand": _put_by_hand,
    **{f"report-{name}": partial(_report, name=name) for name in ("html", "json", "sarif")},
}


if __name__ == "__main__":
    main()
