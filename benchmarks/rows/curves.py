"""Cost over three decades: it must grow with bytes and pointers, and with nothing faster.

Guarantees: the figure is the cost of one more unit (event or pointer) in the last decade over that
in the decade before, so that fixed costs fall out: 1.0 is linear, 10 would be quadratic.

Example:
    python -m benchmarks --only curves
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.agent_trees import write_records
from benchmarks.datasets import (
    TRANSCRIPT_SESSION,
    write_pointers,
    write_small_artifacts,
    write_transcript,
)
from benchmarks.measure import python_task
from benchmarks.model import OWN_BAR, Contestant, Judgement, Role, Row, Series, judge_value
from benchmarks.plan import Plan

__all__ = ["growth", "run"]

# The spec says "linear" and "flat" without a number. Quadratic cost would show as 10, and
# n log n as 1.2; the rest is room for a busy machine.
_GROWTH_BAR = 1.5
_FLAT_BAR_MIB = 16.0
# Ids, parents, calls and messages of one transcript are kept: "some hundred bytes" for each.
_RECORD_BAR_BYTES = 1_000.0


def run(plan: Plan) -> Iterator[Row]:
    """Measure the four curves."""
    yield _events(plan)
    yield _event_pointers(plan)
    yield _artifact_pointers(plan)
    yield _foreign_records(plan)


def growth(units: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Cost of one more unit in the last decade over that in the one before.

    None with fewer than three points, or where the work is too short to tell.
    """
    if len(units) < 3:
        return None
    before = (seconds[-2] - seconds[-3]) / (units[-2] - units[-3])
    last = (seconds[-1] - seconds[-2]) / (units[-1] - units[-2])
    return last / before if before > 0 else None


def _events(plan: Plan) -> Row:
    lengths = plan.sizes.curve_events
    contestants = []
    with plan.folder("curve-events") as folder:
        for events in lengths:
            plan.tell(f"curves: generating a transcript of {events:,} events")
            path = write_transcript(folder / f"transcripts-{events}", events=events)
            pointers = write_pointers(
                folder / f"pointers-{events}.txt", [f"transcript:{TRANSCRIPT_SESSION}:{events}"]
            )
            contestants.append(
                _ours(f"{events:,} events", pointers, "--transcripts", str(path.parent))
            )
        series = plan.measure(contestants)
    rise = _peak_rise_mib(series)
    flat = judge_value(
        "peak memory, last - first",
        () if rise is None else (rise,),
        unit="MiB",
        bar=_FLAT_BAR_MIB,
        source=OWN_BAR,
    )
    return Row(
        "curve-events",
        "transcripts of growing length, one pointer at the end",
        None,
        series,
        (_judge_growth(lengths, series), flat),
    )


def _event_pointers(plan: Plan) -> Row:
    counts = plan.sizes.curve_pointers
    events = plan.sizes.curve_transcript_events
    contestants = []
    with plan.folder("curve-pointers") as folder:
        plan.tell(f"curves: generating a transcript of {events:,} events")
        path = write_transcript(folder / "transcripts", events=events)
        for count in counts:
            # Spread to the very end, so that every length reads the whole transcript.
            cited = (events - (count - 1 - index) * events // count for index in range(count))
            pointers = write_pointers(
                folder / f"pointers-{count}.txt",
                (f"transcript:{TRANSCRIPT_SESSION}:{sequence}" for sequence in cited),
            )
            contestants.append(
                _ours(f"{count:,} pointers", pointers, "--transcripts", str(path.parent))
            )
        series = plan.measure(contestants)
    return Row(
        "curve-event-pointers",
        f"growing number of pointers into one transcript of {events:,} events",
        None,
        series,
        (_judge_growth(counts, series),),
    )


def _artifact_pointers(plan: Plan) -> Row:
    counts = plan.sizes.curve_pointers
    contestants = []
    with plan.folder("curve-artifacts") as folder:
        plan.tell(f"curves: generating {counts[-1]:,} artifacts of 4 KiB")
        lists = write_small_artifacts(folder, count=counts[-1])
        for count in counts:
            with lists.pointers.open() as lines:
                some = write_pointers(
                    folder / f"pointers-{count}.txt",
                    (line.removesuffix("\n") for line in islice(lines, count)),
                )
            contestants.append(_ours(f"{count:,} artifacts", some, "--artifacts", str(lists.root)))
        series = plan.measure(contestants)
    return Row(
        "curve-artifacts",
        "growing number of artifacts of 4 KiB",
        None,
        series,
        (_judge_growth(counts, series),),
    )


def _foreign_records(plan: Plan) -> Row:
    lengths = plan.sizes.curve_records
    contestants = []
    with plan.folder("curve-records") as folder:
        for records in lengths:
            plan.tell(f"curves: generating a transcript of Claude Code of {records:,} records")
            path = write_records(folder / f"records-{records}", records=records)
            argv = python_task("audit", str(path), "--check", "none")
            contestants.append(Contestant(f"{records:,} records", Role.OURS, argv, reports=True))
        series = plan.measure(contestants)
    rise = _peak_rise_mib(series)
    each = judge_value(
        "peak memory a record more",
        () if rise is None else (rise * (1 << 20) / (lengths[-1] - lengths[0]),),
        unit="bytes",
        bar=_RECORD_BAR_BYTES,
        source=OWN_BAR,
    )
    return Row(
        "curve-records",
        "one transcript of Claude Code of growing length, whole check",
        None,
        series,
        (_judge_growth(lengths, series), each),
    )


def _ours(name: str, pointers: Path, *arguments: str) -> Contestant:
    # Contestants ask for different things here, so there is nothing to compare.
    argv = python_task("resolve", "--pointers", str(pointers), "--check", "none", *arguments)
    return Contestant(name, Role.OURS, argv, reports=True)


def _judge_growth(units: Sequence[int], series: Sequence[Series]) -> Judgement:
    """Judge each round's curve by itself; the value is the median."""
    rounds = zip(*(one.runs for one in series), strict=True)
    rises = (growth(units, [run.seconds for run in points]) for points in rounds)
    return judge_value(
        "cost a unit, last decade / the one before",
        tuple(rise for rise in rises if rise is not None),
        unit="x",
        bar=_GROWTH_BAR,
        source=OWN_BAR,
    )


def _peak_rise_mib(series: Sequence[Series]) -> float | None:
    first, last = series[0].peak_kib(), series[-1].peak_kib()
    return None if first is None or last is None else (last - first) / 1024
