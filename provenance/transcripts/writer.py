"""Appending events to a transcript, by several processes at once.

Guarantees: an event that is returned stands in the file, forced to the disk, as one whole line that
the verifier accepts in its place; one that is refused left no byte. No sequence is given twice: the
number of lines is known under the file's lock. Nothing is appended behind a line without an end, or
behind a last line that is no record of this transcript in its place. Earlier lines are not judged
again: that is the verifier's work, and evidence is better kept behind a fault than not at all.

Example:
    >>> def note(transcripts, text):
    ...     with TranscriptWriter(transcripts, "s1") as writer:
    ...         return writer.append({"type": "message", "content": text}).pointer
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from provenance.canonical import canonical_json
from provenance.clock import Clock, require_zoned, utc_now
from provenance.errors import CallerError
from provenance.fs.appending import AppendFile
from provenance.fs.directory import Directory
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import transcript_pointer
from provenance.resolution import Reason
from provenance.transcripts.envelope import SCHEMA_VERSION, evidence_of, judge_line
from provenance.transcripts.event import EventError, plain_event
from provenance.transcripts.steady import file_name
from provenance.transcripts.tail import (
    DamagedTailError,
    Tail,
    TornTailError,
    inspect_tail,
    read_last_line,
)

__all__ = ["TranscriptEvent", "TranscriptWriter", "WriterClosedError"]

# As long as any other time that is written, for a first look at the size.
_SOME_TIME = "2000-01-01T00:00:00.000000+00:00"


class WriterClosedError(CallerError):
    """The writer was closed before this append."""

    code = "writer_closed"


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """An event that was appended.

    Attributes:
        pointer: the source pointer that cites it.
        sequence: its number in the transcript, counted from 1.
        sha256: 64 hex digits, of its line without the line end: the evidence of the pointer.
    """

    pointer: str
    sequence: int
    sha256: str


class TranscriptWriter:
    """Appends events to the transcript of one session; a context manager.

    The transcript is opened for each append and closed after it, so a writer may be used by several
    threads and lives on in a forked process: each append has a lock of its own.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | TrustedRoot,
        session_id: str,
        *,
        clock: Clock = utc_now,
        limits: Limits = DEFAULT_LIMITS,
        lock_seconds: float = 30.0,
    ) -> None:
        """Name a transcript; nothing is opened before the first append.

        Args:
            root: the transcript root; a path is made (0700) where it is missing.
            session_id: whose transcript; the file (0600) is made where it is missing.
            clock: gives the time of recording, with a zone.
            limits: bounds on a record; those of the verifier, unless it is told otherwise.
            lock_seconds: how long to wait for other writers.

        Raises:
            SessionIdError: the session id is outside the pointer grammar.
        """
        self._name = file_name(session_id)
        self._owns_root = not isinstance(root, TrustedRoot)
        self._root = root if isinstance(root, TrustedRoot) else TrustedRoot(root, create=True)
        self._session_id = session_id
        self._clock = clock
        self._limits = limits
        self._lock_seconds = lock_seconds
        self._closed = False
        # The inode of the file that was last looked at, and the tail that it had then.
        self._known: tuple[int, Tail] | None = None

    def append(self, event: Mapping[str, object]) -> TranscriptEvent:
        """Append one event.

        Args:
            event: its fields, without those of the envelope.

        Raises:
            EventError: the event cannot be a record; nothing was written.
            TornTailError: the last line has no end; `repair_tail` sets that right.
            DamagedTailError: the last line is no record of this transcript.
            LockTimeout: other writers held the lock all the time.
            WriteFailed: the disk refused; the transcript is as it was.
            SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: no access.
            ClockError: the clock gave a time without a zone.
        """
        if self._closed:
            raise WriterClosedError("writer: expected an open one, got a closed one")
        # 1. Refuse what cannot be a record before any file is opened.
        fields = plain_event(event, limits=self._limits)
        self._line(fields, 1, _SOME_TIME)
        with self._root.open_directory() as directory:
            while True:
                with (
                    directory.open_append(self._name) as file,
                    file.lock(self._lock_seconds),
                ):
                    # 2. The name still leads to the file whose lock this is.
                    if _leads_to(directory, self._name, file):
                        return self._append(file, fields)

    def _append(self, file: AppendFile, fields: dict[str, object]) -> TranscriptEvent:
        # 3. The next number, from a sound end.
        tail = self._require_sound_tail(file)
        sequence = tail.records + 1
        # 4. The line, judged by the verifier's own rules.
        moment = require_zoned(self._clock()).isoformat(timespec="microseconds")
        line = self._line(fields, sequence, moment)
        # 5. One write, forced to the disk.
        file.append(line)
        end = tail.size + len(line)
        self._known = (file.inode(), Tail(sequence, end, end))
        return TranscriptEvent(
            str(transcript_pointer(self._session_id, sequence)),
            sequence,
            hashlib.sha256(evidence_of(line)).hexdigest(),
        )

    def _line(self, fields: dict[str, object], sequence: int, moment: str) -> bytes:
        envelope = {
            "event_id": f"transcript:{self._session_id}:{sequence}",
            "recorded_at": moment,
            "schema_version": SCHEMA_VERSION,
            "sequence": sequence,
            "session_id": self._session_id,
        }
        line = canonical_json(fields | envelope).encode()
        reason = judge_line(line, sequence, self._session_id, limits=self._limits).reason
        if reason is Reason.TRANSCRIPT_RECORD_TOO_LARGE:
            most = self._limits.max_record_bytes
            raise EventError(f"event: expected at most {most} bytes as one line, got {len(line)}")
        if reason is not None:
            raise EventError(f"event: expected one that can be verified, got a fault ({reason})")
        return line + b"\n"

    def _require_sound_tail(self, file: AppendFile) -> Tail:
        inode, size = file.inode(), file.size()
        known: Tail | None = None
        if self._known is not None and self._known[0] == inode and self._known[1].size <= size:
            known = self._known[1]
            if known.size == size:
                return known
        # Only what other writers added is read, and all of it where there is no such beginning.
        tail = inspect_tail(file, known=known)
        if not tail.is_whole:
            raise TornTailError(
                "transcript: expected a line end at its end, "
                f"got {tail.size - tail.begun} bytes without one"
            )
        if tail.records:
            line = read_last_line(file, tail, max_record_bytes=self._limits.max_record_bytes)
            judgement = judge_line(line, tail.records, self._session_id, limits=self._limits)
            if judgement.reason is not None:
                raise DamagedTailError(judgement.reason)
        self._known = (inode, tail)
        return tail

    def close(self) -> None:
        """Close what the writer opened; doing so twice is no error."""
        self._closed = True
        if self._owns_root:
            self._root.close()

    def __enter__(self) -> TranscriptWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _leads_to(directory: Directory, name: str, file: AppendFile) -> bool:
    found = directory.identity(name)
    return found is not None and found[1] == file.inode()
