"""What is done with a whole home beside the audit: its reports, gc, the store of states.

Guarantees: each peer does the same reading or writing with the standard library and none of the
checks. The bars are the benchmark's own.

Example:
    python -m benchmarks --only homes
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import EVENT_BYTES, TRANSCRIPT_SESSION, write_transcript
from benchmarks.model import OWN_BAR, Contestant, Role, Row, judge_ratio
from benchmarks.plan import Plan

__all__ = ["run"]

_ARTIFACT_BYTES = 4_096
_FACTS_A_STATE = 100
# json, html, sarif.
_REPORT_BARS = (1.0, 3.0, 2.0)
# Every spelling of a pointer is looked for: escaped, in UTF-16, as a path.
_GC_BAR = 8.0
_PUT_BAR = 3.0


def run(plan: Plan) -> Iterator[Row]:
    """Measure reports, gc and versions of states."""
    yield _reports(plan)
    yield _gc(plan)
    yield _states(plan)


def _reports(plan: Plan) -> Row:
    count = plan.sizes.sources
    with plan.folder("reports") as home:
        plan.tell(f"homes: generating {count:,} cited sources")
        write_transcript(home / "transcripts", events=count // 2)
        _cite(home, count)
        series = plan.measure(
            (
                _contestant("json", Role.OURS, "report-json", home),
                _contestant("html", Role.OURS, "report-html", home),
                _contestant("sarif", Role.OURS, "report-sarif", home),
                _contestant("json.dumps", Role.PEER, "print-json", home),
            )
        )
    *ours, floor = series
    return Row(
        "reports",
        f"reports of {count:,} sources, half of them missing",
        floor.contestant.name,
        series,
        tuple(
            judge_ratio(
                f"{one.contestant.name} / json.dumps",
                one.samples,
                floor.samples,
                bar=bar,
                source=OWN_BAR,
            )
            for one, bar in zip(ours, _REPORT_BARS, strict=True)
        ),
    )


def _gc(plan: Plan) -> Row:
    from provenance.artifacts import ArtifactStore

    count, events = plan.sizes.spills, plan.sizes.events
    with plan.folder("gc") as home:
        plan.tell(f"homes: generating {count:,} artifacts and {events:,} events")
        write_transcript(home / "transcripts", events=events)
        cited: list[str] = []
        with ArtifactStore(home) as store:
            for serial in range(count):
                text = f"{serial:017d}\n" + "row\n" * (_ARTIFACT_BYTES // 4)
                pointer = store.spill(f"bench-{serial % 10}", text, tool="bash").pointer
                cited += [pointer] if serial % 2 else []
        _write_state(home, "cited", cited)
        series = plan.measure(
            (
                _contestant("ctxaudit gc, dry run", Role.OURS, "gc", home, count),
                _contestant("search in Python", Role.PEER, "gc-by-hand", home),
            )
        )
    judged = judge_ratio(
        "gc / search", series[0].samples, series[1].samples, bar=_GC_BAR, source=OWN_BAR
    )
    title = f"{count:,} artifacts of 4 KiB, half of them cited, {events:,} events"
    return Row("gc", title, "search in Python", series, (judged,))


def _states(plan: Plan) -> Row:
    count = plan.sizes.versions
    with plan.folder("states") as home:
        home.chmod(0o700)
        plan.tell(f"homes: {count:,} versions of a state")
        series = plan.measure(
            (
                _contestant("DurableStateStore.put", Role.OURS, "put", home, count),
                _contestant("sqlite3 by hand", Role.PEER, "put-by-hand", home, count),
            )
        )
    judged = judge_ratio(
        "put / INSERT", series[0].samples, series[1].samples, bar=_PUT_BAR, source=OWN_BAR
    )
    title = f"{count:,} versions of a state of 20 facts, one durable transaction each"
    return Row("states", title, "sqlite3 by hand", series, (judged,))


def _cite(home: Path, count: int) -> None:
    """Write states that cite each event once."""
    pointers = [f"transcript:{TRANSCRIPT_SESSION}:{number}" for number in range(1, count + 1)]
    for start in range(0, count, _FACTS_A_STATE):
        _write_state(home, f"state-{start}", pointers[start : start + _FACTS_A_STATE])


def _write_state(home: Path, name: str, pointers: list[str]) -> None:
    folder = home / "states"
    folder.mkdir(exist_ok=True)
    facts = [
        {
            "fact_id": f"{name}-{number}",
            "content": f"{EVENT_BYTES} bytes say this.",
            "source_pointer": pointer,
            "last_confirmed_at": "2026-01-01T00:00:00Z",
        }
        for number, pointer in enumerate(pointers)
    ]
    document = {"schema": "ctxaudit.state/1", "session": TRANSCRIPT_SESSION, "facts": facts}
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")


def _contestant(name: str, role: Role, task: str, home: Path, count: int = 0) -> Contestant:
    argv = (sys.executable, "-m", "benchmarks.home_work", task, str(home), "--count", str(count))
    return Contestant(name, role, argv, reports=True)
