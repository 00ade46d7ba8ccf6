"""Collects findings of a run: each told once, the first of a kind listed, all of them counted.

Guarantees: memory is bounded by the number of codes, not by the number of findings or targets.
What is listed does not depend on the number of processes that verified. The first error of a code
is listed whatever number of milder findings of that code came before it: a verdict rests on that.
What a waiver covers is listed and counted beside the others and takes no room from them.

Example:
    >>> notes = Notes()
    >>> for line in range(1_500):
    ...     notes.add(Finding("x", Severity.INFO, "a.jsonl", Location(line=line)))
    >>> len(notes.listed()), notes.counts()["x"]
    (1000, 1500)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from provenance.audit.waiving import WaiverBook
from provenance.findings import Finding, Location, Severity

__all__ = ["Notes"]

# Of one code in one file: what is looked at one by one. A million lines hide everything else.
_LISTED_OF_A_KIND = 1_000
# Of one code in all files: what is information alone must not fill the memory of a long run.
_LISTED_OF_A_CODE = {Severity.ERROR: 20_000, Severity.WARNING: 20_000, Severity.INFO: 5_000}
# Facts about files: one a session says it. Each process meets its own first file of a session.
_FACTS = frozenset({"foreign_owner", "hard_link"})
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Notes:
    """A growing collection of findings."""

    def __init__(
        self,
        waivers: WaiverBook | None = None,
        *,
        held_back: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Take who answers for what; findings that a waiver covers are counted and listed apart.

        Args:
            waivers: who answers for what.
            held_back: a context in which no interrupt is raised, for what is counted and listed.
        """
        self._waivers = waivers or WaiverBook()
        self._held_back = held_back
        self._listed: dict[tuple[str, Severity, str, bool], list[Finding]] = {}
        self._facts: dict[tuple[str, str], Finding] = {}
        self._counts: Counter[str] = Counter()
        self._waived: Counter[str] = Counter()
        self._listed_counts: Counter[tuple[str, Severity, bool]] = Counter()

    def add(self, finding: Finding, *, prefix: str = "") -> None:
        """Add one finding; `prefix` is put before its target."""
        if prefix:
            finding = replace(finding, target=prefix + finding.target)
        with self._held_back():
            if finding.code in _FACTS:
                self._add_fact(finding)
            else:
                self._add(self._marked(finding))

    def _add(self, finding: Finding) -> None:
        is_waived = finding.waiver is not None
        self._counts[finding.code] += 1
        self._waived[finding.code] += is_waived
        kind = finding.code, finding.severity, is_waived
        if self._listed_counts[kind] >= _LISTED_OF_A_CODE[finding.severity]:
            return
        listed = self._listed.setdefault(
            (finding.code, finding.severity, finding.target, is_waived), []
        )
        if len(listed) < _LISTED_OF_A_KIND:
            listed.append(finding)
            self._listed_counts[kind] += 1

    def extend(self, findings: Iterable[Finding], *, prefix: str = "") -> None:
        """Add several findings."""
        for finding in findings:
            self.add(finding, prefix=prefix)

    def count_unlisted(self, code: str, count: int, *, target: str | None = None) -> None:
        """Count findings that their finder did not keep.

        Args:
            code: of the findings.
            count: how many.
            target: of all of them; None: not known, so that no waiver can cover them.
        """
        if count <= 0:
            return
        with self._held_back():
            self._counts[code] += count
            if target is not None and self._waivers.of_finding(code, target) is not None:
                self._waived[code] += count

    def is_waived(self, finding: Finding) -> bool:
        """Say whether a waiver covers a finding."""
        return self._marked(finding).waiver is not None

    def listed(self) -> tuple[Finding, ...]:
        """Give the listed findings: errors first, then by target, code and place."""
        found = [finding for group in self._listed.values() for finding in group]
        found += map(self._marked, self._facts.values())
        return tuple(sorted(found, key=_order))

    def counts(self) -> Mapping[str, int]:
        """Give how often each code was noticed."""
        counts = Counter(self._counts)
        counts.update(finding.code for finding in self._facts.values())
        return dict(sorted(counts.items()))

    def waived_counts(self) -> Mapping[str, int]:
        """Give how many of each code a waiver covers."""
        waived = Counter(self._waived)
        for finding in self._facts.values():
            waived[finding.code] += self._marked(finding).waiver is not None
        return {code: count for code, count in sorted(waived.items()) if count}

    def _marked(self, finding: Finding) -> Finding:
        waiver = self._waivers.of_finding(finding.code, finding.target)
        return finding if waiver is None else replace(finding, waiver=waiver)

    def _add_fact(self, finding: Finding) -> None:
        # The folder of the session; the first file by name speaks for it.
        folder = finding.target.rpartition("/")[0]
        known = self._facts.get((finding.code, folder))
        if known is None or finding.target < known.target:
            self._facts[finding.code, folder] = finding


def _order(finding: Finding) -> tuple[int, str, str, int, str, str]:
    place: Location = finding.location
    return (
        _RANK[finding.severity],
        finding.target,
        finding.code,
        place.line or 0,
        place.native_id or "",
        finding.message,
    )
