"""Start of the command line beside an interpreter that imports click.

Guarantees: both are whole processes of one interpreter, started the same way.

Example:
    python -m benchmarks --only startup
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.model import Contestant, Role, Row, judge_difference
from benchmarks.plan import Plan

__all__ = ["run"]

_BAR_MS = 40.0
# Tens of milliseconds each: more rounds cost little and the difference needs them.
_ROUNDS_FACTOR = 4


def run(plan: Plan) -> Iterator[Row]:
    """Measure the one row of start-up."""
    plan.tell("startup: processes that only start")
    command, how = _ctxaudit()
    series = plan.measure(
        (
            Contestant("ctxaudit --help", Role.OURS, (*command, "--help")),
            Contestant("python -c 'import click'", Role.PEER, _python("import click")),
            Contestant("python -c pass", Role.CONTEXT, _python("pass")),
        ),
        factor=_ROUNDS_FACTOR,
    )
    judged = judge_difference(
        "ctxaudit - click", series[0].samples, series[1].samples, bar_ms=_BAR_MS
    )
    yield Row(
        "startup", "start of the command line", series[1].contestant.name, series, (judged,), (how,)
    )


def _ctxaudit() -> tuple[tuple[str, ...], str]:
    script = Path(sys.executable).parent / "ctxaudit"
    if script.exists():
        return (str(script),), "Started by the installed script."
    return (sys.executable, "-m", "cli"), "Not installed: started from the checkout, python -m cli."


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)
