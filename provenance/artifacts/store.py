r"""The spill store: large tool output on disk, named by a pointer that carries its full digest.

Guarantees: an artifact is published whole and exclusively, and is on the disk before its pointer
is given out; killed at any instant, a reader sees all of it or nothing. Nothing is ever
overwritten. Equal bytes spilled again in a session give the same pointer while the stored file is
still what it was. Any number of threads and processes may spill into one session.

Example:
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ArtifactStore(folder) as store:
    ...     spilled = store.spill("s1", "one\ntwo\n", tool="bash")
    ...     window = store.read(spilled.pointer, offset=1)
    >>> spilled.filename, window.text, window.total_lines
    ('tool_result_001.txt', 'two\n', 2)
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import assert_never

from provenance.artifacts.content import (
    check_note,
    check_session,
    checked_chunks,
    encode_content,
)
from provenance.artifacts.failures import StoreWriteError
from provenance.artifacts.folder import SessionFolder
from provenance.artifacts.pending import PendingArtifact
from provenance.artifacts.reading import VerifiedReader, artifact_pointer_of
from provenance.artifacts.segments import ContentDigester, ContentFacts
from provenance.artifacts.spilling import Request, put_bytes, put_stream
from provenance.artifacts.windows import MAX_WINDOW_BYTES, Window, WindowCutter
from provenance.evidence import EvidenceUnavailable
from provenance.fs.failures import AccessRefused, ReadFailed, SourceAbsent, WriteFailed
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import SourcePointer
from provenance.resolution import Reason

__all__ = ["ArtifactStore", "SpilledArtifact"]

# Four descriptors each.
_OPEN_SESSIONS = 32
_FILE_FAILURES = (WriteFailed, ReadFailed, SourceAbsent, AccessRefused)
_FileFailure = WriteFailed | ReadFailed | SourceAbsent | AccessRefused


@dataclass(frozen=True, slots=True)
class SpilledArtifact:
    """What was stored.

    Attributes:
        pointer: its source pointer, with the full SHA-256.
        sha256: 64 lower-case hex digits.
        blake3: the same by BLAKE3.
        bytes: its size.
        filename: its name below `<session>/tool-results/`.
    """

    pointer: str
    sha256: str
    blake3: str
    bytes: int
    filename: str


def _utc_now() -> datetime:
    return datetime.now(UTC)


class ArtifactStore:
    """Artifacts below one root; a context manager that closes its handles."""

    def __init__(
        self,
        root: str | os.PathLike[str] | TrustedRoot,
        *,
        text: bool = True,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], datetime] = _utc_now,
        max_window_bytes: int = MAX_WINDOW_BYTES,
        lock_timeout_seconds: float = 30.0,
    ) -> None:
        """Name a store; nothing is opened or made before the first use.

        Args:
            root: the artifact root. A path is made (0700) by the first spill; a `TrustedRoot`
                stays the caller's to close.
            text: whether artifacts must be UTF-8; False holds any bytes.
            limits: bounds; an artifact above `max_artifact_bytes` is refused.
            clock: gives the present time, for the ledger.
            max_window_bytes: most bytes that `read` gives at once, at least 4.
            lock_timeout_seconds: how long to wait for other writers of a session.
        """
        self._own: tuple[TrustedRoot, ...]
        if isinstance(root, TrustedRoot):
            self._reading = self._writing = root
            self._own = ()
        else:
            # Reading must not make a root that is not there.
            self._reading, self._writing = TrustedRoot(root), TrustedRoot(root, create=True)
            self._own = (self._reading, self._writing)
        self._text = text
        self._limits = limits
        self._clock = clock
        self._max_window_bytes = max_window_bytes
        self._lock_timeout_seconds = lock_timeout_seconds
        self._reader = VerifiedReader(self._reading, text=text, limits=limits)
        self._guard = threading.Lock()
        self._process = os.getpid()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    @property
    def root(self) -> TrustedRoot:
        """The trusted root that artifacts are read below."""
        return self._reading

    def spill(
        self,
        session_id: str,
        content: str | bytes,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        name: str | None = None,
    ) -> SpilledArtifact:
        """Store content and give its pointer.

        Args:
            session_id: a name of the pointer grammar, none of `transcripts`, `states`, `seals`.
            content: text (stored as UTF-8), or bytes; UTF-8 in a text store.
            tool: whose result it is, for the ledger.
            call_id: the call whose result it is, for the ledger.
            name: a suggestion, any text; None counts `tool_result_001.txt` upwards. Taken already
                for other bytes, it becomes a name of its own.

        Raises:
            SpillArgumentError, ContentRefused: the caller's values; nothing was written.
            StoreWriteError: the disk or file system; nothing half-written is visible.
            BoundaryRefused, NotARegularFile: a link, mount or something else stands in the store.
            LockTimeout: another writer kept the session.
            TypeError: a value of another type.
        """
        check_session(session_id)
        data = encode_content(content, text=self._text, max_bytes=self._limits.max_artifact_bytes)
        request = _request(tool, call_id, name)
        try:
            with self._session(session_id) as folder:
                filename, facts = put_bytes(folder, data, request)
        except _FILE_FAILURES as failure:
            raise _store_failure(failure) from failure
        return _spilled(session_id, filename, facts)

    def spill_stream(
        self,
        session_id: str,
        chunks: Iterable[bytes],
        *,
        tool: str | None = None,
        call_id: str | None = None,
        name: str | None = None,
    ) -> SpilledArtifact:
        """Store content that comes in pieces, in memory bounded by the largest piece.

        As `spill`; where `chunks` raises, nothing is visible.
        """
        check_session(session_id)
        request = _request(tool, call_id, name)
        checked = checked_chunks(chunks, text=self._text, max_bytes=self._limits.max_artifact_bytes)
        digester = ContentDigester()

        def fill(pending: PendingArtifact) -> ContentFacts:
            for chunk in checked:
                digester.update(chunk)
                pending.write(chunk)
            return digester.finish()

        try:
            with self._session(session_id) as folder:
                filename, facts = put_stream(folder, fill, request)
        except _FILE_FAILURES as failure:
            raise _store_failure(failure) from failure
        return _spilled(session_id, filename, facts)

    def read(
        self,
        pointer: str | SourcePointer,
        offset: int = 0,
        limit: int = 2000,
        *,
        skip_bytes: int = 0,
    ) -> Window:
        """Read some lines of an artifact, verified by its digest in the same pass.

        Args:
            pointer: of an artifact, with a digest of 12 or 64 hex digits.
            offset: number of the first line, from 0; behind the end the text is empty.
            limit: most lines, at least 1.
            skip_bytes: bytes to leave out at the start of the first line, to go on inside a line
                that is longer than a window (`Window.cut_line`, `Window.cut_bytes`).

        Raises:
            EvidenceUnavailable: the artifact is not available; `reason` says why.
            WindowError: a number out of range, or a pointer to something else.
            SourcePointerError: the pointer is malformed.
        """
        parsed = artifact_pointer_of(pointer)
        cutter, sha256 = self._reader.read(
            parsed,
            lambda: WindowCutter(
                offset=offset,
                limit=limit,
                skip_bytes=skip_bytes,
                max_bytes=self._max_window_bytes,
            ),
        )
        try:
            return cutter.finish(sha256)
        except UnicodeDecodeError:
            # Only in a store of bytes: a window is text.
            raise EvidenceUnavailable(Reason.ARTIFACT_NOT_UTF8) from None

    def iterate(self, pointer: str | SourcePointer) -> Iterator[bytes]:
        """Give all bytes of an artifact in pieces, after all of them were verified.

        Raises:
            EvidenceUnavailable: before the first piece; or after the last, with
                `source_changed_during_read`, where the file changed between the two readings.
            WindowError, SourcePointerError: as `read`.
        """
        return self._reader.iterate(artifact_pointer_of(pointer))

    def close(self) -> None:
        """Close every handle; they open again when they are needed."""
        with self._guard:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.folder.close()
        for root in self._own:
            root.close()

    def __enter__(self) -> ArtifactStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _session(self, session_id: str) -> Iterator[SessionFolder]:
        """Lend a session's folder; what is lent is not closed for another session's sake."""
        if os.getpid() != self._process:
            self._start_over_after_fork()
        with self._guard:
            session = self._sessions.get(session_id)
            if session is None:
                session = self._sessions[session_id] = _Session(
                    SessionFolder(
                        self._writing,
                        session_id,
                        limits=self._limits,
                        clock=self._clock,
                        lock_timeout_seconds=self._lock_timeout_seconds,
                    )
                )
            self._sessions.move_to_end(session_id)
            session.users += 1
            surplus = self._take_surplus()
        for other in surplus:
            other.folder.close()
        try:
            yield session.folder
        finally:
            with self._guard:
                session.users -= 1

    def _take_surplus(self) -> list[_Session]:
        """Take out the sessions that were not used for longest, as far as nobody uses them now."""
        count = len(self._sessions) - _OPEN_SESSIONS
        if count <= 0:
            return []
        idle = [key for key, session in self._sessions.items() if not session.users]
        return [self._sessions.pop(key) for key in idle[:count]]

    def _start_over_after_fork(self) -> None:
        """Let go of the parent's handles: file locks taken through them keep no two apart."""
        self._guard = threading.Lock()
        self._process = os.getpid()
        sessions, self._sessions = self._sessions, OrderedDict()
        for session in sessions.values():
            session.folder.abandon()


@dataclass(slots=True)
class _Session:
    folder: SessionFolder
    users: int = 0


def _request(tool: str | None, call_id: str | None, name: object) -> Request:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name: expected str or None, got {type(name).__name__}")
    return Request(check_note("tool", tool), check_note("call_id", call_id), name)


def _spilled(session_id: str, filename: str, facts: ContentFacts) -> SpilledArtifact:
    # Session and name are checked already, and a digest is a digest.
    pointer = f"artifact:{session_id}:{filename}:{facts.sha256}"
    return SpilledArtifact(pointer, facts.sha256, facts.blake3, facts.bytes, filename)


def _store_failure(failure: _FileFailure) -> StoreWriteError:
    """Say what a failure of the file system means for somebody who wants to store."""
    match failure:
        case WriteFailed() | ReadFailed():
            number = failure.errno
        case AccessRefused():
            number = errno.EACCES
        case SourceAbsent():
            number = errno.ENOENT
        case _:
            assert_never(failure)
    return StoreWriteError(f"store: {failure}", number)
