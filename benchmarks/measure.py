"""Runs commands in turn and measures them.

Guarantees: contestants run one after the other, A B C A B C ..., never side by side; the first
round warms caches and is thrown away; a command that fails stops the benchmark with its own words;
contestants that say what they computed must agree.

Example:
    series = take_turns([ours, floor], rounds=5)
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from benchmarks.model import Contestant, Role, Sample, Series

__all__ = ["REPOSITORY", "BenchmarkError", "python_task", "run_once", "take_turns"]

REPOSITORY = Path(__file__).resolve().parent.parent

# Context is there to place the figures; two rounds do, and some of it is five times slower.
_CONTEXT_ROUNDS = 2
_STDERR_SHOWN = 4000


class BenchmarkError(Exception):
    """A contestant failed, or two of them computed different things.

    Attributes:
        details: the last that a failed command wrote to standard error; for a terminal only.
    """

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.details = details


def python_task(*arguments: str) -> tuple[str, ...]:
    """Command line of a task of `benchmarks.tasks` in a fresh interpreter like this one."""
    return (sys.executable, "-m", "benchmarks.tasks", *arguments)


def take_turns(
    contestants: Sequence[Contestant],
    *,
    rounds: int,
    warm_rounds: int = 1,
    context_rounds: int = _CONTEXT_ROUNDS,
) -> tuple[Series, ...]:
    """Run every contestant once a round and keep the measured rounds.

    Args:
        contestants: in the order of their turns.
        rounds: measured rounds, 1 or more.
        warm_rounds: rounds before those, whose samples are thrown away.
        context_rounds: measured rounds that contestants in the role of context take part in.

    Raises:
        BenchmarkError: a command failed, or two results differ.
    """
    kept: list[list[Sample | None]] = [[] for _ in contestants]
    for round_number in range(-warm_rounds, rounds):
        for contestant, samples in zip(contestants, kept, strict=True):
            sits_out = contestant.role is Role.CONTEXT and round_number >= context_rounds
            sample = None if sits_out or contestant.absent else run_once(contestant)
            if round_number >= 0:
                samples.append(sample)
    series = tuple(
        Series(contestant, tuple(samples))
        for contestant, samples in zip(contestants, kept, strict=True)
    )
    _require_agreement(series)
    return series


def run_once(contestant: Contestant) -> Sample:
    """Run one command to its end and measure it."""
    if contestant.prepare is not None:
        contestant.prepare()
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        is_read = contestant.reports or contestant.reads is not None
        stdout: IO[bytes] | int = output if is_read else subprocess.DEVNULL
        started = time.perf_counter()
        child = subprocess.Popen(
            contestant.argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=errors,
            cwd=contestant.cwd,
            env=_environment(),
        )
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        elapsed = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _STDERR_SHOWN))
            words = errors.read().decode("utf-8", "replace").strip()
            last = words.rpartition("\n")[2]
            message = f"{contestant.name}: exit code {child.returncode}: {last}"
            raise BenchmarkError(message, details=words)
        cpu = usage.ru_utime + usage.ru_stime
        output.seek(0)
        printed = output.read()
    if not contestant.reports:
        check = None if contestant.reads is None else contestant.reads(printed.decode())
        return Sample(elapsed, elapsed, cpu, _peak_of_child(usage.ru_maxrss), check)
    report = json.loads(printed)
    return Sample(
        seconds=float(report["seconds"]),
        process_seconds=elapsed,
        cpu_seconds=cpu,
        peak_kib=report.get("peak_kib"),
        check=report.get("check"),
    )


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "LC_ALL": "C.UTF-8"}


def _peak_of_child(max_rss_kib: int) -> int | None:
    """Give the peak that `wait4` tells, unless it may be the harness's own.

    A child started with vfork inherits its parent's high-water mark through exec, so a figure that
    is not above ours says nothing about the child. Our own tasks read theirs from the kernel.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max_rss_kib if max_rss_kib > own else None


def _require_agreement(series: Sequence[Series]) -> None:
    checks = {
        one.contestant.name: run.check
        for one in series
        for run in one.runs
        if run.check is not None
    }
    if len(set(checks.values())) > 1:
        raise BenchmarkError(f"results: expected all contestants to agree, got {checks}")
