"""All layers of a compaction, receipt included, beside one `copy.deepcopy` of the same history.

Guarantees: ours is a whole `compact_context` in which every layer runs (the model answers at once);
the floor only copies. There is a row for each shape of messages, with the same texts. The curve is
the same over three decades of messages.

Example:
    python -m benchmarks --only compaction --scale full
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.compaction_histories import KILOBYTES, SHAPES
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
    """Measure a row beside deepcopy for each shape, and the curve."""
    count = plan.sizes.messages[-1] if len(plan.sizes.messages) < 3 else plan.sizes.messages[2]
    for shape in SHAPES:
        yield _beside_deepcopy(plan, count, shape)
    yield _curve(plan)


def _beside_deepcopy(plan: Plan, count: int, shape: str) -> Row:
    series = plan.measure(
        [
            _contestant(name, role, task, count, shape)
            for name, role, task in (
                ("ctxaudit, all layers", Role.OURS, "compact"),
                ("copy.deepcopy", Role.PEER, "deepcopy"),
                ("len(json.dumps)", Role.CONTEXT, "json-length"),
                ("JSON and SHA-256 of each message", Role.CONTEXT, "digests"),
                ("ctxaudit, estimate alone", Role.CONTEXT, "estimate"),
                ("ctxaudit, below the limit", Role.CONTEXT, "below-the-limit"),
                ("ctxaudit, and verify_receipt", Role.CONTEXT, "compact-and-verify"),
            )
        ]
    )
    judged = judge_ratio("ctxaudit / deepcopy", series[0].samples, series[1].samples, bar=_BAR)
    size = count * KILOBYTES[shape] / 1e3
    title = f"{count:,} messages ({shape}), {size:.0f} MB, all layers but the model call"
    name = "compaction" if shape == SHAPES[0] else f"compaction-{shape}"
    return Row(name, title, "copy.deepcopy", series, (judged,))


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


def _contestant(name: str, role: Role, task: str, count: int, shape: str = SHAPES[0]) -> Contestant:
    work = (sys.executable, "-m", "benchmarks.compaction_work", task)
    argv = (*work, "--messages", str(count), "--shape", shape)
    return Contestant(name, role, argv, reports=True)
