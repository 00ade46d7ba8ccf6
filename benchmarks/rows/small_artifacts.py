"""Verifying many artifacts of 4 KiB beside a C loop.

Guarantees: ours is a whole `resolve_many` with an authorizer, from the texts of the pointers to
the results. The C loop opens, sizes, reads and hashes, and has no guard of any kind.

Example:
    python -m benchmarks --only small-artifacts
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.datasets import SmallArtifacts, write_small_artifacts
from benchmarks.measure import python_task
from benchmarks.model import Contestant, Judgement, Role, Row, Series, judge_ratio
from benchmarks.peers import compiled_floor, program
from benchmarks.plan import Plan

__all__ = ["run"]

_ONE_PROCESS_BAR = 2.5
_TWO_PROCESSES_BAR = 1.8


def run(plan: Plan) -> Iterator[Row]:
    """Measure one and two processes beside the floor and the checksum programs."""
    count = plan.sizes.small_artifacts
    with plan.folder("small-artifacts") as folder:
        plan.tell(f"small-artifacts: generating {count:,} artifacts of 4 KiB")
        lists = write_small_artifacts(folder, count=count)
        floor = compiled_floor(folder, root=lists.root, manifest=lists.floor_manifest)
        root, manifest = lists.root, str(lists.sha256sum_manifest)
        known = str(lists.hashdeep_manifest)
        by_hand = python_task("artifacts-by-hand", str(root), str(lists.floor_manifest))
        series = plan.measure(
            (
                _ours(lists, "ctxaudit", jobs=1),
                floor,
                _ours(lists, "ctxaudit, jobs=2", jobs=2),
                Contestant("bare Python loop", Role.CONTEXT, by_hand, reports=True),
                program("sha256sum -c", "sha256sum", "-c", "--quiet", manifest, cwd=root),
                program("rhash -c", "rhash", "--sha256", "--skip-ok", "-c", manifest, cwd=root),
                program(
                    "hashdeep -a",
                    "hashdeep",
                    "-c",
                    "sha256",
                    "-a",
                    "-l",
                    "-k",
                    known,
                    "-r",
                    ".",
                    cwd=root,
                ),
                _ours(lists, "ctxaudit, excerpts", jobs=1, excerpt_chars=2000, role=Role.CONTEXT),
            )
        )
    one, peer, two = series[:3]
    yield Row(
        "small-artifacts",
        f"{count:,} artifacts of 4 KiB, {-(-count // 1000):,} sessions",
        floor.name,
        series,
        (
            _judge("ctxaudit / C floor", one, peer, bar=_ONE_PROCESS_BAR),
            _judge("ctxaudit, jobs=2 / C floor", two, peer, bar=_TWO_PROCESSES_BAR),
        ),
        ("Pointers come in the order of the files; excerpts are off except where named.",),
    )


def _judge(label: str, ours: Series, peer: Series, *, bar: float) -> Judgement:
    return judge_ratio(label, ours.samples, peer.samples, bar=bar)


def _ours(
    lists: SmallArtifacts,
    name: str,
    *,
    jobs: int,
    excerpt_chars: int = 0,
    role: Role = Role.OURS,
) -> Contestant:
    argv = python_task(
        "resolve",
        "--artifacts",
        str(lists.root),
        "--pointers",
        str(lists.pointers),
        "--jobs",
        str(jobs),
        "--excerpt-chars",
        str(excerpt_chars),
    )
    return Contestant(name, role, argv, reports=True)
