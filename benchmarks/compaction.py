"""All layers of a compaction, receipt included, beside one `copy.deepcopy` of the same history.

Guarantees: ours is a whole `compact_context` in which every layer runs (the model answers at once);
the floor only copies. The curve is the same over three decades of messages.

Example:
    python -m benchmarks --only compaction --scale full
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.model import (
    OWN_BAR,
    Contestant,
    Role,
    Row,
    judge_ratio,
    judge_value,
    paired_ratios,
)
from benchmarks.plan import Plan

__all__ = ["run"]

_BAR = 2.5
# Quadratic cost would show as 10; the rest is room for a busy machine and a fuller memory.
_GROWTH_BAR = 1.5


def run(plan: Plan) -> Iterator[Row]:
    """Measure the row beside deepcopy, and the curve."""
    count = plan.sizes.messages[-1] if len(plan.sizes.messages) < 3 else plan.sizes.messages[2]
    yield _beside_deepcopy(plan, count)
    yield _curve(plan)


def _beside_deepcopy(plan: Plan, count: int) -> Row:
    series = plan.measure(
        (
            _contestant("ctxaudit, all layers", Role.OURS, "compact", count),
            _contestant("copy.deepcopy", Role.PEER, "deepcopy", count),
            _contestant("len(json.dumps)", Role.CONTEXT, "json-length", count),
            _contestant("ctxaudit, estimate alone", Role.CONTEXT, "estimate", count),
            _contestant("ctxaudit, below the limit", Role.CONTEXT, "below-the-limit", count),
            _contestant("ctxaudit, and verify_receipt", Role.CONTEXT, "compact-and-verify", count),
        )
    )
    judged = judge_ratio("ctxaudit / deepcopy", series[0].samples, series[1].samples, bar=_BAR)
    title = f"{count:,} messages, {count * 4_100 / 1e6:.0f} MB, all layers but the model call"
    return Row("compaction", title, "copy.deepcopy", series, (judged,))


def _curve(plan: Plan) -> Row:
    """Measure the floor at each length too: a fuller memory makes any walk slower."""
    counts = plan.sizes.messages
    series = plan.measure(
        [
            _contestant(f"{name}, {count:,} messages", role, task, count)
            for count in counts
            for name, role, task in (
                ("ctxaudit", Role.OURS, "compact"),
                ("copy.deepcopy", Role.PEER, "deepcopy"),
            )
        ]
    )
    last, before = (paired_ratios(series[at].samples, series[at + 1].samples) for at in (-2, -4))
    judged = judge_value(
        "ctxaudit / deepcopy, last / before",
        [a / b for a, b in zip(last, before, strict=True)],
        unit="x",
        bar=_GROWTH_BAR,
        source=OWN_BAR,
    )
    return Row("curve-compaction", "histories of growing length", None, series, (judged,))


def _contestant(name: str, role: Role, task: str, count: int) -> Contestant:
    argv = (sys.executable, "-m", "benchmarks.compaction_work", task, "--messages", str(count))
    return Contestant(name, role, argv, reports=True)
