r"""How a transcript ends, and setting a torn end aside.

Guarantees: `repair_tail` loses no byte: what it takes off the end stands, forced to the disk, in a
file next to the transcript before the transcript is cut. That file's name is never one in use and
never that of a transcript. Killed at any instant, a second run finishes the work.

Example:
    >>> Tail(records=3, size=900, begun=900).is_whole
    True
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from provenance.errors import DataError
from provenance.fs.appending import AppendFile
from provenance.fs.directory import Directory
from provenance.fs.failures import NameTaken
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts.blocks import BLOCK_BYTES
from provenance.transcripts.envelope import judge_line
from provenance.transcripts.steady import file_name

__all__ = [
    "DamagedTailError",
    "Tail",
    "TailAction",
    "TailRepair",
    "TornTailError",
    "inspect_tail",
    "read_last_line",
    "repair_tail",
]

# Most records are shorter; a longer one costs a few reads more.
_FIRST_REACH_BYTES = 4 << 10


class TornTailError(DataError):
    """The transcript's last line has no end; appending would weld two records."""

    code = "transcript_torn_tail"


class DamagedTailError(DataError):
    """The transcript's last line is whole but no record of it; `reason` says why."""

    code = "transcript_damaged_tail"

    def __init__(self, reason: Reason) -> None:
        """Take the rule that the line breaks."""
        super().__init__(f"transcript: expected a record at its end, got a fault ({reason})")
        self.reason = reason

    def __reduce__(self) -> tuple[type[DamagedTailError], tuple[Reason]]:
        return type(self), (self.reason,)


class Tail(NamedTuple):
    """Where a transcript ends.

    Attributes:
        records: the number of lines that have an end.
        size: bytes in all.
        begun: where the line without an end begins; `size` where there is none.
    """

    records: int
    size: int
    begun: int

    @property
    def is_whole(self) -> bool:
        """Whether every line has its end."""
        return self.begun == self.size


class TailAction(StrEnum):
    """What a repair did."""

    NOTHING = "nothing"
    ENDED = "ended"
    SET_ASIDE = "set_aside"


@dataclass(frozen=True, slots=True)
class TailRepair:
    """What `repair_tail` found and did.

    Attributes:
        action: nothing; the last record was whole and got its line end; torn bytes were set aside.
        records: the number of lines now.
        aside: the name of the file next to the transcript; None where nothing was set aside.
        aside_bytes: so many bytes are in it.
        aside_sha256: their digest, 64 hex digits.
    """

    action: TailAction
    records: int
    aside: str | None = None
    aside_bytes: int = 0
    aside_sha256: str | None = None


def repair_tail(
    root: str | os.PathLike[str] | TrustedRoot,
    session_id: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    lock_seconds: float = 30.0,
) -> TailRepair:
    """Give a transcript a sound end, so that it can be appended to again.

    Args:
        root: the transcript root.
        session_id: whose transcript.
        limits: bounds on a record.
        lock_seconds: how long to wait for a writer.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: no access to it.
        WriteFailed: the disk refused; the transcript is as it was, or repaired.
        LockTimeout: a writer held the lock all the time.
        SessionIdError: the session id is outside the pointer grammar.
    """
    name = file_name(session_id)
    if not isinstance(root, TrustedRoot):
        with TrustedRoot(root) as opened:
            return repair_tail(opened, session_id, limits=limits, lock_seconds=lock_seconds)
    with (
        root.open_directory() as directory,
        directory.open_append(name, create=False) as file,
        file.lock(lock_seconds),
    ):
        # 1. Where does the line without an end begin?
        tail = inspect_tail(file)
        if tail.is_whole:
            return TailRepair(TailAction.NOTHING, tail.records)
        # 2. A whole record that lacks its line end alone gets it.
        if tail.size - tail.begun <= limits.max_record_bytes + 1:
            line = file.read_at(tail.begun, tail.size - tail.begun)
            if judge_line(line, tail.records + 1, session_id, limits=limits).reason is None:
                file.append(b"\n")
                return TailRepair(TailAction.ENDED, tail.records + 1)
        # 3. All else is copied next to the transcript, forced to the disk with its name ...
        digest = hashlib.sha256()
        for piece in _pieces(file, tail):
            digest.update(piece)
        name = f"{session_id}.torn-{tail.begun}-{digest.hexdigest()[:16]}"
        aside = _set_aside(directory, file, tail, name)
        # 4. ... and only then taken off.
        file.truncate(tail.begun)
        file.sync()
    return TailRepair(
        TailAction.SET_ASIDE, tail.records, aside, tail.size - tail.begun, digest.hexdigest()
    )


def inspect_tail(file: AppendFile, *, known: Tail | None = None) -> Tail:
    """Count the lines of a transcript and find where its last one ends.

    Args:
        file: the transcript, locked.
        known: its tail at an earlier time, when it was whole; only what was added since is read.

    Raises:
        ReadFailed: the device or file system refused.
    """
    size = file.size()
    records, offset, begun = (0, 0, 0) if known is None else known
    while offset < size:
        piece = file.read_at(offset, min(BLOCK_BYTES, size - offset))
        if not piece:
            break
        ended = piece.rfind(b"\n") + 1
        if ended:
            records += piece.count(b"\n")
            begun = offset + ended
        offset += len(piece)
    return Tail(records, offset, begun)


def read_last_line(file: AppendFile, tail: Tail, *, max_record_bytes: int) -> bytes:
    """Give the last line that has an end, with it; of one that is too long, enough to show that."""
    longest = max_record_bytes + 3  # a byte too many, and the line's end
    reach = _FIRST_REACH_BYTES
    while True:
        start = max(0, tail.begun - min(reach, longest))
        data = file.read_at(start, tail.begun - start)
        before = data.rfind(b"\n", 0, len(data) - 1)
        if before >= 0 or start == 0 or reach >= longest:
            return data[before + 1 :]
        reach *= 4


def _pieces(file: AppendFile, tail: Tail) -> Iterator[bytes]:
    for offset in range(tail.begun, tail.size, BLOCK_BYTES):
        yield file.read_at(offset, min(BLOCK_BYTES, tail.size - offset))


def _set_aside(directory: Directory, file: AppendFile, tail: Tail, name: str) -> str:
    """Publish the torn bytes under the first free name; an equal file of an earlier run counts."""
    number, free = 1, name
    while True:
        try:
            directory.publish(free, _pieces(file, tail))
        except NameTaken:
            if _is_copy(directory, file, tail, free):
                return free
            number += 1
            free = f"{name}-{number}"
        else:
            return free


def _is_copy(directory: Directory, file: AppendFile, tail: Tail, name: str) -> bool:
    with directory.open_file(name) as other:
        if other.size != tail.size - tail.begun:
            return False
        return all(
            other.read_at(number * BLOCK_BYTES, len(piece)) == piece
            for number, piece in enumerate(_pieces(file, tail))
        )
