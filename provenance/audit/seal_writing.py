"""Sealing a home: what is there is held against the log first, and only what is new is added.

Guarantees: a rewritten history is never signed: where a sealed event, ledger line, artifact or
checkpoint no longer holds, nothing is written and every fault is named. The log's own checkpoints
must be of the very key that signs, and the log has to contain the checkpoint that somebody holds. A
log is not begun anew beside what is left of one. Entries are on the disk before the checkpoint that
covers them; two runs at once never leave two histories. Without anything new nothing is written.

Example:
    >>> from provenance.sealing.keys import generate_signer
    >>> seal_home(TrustedRoot("/nowhere"), generate_signer("example.com/a"))
    Traceback (most recent call last):
    provenance.audit.seal_writing.NothingToSeal: home: expected something to seal, got nothing
"""

from __future__ import annotations

from dataclasses import dataclass

from provenance.audit.pace import Pace, batches
from provenance.audit.part import AuditPart
from provenance.audit.seal_leaves import Collected, collect
from provenance.audit.sealed_artifacts import ArtifactFault, ArtifactFaultCode, SealedArtifacts
from provenance.audit.verifying import PartVerifier
from provenance.errors import CallerError, DataError
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.sealing.checkpoint import Checkpoint, is_origin
from provenance.sealing.history import VERSIONED, Difference, differences, new_leaves
from provenance.sealing.keys import Signer, sign_note
from provenance.sealing.log import SEALS_FOLDER, publish_checkpoint, publish_leaves
from provenance.sealing.merkle import GrowingTree, leaf_hash
from provenance.sealing.reading import read_log
from provenance.sealing.sealed_log import LogFault, SealedLog

__all__ = ["NothingToSeal", "OriginError", "Seal", "SealRefused", "seal_home"]

# How often another run may come first before we give up; each time it has done our work.
_ATTEMPTS = 20
_TRANSCRIPTS = "transcripts"

_Told = tuple[str, str, str]


class NothingToSeal(DataError):
    """A home has nothing that a seal covers."""

    code = "nothing_to_seal"


class OriginError(CallerError, ValueError):
    """An origin that a log cannot have, or that this log does not have."""

    code = "invalid_origin"


class SealRefused(DataError):
    """The home or its log is not what was sealed; nothing was written.

    Attributes:
        faults: code, place and message of each thing that is wrong.
        is_conclusive: False where something could merely not be read.
    """

    code = "seal_refused"

    def __init__(self, faults: tuple[tuple[str, str, str], ...], *, is_conclusive: bool) -> None:
        first = faults[0]
        place = f"{first[1]}: " if first[1] else ""
        more = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
        super().__init__(f"{place}{first[2]} ({first[0]}){more}")
        self.faults = faults
        self.is_conclusive = is_conclusive


@dataclass(frozen=True, slots=True)
class Seal:
    """The head of a log after sealing.

    Attributes:
        number: of the newest checkpoint.
        checkpoint: what it says.
        note: its bytes.
        added: how many entries are new; 0: nothing was written.
        further_versions: states and pins that changed and are sealed as further versions.
        notices: code, place and message of each removal that was accepted, and of what lies beside
            the log and is no part of it.
    """

    number: int
    checkpoint: Checkpoint
    note: bytes
    added: int
    further_versions: tuple[str, ...] = ()
    notices: tuple[tuple[str, str, str], ...] = ()


def seal_home(
    home: TrustedRoot,
    signer: Signer,
    *,
    origin: str | None = None,
    held: Checkpoint | None = None,
    accept_removed: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Seal:
    """Add what is new in a home to its log, and sign the head.

    Args:
        home: its root.
        signer: the key; the same for all seals of a home.
        origin: what the log is called; None: as before, or like the key.
        held: a checkpoint of the key from another day, which the log has to contain.
        accept_removed: seal ledger lines that say that sealed artifacts were removed; each is told.
        limits: bounds on what is read.

    Raises:
        SealRefused: what was sealed before no longer holds.
        NothingToSeal: there is nothing to cover.
        OriginError: the log is called otherwise.
        WriteFailed: the disk or file system refused.
    """
    part = AuditPart(
        transcripts=home.subroot(_TRANSCRIPTS),
        artifacts=home,
        limits=limits,
        transcript_folder=f"{_TRANSCRIPTS}/",
        home=home,
    )
    try:
        for _ in range(_ATTEMPTS):
            seal = _Attempt(home, part, accept_removed).seal(signer, origin, held)
            if seal is not None:
                return seal
    finally:
        part.close()
    raise SealRefused(
        (("seal_contended", SEALS_FOLDER, "seals: expected a turn, got other writers each time"),),
        is_conclusive=False,
    )


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One turn at sealing a home.

    Attributes:
        home: its root.
        part: its roots and limits, without anything that the home says of itself.
        accept_removed: whether new lines may say that sealed artifacts were removed.
    """

    home: TrustedRoot
    part: AuditPart
    accept_removed: bool

    def seal(self, signer: Signer, origin: str | None, held: Checkpoint | None) -> Seal | None:
        """Seal once; None where another run took the number."""
        # 1. The log holds, under this very key.
        log = read_log(self.home, signer.verifier, held=held)
        _require_sound(log, is_held=held is not None)
        name = _origin(log, signer, origin)
        # 2. So does the home: nothing that was sealed was rewritten.
        now = collect(self.home, self.part, sealed=log.history)
        changed = _require_unaltered(log, now)
        accepted = self._require_artifacts(SealedArtifacts(log.history, now))
        # 3. What is new?
        leaves = new_leaves(log.history, now.leaves)
        number = len(log.checkpoints)
        notices = (*accepted, *_claims(now), *_beside(log))
        if not leaves:  # an accepted removal is one
            if log.last is None:
                raise NothingToSeal("home: expected something to seal, got nothing")
            return Seal(number, log.last, log.notes[-1], 0, notices=notices)
        # 4. The tree with it.
        tree = GrowingTree()
        for hashed in log.hashes:
            tree.append(hashed)
        entries = [leaf.entry for leaf in leaves]
        for entry in entries:
            tree.append(leaf_hash(entry))
        checkpoint = Checkpoint(name, tree.size, tree.root())
        # 5. The entries first, then the checkpoint: it never covers what is not there.
        publish_leaves(self.home, number + 1, checkpoint.root, entries)
        note = sign_note(checkpoint.text, signer)
        if not publish_checkpoint(self.home, number + 1, note):
            return None
        return Seal(number + 1, checkpoint, note, len(leaves), changed, notices)

    def _require_artifacts(self, artifacts: SealedArtifacts) -> tuple[_Told, ...]:
        """Look at the bytes, too: what the ledger says of them was compared already.

        Gives the removals that the operator accepts; they are sealed as that now.
        """
        found: dict[str, ArtifactFault] = {}
        with PartVerifier(self.part) as verifier:
            for pointers, judge in (
                (artifacts.pointers(), artifacts.fault_of),
                (artifacts.new_removals(), artifacts.removal_of),
                (artifacts.newly_stored(), artifacts.storing_of),
            ):
                for batch in batches(list(pointers), Pace.for_jobs(1)):
                    for answer in verifier.verify(batch):
                        fault = judge(answer)
                        if fault is not None and not fault.is_accepted:
                            found.setdefault(answer.pointer, fault)
        removed = [one for one in found.values() if one.code is ArtifactFaultCode.REMOVED]
        faults = [one for one in found.values() if not self.accept_removed or one not in removed]
        if faults:
            raise SealRefused(
                tuple((str(one.code), one.target, one.message) for one in faults),
                is_conclusive=any(one.code is not ArtifactFaultCode.NOT_COMPARED for one in faults),
            )
        accepted = "artifact: its removal was accepted and is sealed now"
        return tuple((str(one.code), one.target, accepted) for one in removed)


def _require_sound(log: SealedLog, *, is_held: bool) -> None:
    """Refuse a log that does not hold, what is left of one, and none where one is held."""
    if log.remains:
        message = (
            "seals: expected a log or none, got what a log leaves without its checkpoints; "
            "nothing continues it: look who removed them, and take these files away"
        )
        raise SealRefused(
            tuple(("seals_missing", f"{SEALS_FOLDER}/{name}", message) for name in log.remains),
            is_conclusive=True,
        )
    if log.is_absent and not log.checkpoints and not is_held:
        return
    faults = tuple(_fault_of_log(fault) for fault in log.faults if not fault.is_warning)
    if faults:
        raise SealRefused(faults, is_conclusive=True)


def _claims(now: Collected) -> tuple[_Told, ...]:
    """Give the logs that tell a session which another log tells: none of them is sealed."""
    return tuple(
        (
            "not_sealed",
            f"{_TRANSCRIPTS}/{file}",
            f"event: expected one log of {session}, got another, which no seal covers",
        )
        for session, file in sorted(now.claims.items())
    )


def _beside(log: SealedLog) -> tuple[tuple[str, str, str], ...]:
    """Give what lies in the folder of the log and is no part of it."""
    return tuple(_fault_of_log(fault) for fault in log.faults if fault.is_warning)


def _fault_of_log(fault: LogFault) -> tuple[str, str, str]:
    return str(fault.code), f"{SEALS_FOLDER}/{fault.file}".rstrip("/"), fault.message


def _require_unaltered(log: SealedLog, now: Collected) -> tuple[str, ...]:
    found = list(differences(log.history, now.leaves))
    faults = tuple(_fault(one) for one in found if one.code not in VERSIONED)
    if faults:
        raise SealRefused(faults, is_conclusive=True)
    unread = tuple(
        ("seal_not_compared", name or kind, f"{kind}: expected to read it, got: {why}")
        for (kind, name), why in sorted(now.unread.items())
    )
    if unread:
        raise SealRefused(unread, is_conclusive=False)
    return tuple(one.name for one in found)


def _fault(one: Difference) -> tuple[str, str, str]:
    return str(one.code), one.name, one.message


def _origin(log: SealedLog, signer: Signer, origin: str | None) -> str:
    before = log.last
    if origin is not None and not is_origin(origin):
        raise OriginError("origin: expected one printable line, got another text")
    if before is None:
        return signer.name if origin is None else origin
    if origin not in (None, before.origin):
        raise OriginError("origin: expected that of the log's earlier seals, got another")
    return before.origin
