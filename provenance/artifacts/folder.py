"""One session's artifacts and ledger, opened for adding to them.

Guarantees: while `locked` is held, nobody else who uses this library adds to the session, the
handles are on what the names lead to, and the index knows every line of the ledger and every file
beside it. A writer killed at any instant leaves what the next `locked` puts right.

The order of a commit, and what a death after each step leaves:

    0. fsync of the bytes                nothing: they have no name
    1. the ledger line without its end   no artifact: the line is taken back
    2. link under the final name         a whole artifact: the line gets its end
    3. the line's end                    everything
    4. fsync of the directory            everything

The ledger's own fsync would cost up to half as much again, so it is made once in 64 lines and at
`close`. A power failure (no mere death) may therefore take the last lines and leave the artifacts;
each then gets a line again, `recovered`, without the notes of tool and call.

Example:
    >>> SessionFolder.__name__
    'SessionFolder'
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from provenance.artifacts.failures import StoreWriteError
from provenance.artifacts.handles import SessionHandles
from provenance.artifacts.index import SessionIndex
from provenance.artifacts.ledger import LedgerFault, LedgerLines, read_entries
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent, encode_entry
from provenance.artifacts.pending import PendingArtifact
from provenance.artifacts.recovery import adopt_unrecorded, describe_file, settle_tail
from provenance.artifacts.segments import SEGMENT_BYTES, ContentFacts
from provenance.artifacts.verify import ARTIFACT_FOLDER
from provenance.errors import CtxauditError
from provenance.fs.failures import (
    FILE_FAILURES,
    NameTaken,
    WriteFailed,
)
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits

__all__ = ["SessionFolder"]

# Each time the folder was replaced between opening and locking; a clean-up does that once.
_REOPENINGS = 5
# How far back the ledger may lag behind the last use of an artifact: retention counts in days.
_USE_RECORDED_EVERY = timedelta(hours=1)
# How many ledger lines may be on their way to the disk: one fsync in so many costs next to nothing.
_LINES_UNSYNCED = 64


class SessionFolder:
    """A session as long as a store uses it; safe to use from several threads."""

    def __init__(
        self,
        root: TrustedRoot,
        session_id: str,
        *,
        limits: Limits,
        clock: Callable[[], datetime],
        lock_timeout_seconds: float,
    ) -> None:
        """Name a session; nothing is opened before the first use."""
        self._root = root
        self._session_id = session_id
        self._limits = limits
        self._clock = clock
        self._lock_timeout_seconds = lock_timeout_seconds
        # A lock of the file belongs to the handle, which our threads share.
        self._guard = threading.RLock()
        self._handles: SessionHandles | None = None
        self._generation = 0
        self._index = SessionIndex()
        self._consumed = 0
        self._surveyed = False
        self._lines_behind = 0

    def find_by_digest(self, sha256: str) -> str | None:
        """Give the file that should hold these bytes, as far as is known without looking."""
        return self._index.find_by_digest(sha256)

    def has_note(self, filename: str, reason: str) -> bool:
        """Say whether the ledger has this `renamed` line already, as far as is known."""
        return self._index.has_note(filename, reason)

    def is_use_recorded(self, filename: str) -> bool:
        """Say whether the ledger shows that this artifact was stored or asked for lately."""
        told = self._index.last_use(filename)
        try:
            last = None if told is None else datetime.fromisoformat(told)
        except ValueError:
            return False  # a leap second: the calendar here has none
        return last is not None and abs(self._clock() - last) < _USE_RECORDED_EVERY

    def holds(self, filename: str, facts: ContentFacts) -> bool:
        """Say whether the file of that name has exactly these bytes now; reads it, unlocked."""
        try:
            with self._root.open_file(self._session_id, ARTIFACT_FOLDER, filename) as file:
                return file.size == facts.bytes and describe_file(file) == facts
        except FILE_FAILURES:
            return False

    def pending(self, *, once: bool) -> PendingArtifact:
        """Open a draft beside the artifacts; no lock is needed.

        Args:
            once: the bytes cannot be written a second time, so look first whether the folder is
                still the one that its name leads to. (Without, `commit` finds out.)
        """
        with self._guard:
            handles = self._open()
            if not once:
                try:
                    return PendingArtifact(handles.artifacts.duplicate(), self._generation)
                except WriteFailed:
                    if handles.are_current():
                        raise
            if not handles.are_current():
                self.close()
                handles = self._open()
            return PendingArtifact(handles.artifacts.duplicate(), self._generation)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the session alone, with everything up to date.

        Raises:
            LockTimeout: another writer kept it.
            StoreWriteError: the folder was replaced again and again.
            CtxauditError: a failure of the file system.
        """
        with self._guard:
            for _ in range(_REOPENINGS):
                handles = self._open()
                with handles.ledger.lock(self._lock_timeout_seconds):
                    if handles.are_current():
                        self._catch_up(handles)
                        yield
                        return
                self.close()
            raise StoreWriteError("store: expected the session's folder to stay in place")

    def commit(
        self,
        pending: PendingArtifact,
        facts: ContentFacts,
        *,
        suggested: str | None,
        tool: str | None,
        call_id: str | None,
        reason: str | None,
    ) -> str | None:
        """Give a synced draft a free name and its ledger line, durably; call it while `locked`.

        Returns:
            The name; None where the folder was replaced since the draft was opened.
        """
        handles = self._open()
        if pending.generation != self._generation:
            return None
        while True:
            name = self._index.choose_name(suggested)
            entry = self._entry(
                LedgerEvent.STORED, name, facts, tool=tool, call_id=call_id, reason=reason
            )
            line = encode_entry(entry)
            if len(line) > self._limits.max_ledger_line_bytes:
                raise StoreWriteError("ledger: expected a line within max_ledger_line_bytes")
            # 1. What is about to happen, as a line that is none before its end is there.
            handles.ledger.append(line[:-1], sync=False)
            try:
                # 2. The artifact.
                pending.link_as(name)
            except NameTaken:
                # No line of ours names it: look what it is before the next artifact.
                handles.ledger.truncate(self._consumed)
                self._index.reserve(name)
                self._surveyed = False
                continue
            except WriteFailed:
                with contextlib.suppress(CtxauditError):
                    self._catch_up(handles)
                raise
            # 3. It has happened.
            handles.ledger.append(b"\n", sync=False)
            self._take(entry, len(line))
            # 4. No name is given out before it is on the disk.
            handles.artifacts.sync()
            if self._lines_behind >= _LINES_UNSYNCED:
                handles.ledger.sync()
                self._lines_behind = 0
            return name

    def note_suggestion(
        self,
        filename: str,
        facts: ContentFacts,
        *,
        reason: str,
        tool: str | None,
        call_id: str | None,
    ) -> None:
        """Write a `renamed` line; call it while `locked`."""
        entry = self._entry(
            LedgerEvent.RENAMED, filename, facts, tool=tool, call_id=call_id, reason=reason
        )
        line = encode_entry(entry)
        self._open().ledger.append(line, sync=False)
        self._take(entry, len(line))

    def sync(self) -> None:
        """Force everything that is visible to the disk; call it while `locked`."""
        self._open().sync()
        self._lines_behind = 0

    def close(self) -> None:
        """Close the handles, the ledger being on the disk; they open again when needed."""
        with self._guard:
            handles, self._handles = self._handles, None
            if handles is None:
                return
            if self._lines_behind:
                # No promise hangs on it, so there is nobody to tell.
                with contextlib.suppress(CtxauditError):
                    handles.ledger.sync()
            handles.close()

    def abandon(self) -> None:
        """Close the handles that a parent process left us, and touch nothing else."""
        handles, self._handles = self._handles, None
        if handles is not None:
            handles.close()

    def _open(self) -> SessionHandles:
        if self._handles is None:
            self._handles = SessionHandles.open(self._root, self._session_id)
            self._generation += 1
            self._forget()
        return self._handles

    def _forget(self) -> None:
        """Start over with the ledger; names once seen stay taken."""
        self._index = self._index.successor()
        self._consumed = 0
        self._surveyed = False

    def _take(self, entry: LedgerEntry, size: int) -> None:
        self._index.apply(entry)
        self._consumed += size
        self._lines_behind += 1

    def _catch_up(self, handles: SessionHandles) -> None:
        """Read what others added, mend what a dead writer left, look at the folder once."""
        size = handles.ledger.size()
        if size < self._consumed:
            self._forget()
        bound = self._limits.max_ledger_line_bytes
        if size > self._consumed:
            lines = LedgerLines(
                handles.ledger.read_at, start=self._consumed, end=size, max_bytes=bound
            )
            for item in read_entries(lines):
                if not isinstance(item, LedgerFault):
                    self._index.apply(item)
            self._consumed = lines.consumed
            if lines.consumed < size:
                mended = settle_tail(handles, lines.consumed, size, max_line_bytes=bound)
                if mended is not None:
                    self._take(mended, size + 1 - lines.consumed)
        if not self._surveyed:
            self._consumed += adopt_unrecorded(
                handles,
                self._index,
                make_entry=self._recovered,
                now_seconds=self._clock().timestamp(),
            )
            self._surveyed = True

    def _recovered(self, name: str, facts: ContentFacts) -> LedgerEntry:
        return self._entry(LedgerEvent.STORED, name, facts, reason="recovered")

    def _entry(
        self,
        event: LedgerEvent,
        name: str,
        facts: ContentFacts,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        reason: str | None = None,
    ) -> LedgerEntry:
        stored = event is LedgerEvent.STORED
        now = self._clock().astimezone(UTC)
        return LedgerEntry(
            event=event,
            filename=name,
            sha256=facts.sha256,
            blake3=facts.blake3,
            bytes=facts.bytes,
            segment_bytes=SEGMENT_BYTES,
            # The line that stored the artifact has them; a repeat of 10 GB need not repeat these.
            segments=facts.segments if stored else (),
            segment_lines=facts.segment_lines if stored else (),
            tool=tool,
            call_id=call_id,
            recorded_at=f"{now.replace(tzinfo=None).isoformat(timespec='microseconds')}Z",
            reason=reason,
        )
