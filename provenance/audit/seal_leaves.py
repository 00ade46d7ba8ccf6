"""What a home holds that a seal covers: events, ledger lines, versions of states, pins.

Guarantees: everything is reached through trusted roots, and nothing of a session that a policy
denies. What cannot be read is never taken for what is not there: it is told apart, with a reason.
Nothing here judges; lines are digested as they stand.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> home = TrustedRoot("/nowhere")
    >>> part = AuditPart(transcripts=home.subroot("transcripts"), artifacts=home)
    >>> collect(home, part).leaves
    HomeLeaves(events={}, ledgers={}, states={}, lock={}, skipped=frozenset())
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from provenance.artifacts.ledger import LEDGER_NAME, LedgerLines
from provenance.artifacts.ledger_entry import LedgerError, parse_entry
from provenance.artifacts.verify import RESERVED_SESSIONS
from provenance.audit.part import AuditPart
from provenance.audit.seal_lines import line_digests
from provenance.audit.state_versions import STATE_STORE
from provenance.canonical import canonical_json
from provenance.errors import CtxauditError, DataError
from provenance.fs import (
    BoundaryRefused,
    NotARegularFile,
    OpenFile,
    SourceAbsent,
    TrustedRoot,
    read_whole,
)
from provenance.limits import Limits
from provenance.pointers import is_name, parse_source_pointer
from provenance.policy import Verdict
from provenance.sealing.history import STORE_PREFIX, History, HomeLeaves
from provenance.sealing.leaves import LedgerLeaf
from provenance.transcripts.discovery import find_candidates, open_candidate
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.locate import OwnFile, own_file_of
from provenance.transcripts.records import Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.sources import SourceUnreadable
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["LOCK_FILE", "Collected", "collect"]

LOCK_FILE = "ctxaudit.lock"
_STATES = "states"
_ENDING = ".jsonl"
# What is somebody's trick is not there; what a machine could not read may well be.
_NOT_THERE = (SourceAbsent, BoundaryRefused, NotARegularFile)

_T = TypeVar("_T")


class _LineTooLong(DataError):
    """A ledger line over the limit."""

    code = "ledger_line_too_long"


class _NoLockFile(DataError):
    """The lock file is no JSON object with entries."""

    code = "lock_file_invalid"


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Attributes:
        leaves: what there is.
        unread: kind and name of what could not be read, and why.
        denied: kind and name of what a policy denies.
    """

    leaves: HomeLeaves
    unread: Mapping[tuple[str, str], str] = field(default_factory=dict)
    denied: frozenset[tuple[str, str]] = frozenset()


def collect(
    home: TrustedRoot, part: AuditPart, *, sealed: History | None = None, tenant: str | None = None
) -> Collected:
    """Read all of a home that a seal covers.

    Args:
        home: its root.
        part: its transcript and artifact roots, limits and policies.
        sealed: what a log has of it: sessions that are denied are skipped by their names.
        tenant: who asks, for policies.
    """
    return _Collector(home, part, sealed or History(), tenant).collect()


class _Collector:
    def __init__(
        self, home: TrustedRoot, part: AuditPart, sealed: History, tenant: str | None
    ) -> None:
        self._home = home
        self._part = part
        self._sealed = sealed
        self._tenant = tenant
        self._unread: dict[tuple[str, str], str] = {}
        self._denied: set[tuple[str, str]] = set()

    def collect(self) -> Collected:
        events = self._events()
        ledgers = self._ledgers()
        states = self._read(("state", ""), self._states) or {}
        lock = self._read(("lock", ""), self._lock) or {}
        skipped = frozenset(self._unread) | self._denied
        leaves = HomeLeaves(events, ledgers, states, lock, frozenset(skipped))
        return Collected(leaves, self._unread, frozenset(self._denied))

    def _events(self) -> dict[str, Sequence[str]]:
        root = self._part.transcripts
        if root is None:
            return {}
        found: dict[str, Sequence[str]] = {}
        names = self._names(root, ("event", ""), kinds=("file", "link", "other", "directory"))
        own = {name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)}
        for session in sorted(filter(is_name, own | self._sealed.events.keys())):
            key = "event", session
            if self._is_denied(f"transcript:{session}:1", key):
                continue
            if own_file_of(root, session) is not OwnFile.NATIVE:
                continue  # another agent's, or not there: below
            digests = self._read(key, partial(self._own_events, root, session))
            if digests is not None:
                found[session] = digests
        for session, digests in self._foreign(root, own).items():
            if session not in found and ("event", session) not in self._denied:
                found[session] = digests
        return found

    def _own_events(self, root: TrustedRoot, session: str) -> list[str]:
        with root.open_file(session + _ENDING) as file:
            return _steadily(
                file,
                lambda: line_digests(file.read_at, file.size, is_whole=self._is_record),
                self._part.limits,
            )

    def _is_record(self, tail: bytes) -> bool:
        try:
            tail.decode()
            value = parse_strict(tail, max_nesting=self._part.limits.max_nesting)
        except (NotStrictJson, UnicodeDecodeError):
            return False
        return isinstance(value, dict)

    def _foreign(self, root: TrustedRoot, own: Iterable[str]) -> dict[str, list[str]]:
        """Read the logs of other agents, as far as each of their sessions is one row of records."""
        known = {f"{session}{_ENDING}" for session in own if is_name(session)}
        found: dict[str, list[str]] = {}
        torn: set[str] = set()
        for candidate in find_candidates(root):
            name = candidate.names[-1] if candidate.names else ""
            if len(candidate.names) == 1 and name in known:
                session = name.removesuffix(_ENDING)
                denied = ("event", session) in self._denied
                if denied or own_file_of(root, session) is OwnFile.NATIVE:
                    continue
            try:
                with open_candidate(root, candidate, limits=self._part.limits) as opened:
                    if opened.format is None or opened.is_damaged or opened.format.name == NATIVE:
                        continue
                    named = tuple(opened.format.sessions(opened.source)) or (opened.source.stem,)
                    rows: dict[str, list[str]] = {}
                    for item in opened.format.records(opened.source):
                        if not isinstance(item, Record):
                            continue
                        session = session_name(item.session or named[0])
                        row = rows.setdefault(session, [])
                        if item.ordinal == len(row) + 1:
                            row.append(item.sha256)
                        else:
                            torn.add(session)
            except (CtxauditError, SourceUnreadable):
                continue  # what is wrong with it, the audit of the transcript says
            for session, row in rows.items():
                if found.setdefault(session, row) != row:
                    torn.add(session)
        return {session: row for session, row in found.items() if session not in torn}

    def _ledgers(self) -> dict[str, Sequence[LedgerLeaf]]:
        root = self._part.artifacts
        if root is None:
            return {}
        found: dict[str, Sequence[LedgerLeaf]] = {}
        names = self._names(root, ("ledger", ""), kinds=("directory", "link"))
        for session in sorted({*names, *self._sealed.ledgers}):
            if not is_name(session) or session in RESERVED_SESSIONS:
                continue
            key = "ledger", session
            if self._is_denied(f"artifact:{session}:any:{'0' * 64}", key):
                continue
            lines = self._read(key, partial(self._ledger, root, session))
            if lines:
                found[session] = lines
        return found

    def _ledger(self, root: TrustedRoot, session: str) -> list[LedgerLeaf]:
        bound = self._part.limits.max_ledger_line_bytes

        def read(file: OpenFile) -> list[LedgerLeaf]:
            lines = LedgerLines(file.read_at, end=file.size, max_bytes=bound)
            return [_ledger_leaf(session, number, line) for number, line in enumerate(lines, 1)]

        with root.open_file(session, LEDGER_NAME) as file:
            return _steadily(file, lambda: read(file), self._part.limits)

    def _states(self) -> dict[bytes, Sequence[str]]:
        """Give every version of every state that is to be had: here is the one place for them.

        A file in `states/` has one version, its bytes of now. What a store keeps has its name after
        `STORE_PREFIX`, and all of its versions.
        """
        found: dict[bytes, Sequence[str]] = self._kept_states()
        with self._home.open_directory(_STATES) as folder:
            for entry in folder.entries():
                if not entry.name.endswith(".json") or entry.name.startswith("."):
                    continue
                if entry.kind != "file":
                    continue
                with folder.open_file(entry.name) as file:
                    data = read_whole(file, max_bytes=self._part.limits.max_document_bytes)
                found[os.fsencode(entry.name)] = (hashlib.sha256(data).hexdigest(),)
        return found

    def _has_store(self) -> bool:
        try:
            with self._home.open_directory(_STATES) as folder:
                return folder.identity(STATE_STORE) is not None
        except SourceAbsent:
            return False

    def _kept_states(self) -> dict[bytes, Sequence[str]]:
        """Give the digests of all versions that the state store keeps, oldest first."""
        if not self._has_store():
            return {}
        from provenance.stores import iter_state_versions  # noqa: PLC0415 - loads SQLite

        kept: dict[bytes, list[str]] = {}
        try:
            for one in iter_state_versions(self._home, limits=self._part.limits):
                name = STORE_PREFIX + one.name.encode("utf-8", "surrogatepass")
                kept.setdefault(name, []).append(one.sha256)
        except SourceAbsent:
            return {}
        return {name: tuple(digests) for name, digests in kept.items()}

    def _lock(self) -> dict[bytes, str]:
        with self._home.open_file(LOCK_FILE) as file:
            data = read_whole(file, max_bytes=self._part.limits.max_document_bytes)
        return dict(_lock_entries(data, self._part.limits))

    def _names(self, root: TrustedRoot, key: tuple[str, str], *, kinds: Sequence[str]) -> list[str]:
        def listed() -> list[str]:
            with root.open_directory() as folder:
                return [entry.name for entry in folder.entries() if entry.kind in kinds]

        return self._read(key, listed) or []

    def _read(self, key: tuple[str, str], read: Callable[[], _T]) -> _T | None:
        try:
            return read()
        except _NOT_THERE:
            return None
        except CtxauditError as error:
            self._unread[key] = str(error)
            return None

    def _is_denied(self, pointer: str, key: tuple[str, str]) -> bool:
        if not self._part.policies:
            return False
        verdict = self._part.verdict(parse_source_pointer(pointer), self._tenant)
        if verdict is Verdict.ALLOW:
            return False
        self._denied.add(key)
        return True


def _steadily(file: OpenFile, read: Callable[[], _T], limits: Limits) -> _T:
    """Read a log that may be growing: again where it changed, and then as it was read last."""
    found = read()
    for _ in range(limits.read_attempts):
        if file.is_unchanged():
            break
        file.refresh()
        found = read()
    return found


def _ledger_leaf(session: str, number: int, line: bytes | None) -> LedgerLeaf:
    if line is None:
        raise _LineTooLong("ledger: expected a shorter line")
    digest = hashlib.sha256(line).hexdigest()
    try:
        entry = parse_entry(line)
    except LedgerError:
        return LedgerLeaf(session, number, digest)
    return LedgerLeaf(session, number, digest, str(entry.event), entry.filename, entry.sha256)


def _lock_entries(data: bytes, limits: Limits) -> Iterator[tuple[bytes, str]]:
    """Give each pinned pointer with the digest of its entry's canonical JSON.

    Entries are the objects with a `pointer` in the lists of the document.
    """
    try:
        data.decode()
        document = parse_strict(data, max_nesting=limits.max_nesting)
    except (NotStrictJson, UnicodeDecodeError):
        raise _NoLockFile("file: expected JSON in UTF-8, got something else") from None
    if not isinstance(document, dict):
        raise _NoLockFile("file: expected an object, got another value")
    for value in document.values():
        for entry in value if isinstance(value, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("pointer"), str):
                text = canonical_json(entry).encode("utf-8", "surrogatepass")
                pointer = entry["pointer"].encode("utf-8", "surrogatepass")
                yield pointer, hashlib.sha256(text).hexdigest()
