"""How much data each row gets.

Guarantees: `full` is the size that the bars are stated for; `small` has the same shape and takes a
minute or two, and its verdicts are indications only.

Example:
    >>> FULL.small_artifacts
    100000
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "SCALES", "SMALL", "Sizes"]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Sizes:
    """Amounts of generated data.

    Attributes:
        big_bytes: size of each big artifact; a multiple of 1 MiB.
        small_artifacts: how many artifacts of 4 KiB.
        events: events in the transcript of the transcript rows.
        curve_pointers: numbers of pointers on the curves, growing.
        curve_events: transcript lengths on the curve, growing.
        curve_transcript_events: length of the transcript that the pointer curve cites.
        spills: results that are spilled, 100 KB each.
        tree_files: transcripts of the tree of Claude Code; a multiple of ten.
        tree_bytes: about their size, together.
        rollouts: transcripts of the tree of Codex.
        rollout_bytes: about their size, together.
        curve_records: lengths of one transcript of Claude Code on the curve, growing.
        messages: lengths of the histories that are compacted, growing; the third stands beside
            `copy.deepcopy`.
        sources: how many a report tells of.
        versions: of one state, stored one after the other.
    """

    big_bytes: int
    small_artifacts: int
    events: int
    curve_pointers: tuple[int, ...]
    curve_events: tuple[int, ...]
    curve_transcript_events: int
    spills: int
    tree_files: int
    tree_bytes: int
    rollouts: int
    rollout_bytes: int
    curve_records: tuple[int, ...]
    messages: tuple[int, ...] = (10, 100, 1_000)
    sources: int = 20
    versions: int = 5


SMALL = Sizes(
    big_bytes=128 * _MIB,
    small_artifacts=10_000,
    events=100_000,
    curve_pointers=(10, 100, 1_000, 10_000),
    curve_events=(10_000, 100_000, 1_000_000),
    curve_transcript_events=10_000,
    spills=1_000,
    tree_files=200,
    tree_bytes=100_000_000,
    rollouts=40,
    rollout_bytes=20_000_000,
    curve_records=(1_000, 10_000, 100_000),
    messages=(100, 1_000, 10_000),
    sources=10_000,
    versions=200,
)
FULL = Sizes(
    big_bytes=2048 * _MIB,
    small_artifacts=100_000,
    events=1_000_000,
    curve_pointers=(100, 1_000, 10_000, 100_000),
    curve_events=(10_000, 100_000, 1_000_000, 10_000_000),
    curve_transcript_events=100_000,
    spills=10_000,
    tree_files=10_000,
    tree_bytes=5_000_000_000,
    rollouts=1_000,
    rollout_bytes=500_000_000,
    curve_records=(10_000, 100_000, 1_000_000),
    messages=(100, 1_000, 10_000, 100_000),
    sources=100_000,
    versions=2_000,
)
SCALES = {"small": SMALL, "full": FULL}
