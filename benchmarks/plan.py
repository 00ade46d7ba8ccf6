"""What one run of the benchmarks was asked to do, and the folder it may use.

Guarantees: a family's data is gone when the family is done, however it ends.

Example:
    with plan.folder("transcript") as folder:
        path = write_transcript(folder, events=1000)
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import take_turns
from benchmarks.model import Contestant, Series
from benchmarks.sizes import Sizes

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of one run.

    Attributes:
        workdir: folder below which data is generated.
        sizes: how much of it.
        rounds: measured rounds of each row.
        warm_rounds: rounds before those that are thrown away.
        tell: hears what is going on, one line at a time.
    """

    workdir: Path
    sizes: Sizes
    rounds: int
    warm_rounds: int
    tell: Callable[[str], None]

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """Give a fresh folder for a family's data and remove it afterwards."""
        path = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.workdir))
        try:
            yield path
        finally:
            shutil.rmtree(path)

    def measure(self, contestants: Sequence[Contestant], *, factor: int = 1) -> tuple[Series, ...]:
        """Let the contestants take turns; `factor` multiplies the rounds of very short work."""
        self.tell("  in turn: " + ", ".join(one.name for one in contestants if not one.absent))
        return take_turns(contestants, rounds=self.rounds * factor, warm_rounds=self.warm_rounds)
