"""Sealing a home, and holding it against its seal, beside a loop that hashes each line.

Guarantees: all three digest the same lines; ours read the home through its trusted root, and build
or check the signed tree besides. A home is sealed anew in each turn.

Example:
    python -m benchmarks --only sealing
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import EVENT_BYTES, write_transcript
from benchmarks.measure import python_task
from benchmarks.model import Contestant, Role, Row, judge_ratio
from benchmarks.plan import Plan

__all__ = ["run"]

_SEAL_BAR = 5.0
_CHECK_BAR = 7.0


def run(plan: Plan) -> Iterator[Row]:
    """Measure a first seal and a check of it."""
    events = plan.sizes.events
    with plan.folder("sealing") as folder:
        plan.tell(f"sealing: generating {events:,} events of {EVENT_BYTES} bytes")
        path = write_transcript(folder / "sealed" / "transcripts", events=events)
        fresh = folder / "fresh" / "transcripts"
        fresh.mkdir(parents=True)
        os.link(path, fresh / path.name)
        series = plan.measure(
            (
                _ours("ctxaudit seal", "seal", folder / "fresh"),
                _ours("ctxaudit verify --seal", "check-seal", folder / "sealed"),
                Contestant(
                    "loop in Python",
                    Role.PEER,
                    python_task("line-digests", str(path)),
                    reports=True,
                ),
            )
        )
    seal, check, loop = series
    yield Row(
        "sealing",
        f"{events:,} events of {EVENT_BYTES} bytes in one home",
        loop.contestant.name,
        series,
        (
            judge_ratio("seal / loop", seal.samples, loop.samples, bar=_SEAL_BAR),
            judge_ratio("verify --seal / loop", check.samples, loop.samples, bar=_CHECK_BAR),
        ),
    )


def _ours(name: str, task: str, home: Path) -> Contestant:
    return Contestant(name, Role.OURS, python_task(task, str(home)), reports=True)
