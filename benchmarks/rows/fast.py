"""One big artifact under a seal: `--fast` (BLAKE3) beside the same check by SHA-256.

Guarantees: both are a whole `resolve_many` of one pointer with the full digest: grammar, guarded
open, lease, UTF-8 check, digest, change check. What proves the seal is not measured: it is paid
once a home, not once an artifact.

Example:
    python -m benchmarks --only fast --scale full
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import ASCII, CHINESE, write_big_artifact, write_pointers
from benchmarks.measure import python_task
from benchmarks.model import Contestant, Role, Row, judge_ratio
from benchmarks.peers import program
from benchmarks.plan import Plan

__all__ = ["run"]

# "At least 3 times faster than the SHA-256 path on one big artifact"; of other text than ASCII each
# character is looked at, which costs more than BLAKE3 does, so that this one has a bar of its own.
_ASCII_BAR = 1 / 3
_CHINESE_BAR = 1.05


def run(plan: Plan) -> Iterator[Row]:
    """Measure one artifact of ASCII and one of Chinese text."""
    size = plan.sizes.big_bytes
    shown = f"{size / (1 << 30):g} GiB" if size >= 1 << 30 else f"{size >> 20} MiB"
    with plan.folder("fast") as folder:
        for text, bar in ((ASCII, _ASCII_BAR), (CHINESE, _CHINESE_BAR)):
            plan.tell(f"fast: generating an artifact of {shown}, {text}")
            root = folder / text
            path, pointer = write_big_artifact(root, "bench-fast", text=text, size=size)
            pointers = write_pointers(folder / f"{text}.txt", [pointer])
            sealed = _sealed(folder / f"{text}.json", path, pointer)
            fast = _resolve(root, pointers, "--sealed", str(sealed), name="ctxaudit --fast")
            slow = _resolve(root, pointers, name="ctxaudit, SHA-256", role=Role.PEER)
            series = plan.measure((fast, slow, program("b3sum", "b3sum", str(path))))
            judged = judge_ratio("--fast / SHA-256", series[0].samples, series[1].samples, bar=bar)
            words = "ASCII" if text == ASCII else "Chinese text"
            title = f"one sealed artifact of {shown}, {words}"
            yield Row(f"fast-{text}", title, slow.name, series, (judged,))


def _resolve(
    root: Path, pointers: Path, *more: str, name: str, role: Role = Role.OURS
) -> Contestant:
    argv = python_task(
        "resolve",
        "--artifacts",
        str(root),
        "--pointers",
        str(pointers),
        "--check",
        "evidence",
        *more,
    )
    return Contestant(name, role, argv, reports=True)


def _sealed(file: Path, path: Path, pointer: str) -> Path:
    """Write down what the sealed ledger line of the artifact would say."""
    from blake3 import blake3

    digest = blake3()
    digest.update_mmap(path)
    _, session, name, sha256 = pointer.split(":")
    line = [session, name, sha256, digest.hexdigest(), path.stat().st_size]
    file.write_text(json.dumps([line]))
    return file
