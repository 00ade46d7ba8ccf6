"""One module a family of rows; each has `run(plan)`, which yields what it measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from benchmarks import compaction
from benchmarks.model import Row
from benchmarks.plan import Plan
from benchmarks.rows import (
    big_artifact,
    curves,
    fast,
    homes,
    sealing,
    small_artifacts,
    spilling,
    startup,
    transcript,
    transcript_trees,
)

__all__ = ["FAMILIES"]

FAMILIES: Mapping[str, Callable[[Plan], Iterator[Row]]] = MappingProxyType(
    {
        "startup": startup.run,
        # Before anything big is deleted: see there.
        "spilling": spilling.run,
        "small-artifacts": small_artifacts.run,
        "compaction": compaction.run,
        "transcript": transcript.run,
        "transcript-trees": transcript_trees.run,
        "sealing": sealing.run,
        "homes": homes.run,
        "big-artifact": big_artifact.run,
        "fast": fast.run,
        "curves": curves.run,
    }
)
