"""What an audit says, as frozen values: made by `audit`, written down by `reports`.

Guarantees: pure. Sources are sorted by pointer. Each source is counted once: under its state, or
as inconclusive (then under no state), and what was not checked is counted as that and never left
out. `total` is the sum.

Example:
    >>> AuditReport(targets=("home",)).summary.total
    0
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from provenance.consequences import Consequence, Kind
from provenance.findings import Finding, Location
from provenance.resolution import SourceResolution, SourceResolutionStatus
from provenance.waivers import Waiver, WaiverState

__all__ = [
    "AuditReport",
    "AuditedSource",
    "CheckedReference",
    "CheckedSeal",
    "CheckedTranscript",
    "Citation",
    "Summary",
    "pointer_order",
]

# In the order of spec 05; `cited_by` and what follows from it come last.
_RESULT_KEYS = (
    "pointer",
    "status",
    "reason",
    "source_type",
    "evidence_sha256",
    "strength",
    "conclusive",
    "quiescence",
    "native_id",
)


_half_character = re.compile("[\ud800-\udfff]")


def pointer_order(pointer: str) -> tuple[str, str]:
    """Give the key that results are sorted by: the pointer, as a report can write it down."""
    shown = pointer if pointer.isascii() else _half_character.sub("\ufffd", pointer)
    return shown, pointer


def _nothing() -> Mapping[str, int]:
    return {}  # a plain one: values travel between processes


@dataclass(frozen=True, slots=True)
class Citation:
    """One place that rests on a source.

    Attributes:
        file: the citing file, relative to the target that was named.
        item: id of the fact, pending item or evidence; `line N` in a scanned text.
        session: the session that the citing state belongs to, if it says so.
        text: what is claimed there, in full; bounded where a text was scanned.
        kind: what the item is; see `Consequence`.
    """

    file: str
    item: str | None = None
    session: str | None = None
    text: str | None = None
    kind: Kind = "text"

    def to_dict(self) -> dict[str, object]:
        """Give the citation as the JSON object of the report (spec 05)."""
        return {"file": self.file, "item": self.item, "session": self.session, "text": self.text}


@dataclass(frozen=True, slots=True)
class AuditedSource:
    """One distinct pointer of one target, its answer, and all that rests on it.

    Attributes:
        resolution: the answer.
        cited_by: the places that cite it.
        waiver: who answers for it not being available; None: it counts.
        consequences: of one that is not available: all that rests on it, the nearest first.
        consequences_left_out: how many more are known, at least.
        folder: where the root of its kind lies, as the report names files (`transcripts/` in a
            home); None: which file a transcript's record is in is not known.
        denied_why: the reason that a rule of the operator's own policy gives for denying it;
            decided from the pointer alone, so that it tells nothing of the source.
    """

    resolution: SourceResolution
    cited_by: tuple[Citation, ...] = ()
    waiver: Waiver | None = None
    consequences: tuple[Consequence, ...] = ()
    consequences_left_out: int = 0
    folder: str | None = None
    denied_why: str = ""

    @property
    def beyond_cited(self) -> tuple[Consequence, ...]:
        """Give the consequences that are not among the places which cite the pointer."""
        cited = {(one.kind, one.file, one.item) for one in self.cited_by}
        found = self.consequences
        return tuple([one for one in found if (one.kind, one.file, one.item) not in cited])

    def to_dict(self) -> dict[str, object]:
        """Give the result as the JSON object of the report (spec 05); never an excerpt."""
        answer = self.resolution.to_dict(include_excerpt=False)
        payload = {key: answer[key] for key in _RESULT_KEYS}
        payload["cited_by"] = [citation.to_dict() for citation in self.cited_by]
        payload["consequences"] = [one.to_dict() for one in self.consequences]
        payload["consequences_left_out"] = self.consequences_left_out
        if self.waiver is not None:
            payload["waiver"] = self.waiver.to_dict()
        if self.denied_why:
            payload["denied_why"] = self.denied_why
        return payload


@dataclass(frozen=True, slots=True)
class CheckedTranscript:
    """One transcript that was checked whole; its faults stand among the findings.

    Attributes:
        target: the file, relative to the target that was named.
        format: the transcript format, as in `--as`.
        sessions: the session ids in it.
        records: how many records were read.
        calls: function calls.
        call_results: results of function calls.
        unknown_types: record types outside the known ones, with their number.
        first_time: `recorded_at` of the first record that has one.
        last_time: the same of the last record.
        sha256: of the whole file, 64 hex digits; None where it could not be read whole.
        findings: number of findings by code.
        references: number of references to what exists elsewhere, by state.
    """

    target: str
    format: str
    sessions: tuple[str, ...]
    records: int
    calls: int
    call_results: int
    unknown_types: Mapping[str, int] = field(default_factory=_nothing)
    first_time: str | None = None
    last_time: str | None = None
    sha256: str | None = None
    findings: Mapping[str, int] = field(default_factory=_nothing)
    references: Mapping[str, int] = field(default_factory=_nothing)

    def to_dict(self) -> dict[str, object]:
        """Give the transcript as the JSON object of the report (spec 05)."""
        return {
            "target": self.target,
            "format": self.format,
            "sessions": list(self.sessions),
            "records": self.records,
            "calls": self.calls,
            "call_results": self.call_results,
            "unknown_types": dict(sorted(self.unknown_types.items())),
            "first_time": self.first_time,
            "last_time": self.last_time,
            "sha256": self.sha256,
            "findings": dict(sorted(self.findings.items())),
            "references": dict(sorted(self.references.items())),
        }


@dataclass(frozen=True, slots=True)
class CheckedReference:
    """What a record of a transcript says exists elsewhere, and its state.

    Attributes:
        target: the transcript's file, relative to the target that was named.
        location: the record that refers.
        kind: which sort of reference, in the format's own words.
        status: one of the five states.
        conclusive: False where the check could not come to an end.
        message: one line: what was looked for, and what is there.
    """

    target: str
    location: Location
    kind: str
    status: SourceResolutionStatus
    conclusive: bool
    message: str

    def to_dict(self) -> dict[str, object]:
        """Give the reference as the JSON object of the report."""
        return {
            "target": self.target,
            "location": self.location.to_dict(),
            "kind": self.kind,
            "status": str(self.status),
            "conclusive": self.conclusive,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class CheckedSeal:
    """A log of seals that was held against the operator's key.

    Attributes:
        target: the home, relative to what was named; `.` where it was named itself.
        key: name and id of the key.
        origin: the log's name for itself; None where no checkpoint of it could be trusted.
        seals: how many checkpoints were verified.
        size: number of entries under the last of them.
        root: the tree's root under the last of them, 64 hex digits; None without one.
        is_sound: every checkpoint there is was verified.
        errors: how many errors the home and its log had under this key, waived ones among them.
        denied: how many sealed sessions and artifacts the operator's policy denies, so that they
            were not compared.
    """

    target: str
    key: str
    origin: str | None
    seals: int
    size: int
    root: str | None
    is_sound: bool
    errors: int = 0
    denied: int = 0

    @property
    def not_compared(self) -> str:
        """What the log was not held against, in words; empty: nothing was left out."""
        if not self.denied:
            return ""
        return f"{self.denied:,} not compared: the operator's policy denies them"

    def to_dict(self) -> dict[str, object]:
        """Give the seal as the JSON object of the report."""
        return {
            "target": self.target,
            "key": self.key,
            "origin": self.origin,
            "seals": self.seals,
            "size": self.size,
            "root": self.root,
            "is_sound": self.is_sound,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a report; the first eight are about sources, `total` is the sum of seven.

    `waived` counts sources again: those that are not available and a waiver covers.
    """

    total: int = 0
    available: int = 0
    missing: int = 0
    denied: int = 0
    corrupt: int = 0
    unsupported: int = 0
    inconclusive: int = 0
    not_checked: int = 0
    transcripts_not_checked: int = 0
    uncited: int = 0
    waived: int = 0
    findings: Mapping[str, int] = field(default_factory=_nothing)
    references: Mapping[str, int] = field(default_factory=_nothing)

    def to_dict(self) -> dict[str, object]:
        """Give the summary as the JSON object of the report (spec 05)."""
        return {
            "total": self.total,
            "available": self.available,
            "missing": self.missing,
            "denied": self.denied,
            "corrupt": self.corrupt,
            "unsupported": self.unsupported,
            "inconclusive": self.inconclusive,
            "not_checked": self.not_checked,
            "transcripts_not_checked": self.transcripts_not_checked,
            "uncited": self.uncited,
            "waived": self.waived,
            "findings": dict(sorted(self.findings.items())),
            "references": dict(sorted(self.references.items())),
        }


@dataclass(frozen=True, slots=True)
class AuditReport:
    """One whole run.

    Attributes:
        targets: what was named on the command line, without machine paths.
        started_at: ISO 8601 in UTC; empty while the run goes on.
        finished_at: the same.
        sources: sorted by pointer, then by who cites it.
        findings: what was noticed beside the states, the first of each code and target.
        finding_counts: how often each code was noticed, also where not all are listed.
        waived_counts: how many of these a waiver covers.
        waivers: all that the operator gave, also those that are over or covered nothing.
        waiver_states: what became of each of them, in the same order.
        transcripts: what was checked whole, sorted by target.
        references: what their records say exists elsewhere, the first of each state and target.
        reference_counts: how many references there are, by state.
        seals: logs of seals that were checked, sorted by target.
        not_checked: sources the run did not come to.
        transcripts_not_checked: files that may be transcripts, which the run did not come to.
        uncited: transcripts and artifacts of homes that nothing cites.
        is_interrupted: the run was ended from outside before its work was done.
        weakened_by_environment: variables that set an option which weakens the verdict.
        is_sandboxed: all of it was read in a process that could do nothing else (`--sandbox`).
        tenant: who asked; None where nobody said.
        outside_names: what findings and citations name that is no file of a target: the operator's
            own files, entry points.
    """

    targets: tuple[str, ...] = ()
    started_at: str = ""
    finished_at: str = ""
    sources: tuple[AuditedSource, ...] = ()
    findings: tuple[Finding, ...] = ()
    finding_counts: Mapping[str, int] = field(default_factory=_nothing)
    waived_counts: Mapping[str, int] = field(default_factory=_nothing)
    waivers: tuple[Waiver, ...] = ()
    waiver_states: tuple[WaiverState, ...] = ()
    transcripts: tuple[CheckedTranscript, ...] = ()
    references: tuple[CheckedReference, ...] = ()
    reference_counts: Mapping[str, int] = field(default_factory=_nothing)
    seals: tuple[CheckedSeal, ...] = ()
    not_checked: int = 0
    transcripts_not_checked: int = 0
    uncited: int = 0
    is_interrupted: bool = False
    weakened_by_environment: tuple[str, ...] = ()
    is_sandboxed: bool = False
    tenant: str | None = None
    outside_names: frozenset[str] = frozenset()

    @property
    def given_waivers(self) -> tuple[tuple[Waiver, WaiverState], ...]:
        """Give each waiver of the operator with what became of it."""
        unknown = (WaiverState.NOT_KNOWN,) * (len(self.waivers) - len(self.waiver_states))
        return tuple(zip(self.waivers, (*self.waiver_states, *unknown), strict=False))

    @property
    def summary(self) -> Summary:
        """Count the sources; an inconclusive one counts as that alone (spec 01.2)."""
        states = dict.fromkeys(SourceResolutionStatus, 0)
        inconclusive = 0
        for source in self.sources:
            if source.resolution.conclusive:
                states[source.resolution.status] += 1
            else:
                inconclusive += 1
        return Summary(
            total=len(self.sources) + self.not_checked,
            available=states[SourceResolutionStatus.AVAILABLE],
            missing=states[SourceResolutionStatus.MISSING],
            denied=states[SourceResolutionStatus.DENIED],
            corrupt=states[SourceResolutionStatus.CORRUPT],
            unsupported=states[SourceResolutionStatus.UNSUPPORTED],
            inconclusive=inconclusive,
            not_checked=self.not_checked,
            transcripts_not_checked=self.transcripts_not_checked,
            uncited=self.uncited,
            waived=sum(source.waiver is not None for source in self.sources),
            findings=self.finding_counts,
            references=self.reference_counts,
        )
