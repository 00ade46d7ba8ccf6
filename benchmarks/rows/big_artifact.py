"""Verifying one big artifact beside `openssl dgst`, two of them on two cores, and the memory.

Guarantees: ours is a whole `resolve_many` of one pointer with the full digest: grammar, guarded
open, UTF-8 check, SHA-256, change check. The peers hash only.

Example:
    python -m benchmarks --only big-artifact --scale full
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import ASCII, CHINESE, write_big_artifact, write_pointers
from benchmarks.measure import python_task
from benchmarks.model import Contestant, Role, Row, Series, judge_ratio, judge_value
from benchmarks.peers import program
from benchmarks.plan import Plan

__all__ = ["run"]

_ASCII_BAR = 1.05
_CHINESE_BAR = 1.5
_TWO_JOBS_BAR = 0.60
_MEMORY_BAR_MIB = 64.0

# Prints what `benchmarks.tasks` reports, importing nothing of ours.
_BARE_INTERPRETER = """
try:
    peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
except OSError:
    import resource, sys
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak //= 1024 if sys.platform == "darwin" else 1
print('{"seconds": 0.0, "peak_kib": %d}' % peak)
"""


def run(plan: Plan) -> Iterator[Row]:
    """Measure the four rows of big artifacts."""
    size = plan.sizes.big_bytes
    shown = f"{size / (1 << 30):g} GiB" if size >= 1 << 30 else f"{size >> 20} MiB"
    with plan.folder("big-artifact") as folder:
        root = folder / "artifacts"
        plan.tell(f"big-artifact: generating three artifacts of {shown}")
        first, first_pointer = write_big_artifact(root, "bench-a", text=ASCII, size=size)
        _, second_pointer = write_big_artifact(root, "bench-b", text=ASCII, size=size)
        other, other_pointer = write_big_artifact(root, "bench-c", text=CHINESE, size=size)
        one = write_pointers(folder / "one.txt", [first_pointer])
        two = write_pointers(folder / "two.txt", [first_pointer, second_pointer])
        chinese = write_pointers(folder / "chinese.txt", [other_pointer])

        yield _against_openssl(plan, _ours(root, one), first, kind="ascii", shown=shown)
        yield _against_openssl(plan, _ours(root, chinese), other, kind="chinese", shown=shown)
        yield _two_jobs(plan, root, two, shown=shown)
        yield _memory(plan, root, (one, chinese), shown=shown)


def _ours(root: Path, pointers: Path, *, jobs: int = 1, name: str = "ctxaudit") -> Contestant:
    argv = python_task(
        "resolve", "--artifacts", str(root), "--pointers", str(pointers), "--jobs", str(jobs)
    )
    return Contestant(name, Role.OURS, argv, reports=True)


def _against_openssl(plan: Plan, ours: Contestant, path: Path, *, kind: str, shown: str) -> Row:
    file = str(path)
    openssl = program("openssl dgst", "openssl", "dgst", "-sha256", file, role=Role.PEER)
    context = (
        Contestant("python hashlib", Role.CONTEXT, python_task("hash", file), reports=True),
        program("sha256sum", "sha256sum", file),
        program("rhash", "rhash", "--sha256", file),
        program("hashdeep", "hashdeep", "-c", "sha256", file),
    )
    is_ascii = kind == "ascii"
    # The digest programs do not look at the text: their figures would be the same again.
    series = plan.measure((ours, openssl, *(context if is_ascii else ())))
    bar = _ASCII_BAR if is_ascii else _CHINESE_BAR
    judged = judge_ratio("ctxaudit / openssl", series[0].samples, series[1].samples, bar=bar)
    text = "ASCII" if is_ascii else "Chinese text"
    return Row(f"big-{kind}", f"one artifact of {shown}, {text}", "openssl dgst", series, (judged,))


def _two_jobs(plan: Plan, root: Path, pointers: Path, *, shown: str) -> Row:
    parallel = _ours(root, pointers, jobs=2, name="ctxaudit, jobs=2")
    serial = _ours(root, pointers, jobs=1, name="ctxaudit, one after the other")
    series = plan.measure((parallel, serial))
    judged = judge_ratio("jobs=2 / jobs=1", series[0].samples, series[1].samples, bar=_TWO_JOBS_BAR)
    return Row("big-two-jobs", f"two artifacts of {shown}, ASCII", serial.name, series, (judged,))


def _memory(plan: Plan, root: Path, pointers: tuple[Path, Path], *, shown: str) -> Row:
    interpreter = Contestant(
        "python alone", Role.PEER, (sys.executable, "-c", _BARE_INTERPRETER), reports=True
    )
    ascii_text = _ours(root, pointers[0], name="ctxaudit, ASCII")
    chinese = _ours(root, pointers[1], name="ctxaudit, Chinese")
    bare, *ours = plan.measure((interpreter, ascii_text, chinese))
    judged = tuple(
        judge_value(
            f"{one.contestant.name}: peak above the interpreter's",
            _above(one, bare),
            unit="MiB",
            bar=_MEMORY_BAR_MIB,
        )
        for one in ours
    )
    note = "Resident memory (VmHWM) of the whole process, imports included."
    return Row(
        "big-memory", f"memory for one artifact of {shown}", None, (bare, *ours), judged, (note,)
    )


def _above(ours: Series, bare: Series) -> tuple[float, ...]:
    return tuple(
        (mine.peak_kib - other.peak_kib) / 1024
        for mine, other in zip(ours.runs, bare.runs, strict=True)
        if mine.peak_kib is not None and other.peak_kib is not None
    )
