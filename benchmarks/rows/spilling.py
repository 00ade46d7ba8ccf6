"""Spilling many results beside a loop of write, fsync, link and fsync of the directory.

Guarantees: both write the same bytes to the same file system, into a fresh folder each turn, after
a sync and with no deletion before. Ours also keeps the ledger and hashes twice; the loop does not.

Example:
    python -m benchmarks --only spilling
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import python_task
from benchmarks.model import Contestant, Role, Row, judge_ratio
from benchmarks.plan import Plan

__all__ = ["run"]

_BAR = 1.3


def run(plan: Plan) -> Iterator[Row]:
    """Measure the one row of spilling."""
    count = plan.sizes.spills
    plan.tell(f"spilling: {count:,} results of 100 KB")
    with plan.folder("spilling") as folder:
        ours = _contestant("ctxaudit", Role.OURS, "spill", folder / "ours", count=count)
        by_hand = _contestant(
            "loop in Python", Role.PEER, "spill-by-hand", folder / "by-hand", count=count
        )
        series = plan.measure((ours, by_hand))
    judged = judge_ratio("ctxaudit / loop", series[0].samples, series[1].samples, bar=_BAR)
    yield Row("spilling", f"{count:,} results of 100 KB, durable", by_hand.name, series, (judged,))


def _contestant(name: str, role: Role, task: str, root: Path, *, count: int) -> Contestant:
    argv = python_task(task, str(root), "--count", str(count))
    return Contestant(name, role, argv, reports=True, prepare=_settle)


def _settle() -> None:
    """Let the disk finish what the last turn left; nothing is deleted between turns.

    ext4 does not hand out an inode again soon after its deletion, and looks at each such inode when
    it makes a file: after 10,000 deletions that search would be most of what is measured.
    """
    os.sync()
