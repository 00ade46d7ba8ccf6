"""What lies in the artifact folders of a home, with what the ledgers say of each file.

Guarantees: everything is opened below the home's trusted root; nothing is followed, nothing is
written, no lock is taken. A file is the store's own only where a ledger line says that it was
stored, it is a regular file with one name, and the ledger's owner owns it; all else is foreign. A
ledger with a line that cannot be read is told, since that line may speak of any file.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> take_inventory(TrustedRoot("/nowhere"), limits=DEFAULT_LIMITS, stale_before=0.0)
    Inventory(artifacts=(), leftovers=(), unreadable=())
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from provenance.artifacts.ledger import (
    LEDGER_NAME,
    LedgerFault,
    LedgerFaultKind,
    LedgerLines,
    read_entries,
)
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent
from provenance.artifacts.verify import ARTIFACT_FOLDER, RESERVED_SESSIONS
from provenance.errors import CtxauditError
from provenance.fs import (
    AccessRefused,
    Directory,
    Entry,
    FileFacts,
    ReadFailed,
    SourceAbsent,
    TrustedRoot,
    is_temporary_name,
)
from provenance.fs.failures import FILE_FAILURES
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import is_name
from provenance.retention.values import Inventory, Leftover, StoredArtifact, Unreadable

__all__ = ["LedgerFacts", "entry_time", "take_inventory"]


@dataclass(slots=True)
class LedgerFacts:
    """What a ledger says, taken in line by line: the last of each name counts."""

    stored: dict[str, LedgerEntry] = field(default_factory=dict)
    last: dict[str, LedgerEntry] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def take(self, entry: LedgerEntry) -> None:
        """Take in one entry, in order."""
        name = entry.filename
        if entry.event is LedgerEvent.STORED:
            self.stored[name] = entry
        self.last[name] = entry
        self.lines[name] = self.lines.get(name, 0) + 1


def entry_time(entry: LedgerEntry) -> datetime | None:
    """Give the time of an entry in UTC; None where it has none, or none of our calendar."""
    if entry.recorded_at is None:
        return None
    try:
        return datetime.fromisoformat(entry.recorded_at).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def take_inventory(
    home: TrustedRoot, *, limits: Limits = DEFAULT_LIMITS, stale_before: float
) -> Inventory:
    """Look at every session of a home.

    Args:
        home: its root.
        limits: bounds the length of a ledger line.
        stale_before: temporary files written to last before this time (since the epoch) are left
            over.
    """
    found = _Found(limits, stale_before)
    try:
        with home.open_directory() as top:
            sessions = [entry for entry in top.entries() if _is_session(entry)]
    except SourceAbsent:
        return Inventory()
    except CtxauditError as error:
        return Inventory(unreadable=(Unreadable(".", str(error)),))
    for session in sessions:
        try:
            _look_at(home, session.name, found)
        except SourceAbsent:
            continue  # no artifacts, or they went meanwhile
        except CtxauditError as error:
            found.unreadable.append(Unreadable(session.name, str(error)))
    for names in _WRITTEN_FOLDERS:
        # What is wrong with such a folder, whoever looks for citations in it says.
        with contextlib.suppress(CtxauditError), home.open_directory(*names) as folder:
            for entry in folder.entries():
                if is_temporary_name(entry.name):
                    found.take_draft(folder, names, entry.name)
    return Inventory(tuple(found.artifacts), tuple(found.leftovers), tuple(found.unreadable))


# Where else our own commands write by a temporary file: the lock, seals, receipts, states.
_WRITTEN_FOLDERS: tuple[tuple[str, ...], ...] = ((), ("seals",), ("receipts",), ("states",))


@dataclass(slots=True)
class _Found:
    limits: Limits
    stale_before: float
    artifacts: list[StoredArtifact] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    def take_draft(self, folder: Directory, names: tuple[str, ...], name: str) -> None:
        """Note a temporary file, if its writer is long gone."""
        size = folder.is_stale_draft(name, before_seconds=self.stale_before)
        if size is not None:
            self.leftovers.append(Leftover(names, name, size))


@dataclass(frozen=True, slots=True)
class _Session:
    session_id: str
    ledger: LedgerFacts
    owner: int | None


def _is_session(entry: Entry) -> bool:
    return entry.kind == "directory" and is_name(entry.name) and entry.name not in RESERVED_SESSIONS


def _look_at(home: TrustedRoot, session_id: str, found: _Found) -> None:
    with home.open_directory(session_id) as session:
        if _kind_of(session, ARTIFACT_FOLDER) == "link":
            return  # not followed: it holds nothing of ours
        with session.open_directory(ARTIFACT_FOLDER) as folder:
            # The ledger first: what is stored meanwhile has no line yet, and stays.
            ledger, owner = _read_ledger(session, session_id, found)
            for entry in folder.entries():
                if is_temporary_name(entry.name):
                    found.take_draft(folder, (session_id, ARTIFACT_FOLDER), entry.name)
                else:
                    found.artifacts += _artifact(
                        folder, entry, found, _Session(session_id, ledger, owner)
                    )


def _kind_of(folder: Directory, name: str) -> str:
    return next((entry.kind for entry in folder.entries() if entry.name == name), "")


def _read_ledger(
    session: Directory, session_id: str, found: _Found
) -> tuple[LedgerFacts, int | None]:
    facts = LedgerFacts()
    target = f"{session_id}/{LEDGER_NAME}"
    try:
        with session.open_file(LEDGER_NAME) as file:
            lines = LedgerLines(
                file.read_at, end=file.size, max_bytes=found.limits.max_ledger_line_bytes
            )
            for item in read_entries(lines):
                if not isinstance(item, LedgerFault):
                    facts.take(item)
                elif item.kind is not LedgerFaultKind.TORN:
                    # A torn end is a writer at work, or one that died: the next one mends it.
                    found.unreadable.append(Unreadable(target, f"line {item.line}: {item.message}"))
                    break
            return facts, file.facts.uid
    except SourceAbsent:
        return facts, None
    except CtxauditError as error:
        found.unreadable.append(Unreadable(target, str(error)))
        return facts, None


def _artifact(
    folder: Directory, entry: Entry, found: _Found, session: _Session
) -> Iterator[StoredArtifact]:
    name, session_id = entry.name, session.session_id
    if not is_name(name) or entry.kind != "file":
        yield StoredArtifact(session_id=session_id, filename=_shown(name), is_foreign=True)
        return
    try:
        with folder.open_file(name) as file:
            facts = file.facts
    except SourceAbsent:
        return
    except (AccessRefused, ReadFailed) as error:
        found.unreadable.append(Unreadable(f"{session_id}/{ARTIFACT_FOLDER}/{name}", str(error)))
        return
    except FILE_FAILURES:
        # A mount over it, or something else since it was listed.
        yield StoredArtifact(session_id=session_id, filename=name, is_foreign=True)
        return
    ledger, owner = session.ledger, session.owner
    stored, last = ledger.stored.get(name), ledger.last.get(name)
    yield StoredArtifact(
        session_id=session_id,
        filename=name,
        facts=facts,
        sha256=None if stored is None else stored.sha256,
        blake3=None if stored is None else stored.blake3,
        last_use=_last_use(facts, last),
        is_removed=_is_removed(facts, last),
        is_foreign=facts.nlink != 1 or (owner is not None and facts.uid != owner),
        lines=ledger.lines.get(name, 0),
    )


def _is_removed(facts: FileFacts, last: LedgerEntry | None) -> bool:
    """Say whether the ledger speaks of this very file; one put back since is stored again."""
    if last is None or last.event is not LedgerEvent.REMOVED:
        return False
    told, changed = entry_time(last), _moment(facts.ctime_ns)
    return told is not None and changed is not None and changed < told


def _last_use(facts: FileFacts, last: LedgerEntry | None) -> datetime | None:
    told = None if last is None else entry_time(last)
    is_back = last is not None and last.event is LedgerEvent.REMOVED
    # Whoever puts a file back gives it the old time of change, and a new one of its inode.
    changed = _moment(max(facts.mtime_ns, facts.ctime_ns) if is_back else facts.mtime_ns)
    if changed is None:
        return None  # no time of our calendar: it is never old enough
    return changed if told is None or changed > told else told


def _moment(nanoseconds: int) -> datetime | None:
    try:
        # Not by way of a float: what is put back at once is told from what was left.
        whole, rest = divmod(nanoseconds // 1000, 10**6)
        return datetime.fromtimestamp(whole, UTC) + timedelta(microseconds=rest)
    except (ValueError, OverflowError, OSError):
        return None


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
