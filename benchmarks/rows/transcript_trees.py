"""Checking whole trees of other agents' transcripts, and one pointer into such a tree.

Guarantees: all contestants of a row read the same files and count the same records. Ours checks
everything that `ctxaudit verify TREE` checks: grammar, faults, references, the digest of each
file, ids across files.

Example:
    python -m benchmarks --only transcript-trees
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.agent_trees import FOLDERS, AgentTree, Session, write_projects, write_rollouts
from benchmarks.datasets import write_pointers
from benchmarks.measure import python_task
from benchmarks.model import (
    OWN_BAR,
    Contestant,
    Judgement,
    Role,
    Row,
    Series,
    judge_ratio,
    judge_value,
    paired_ratios,
)
from benchmarks.peers import program
from benchmarks.plan import Plan
from provenance.fs.confinement import LEAST_ABI, landlock_abi

__all__ = ["run"]

# The specification has no numbers here. These are the benchmark's own, set beside its first
# measurements to show a step back.
_JSON_BAR = 4.0
_TWO_JOBS_BAR = 0.7
# The modules that are loaded first and the way back are the same for any size: small beside a tree.
_SANDBOX_BAR = 1.25
# What grows with the files is their lines in the report, 1 to 2 KB each, and the database of ids
# up to its cache of 8 MiB.
_FLAT_BAR_MIB = 32.0
_INDEX_BAR_MS = 0.5

# `$1` is the tree. Everything that is read goes through one pipe.
_CAT = "find \"$1\" -type f -name '*.jsonl' -print0 | xargs -0 cat | "
# At most so many sessions, small and large, in the row with many.
_MANY = 100


def run(plan: Plan) -> Iterator[Row]:
    """Measure a tree of Claude Code, memory and one pointer on it, then one of Codex."""
    sizes = plan.sizes
    with plan.folder("transcript-trees") as folder:
        plan.tell(
            f"transcript-trees: generating {sizes.tree_files:,} transcripts,"
            f" {sizes.tree_bytes / 1e6:,.0f} MB"
        )
        tree = write_projects(folder / "projects", files=sizes.tree_files, size=sizes.tree_bytes)
        whole = _audit_row(plan, "tree-claude-code", tree, "Claude Code")
        yield whole
        yield _memory_row(plan, tree, whole)
        yield _pointer_row(plan, folder, tree)
    with plan.folder("transcript-rollouts") as folder:
        plan.tell(f"transcript-trees: generating {sizes.rollouts:,} rollouts")
        rollouts = write_rollouts(
            folder / "sessions", files=sizes.rollouts, size=sizes.rollout_bytes
        )
        yield _audit_row(plan, "tree-codex", rollouts, "Codex")


def _audit_row(plan: Plan, name: str, tree: AgentTree, whose: str) -> Row:
    root = str(tree.root)
    ours = _audit("ctxaudit", tree.root)
    two = _audit("ctxaudit, jobs=2", tree.root, "--jobs", "2")
    confined = _audit("ctxaudit, sandbox", tree.root, "--sandbox")
    if (landlock_abi() or 0) < LEAST_ABI:
        confined = replace(confined, argv=(), absent="this kernel's Landlock is absent or too old")
    parsed = Contestant(
        "json.loads of each line", Role.PEER, python_task("json-lines", root), reports=True
    )
    piped = _cat(root, "wc", Role.PEER)
    series = plan.measure((ours, two, parsed, piped, confined, _cat(root, "wc -l", Role.CONTEXT)))
    one, two_jobs, loads = (each.samples for each in series[:3])
    in_sandbox = series[4].samples
    to_wc = [_shown_ratio(each, series[3]) for each in series[:2]]
    judgements = (
        judge_ratio("ctxaudit / json.loads", one, loads, bar=_JSON_BAR, source=OWN_BAR),
        judge_ratio("jobs=2 / jobs=1", two_jobs, one, bar=_TWO_JOBS_BAR, source=OWN_BAR),
        judge_ratio("sandbox / plain", in_sandbox, one, bar=_SANDBOX_BAR, source=OWN_BAR),
    )
    return Row(
        name,
        f"{tree.files:,} transcripts of {whose}, {tree.size / 1e6:,.0f} MB,"
        f" {tree.records:,} records, whole check",
        parsed.name,
        series,
        judgements,
        (
            f"ctxaudit / cat | wc: {to_wc[0]}, jobs=2: {to_wc[1]}; no bar, for wc checks nothing.",
            "Peak of jobs=2 and of the sandbox: of the first process alone.",
        ),
        data_bytes=tree.size,
    )


def _memory_row(plan: Plan, tree: AgentTree, whole: Row) -> Row:
    """Put the peak for a tenth of the files beside that of the row before."""
    (tenth,) = plan.measure((_audit("a tenth of the files", tree.first_folder),))
    all_files = whole.series[0]
    every = replace(all_files, contestant=replace(all_files.contestant, name="all files"))
    rises = tuple(
        (more.peak_kib - less.peak_kib) / 1024
        for more, less in zip(every.runs, tenth.runs, strict=False)
        if more.peak_kib is not None and less.peak_kib is not None
    )
    flat = judge_value(
        "peak memory, all - a tenth", rises, unit="MiB", bar=_FLAT_BAR_MIB, source=OWN_BAR
    )
    return Row(
        "tree-memory",
        f"memory for {tree.files // FOLDERS:,} and for {tree.files:,} transcripts",
        None,
        (tenth, every),
        (flat,),
        ("Both have the largest file. Resident memory (VmHWM), imports included.",),
    )


def _pointer_row(plan: Plan, folder: Path, tree: AgentTree) -> Row:
    """Resolve the last record of a middling session, with an index made from nothing each time."""
    sessions = sorted(tree.first_sessions, key=lambda one: one.records)
    middle = sessions[len(sessions) // 2]
    one = write_pointers(folder / "one.txt", [_pointer(middle)])
    spread = sessions[:: -(-len(sessions) // _MANY)]
    many = write_pointers(folder / "many.txt", map(_pointer, spread))
    series = plan.measure(
        (
            _resolve("one, a tenth of the files", tree.first_folder, one),
            _resolve("one, all files", tree.root, one),
            _resolve(f"{len(spread)} sessions, all files", tree.root, many),
        )
    )
    return Row(
        "tree-pointer",
        f"one pointer into {tree.files // FOLDERS:,} and into {tree.files:,} transcripts",
        None,
        series,
        (_judge_index(series, tree.files - tree.files // FOLDERS),),
        (f"The pointer is to record {middle.records:,}, the last of its session.",),
    )


def _judge_index(series: Sequence[Series], more_files: int) -> Judgement:
    pairs = zip(series[0].runs, series[1].runs, strict=True)
    costs = tuple((more.seconds - less.seconds) * 1000 / more_files for less, more in pairs)
    return judge_value("index, each file more", costs, unit="ms", bar=_INDEX_BAR_MS, source=OWN_BAR)


def _pointer(session: Session) -> str:
    return f"transcript:{session.name}:{session.records}"


def _audit(name: str, target: Path, *arguments: str) -> Contestant:
    argv = python_task("audit", str(target), *arguments)
    return Contestant(name, Role.OURS, argv, reports=True)


def _resolve(name: str, root: Path, pointers: Path) -> Contestant:
    argv = python_task(
        "resolve", "--transcripts", str(root), "--pointers", str(pointers), "--check", "none"
    )
    return Contestant(name, Role.OURS, argv, reports=True)


def _cat(root: str, count: str, role: Role) -> Contestant:
    found = program(f"cat | {count}", "sh", "-c", _CAT + count, "sh", root, role=role)
    return replace(found, reads=lambda printed: printed.split()[0])


def _shown_ratio(ours: Series, peer: Series) -> str:
    ratios = paired_ratios(ours.samples, peer.samples)
    return f"{median(ratios):.1f} x" if ratios else "not measured"
