"""Which files below a transcript root hold a session of another agent.

Guarantees: built only after a pointer was authorized and its own file was looked for. What a file
says of itself is read again when any of its facts (device, inode, size, times) has changed; nothing
else is remembered from one call to the next. Ctxaudit's own transcripts are found by their name
alone and never stand in here.

Example:
    >>> from provenance.fs.root import TrustedRoot
    >>> SessionIndex(TrustedRoot("/nowhere"), limits=Limits()).holders("s1")
    ()
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from provenance.fs.failures import FILE_FAILURES, SourceAbsent
from provenance.fs.reading import FileFacts
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters.protocol import MixedSessions, TranscriptFormat
from provenance.transcripts.discovery import (
    Candidate,
    find_candidates,
    open_candidate,
)
from provenance.transcripts.formats import NATIVE, find_format
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import guarded
from provenance.transcripts.sources import SourceUnreadable, read_head

__all__ = ["Holder", "OwnFile", "SessionIndex", "is_native", "own_file_of"]

# The first line of a native transcript begins with its arguments or its content; its address and
# its sequence are never far.
_PEEK_BYTES = 4_096
_NATIVE_MARK = b'"event_id":"transcript:'


class Holder(NamedTuple):
    """A source that says it holds a session.

    Attributes:
        candidate: where it lies below the root.
        format: what it is of.
        session: the session in the format's own words.
    """

    candidate: Candidate
    format: TranscriptFormat
    session: str


class _Known(NamedTuple):
    facts: FileFacts
    format: TranscriptFormat | None
    sessions: tuple[str, ...]


class OwnFile(StrEnum):
    """What stands under a session's own name, `<session>.jsonl` at the root."""

    ABSENT = "absent"
    NATIVE = "native"
    FOREIGN = "foreign"


def own_file_of(root: TrustedRoot, session_id: str) -> OwnFile:
    """Say what stands under a session's own name: one of our transcripts, or another agent's.

    Whatever else stands there (a link, a folder, damage) is for the strict reader to tell.
    """
    name = f"{session_id}.jsonl"
    try:
        with root.open_file(name) as file:
            if _NATIVE_MARK in file.read_at(0, _PEEK_BYTES):
                return OwnFile.NATIVE
            found = find_format(read_head(file, name))
    except SourceAbsent:
        return OwnFile.ABSENT
    except (*FILE_FAILURES, SourceUnreadable):
        return OwnFile.NATIVE
    return OwnFile.NATIVE if found is None or found.name == NATIVE else OwnFile.FOREIGN


def is_native(root: TrustedRoot, session_id: str) -> bool:
    """Say whether the session's own file is there and no other agent's."""
    return own_file_of(root, session_id) is OwnFile.NATIVE


class SessionIndex:
    """Finds the sources of a session; looks through the tree anew each time it is asked to."""

    def __init__(self, root: TrustedRoot, *, limits: Limits) -> None:
        """Take the transcript root; nothing is looked at yet."""
        self._root = root
        self._limits = limits
        self._known: dict[tuple[str, ...], _Known] = {}
        self._holders: dict[str, list[Holder]] | None = None
        self._further: dict[str, list[Holder]] | None = None
        self._record_sessions: dict[FileFacts, tuple[str, ...]] = {}

    def refresh(self) -> None:
        """Look through the tree again before the next answer."""
        self._holders = self._further = None

    def holders(self, session_id: str) -> tuple[Holder, ...]:
        """Give the sources that hold a session, in the order of their names.

        Args:
            session_id: as a pointer names it.
        """
        if self._holders is None:
            self._holders = {}
            for holder in self._scan():
                self._holders.setdefault(session_name(holder.session), []).append(holder)
        found = self._holders.get(session_id)
        if found is None:
            # A sub-agent's records may stand in the file of the session that called it.
            found = self._holders.get(session_id.partition(".agent-")[0])
        if found is None:
            return self.further_holders(session_id)
        return tuple(found)

    def further_holders(self, session_id: str) -> tuple[Holder, ...]:
        """Give the sources that hold records of a session behind those of another one.

        Every log of a format that mixes sessions is read, once until its facts change.

        Args:
            session_id: as a pointer names it.
        """
        if self._further is None:
            self._further = {}
            for holder in self._scan_all():
                self._further.setdefault(session_name(holder.session), []).append(holder)
        caller = session_id.partition(".agent-")[0]
        return tuple(self._further.get(session_id) or self._further.get(caller) or ())

    def _scan_all(self) -> Iterator[Holder]:
        for names, known in self._known.items():
            found, candidate = known.format, Candidate(names)
            if found is None or not isinstance(found, MixedSessions):
                continue
            sessions = self._record_sessions.get(known.facts)
            if sessions is None:
                sessions = self._sessions_in(candidate, found)
                self._record_sessions[known.facts] = sessions
            for session in sessions:
                if session not in known.sessions:
                    yield Holder(candidate, found, session)

    def _sessions_in(self, candidate: Candidate, mixed: MixedSessions) -> tuple[str, ...]:
        try:
            with open_candidate(self._root, candidate, limits=self._limits) as opened:
                found = guarded(iter(mixed.record_sessions(opened.source)))
                return tuple(one for one in found if isinstance(one, str))
        except (*FILE_FAILURES, SourceUnreadable):
            return ()

    def _scan(self) -> Iterator[Holder]:
        known: dict[tuple[str, ...], _Known] = {}
        for candidate in find_candidates(self._root):
            found = self._sessions_of(candidate)
            if found is None:
                continue
            known[candidate.names] = found
            if found.format is not None:
                for session in found.sessions:
                    yield Holder(candidate, found.format, session)
        self._known = known

    def _sessions_of(self, candidate: Candidate) -> _Known | None:
        before = self._known.get(candidate.names)
        try:
            if before is not None and not candidate.is_folder:
                with self._root.open_file(*candidate.names) as file:
                    if file.facts == before.facts:
                        return before
            with open_candidate(self._root, candidate, limits=self._limits) as opened:
                source, found = opened.source, opened.format
                facts = _NO_FACTS if source.file is None else source.file.facts
                if found is None or opened.is_damaged or found.name == NATIVE:
                    return _Known(facts, None, ())
                named = guarded(iter(found.sessions(source)))
                sessions = tuple(dict.fromkeys(one for one in named if isinstance(one, str)))
                return _Known(facts, found, sessions or (source.stem,))
        except (*FILE_FAILURES, SourceUnreadable):
            return None  # it is no transcript that could be told; a check of the tree says why


_NO_FACTS = FileFacts(0, 0, -1, 0, 0, 0, 0, 0)
