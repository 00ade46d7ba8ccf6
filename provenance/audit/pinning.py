"""Confirms what a home cites, and writes it down in a lock file.

Guarantees: only what is `available` in this very run is pinned. The lock file is read and replaced
while the folder that it lies in is locked, so that two runs at once lose no entry; it is the old
file or the new one at any instant. Nothing is removed but pins that this run saw in the lock before
it read what the home cites, whose evidence it found as it was pinned, and that nothing cites once
the folder is held: another run may have pinned it meanwhile, another state may cite it again.

Example:
    >>> from provenance.audit.request import TargetError
    >>> try:
    ...     gather(PinRequest(home="/nowhere"))
    ... except TargetError as error:
    ...     print(error)
    nowhere: expected a state home, got no folder that can be read
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from provenance.audit.home import HOME_MARKERS, HomeReader
from provenance.audit.lock import NO_PINS, HeldPins
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.pin_plan import Evidence
from provenance.audit.pin_state import cite_state
from provenance.audit.request import AuditRequest, TargetError
from provenance.audit.verifying import PartVerifier
from provenance.audit_report import pointer_order
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import Directory, SourceAbsent, TrustedRoot, read_whole
from provenance.fs.places import Place, place_of
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.locks import (
    LOCK_FILE,
    LockError,
    LockFile,
    canonical_pointer,
    encode_lock,
    parse_lock,
)
from provenance.policy import Policy
from provenance.resolution import SourceResolution, SourceResolutionStatus

__all__ = ["Gathered", "LockPlace", "PinRequest", "gather", "locked_place", "read_cited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinRequest:
    """One run of `pin`.

    Attributes:
        home: the state home.
        state: pin what this state cites alone: a name in the home (a file, the current version in
            its store, or both), or a file; None: everything.
        lock: the lock file; None: the home's own.
        transcript_root: the operator's, before the home's own.
        artifact_root: the same.
        policy: the operator's policy.
        tenant: who asks.
        jobs: processes that verify.
        limits: bounds on what is read, and on the lock that is written.
    """

    home: str
    state: str | None = None
    lock: str | None = None
    transcript_root: str | None = None
    artifact_root: str | None = None
    policy: Policy | None = None
    tenant: str | None = None
    jobs: int = 1
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a home cites and what became of it.

    Attributes:
        confirmed: what is cited and available.
        unavailable: what is cited and is not, sorted by pointer.
        findings: errors: something that cites, or may forbid, could not be read.
        before: the lock as it was before anything else was read.
        altered: what is pinned, not cited, and has other bytes than pinned now.
        unused: pointers of pins that nothing cites and whose evidence is as it was pinned.
        gone: what is pinned, not cited and not available: such a pin stays.
    """

    confirmed: tuple[Evidence, ...]
    unavailable: tuple[SourceResolution, ...]
    findings: tuple[Finding, ...]
    before: LockFile
    altered: tuple[Evidence, ...] = ()
    unused: frozenset[str] = frozenset()
    gone: tuple[SourceResolution, ...] = ()

    def droppable(self, present: LockFile, cited: Collection[str]) -> frozenset[str]:
        """Give the pins that nothing rests on any more, that are intact and were there before.

        Args:
            present: the lock as it is now.
            cited: what is cited now, in canonical form.
        """
        return frozenset(
            pointer
            for pointer in self.unused.difference(cited)
            if present.by_pointer.get(pointer) == self.before.by_pointer[pointer]
        )


class LockPlace:
    """The lock file of one run while its folder is held; see `locked_place`."""

    def __init__(self, folder: Directory, name: str, *, limits: Limits) -> None:
        """Name the file in its open folder."""
        self._folder = folder
        self._name = name
        self._max_bytes = limits.max_document_bytes

    def read(self) -> LockFile:
        """Read the lock; an empty one where there is no file.

        Raises:
            CtxauditError: it is there and cannot be read, or is no lock file.
        """
        return _read(self._folder, self._name, max_bytes=self._max_bytes)

    def write(self, lock: LockFile) -> None:
        """Replace the lock.

        Raises:
            LockError: it is larger than what is read.
            WriteFailed: the old one is as it was.
        """
        data = encode_lock(lock)
        if len(data) > self._max_bytes:
            raise LockError(f"file: expected at most {self._max_bytes} bytes, got {len(data)}")
        self._folder.replace(self._name, data)


@contextlib.contextmanager
def locked_place(request: PinRequest) -> Iterator[LockPlace]:
    """Hold the folder of the lock file alone, among the runs of `pin`.

    Raises:
        TargetError: the folder cannot be opened.
        LockTimeout: another run held it for 30 seconds.
        WriteFailed: the file system has no locks.
    """
    root, name = _place(request)
    with root, _opened(root, request) as folder, folder.lock():
        yield LockPlace(folder, name, limits=request.limits)


def gather(request: PinRequest) -> Gathered:
    """Read what the home cites, and verify it, with what is pinned and not cited.

    Raises:
        TargetError: the home, the state or the named lock cannot be used.
    """
    with TrustedRoot(request.home) as home:
        _require_home(home, request)
        # 1. The lock first: what is pinned by others from here on is not ours to remove.
        before, fault = _lock_before(request)
        # 2. What is cited, below which roots, under which policies.
        part, errors = _read_cited(home, request)
        if fault is not None and fault.code not in {one.code for one in errors}:
            errors.append(fault)
        # 3. Verify; what forbids or cites could not be read whole: then nothing is.
        found: list[SourceResolution] = []
        kept: list[SourceResolution] = []
        if not errors:
            pointers = sorted(part.citations, key=pointer_order)
            uncited = sorted(before.by_pointer.keys() - _canonical(part), key=pointer_order)
            with PartVerifier(part, tenant=request.tenant) as verifier:
                found = verifier.verify(pointers, jobs=request.jobs)
                kept = verifier.verify(uncited, jobs=request.jobs)
        part.close()
    there = [one for one in map(_evidence, kept) if one is not None]
    altered = tuple(one for one in there if not one.is_pinned_by(before.by_pointer[one.pointer]))
    return Gathered(
        tuple(filter(None, map(_evidence, found))),
        tuple(one for one in found if one.status is not SourceResolutionStatus.AVAILABLE),
        tuple(errors),
        before,
        altered,
        frozenset(one.pointer for one in there) - {one.pointer for one in altered},
        tuple(one for one in kept if one.status is not SourceResolutionStatus.AVAILABLE),
    )


def read_cited(request: PinRequest) -> tuple[frozenset[str], tuple[Finding, ...]]:
    """Read again what the home cites, in canonical form; verifies nothing.

    Raises:
        TargetError: as `gather`.
    """
    with TrustedRoot(request.home) as home:
        part, errors = _read_cited(home, request)
        part.close()
    return _canonical(part), tuple(errors)


def _read_cited(home: TrustedRoot, request: PinRequest) -> tuple[AuditPart, list[Finding]]:
    notes = Notes()
    reader = HomeReader(_audit_request(request), notes)
    part = reader.part_of(home, prefix="")
    # The old pins are what is asked about: they do not answer.
    own = part.pins.own
    part.pins = NO_PINS
    if request.state is None:
        reader.read_citing(home, part)
        # As `verify --lock` counts what is cited, so that it finds each of them pinned.
        if own is not None and _is_elsewhere(request):
            part.cite_pinned(own, LOCK_FILE)
            part.pins = HeldPins(own)  # and it has to fit, as it has there
    else:
        cite_state(request.state, home, part)
    return part, [one for one in notes.listed() if one.severity is Severity.ERROR]


def _is_elsewhere(request: PinRequest) -> bool:
    """Whether the lock is another file than that of the home."""
    own = str(PurePath(request.home, LOCK_FILE))
    return request.lock is not None and place_of(request.lock, (own,)) is not Place.TARGET


def _canonical(part: AuditPart) -> frozenset[str]:
    return frozenset(canonical_pointer(text) or text for text in part.citations)


def _evidence(found: SourceResolution) -> Evidence | None:
    pointer = canonical_pointer(found.pointer)
    if (
        found.status is not SourceResolutionStatus.AVAILABLE
        or pointer is None
        or found.evidence_sha256 is None
        or found.evidence_bytes is None
    ):
        return None
    return Evidence(pointer, found.evidence_sha256, found.evidence_bytes)


def _audit_request(request: PinRequest) -> AuditRequest:
    return AuditRequest(
        transcript_root=request.transcript_root,
        artifact_root=request.artifact_root,
        policy=request.policy,
        tenant=request.tenant,
        limits=request.limits,
    )


def _require_home(home: TrustedRoot, request: PinRequest) -> None:
    label = home.path.name or "home"
    try:
        with home.open_directory() as folder:
            names = {entry.name for entry in folder.entries()}
    except CtxauditError:
        raise TargetError(
            f"{label}: expected a state home, got no folder that can be read"
        ) from None
    if HOME_MARKERS.isdisjoint(names):
        raise TargetError(f"{label}: expected a state home, got another folder")


def _place(request: PinRequest) -> tuple[TrustedRoot, str]:
    if request.lock is None:
        return TrustedRoot(request.home), LOCK_FILE
    path = PurePath(request.lock)
    if not path.name:
        raise TargetError("--lock: expected a file name, got none")
    return TrustedRoot(path.parent), path.name


@contextlib.contextmanager
def _opened(root: TrustedRoot, request: PinRequest) -> Iterator[Directory]:
    try:
        folder = root.open_directory()
    except CtxauditError as error:
        raise TargetError(f"{_label(request)}: folder: {error}") from None
    with folder:
        yield folder


def _label(request: PinRequest) -> str:
    return LOCK_FILE if request.lock is None else f"--lock: {PurePath(request.lock).name}"


def _lock_before(request: PinRequest) -> tuple[LockFile, Finding | None]:
    root, name = _place(request)
    with root, _opened(root, request) as folder:
        try:
            return _read(folder, name, max_bytes=request.limits.max_document_bytes), None
        except CtxauditError as error:
            if request.lock is not None:
                raise TargetError(f"{_label(request)}: {error}") from None
            fault = Finding("lock_unreadable", Severity.ERROR, LOCK_FILE, message=str(error))
            return LockFile(), fault


def _read(folder: Directory, name: str, *, max_bytes: int) -> LockFile:
    try:
        file = folder.open_file(name)
    except SourceAbsent:
        return LockFile()
    with file:
        return parse_lock(read_whole(file, max_bytes=max_bytes), max_bytes=max_bytes)
