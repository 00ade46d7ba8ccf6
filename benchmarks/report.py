"""Prints what was measured as a table, and gives it as JSON values.

Guarantees: both hold every row, every contestant (the absent ones too) and every bar with its
verdict; neither holds a path of this machine.

Example:
    print(table_of(row))
"""

from __future__ import annotations

import os
import platform
import ssl
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.model import Judgement, Row, Series, Verdict, paired_ratios

__all__ = ["SCHEMA", "Machine", "describe_machine", "load", "summary_of", "table_of", "to_json"]

SCHEMA = "ctxaudit.benchmarks/1"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the figures come from, as far as they depend on it."""

    processor: str
    cores: int
    sha_extensions: bool
    system: str
    python: str
    openssl: str
    load_before: float


def describe_machine() -> Machine:
    """Look at this machine; the load tells how far to trust the figures."""
    processor, flags = _cpu_facts()
    return Machine(
        processor=processor or platform.machine(),
        cores=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        sha_extensions="sha_ni" in flags or "sha2" in flags,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        openssl=ssl.OPENSSL_VERSION,
        load_before=load(),
    )


def load() -> float:
    """How many processes wanted a processor in the last minute; our own turn is one of them."""
    return round(os.getloadavg()[0], 2)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_facts() -> tuple[str, frozenset[str]]:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor(), frozenset()
    facts: dict[str, str] = {}
    for line in info.read_text().splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    return facts.get("model name", ""), frozenset(
        facts.get("flags", facts.get("Features", "")).split()
    )


def table_of(row: Row) -> str:
    """Lay out one row: its contestants, then its bars."""
    base = next((one for one in row.series if one.contestant.name == row.base), None)
    header = _HEADER if row.data_bytes is None else f"{_HEADER}{'MB/s':>8}"
    lines = ["", f"{row.name}: {row.title}", header]
    lines.extend(_contestant_line(one, base, row.speed_of(one)) for one in row.series)
    lines.extend(_judgement_line(one) for one in row.judgements)
    lines.extend(f"  {note}" for note in row.notes)
    return "\n".join(lines)


_HEADER = f"  {'':<34} {'median':>10} {'CPU':>10} {'peak':>9} {'ratio':>7}  runs"


def _contestant_line(series: Series, base: Series | None, speed: float | None) -> str:
    name = series.contestant.name
    if series.contestant.absent is not None:
        return f"  {name:<34} absent: {series.contestant.absent}"
    ratio = _ratio(series, base)
    peak = series.peak_kib()
    return (
        f"  {name:<34} {_seconds(series.median_seconds()):>10}"
        f" {_seconds(series.median_cpu_seconds()):>10}"
        f" {'' if peak is None else f'{peak / 1024:.0f} MiB':>9}"
        f" {'' if ratio is None else f'{ratio:.2f}':>7}  {len(series.runs):<4}"
        f"{'' if speed is None else f'{speed:.0f}':>8}"
    ).rstrip()


def _judgement_line(one: Judgement) -> str:
    whose = "bar" if one.source == "06" else "bar of this benchmark"
    if one.value is None:
        return f"  = {one.label}: not measured; {whose} {_figure(one.bar, one.unit)}"
    spread = ""
    if one.low is not None and one.high is not None and one.low != one.high:
        spread = f" ({_figure(one.low, '')} to {_figure(one.high, '')})"
    verdict = "MISSED" if one.verdict is Verdict.MISSED else str(one.verdict)
    shown = _figure(one.value, one.unit)
    return f"  = {one.label}: {shown}{spread}; {whose} {_figure(one.bar, one.unit)}: {verdict}"


def summary_of(rows: Sequence[Row], *, failures: Sequence[str] = ()) -> str:
    """Count the bars and name what failed, so that a missed one cannot scroll away."""
    judged = [(row, one) for row in rows for one in row.judgements]
    lines = [""]
    for verdict in Verdict:
        found = [f"{row.name} ({one.label})" for row, one in judged if one.verdict is verdict]
        named = "" if verdict is Verdict.MET or not found else ": " + ", ".join(found)
        lines.append(f"bars {verdict}, {len(found)}{named}")
    lines.extend(f"failed: {failure}" for failure in failures)
    return "\n".join(lines)


def to_json(
    rows: Sequence[Row],
    *,
    machine: Machine,
    scale: str,
    rounds: int,
    failures: Sequence[str] = (),
) -> dict[str, object]:
    """Give everything that was measured as JSON values, and the load now that it is done."""
    return {
        "schema": SCHEMA,
        "scale": scale,
        "rounds": rounds,
        "machine": asdict(machine),
        "load_after": load(),
        "rows": [_row_json(row) for row in rows],
        "failures": list(failures),
    }


def _row_json(row: Row) -> dict[str, object]:
    base = next((one for one in row.series if one.contestant.name == row.base), None)
    return {
        "name": row.name,
        "title": row.title,
        "base": row.base,
        "data_bytes": row.data_bytes,
        "contestants": [_series_json(one, base, row.speed_of(one)) for one in row.series],
        "judgements": [asdict(one) for one in row.judgements],
        "notes": list(row.notes),
    }


def _series_json(series: Series, base: Series | None, speed: float | None) -> dict[str, object]:
    return {
        "name": series.contestant.name,
        "role": series.contestant.role,
        "absent": series.contestant.absent,
        "median_seconds": series.median_seconds(),
        "median_cpu_seconds": series.median_cpu_seconds(),
        "peak_kib": series.peak_kib(),
        "ratio_to_base": _ratio(series, base),
        "mb_per_second": speed,
        "samples": [None if one is None else asdict(one) for one in series.samples],
    }


def _ratio(series: Series, base: Series | None) -> float | None:
    if base is None:
        return None
    ratios = paired_ratios(series.samples, base.samples)
    return median(ratios) if ratios else None


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f} s" if value >= 1 else f"{value * 1000:.1f} ms"


def _figure(value: float, unit: str) -> str:
    number = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{number} {unit}".rstrip()
