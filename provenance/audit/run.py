"""Runs an audit: reads the targets, verifies what they cite, gives one report.

Guarantees: each distinct pointer of a part is verified once, and counted once: as verified or as
not checked. An interrupt (`KeyboardInterrupt`) ends the verifying and never loses what is verified.
Nothing is written anywhere. The report is the same for any number of processes, but for its times.

Example:
    >>> from datetime import UTC, datetime
    >>> clock = lambda: datetime(2026, 1, 1, tzinfo=UTC)
    >>> request = AuditRequest(
    ...     pointers=("transcript:s1:1",), transcript_root="/nowhere", artifact_root="/nowhere"
    ... )
    >>> run_audit(request, clock=clock, stopwatch=lambda: 0.0).summary.missing
    1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from provenance.audit.deciding import (
    Decided,
    decided,
    operators_reason,
    source_order,
    tell_decisions,
)
from provenance.audit.following import audited_source
from provenance.audit.labels import label_of_files
from provenance.audit.listener import Listener
from provenance.audit.mentions import Mentions
from provenance.audit.notes import Notes
from provenance.audit.pace import Pace, batches
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest, TargetError
from provenance.audit.sealed import PartSeal
from provenance.audit.targets import read_targets
from provenance.audit.trees import TreeChecker
from provenance.audit.verifying import PartVerifier
from provenance.audit.waiving import WaiverBook
from provenance.audit.withholding import LIMITS, Withheld, answered_otherwise
from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    pointer_order,
)
from provenance.consequences import ConsequenceGraph
from provenance.findings import Finding, Location, Severity
from provenance.pointers import SourcePointerKind
from provenance.resolution import (
    STRENGTH_ORDER,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
)
from provenance.transcripts.formats import rejected_formats
from provenance.waivers import Waiver

__all__ = ["Listener", "run_audit"]

_FAST_WITHOUT_SEAL = (
    "--fast: expected --seal too, got none: only where a seal covers the ledger line of an "
    "artifact may its BLAKE3 stand in for SHA-256"
)

_REJECTED = "entry point: expected a transcript format with a name of its own, got another object"


def run_audit(
    request: AuditRequest,
    *,
    clock: Callable[[], datetime],
    stopwatch: Callable[[], float],
    listener: Listener | None = None,
    is_interrupted: bool = False,
) -> AuditReport:
    """Run one audit.

    Args:
        request: what is asked.
        clock: the time of day, with a zone.
        stopwatch: seconds that only go up, to pace the batches with.
        listener: hears of results as they come; its `KeyboardInterrupt` counts as an interrupt
            from `on_plan` to `on_verified`.
        is_interrupted: an interrupt came before; count what there is and verify nothing.

    Raises:
        TargetError: a target cannot be used.
    """
    return _Run(request, clock, stopwatch, listener or Listener()).report(
        is_interrupted=is_interrupted
    )


class _Run:
    def __init__(
        self,
        request: AuditRequest,
        clock: Callable[[], datetime],
        stopwatch: Callable[[], float],
        listener: Listener,
    ) -> None:
        self._request = request
        self._clock = clock
        self._stopwatch = stopwatch
        self._listener = listener
        self._waivers = WaiverBook(request.waivers, today=clock().astimezone(UTC).date())
        self._notes = Notes(self._waivers, held_back=self._listener.held_back)
        self._labels: tuple[str, ...] = ()
        self._sources: list[AuditedSource] = []
        self._decided: list[Decided] = []
        self._fast: Counter[str] = Counter()
        self._withheld = Withheld()
        self._trees = TreeChecker(request, self._notes, listener, self._withheld)
        self._seals: list[PartSeal] = []

    def report(self, *, is_interrupted: bool) -> AuditReport:
        if self._request.fast and self._request.seal is None:
            raise TargetError(_FAST_WITHOUT_SEAL)
        started_at = self._time()
        # 1. What is there to check? A target that cannot be used ends the run here.
        plan = read_targets(self._request, self._notes, on_wait=self._listener.on_wait)
        self._labels = plan.labels
        total = sum(len(part.citations) for part in plan.parts)
        transcripts = sum(map(_number_of_transcripts, plan.parts))
        is_interrupted = is_interrupted or plan.is_interrupted
        try:
            for part in () if is_interrupted else plan.parts:
                part.keep_gc_out_if_opened(self._request.tenant, on_wait=self._listener.on_wait)
        except KeyboardInterrupt:
            is_interrupted = True
        except TargetError:
            for part in plan.parts:
                part.close()
            raise
        # 2. Verify it, until it is done or somebody interrupts.
        if not is_interrupted:
            try:
                self._listener.on_plan(total + transcripts)
                for part in plan.parts:
                    self._verify(part, plan.graph, self._seal_of(part))
                    self._trees.check(part)
                self._listener.on_verified()
            except KeyboardInterrupt:
                is_interrupted = True
                self._listener.on_verified()
        self._trees.finish()
        tell_decisions(self._decided, self._listener, tenant=self._request.tenant)
        for part in plan.parts:
            part.close()
        self._notes.extend(_checked_by_blake3(*told) for told in self._fast.items())
        self._notes.extend(self._withheld.findings())
        if any(part.trees for part in plan.parts):
            for name in rejected_formats():
                self._notes.add(
                    Finding("format_rejected", Severity.WARNING, name, message=_REJECTED)
                )
        is_whole = (
            not is_interrupted
            and total == len(self._sources)
            and transcripts == self._trees.looked_at
        )
        self._notes.listed()  # facts about files are held against the waivers, too
        self._notes.extend(self._waivers.findings(self._request.waivers_file, is_whole=is_whole))
        # 3. Say what was found, and how much was not looked at.
        return AuditReport(
            targets=plan.labels,
            started_at=started_at,
            finished_at=self._time(),
            sources=tuple(sorted(self._sources, key=source_order)),
            findings=self._notes.listed(),
            finding_counts=self._notes.counts(),
            waived_counts=self._notes.waived_counts(),
            waivers=self._waivers.waivers,
            waiver_states=self._waivers.states(is_whole=is_whole),
            transcripts=tuple(sorted(self._trees.checked, key=lambda one: one.target)),
            references=self._trees.references.listed(),
            reference_counts=self._trees.references.counts(),
            seals=tuple(seal.checked for seal in self._seals),
            not_checked=total - len(self._sources),
            transcripts_not_checked=transcripts - self._trees.looked_at,
            uncited=plan.uncited,
            is_interrupted=is_interrupted,
            tenant=self._request.tenant,
            outside_names=self._outside_names(),
        )

    def _seal_of(self, part: AuditPart) -> PartSeal | None:
        trust = self._request.seal
        if trust is None or not (part.home or part.citations or part.trees):
            return None
        seal = PartSeal(part, self._request, trust, self._notes)
        self._seals.append(seal)
        return seal

    def _verify(self, part: AuditPart, graph: ConsequenceGraph, seal: PartSeal | None) -> None:
        if not part.citations and seal is None:
            return
        if self._request.fast and seal is not None:
            part.sealed_ledger = seal.ledger()
        jobs = self._request.jobs
        pace = Pace.for_jobs(jobs)
        mentions = Mentions(part, graph, tenant=self._request.tenant)
        with PartVerifier(
            part,
            tenant=self._request.tenant,
            max_excerpt_chars=self._request.excerpt_characters,
            on_finding=lambda finding: self._hear(finding, part),
        ) as verifier:
            for batch in batches(sorted(part.citations, key=pointer_order), pace):
                before = self._stopwatch()
                answers = verifier.verify(batch, jobs=jobs)
                pace.took(self._stopwatch() - before)
                is_interrupted = not _is_done(partial(mentions.look, answers, jobs=jobs))
                # Kept, counted and told, or none of it: an interrupt waits.
                with self._listener.held_back():
                    if seal is not None:
                        answers = list(map(seal.judge, answers))
                    found = self._found(answers, part, graph)
                    kept = [one for one in found if one.resolution.pointer in verifier.withheld]
                    self._withheld.add(part, sum(one.waiver is None for one in kept))
                    self._sources += found
                    if self._listener.wants_decisions:
                        self._decided += decided(found, part)
                    self._listener.on_sources(found)
                if is_interrupted:
                    raise KeyboardInterrupt
                # Last: an interrupt of this second look loses nothing of the first.
                self._withhold_for_limits(found, part)
        if seal is not None:
            self._verify_sealed(part, seal)

    def _found(
        self, answers: Sequence[SourceResolution], part: AuditPart, graph: ConsequenceGraph
    ) -> list[AuditedSource]:
        found = [
            replace(
                audited_source(answer, part.citations[answer.pointer], graph),
                waiver=self._waiver_of(answer, part),
                folder=self._folder_of(answer, part),
                denied_why=operators_reason(answer, part, tenant=self._request.tenant),
            )
            for answer in answers
        ]
        for source in found:
            self._require_strength(source, part)
            self._count_fast(source.resolution, part)
        return found

    def _withhold_for_limits(self, found: Sequence[AuditedSource], part: AuditPart) -> None:
        """Count what only the home's own limits keep from being judged as it is."""
        request = self._request
        otherwise = answered_otherwise(
            [one.resolution for one in found if one.waiver is None],
            part,
            request.limits,
            tenant=request.tenant,
            jobs=request.jobs,
        )
        self._withheld.add(part, len(otherwise), by=LIMITS)

    def _verify_sealed(self, part: AuditPart, seal: PartSeal) -> None:
        """Look for every sealed artifact, cited or not, whatever the home itself denies."""
        jobs = self._request.jobs
        seal.operators.sealed_ledger = part.sealed_ledger
        with PartVerifier(seal.operators, tenant=self._request.tenant) as verifier:
            for batch in batches(list(seal.artifacts()), Pace.for_jobs(jobs)):
                answers = verifier.verify(batch, jobs=jobs)
                with self._listener.held_back():
                    for resolution in answers:
                        self._count_fast(resolution, part)
                        seal.take_artifact(resolution)
                    self._listener.on_sources(())
        seal.finish()

    def _count_fast(self, resolution: SourceResolution, part: AuditPart) -> None:
        if resolution.checked_by is not None:
            self._fast[part.prefix.rstrip("/") or "."] += 1

    def _waiver_of(self, resolution: SourceResolution, part: AuditPart) -> Waiver | None:
        if resolution.status is SourceResolutionStatus.AVAILABLE:
            return None
        files = [one.file for one in part.citations[resolution.pointer]]
        target = label_of_files(files or [part.name_of(resolution.pointer)], self._labels)
        return self._waivers.of_source(resolution.pointer, target)

    def _folder_of(self, resolution: SourceResolution, part: AuditPart) -> str | None:
        if resolution.source_type == SourcePointerKind.ARTIFACT:
            return part.prefix if self._request.artifact_root is None else ""
        if part.transcript_folder:
            return part.prefix + part.transcript_folder
        # Below a folder of any agent's transcripts a session's file has any name.
        return None if self._request.transcript_root is None else ""

    def _outside_names(self) -> frozenset[str]:
        request = self._request
        named = {request.waivers_file} if request.waivers else set()
        if request.lock is not None:
            named.add(request.lock.label)
        return frozenset(named | {one.target for one in self._notes.listed() if _is_of_code(one)})

    def _require_strength(self, source: AuditedSource, part: AuditPart) -> None:
        wanted, resolution = self._request.min_strength, source.resolution
        if wanted is None or resolution.status is not SourceResolutionStatus.AVAILABLE:
            return
        strength = None if resolution.strength is None else Strength(resolution.strength)
        if strength is not None and STRENGTH_ORDER[strength] >= STRENGTH_ORDER[wanted]:
            return
        self._notes.add(
            Finding(
                "evidence_too_weak",
                Severity.ERROR,
                part.name_of(resolution.pointer),
                Location(native_id=resolution.pointer),
                f"strength: expected {wanted} or more, got {strength}",
            )
        )

    def _hear(self, finding: Finding, part: AuditPart) -> None:
        # A transcript's finding names the file alone; below a home it lies in a folder.
        folder = "" if "/" in finding.target else part.transcript_folder
        is_file = finding.target.endswith(".jsonl")
        self._notes.add(finding, prefix=part.prefix + (folder if is_file else ""))

    def _time(self) -> str:
        return (
            self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        )


def _is_of_code(finding: Finding) -> bool:
    return finding.code == "format_rejected"


def _checked_by_blake3(target: str, count: int) -> Finding:
    """Say for how many artifacts a sealed BLAKE3 was compared; a warning, so every report does."""
    return Finding(
        "checked_by_blake3",
        Severity.WARNING,
        target,
        message=(
            f"artifacts: {count} held against the BLAKE3 of sealed ledger lines (--fast), their "
            "SHA-256 not computed"
        ),
    )


def _is_done(work: Callable[[], None]) -> bool:
    """Do what may be left undone; False where an interrupt ended it. What is verified is kept."""
    try:
        work()
    except KeyboardInterrupt:
        return False
    return True


def _number_of_transcripts(part: AuditPart) -> int:
    return len(part.whole) + sum(len(tree.candidates) for tree in part.trees)
