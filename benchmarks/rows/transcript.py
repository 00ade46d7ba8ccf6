"""Verifying events of one long transcript beside a strict check in the standard library.

Guarantees: ours and the strict check give the same evidence digests, or the benchmark stops.

Example:
    python -m benchmarks --only transcript
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import (
    EVENT_BYTES,
    TRANSCRIPT_SESSION,
    write_pointers,
    write_transcript,
)
from benchmarks.measure import python_task
from benchmarks.model import Contestant, Role, Row, judge_ratio
from benchmarks.peers import program
from benchmarks.plan import Plan

__all__ = ["run"]

_LAST_EVENT_BAR = 0.35
_EVERY_TENTH_BAR = 0.5


def run(plan: Plan) -> Iterator[Row]:
    """Measure one pointer at the end, then one at every tenth event."""
    events = plan.sizes.events
    with plan.folder("transcript") as folder:
        plan.tell(f"transcript: generating {events:,} events of {EVENT_BYTES} bytes")
        path = write_transcript(folder / "transcripts", events=events)
        context = (
            program("wc -l", "wc", "-l", str(path)),
            program("openssl dgst, all of it", "openssl", "dgst", "-sha256", str(path)),
        )
        yield _row(plan, path, cited_every=events, bar=_LAST_EVENT_BAR, context=context)
        yield _row(plan, path, cited_every=10, bar=_EVERY_TENTH_BAR, context=())


def _row(
    plan: Plan, path: Path, *, cited_every: int, bar: float, context: tuple[Contestant, ...]
) -> Row:
    events = plan.sizes.events
    cited = range(cited_every, events + 1, cited_every)
    pointers = write_pointers(
        path.parent.parent / f"pointers-{cited_every}.txt",
        (f"transcript:{TRANSCRIPT_SESSION}:{sequence}" for sequence in cited),
    )
    resolve = python_task(
        "resolve",
        "--transcripts",
        str(path.parent),
        "--pointers",
        str(pointers),
        "--check",
        "evidence",
    )
    strict = python_task(
        "strict-transcript", str(path), TRANSCRIPT_SESSION, "--cited-every", str(cited_every)
    )
    ours = Contestant("ctxaudit", Role.OURS, resolve, reports=True)
    peer = Contestant("stdlib strict check", Role.PEER, strict, reports=True)
    series = plan.measure((ours, peer, *context))
    judged = judge_ratio("ctxaudit / stdlib", series[0].samples, series[1].samples, bar=bar)
    is_last = cited_every == events
    where = "one pointer at the end" if is_last else f"{len(cited):,} pointers, every 10th event"
    return Row(
        "transcript-last" if is_last else "transcript-tenth",
        f"transcript of {events:,} events, {where}",
        peer.name,
        series,
        (judged,),
    )
