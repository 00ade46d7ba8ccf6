"""The one command: `python -m benchmarks`.

Guarantees: exit code 0 when everything that could be measured was, whatever the figures say (a
missed bar is a result); 1 when a contestant failed or computed something else (the other
families still run); 2 for wrong usage.

Example:
    python -m benchmarks --scale small --only startup --json figures.json
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import BenchmarkError
from benchmarks.model import Row
from benchmarks.plan import Plan
from benchmarks.report import describe_machine, load, summary_of, table_of, to_json
from benchmarks.rows import FAMILIES
from benchmarks.sizes import SCALES

__all__ = ["main"]

_ROUNDS = 5
_WARM_ROUNDS = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the rows that were asked for, print them and write the JSON."""
    arguments = _parser().parse_args(argv)
    machine = describe_machine()
    print(
        f"scale {arguments.scale}, {arguments.rounds} rounds; {machine.processor},"
        f" {machine.cores} cores, Python {machine.python}, {machine.openssl},"
        f" load {machine.load_before}"
    )
    if arguments.scale != "full":
        print("The bars are stated for --scale full: verdicts at this size are indications.")
    rows: list[Row] = []
    failures: list[str] = []
    base = Path(tempfile.mkdtemp(prefix="ctxaudit-benchmarks-", dir=arguments.workdir))
    plan = Plan(
        workdir=base,
        sizes=SCALES[arguments.scale],
        rounds=arguments.rounds,
        warm_rounds=_WARM_ROUNDS,
        tell=_tell,
    )
    try:
        for name in arguments.only or FAMILIES:
            try:
                for row in FAMILIES[name](plan):
                    print(table_of(row), flush=True)
                    rows.append(row)
            except BenchmarkError as error:
                failures.append(f"{name}: {error}")
                _tell(error.details or str(error))
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(summary_of(rows, failures=failures))
    print(f"load {load()} at the end")
    if arguments.json is not None:
        document = to_json(
            rows,
            machine=machine,
            scale=arguments.scale,
            rounds=arguments.rounds,
            failures=failures,
        )
        arguments.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 1 if failures else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure ctxaudit beside peers and floors, in turn, on generated data.",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=sorted(FAMILIES),
        metavar="NAME",
        help=f"run this family of rows (again for more): {', '.join(FAMILIES)}",
    )
    parser.add_argument(
        "--scale",
        choices=sorted(SCALES),
        default="small",
        help="small: a few minutes; full: the sizes of the bars, 12 GB of disk (default: small)",
    )
    parser.add_argument(
        "--rounds", type=_positive, default=_ROUNDS, help="measured rounds (default: 5)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument(
        "--workdir",
        type=Path,
        metavar="DIR",
        help="existing folder for the generated data (default: the system's temporary folder)",
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {value}")
    return value


def _end(_number: int, _frame: object) -> None:
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    # So that a run that is told to stop ends its contestant and removes its data.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
