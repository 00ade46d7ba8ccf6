"""Every bound on untrusted input, in one frozen value.

Guarantees: a limit is applied before the bytes it bounds are in memory. Raising a limit is the
operator's decision and never that of a file under audit.

Example:
    >>> Limits().max_record_bytes
    1048576
"""

from __future__ import annotations

from dataclasses import dataclass

from provenance.errors import CallerError
from provenance.frozen import sealed

__all__ = ["DEFAULT_LIMITS", "Limits"]


class LimitError(CallerError, ValueError):
    """A limit is not a positive whole number (`max_artifact_bytes` may be None)."""

    code = "invalid_limit"


@sealed
@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is read from below a trusted root (spec 01, sections 4 to 6).

    Attributes:
        max_record_bytes: longest transcript line, in bytes without its line end. 1 MiB.
        max_foreign_record_bytes: longest record of another agent's transcript, in bytes. 64 MiB.
        max_nesting: deepest JSON in a transcript record; the record itself is level 1.
        max_artifact_bytes: largest artifact that is hashed, in bytes; None means no bound.
        max_ledger_line_bytes: longest artifact ledger line, in bytes. 64 MiB holds the segment
            list of an artifact of 800 GiB.
        max_document_bytes: largest state file, policy file or scanned text, in bytes.
        max_receipt_bytes: largest receipt of a compaction, in bytes. 256 MiB hold the rows of about
            1.2 million blocks; reading one takes some twelve times its size in memory.
        read_attempts: how often a file that changes while it is read is read again.
    """

    max_record_bytes: int = 1 << 20
    max_foreign_record_bytes: int = 64 << 20
    max_nesting: int = 500
    max_artifact_bytes: int | None = None
    max_ledger_line_bytes: int = 64 << 20
    max_document_bytes: int = 64 << 20
    max_receipt_bytes: int = 256 << 20
    read_attempts: int = 3

    def __post_init__(self) -> None:
        for name in (
            "max_record_bytes",
            "max_foreign_record_bytes",
            "max_nesting",
            "max_artifact_bytes",
            "max_ledger_line_bytes",
            "max_document_bytes",
            "max_receipt_bytes",
            "read_attempts",
        ):
            value = getattr(self, name)
            if value is None and name == "max_artifact_bytes":
                continue
            if type(value) is not int or value < 1:
                raise LimitError(f"{name}: expected a whole number of 1 or more, got {value!r}")


DEFAULT_LIMITS = Limits()
