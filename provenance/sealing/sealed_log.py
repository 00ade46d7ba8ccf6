"""What a log of seals says once it was read: verified checkpoints, their entries, and its faults.

Guarantees: plain values; what is trusted and what is wrong stand apart. A checkpoint that somebody
holds counts only with a valid signature of the key.

Example:
    >>> SealedLog().is_sound
    False
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from provenance.errors import DataError
from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint
from provenance.sealing.history import History
from provenance.sealing.keys import SignatureVerdict, Verifier, judge_signature
from provenance.sealing.note import NoteError

__all__ = [
    "HeldCheckpointError",
    "LogFault",
    "LogFaultCode",
    "SealTrust",
    "SealedLog",
    "parse_held",
]


class LogFaultCode(StrEnum):
    """What is wrong with a log."""

    MISSING = "seals_missing"
    UNREADABLE = "seals_unreadable"
    CHECKPOINT_MISSING = "seal_checkpoint_missing"
    CHECKPOINT_INVALID = "seal_checkpoint_invalid"
    KEY_UNKNOWN = "seal_key_unknown"
    SIGNATURE_INVALID = "seal_signature_invalid"
    OTHER_LOG = "seal_other_log"
    ROLLED_BACK = "seal_rolled_back"
    FORK = "seal_fork"
    LEAVES_MISSING = "seal_leaves_missing"
    LEAVES_INVALID = "seal_leaves_invalid"
    INCONSISTENT = "seal_inconsistent"
    OLDER_THAN_HELD = "seal_older_than_held"
    # These two are no proof of anything: they are warnings.
    UNFINISHED = "seal_unfinished"
    FILE_UNKNOWN = "seal_file_unknown"


_WARNINGS = frozenset({LogFaultCode.UNFINISHED, LogFaultCode.FILE_UNKNOWN})


class HeldCheckpointError(DataError, ValueError):
    """What the reviewer holds is no checkpoint of this key."""

    code = "invalid_held_checkpoint"


@dataclass(frozen=True, slots=True)
class LogFault:
    """One fault; `file` is a name in the log's folder, or empty for the folder itself."""

    code: LogFaultCode
    file: str
    message: str

    @property
    def is_warning(self) -> bool:
        """Whether the log can be sound all the same."""
        return self.code in _WARNINGS


@dataclass(frozen=True, slots=True)
class SealTrust:
    """What a reviewer brings along, from outside of what is audited.

    Attributes:
        verifier: the key that has to have signed.
        held: a checkpoint from another day, signed by it; None: none is held.
    """

    verifier: Verifier
    held: Checkpoint | None = None


@dataclass(slots=True)
class SealedLog:
    """What a log says, as far as it can be trusted.

    Attributes:
        checkpoints: the verified ones, in order.
        notes: their bytes.
        history: what their entries say.
        hashes: the leaf hashes of their entries.
        faults: what is wrong, warnings too.
        remains: names that only a log leaves, where no checkpoint is beside them.
    """

    checkpoints: list[Checkpoint] = field(default_factory=list)
    notes: list[bytes] = field(default_factory=list)
    history: History = field(default_factory=History)
    hashes: list[bytes] = field(default_factory=list)
    faults: list[LogFault] = field(default_factory=list)
    remains: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether every checkpoint there is was verified, and there is one."""
        return bool(self.checkpoints) and all(fault.is_warning for fault in self.faults)

    @property
    def is_absent(self) -> bool:
        """Whether there is no log at all."""
        return any(fault.code is LogFaultCode.MISSING for fault in self.faults)

    @property
    def last(self) -> Checkpoint | None:
        """The newest verified checkpoint."""
        return self.checkpoints[-1] if self.checkpoints else None


def parse_held(data: bytes, verifier: Verifier) -> Checkpoint:
    """Read the checkpoint that a reviewer kept from another day.

    Raises:
        HeldCheckpointError: it is none, or not signed by the key.
    """
    try:
        checkpoint, note = parse_checkpoint(data)
    except NoteError as error:
        raise HeldCheckpointError(str(error)) from None
    match judge_signature(note, verifier):
        case SignatureVerdict.ABSENT:
            raise HeldCheckpointError(
                f"signature: expected one of {verifier.label}, got another key's"
            )
        case SignatureVerdict.INVALID:
            raise HeldCheckpointError("signature: expected a valid one, got an invalid one")
        case SignatureVerdict.VALID:
            return checkpoint
