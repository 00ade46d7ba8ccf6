"""What a home holds that a seal covers: events, ledger lines, versions of states, pins.

Guarantees: everything is reached through trusted roots, and nothing of a session that the
operator's policy denies. What the machine could not read is never taken for what is not there: it
is told apart, with a reason. What does not read because of its content is `SPOILED`, for it cannot
be what was sealed. Sessions that the home denies are read as far as they are sealed, and no further
than that: nothing new of them is given. Nothing here judges; lines are digested as they stand.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> home = TrustedRoot("/nowhere")
    >>> part = AuditPart(transcripts=home.subroot("transcripts"), artifacts=home)
    >>> collect(home, part).leaves
    HomeLeaves(events={}, ledgers={}, states={}, lock={}, skipped=frozenset())
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from provenance.artifacts.ledger import LEDGER_NAME, LedgerLines
from provenance.artifacts.ledger_entry import LedgerError, parse_entry
from provenance.artifacts.verify import RESERVED_SESSIONS
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.audit.seal_documents import Troubles, read_documents
from provenance.audit.seal_foreign import SessionRows, Told, rows_in
from provenance.audit.seal_lines import Lines, line_digests
from provenance.audit.seal_places import find_instead
from provenance.fs import (
    OpenFile,
    TrustedRoot,
)
from provenance.limits import Limits
from provenance.pointers import is_name, parse_source_pointer
from provenance.policy import Verdict
from provenance.sealing.history import (
    SPOILED,
    History,
    HomeLeaves,
)
from provenance.sealing.leaves import LedgerLeaf
from provenance.transcripts.discovery import find_candidates
from provenance.transcripts.locate import OwnFile, own_file_of
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["Collected", "collect", "operators_part"]

# No artifact is asked for: whether the ledger of a session may be read. Its own name stands there,
# which no rule about single artifacts means.
_LEDGER_QUESTION = f"{LEDGER_NAME}:{'0' * 64}"
_ENDING = ".jsonl"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Attributes:
        leaves: what there is.
        unread: kind and name of what could not be read, and why.
        spoiled: those of them whose content is to blame: what is sealed of them is not there.
        denied: kind and name of what the operator's policy denies.
        torn: kind and name of logs that end in the middle of a line, and how many bytes it has.
        files: sessions that another agent's log tells, each with that file below the transcripts.
        claims: sessions that yet another agent's log tells, in another way, each with the first
            such file below the transcripts.
    """

    leaves: HomeLeaves
    unread: Mapping[tuple[str, str], str] = field(default_factory=dict)
    spoiled: frozenset[tuple[str, str]] = frozenset()
    denied: frozenset[tuple[str, str]] = frozenset()
    torn: Mapping[tuple[str, str], int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)


def collect(
    home: TrustedRoot,
    part: AuditPart,
    *,
    sealed: History | None = None,
    tenant: str | None = None,
    withheld_by: AuditPart | None = None,
) -> Collected:
    """Read all of a home that a seal covers.

    Args:
        home: its root.
        part: its roots under the operator's limits and policy alone (`operators_part`).
        sealed: what a log has of it: sessions that are denied are skipped by their names.
        tenant: who asks, for policies.
        withheld_by: the home with its own policy, too: of what that denies nothing new is given.
    """
    return _Collector(home, part, sealed or History(), tenant, withheld_by).collect()


def operators_part(part: AuditPart, request: AuditRequest) -> AuditPart:
    """Give the same home under what the operator says alone: its own files cannot hide any of it.

    The caller closes it.
    """
    return AuditPart(
        transcripts=None if part.transcripts is None else part.transcripts.unguarded,
        artifacts=None if part.artifacts is None else part.artifacts.unguarded,
        limits=request.limits,
        policies=() if request.policy is None else (request.policy,),
        prefix=part.prefix,
        transcript_folder=part.transcript_folder,
        home=part.home,
    )


class _Collector:
    def __init__(
        self,
        home: TrustedRoot,
        part: AuditPart,
        sealed: History,
        tenant: str | None,
        withheld_by: AuditPart | None,
    ) -> None:
        self._home = home
        self._part = part
        self._sealed = sealed
        self._tenant = tenant
        self._withheld_by = withheld_by
        self._troubles = Troubles()
        self._denied: set[tuple[str, str]] = set()
        self._torn: dict[tuple[str, str], int] = {}
        self._files: dict[str, str] = {}
        self._claims: dict[str, str] = {}
        self._pools: dict[tuple[str, str], list[str]] = {}
        self._known_pools = {pool for _, pool in sealed.pools}

    def collect(self) -> Collected:
        events = self._events()
        ledgers = self._ledgers()
        documents = read_documents(self._home, self._sealed, self._part.limits, self._troubles)
        unread, spoiled = self._troubles.unread, frozenset(self._troubles.spoiled)
        skipped = (unread.keys() - spoiled) | self._denied
        leaves = HomeLeaves(events, ledgers, *documents, frozenset(skipped))
        # What is gone may have something else in its place.
        instead = find_instead(self._home, self._part, self._sealed, leaves)
        leaves = replace(leaves, instead=instead, pools=self._pools)
        torn = {key: size for key, size in self._torn.items() if size and key not in unread}
        return Collected(
            leaves, unread, spoiled, frozenset(self._denied), torn, self._files, self._claims
        )

    def _events(self) -> dict[str, Sequence[str]]:
        root = self._part.transcripts
        if root is None:
            return {}
        found: dict[str, Sequence[str]] = {}
        names = self._names(root, ("event", ""), kinds=("file", "link", "other", "directory"))
        own = {name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)}
        for session in sorted(filter(is_name, own | self._sealed.events.keys())):
            key = "event", session
            if self._is_denied(key):
                continue
            known = self._sealed.events.get(session, [])
            is_withheld = self._is_withheld(key)
            if is_withheld and not known:
                continue
            if own_file_of(root, session) is not OwnFile.NATIVE:
                continue  # another agent's, or not there: below
            lines = self._troubles.read(key, partial(self._own_events, root, session))
            if lines is not None:
                found[session] = lines.digests[: len(known)] if is_withheld else lines.digests
                self._torn[key] = 0 if is_withheld else lines.torn_bytes
        rows = self._foreign(root, own)
        for session in rows.sessions():
            if ("event", session) in self._denied:
                continue
            row = rows.row_of(session, self._known(session))
            if session in found:
                self._claims[session] = rows.first_file(session)
            elif row is not None:
                found[session] = row.told.records
                self._pools |= {(session, pool): told for pool, told in row.told.pools.items()}
                self._files[session] = row.file
                if row.other:
                    self._claims[session] = row.other
        return found

    def _own_events(self, root: TrustedRoot, session: str) -> Lines:
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

    def _foreign(self, root: TrustedRoot, own: Iterable[str]) -> SessionRows:
        """Read the logs of other agents, as far as each of their sessions is one row of records."""
        known = {f"{session}{_ENDING}" for session in own if is_name(session)}
        found = SessionRows()
        for candidate in find_candidates(root):
            name = candidate.names[-1] if candidate.names else ""
            is_withheld = False
            if len(candidate.names) == 1 and name in known:
                session = name.removesuffix(_ENDING)
                if self._is_denied(("event", session)):
                    continue
                is_withheld = self._is_withheld(("event", session))
                if own_file_of(root, session) is OwnFile.NATIVE:
                    continue
            rows = rows_in(root, candidate, limits=self._part.limits)
            for session, row in rows.items():
                kept = self._kept_events(session, row, is_withheld=is_withheld)
                if kept is not None:
                    found.add(session, "/".join(candidate.names), kept)
        return found

    def _known(self, session: str) -> Told:
        """Give what is sealed of a session."""
        pools = self._sealed.pools
        return Told(
            self._sealed.events.get(session, []),
            {one: pools[session, one] for one in self._known_pools if (session, one) in pools},
        )

    def _kept_events(self, session: str, row: Told, *, is_withheld: bool) -> Told | None:
        """Ask for a session that only the content of a log names; None: nothing may be said.

        Args:
            session: as its records name it.
            row: what a log has of it.
            is_withheld: the home denies a session that is called like the file.
        """
        key = "event", session
        if not is_name(session) or self._is_denied(key):
            return None
        if not is_withheld and not self._is_withheld(key):
            return row
        return row.up_to(self._known(session)) if session in self._sealed.events else None

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
            if self._is_denied(key):
                continue
            known = self._sealed.ledgers.get(session, [])
            is_withheld = self._is_withheld(key)
            if is_withheld and not known:
                continue
            read = self._troubles.read(key, partial(self._ledger, root, session))
            if read is None:
                continue
            lines, torn_bytes = read
            self._torn[key] = 0 if is_withheld else torn_bytes
            if not lines:
                continue
            found[session] = lines = lines[: len(known)] if is_withheld else lines
            if any(line.sha256 == SPOILED for line in lines):
                self._troubles.spoil(key, "ledger: expected a shorter line")
        return found

    def _ledger(self, root: TrustedRoot, session: str) -> tuple[list[LedgerLeaf], int]:
        bound = self._part.limits.max_ledger_line_bytes

        def read(file: OpenFile) -> tuple[list[LedgerLeaf], int]:
            lines = LedgerLines(file.read_at, end=file.size, max_bytes=bound)
            found = [_ledger_leaf(session, number, line) for number, line in enumerate(lines, 1)]
            if lines.tail and _is_entry(lines.tail):
                # It lacks its end alone, as after a crash: the next writer adds it.
                return [*found, _ledger_leaf(session, len(found) + 1, lines.tail)], 0
            return found, lines.end - lines.consumed

        with root.open_file(session, LEDGER_NAME) as file:
            return _steadily(file, lambda: read(file), self._part.limits)

    def _names(self, root: TrustedRoot, key: tuple[str, str], *, kinds: Sequence[str]) -> list[str]:
        def listed() -> list[str]:
            with root.open_directory() as folder:
                return [entry.name for entry in folder.entries() if entry.kind in kinds]

        return self._troubles.read(key, listed) or []

    def _is_denied(self, key: tuple[str, str]) -> bool:
        """Ask the operator's policy for a session; what it denies is not opened."""
        if _is_allowed(self._part, key, self._tenant):
            return False
        self._denied.add(key)
        return True

    def _is_withheld(self, key: tuple[str, str]) -> bool:
        """Ask the home, too, for what is not sealed yet."""
        own = self._withheld_by
        return own is not None and not _is_allowed(own, key, self._tenant)


def _is_allowed(part: AuditPart, key: tuple[str, str], tenant: str | None) -> bool:
    if not part.policies:
        return True
    kind, session = key
    text = f"{session}:1" if kind == "event" else f"{session}:{_LEDGER_QUESTION}"
    scheme = "transcript" if kind == "event" else "artifact"
    pointer = parse_source_pointer(f"{scheme}:{text}")
    return part.verdict(pointer, tenant) is Verdict.ALLOW


def _steadily(file: OpenFile, read: Callable[[], _T], limits: Limits) -> _T:
    """Read a log that may be growing: again where it changed, and then as it was read last."""
    found = read()
    for _ in range(limits.read_attempts):
        if file.is_unchanged():
            break
        file.refresh()
        found = read()
    return found


def _is_entry(line: bytes) -> bool:
    try:
        parse_entry(line)
    except LedgerError:
        return False
    return True


def _ledger_leaf(session: str, number: int, line: bytes | None) -> LedgerLeaf:
    if line is None:
        return LedgerLeaf(session, number, SPOILED)
    digest = hashlib.sha256(line).hexdigest()
    try:
        entry = parse_entry(line)
    except LedgerError:
        return LedgerLeaf(session, number, digest)
    return LedgerLeaf(session, number, digest, str(entry.event), entry.filename, entry.sha256)
