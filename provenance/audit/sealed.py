"""A home held against its seals: the log first, then what it covers, then each cited source.

Guarantees: what a home's own log says counts only under the key that the operator brought. Where
the log is not sound nothing is `sealed`; where there is none, that is an error and never passed
over. What is sealed is compared under the operator's policy and limits alone: a home must not get
around its seals by what it denies. What the operator denies is not opened, and not named.

Example:
    >>> from provenance.audit.notes import Notes
    >>> from provenance.sealing.keys import Verifier
    >>> notes, trust = Notes(), SealTrust(Verifier("example.com/a", bytes(32)))
    >>> seal = PartSeal(AuditPart(), AuditRequest(seal=trust), trust, notes)
    >>> [finding.code for finding in notes.listed()], seal.checked.is_sound
    (['seals_missing'], False)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sized
from dataclasses import replace

from provenance.artifacts.sealed import SealedLines, sealed_line
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.audit.seal_leaves import Collected, collect, operators_part
from provenance.audit.sealed_artifacts import ArtifactFaultCode, SealedArtifacts
from provenance.audit.sealed_ledger import sealed_entries
from provenance.audit_report import CheckedSeal
from provenance.findings import Finding, Location, Severity
from provenance.locks import LOCK_FILE
from provenance.pointers import SourcePointer, SourcePointerError, parse_source_pointer
from provenance.resolution import (
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
    resolution_for,
)
from provenance.sealing.history import (
    RECEIPT_PREFIX,
    STORE_PREFIX,
    Difference,
    DifferenceCode,
    differences,
    unsealed,
)
from provenance.sealing.log import SEALS_FOLDER
from provenance.sealing.reading import read_log
from provenance.sealing.sealed_log import SealedLog, SealTrust

__all__ = ["PartSeal"]

_AVAILABLE = SourceResolutionStatus.AVAILABLE
_STORE = STORE_PREFIX.decode()
_RECEIPTS = RECEIPT_PREFIX.decode()
_STORE_FILE = "states/states.sqlite3"
_LEDGER_DIFFERENCES = (DifferenceCode.LEDGER_EDITED, DifferenceCode.LEDGER_REMOVED)
_EVENT_DIFFERENCES = (
    DifferenceCode.EVENT_EDITED,
    DifferenceCode.EVENTS_REMOVED,
    DifferenceCode.POOL_REWRITTEN,
)
_LOCK_DIFFERENCES = (DifferenceCode.LOCK_CHANGED, DifferenceCode.LOCK_REMOVED)


class PartSeal:
    """The seals of one part; building it reads the log and compares the home with it."""

    def __init__(
        self, part: AuditPart, request: AuditRequest, trust: SealTrust, notes: Notes
    ) -> None:
        """Check the log of a part's home; findings go to `notes`."""
        self._part = part
        self._request = request
        self._notes = notes
        self.operators = operators_part(part, request)
        self._log = SealedLog()
        self._now: Collected | None = None
        self._artifacts: SealedArtifacts | None = None
        self._verified: set[tuple[str, str, str]] = set()
        self._told_new: set[tuple[str, str]] = set()
        self._errors = 0
        self._not_asked = 0
        if part.home is None:
            message = "seals: expected a state home, got a target that is none"
            self._note("seals_missing", Severity.ERROR, "", message)
        else:
            self._log = read_log(part.home, trust.verifier, held=trust.held)
            self._note_faults()
            if self._log.checkpoints:
                self._now = collect(
                    part.home,
                    self.operators,
                    sealed=self._log.history,
                    tenant=request.tenant,
                    withheld_by=part,
                )
                self._artifacts = SealedArtifacts(self._log.history, self._now)
                self._compare(self._now)
        self._key = trust.verifier.label

    @property
    def checked(self) -> CheckedSeal:
        """What the report says of this log; how many errors it had so far among it."""
        last = self._log.last
        return CheckedSeal(
            target=self._part.prefix.rstrip("/") or ".",
            key=self._key,
            origin=None if last is None else last.origin,
            seals=len(self._log.checkpoints),
            size=0 if last is None else last.size,
            root=None if last is None else last.root.hex(),
            is_sound=self._log.is_sound,
            errors=self._errors,
            denied=self._count_denied(),
        )

    def judge(self, resolution: SourceResolution) -> SourceResolution:
        """Hold an answer against the log: raise its strength, refuse it, or tell that it is new."""
        if resolution.status is not _AVAILABLE or not self._log.is_sound or self._now is None:
            return resolution
        try:
            pointer = parse_source_pointer(resolution.pointer)
        except SourcePointerError:
            return resolution
        expected = self._sealed_digests(pointer)
        if resolution.evidence_sha256 in expected:
            digest = resolution.evidence_sha256 or ""
            self._verified.add((pointer.session_id, pointer.artifact_name or "", digest))
            if self._is_told_otherwise(pointer.session_id):
                return resolution
            return replace(resolution, strength=Strength.SEALED)
        if expected:
            self._errors += 1
            return resolution_for(
                resolution.pointer, Reason.SEAL_MISMATCH, source_type=resolution.source_type
            )
        is_new = resolution.evidence_sha256 in self._present_digests(pointer, self._now)
        is_tolerated = is_new and self._request.min_strength is not Strength.SEALED
        kind = "event" if pointer.artifact_name is None else "ledger"
        self._told_new.add((kind, pointer.session_id))
        self._errors += not is_tolerated
        self._notes.add(
            Finding(
                "not_sealed",
                Severity.WARNING if is_tolerated else Severity.ERROR,
                self._part.name_of(resolution.pointer),
                Location(native_id=resolution.pointer),
                "source: expected an entry of the log, got "
                + ("one that no seal covers" if is_new else "none"),
            )
        )
        return resolution

    def _is_told_otherwise(self, session: str) -> bool:
        """Whether another log has the same events, and other words for what they refer to."""
        is_claimed = self._now is not None and session in self._now.claims
        return is_claimed and any(one == session for one, _ in self._log.history.pools)

    def artifacts(self) -> Iterator[str]:
        """Give pointers to the sealed artifacts that are not known to have their bytes yet.

        They are to be verified below the roots of `operators`.
        """
        if self._artifacts is None or not self._log.is_sound:
            return
        yield from self._artifacts.pointers(self._verified)

    def ledger(self) -> SealedLines:
        """Give the sealed ledger lines, for `--fast`; none where the log is not sound.

        Under a seal the BLAKE3 digest in a line may stand for the SHA-256.
        """
        if not self._log.is_sound or self._now is None or self._part.artifacts is None:
            return SealedLines({})
        entries = sealed_entries(
            self._part.artifacts,
            self._log.history,
            limits=self._part.limits,
            skipped=self._now.leaves.skipped,
        )
        told = {key: sealed_line(entry) for key, entry in entries.items()}
        return SealedLines({key: line for key, line in told.items() if line is not None})

    def take_artifact(self, resolution: SourceResolution) -> None:
        """Note what is wrong with a sealed artifact, cited or not."""
        fault = None if self._artifacts is None else self._artifacts.fault_of(resolution)
        if fault is None:
            return
        if fault.code is ArtifactFaultCode.NOT_ASKED:
            self._not_asked += 1
        elif fault.code is ArtifactFaultCode.NOT_COMPARED:
            self._not_compared(fault.target, str(resolution.reason))
        else:
            severity = Severity.WARNING if fault.is_accepted else Severity.ERROR
            self._note(str(fault.code), severity, fault.target, fault.message)

    def finish(self) -> None:
        """Tell what is new and what was not asked for, and close."""
        if self._now is not None and self._artifacts is not None:
            for kind, name, count in unsealed(self._log.history, self._now.leaves):
                of = "event" if kind == "pool" else kind
                if count > 0 and self._told_new.isdisjoint({(kind, name), (of, name)}):
                    self._note_new(kind, name, f"{count} more")
            for (kind, name), size in sorted(self._now.torn.items()):
                if (kind, name) not in self._told_new and not self._is_cut(kind, name, self._now):
                    self._note_new(kind, name, f"a line that is not whole ({size} bytes)")
            for session, file in sorted(self._now.claims.items()):
                message = f"event: expected one log of {session}, got another, which no seal covers"
                target = self._part.transcript_folder + file
                self._note("not_sealed", Severity.WARNING, target, message)
            if denied := self._count_denied():
                message = (
                    "policy: expected to compare all that is sealed, got "
                    f"{denied} sessions or artifacts that the operator's policy denies"
                )
                self._note("seal_not_asked", Severity.INFO, "", message)
        self.operators.close()

    def _count_denied(self) -> int:
        of_sessions = 0 if self._artifacts is None else self._artifacts.count_denied()
        return self._not_asked + of_sessions

    def _sealed_digests(self, pointer: SourcePointer) -> frozenset[str]:
        history = self._log.history
        if pointer.artifact_name is not None:
            return history.stored_digests(pointer.session_id, pointer.artifact_name)
        digests = history.events.get(pointer.session_id, ())
        ordinal = pointer.sequence or 0
        return frozenset(digests[ordinal - 1 : ordinal])

    @staticmethod
    def _present_digests(pointer: SourcePointer, now: Collected) -> frozenset[str]:
        if pointer.artifact_name is None:
            digests = now.leaves.events.get(pointer.session_id, ())
            ordinal = pointer.sequence or 0
            return frozenset(digests[ordinal - 1 : ordinal])
        return frozenset(
            line.artifact_sha256
            for line in now.leaves.ledgers.get(pointer.session_id, ())
            if line.filename == pointer.artifact_name and line.artifact_sha256 is not None
        )

    def _note_faults(self) -> None:
        for fault in self._log.faults:
            severity = Severity.WARNING if fault.is_warning else Severity.ERROR
            target = f"{SEALS_FOLDER}/{fault.file}" if fault.file else SEALS_FOLDER
            self._note(str(fault.code), severity, target, fault.message)

    def _compare(self, now: Collected) -> None:
        for one in differences(self._log.history, now.leaves):
            self._note(
                str(one.code), Severity.ERROR, self._file_of(one), one.message, number=one.number
            )
        for (kind, name), why in sorted(now.unread.items()):
            # What its content is to blame for was told as what it is, if it was sealed.
            if (kind, name) not in now.spoiled or not self._is_sealed(kind, name):
                self._not_compared(self._file_named(kind, name), why)

    def _is_sealed(self, kind: str, name: str) -> bool:
        history = self._log.history
        match kind:
            case "event" | "ledger":
                return history.has(kind, name)
            case "lock":
                return bool(history.lock)
            case "store":
                return any(one.startswith(STORE_PREFIX) for one in history.states)
            case _:
                return os.fsencode(name) in history.states

    def _is_cut(self, kind: str, name: str, now: Collected) -> bool:
        """Whether lines are gone that were sealed: what is left of one is told as that."""
        sealed: Mapping[str, Sized] = self._log.history.events
        there: Mapping[str, Sized] = now.leaves.events
        if kind == "ledger":
            sealed, there = self._log.history.ledgers, now.leaves.ledgers
        return len(there.get(name, ())) < len(sealed.get(name, ()))

    def _not_compared(self, target: str, why: str) -> None:
        message = f"file: expected to compare it with its seal, got: {why}"
        self._note("seal_not_compared", Severity.ERROR, target, message)

    def _file_of(self, one: Difference) -> str:
        if one.code in _EVENT_DIFFERENCES:
            return self._file_named("event", one.name)
        if one.code in _LEDGER_DIFFERENCES:
            return self._file_named("ledger", one.name)
        if one.code in _LOCK_DIFFERENCES:
            return self._file_named("lock", one.name)
        return self._file_named("state", one.name)

    def _file_named(self, kind: str, name: str) -> str:
        match kind:
            case "event" | "pool":
                files = {} if self._now is None else self._now.files
                file = files.get(name, f"{name}.jsonl")
                return f"{self._part.transcript_folder}{file}" if name else "transcripts"
            case "ledger":
                return f"{name}/tool-results.jsonl" if name else "."
            case "lock":
                return LOCK_FILE
            case "store":
                return _STORE_FILE
            case "receipt":
                return name or "receipts"
            case _ if name.startswith(_STORE):
                return f"{_STORE_FILE}:{name.removeprefix(_STORE)}"
            case _ if name.startswith(_RECEIPTS):
                return name
            case _:
                return f"states/{name}" if name else "states"

    def _note_new(self, kind: str, name: str, got: str) -> None:
        self._told_new.add((kind, name))
        message = f"{kind}: expected no more than was sealed, got {got}"
        self._note("not_sealed", Severity.WARNING, self._file_named(kind, name), message)

    def _note(
        self, code: str, severity: Severity, target: str, message: str, *, number: int | None = None
    ) -> None:
        self._errors += severity is Severity.ERROR
        name = self._part.prefix + target if target else self._part.prefix.rstrip("/") or "."
        place = Location() if number is None else Location(ordinal=number, line=number)
        self._notes.add(Finding(code, severity, name, place, message))
