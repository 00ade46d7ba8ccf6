"""What a benchmark row is made of, and how two contestants are compared.

Guarantees: a ratio is taken inside one round, between runs that stood next to each other; the
value is the median of those ratios. What was not measured says so and is never "met".

Example:
    >>> judge_value("ours / floor", (2.4, 2.6, 2.4), unit="x", bar=2.5).verdict.value
    'met'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median

__all__ = [
    "OWN_BAR",
    "SPEC_BAR",
    "Contestant",
    "Judgement",
    "Role",
    "Row",
    "Sample",
    "Series",
    "Verdict",
    "judge_difference",
    "judge_ratio",
    "judge_value",
    "paired_ratios",
]

# Who set a bar: the specification's page on speed, or this benchmark where that page has no number.
SPEC_BAR = "06"
OWN_BAR = "benchmark"


class Role(StrEnum):
    """Why a contestant is in a row."""

    OURS = "ours"
    PEER = "peer"
    CONTEXT = "context"


class Verdict(StrEnum):
    """The outcome of a bar."""

    MET = "met"
    MISSED = "missed"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one contestant.

    Attributes:
        seconds: the figure that is compared: what the contestant timed itself, else the process.
        process_seconds: from start to exit of the process.
        cpu_seconds: user and system time of the process and the children it waited for.
        peak_kib: highest resident memory; None where it cannot be told from the harness's own.
        check: what the contestant computed, to be compared with the others'; None if it says none.
    """

    seconds: float
    process_seconds: float
    cpu_seconds: float
    peak_kib: int | None
    check: str | None


@dataclass(frozen=True, slots=True)
class Contestant:
    """One command that takes its turn in every round.

    Attributes:
        name: what the table calls it.
        role: ours, the peer or floor, or context (fewer rounds, no bar).
        argv: the command; empty where it is absent on this machine.
        absent: why there is no command; None where there is one.
        reports: the command prints one JSON object with its own `seconds`, `check`, `peak_kib`.
        reads: makes what was computed out of what the command printed; for a foreign program.
        cwd: folder that the command runs in.
        prepare: runs before each turn and is not timed.
    """

    name: str
    role: Role
    argv: tuple[str, ...]
    absent: str | None = None
    reports: bool = False
    reads: Callable[[str], str] | None = None
    cwd: Path | None = None
    prepare: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """All measured turns of one contestant; None stands for a round that it sat out."""

    contestant: Contestant
    samples: tuple[Sample | None, ...]

    @property
    def runs(self) -> tuple[Sample, ...]:
        """The rounds in which it ran."""
        return tuple(sample for sample in self.samples if sample is not None)

    def median_seconds(self) -> float | None:
        """Median of the compared figure."""
        return median(run.seconds for run in self.runs) if self.runs else None

    def median_cpu_seconds(self) -> float | None:
        """Median of the processor time."""
        return median(run.cpu_seconds for run in self.runs) if self.runs else None

    def peak_kib(self) -> int | None:
        """Highest peak of all runs."""
        peaks = [run.peak_kib for run in self.runs if run.peak_kib is not None]
        return max(peaks) if peaks else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """One figure beside its bar.

    Attributes:
        label: what is compared with what.
        value: the figure; None where it was not measured.
        low: smallest figure of a round.
        high: largest figure of a round.
        unit: `x`, `ms`, `MiB` or `bytes`.
        bar: the most that the figure may be.
        source: who set the bar.
        verdict: met, missed or not measured.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    bar: float
    source: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the published table with everything that was measured for it.

    Attributes:
        name: short and stable, the key in the JSON.
        title: what is done, with sizes.
        base: name of the contestant that counts as 1.0; None where times are not compared.
        series: the contestants and their samples.
        judgements: the bars.
        notes: what a reader must know to use the figures.
        data_bytes: how much each contestant reads; None where speed in MB/s says nothing.
    """

    name: str
    title: str
    base: str | None
    series: tuple[Series, ...]
    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()
    data_bytes: int | None = None

    def speed_of(self, series: Series) -> float | None:
        """Give what a contestant read in a second, in MB (a million bytes)."""
        seconds = series.median_seconds()
        return None if self.data_bytes is None or not seconds else self.data_bytes / seconds / 1e6


def paired_ratios(
    ours: Sequence[Sample | None], peer: Sequence[Sample | None]
) -> tuple[float, ...]:
    """Divide round by round; rounds that one of the two sat out are left out."""
    return tuple(
        mine.seconds / other.seconds
        for mine, other in zip(ours, peer, strict=False)
        if mine is not None and other is not None
    )


def judge_ratio(
    label: str,
    ours: Sequence[Sample | None],
    peer: Sequence[Sample | None],
    *,
    bar: float,
    source: str = SPEC_BAR,
) -> Judgement:
    """Compare two contestants by the median of their pair-wise ratios."""
    return judge_value(label, paired_ratios(ours, peer), unit="x", bar=bar, source=source)


def judge_difference(
    label: str,
    ours: Sequence[Sample | None],
    peer: Sequence[Sample | None],
    *,
    bar_ms: float,
) -> Judgement:
    """Compare two contestants by the difference of their medians, in milliseconds."""
    mine = [run.seconds for run in ours if run is not None]
    other = [run.seconds for run in peer if run is not None]
    if not mine or not other:
        return judge_value(label, (), unit="ms", bar=bar_ms)
    pairs = [(a - b) * 1000 for a, b in zip(mine, other, strict=False)]
    value = (median(mine) - median(other)) * 1000
    verdict = Verdict.MET if value <= bar_ms else Verdict.MISSED
    return Judgement(label, value, min(pairs), max(pairs), "ms", bar_ms, SPEC_BAR, verdict)


def judge_value(
    label: str,
    values: Sequence[float],
    *,
    unit: str,
    bar: float,
    source: str = SPEC_BAR,
) -> Judgement:
    """Hold the median of `values` against `bar`; no values is "not measured"."""
    if not values:
        return Judgement(label, None, None, None, unit, bar, source, Verdict.NOT_MEASURED)
    value = median(values)
    verdict = Verdict.MET if value <= bar else Verdict.MISSED
    return Judgement(label, value, min(values), max(values), unit, bar, source, verdict)
