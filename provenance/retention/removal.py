"""Removes artifacts of one session: the ledger says so first, then the files go.

Guarantees: each artifact's `removed` line is on the disk before its file is unlinked; killed at any
instant, what is gone has its line, and what has a line and is still there goes the next time. No
file goes that is not the one that was looked at, that was used again since, or that has several
names; no link is followed or removed. Nothing is made.

The order, and what a death after each step leaves:

    1. the ledger's lock                 nothing
    2. `removed` lines, in one write     whole lines count, the torn end of one is set aside
    3. fsync of the ledger               files that the next collection removes
    4. unlink of each file               the same
    5. fsync of the folder               everything

Example:
    >>> remove_artifacts.__name__
    'remove_artifacts'
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from provenance.artifacts.handles import SessionHandles
from provenance.artifacts.ledger import LedgerFault, LedgerLines, read_entries
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent, encode_entry
from provenance.artifacts.recovery import settle_tail
from provenance.errors import CtxauditError
from provenance.fs import ReadFailed, TrustedRoot, WriteFailed
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.retention.inventory import LedgerFacts
from provenance.retention.values import Failed, Removable

__all__ = ["Removed", "remove_artifacts"]


@dataclass(slots=True)
class Removed:
    """What became of the artifacts that were to go.

    Attributes:
        gone: they went.
        changed: they are no longer what was looked at, or were used again; they stay.
        failed: they were to go and are still there.
    """

    gone: list[Removable] = field(default_factory=list)
    changed: list[Removable] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)


def remove_artifacts(
    home: TrustedRoot,
    session_id: str,
    wanted: Sequence[Removable],
    *,
    reason: str,
    now: datetime,
    limits: Limits = DEFAULT_LIMITS,
    lock_timeout_seconds: float = 5.0,
) -> Removed:
    """Remove some artifacts of a session.

    Args:
        home: the artifact root.
        session_id: whose they are.
        wanted: as the inventory gave them.
        reason: for the ledger.
        now: for the ledger.
        limits: bounds the length of a ledger line.
        lock_timeout_seconds: how long to wait for a writer of the session.

    Raises:
        LockTimeout: a writer kept the session; nothing was removed.
        WriteFailed: the ledger could not be written; nothing was removed.
        CtxauditError: the session's folder or ledger could not be opened; nothing was removed.
    """
    done = Removed()
    handles = _open(home, session_id)
    try:
        # 1. Alone with the ledger; a spill of equal bytes waits, and sees our lines.
        with handles.ledger.lock(lock_timeout_seconds):
            if not handles.are_current():
                done.changed += wanted
                return done
            facts = _catch_up(handles, limits)
            going = [one for one in wanted if _is_as_it_was(one, facts, handles, done)]
            # 2, 3. What is about to happen, on the disk.
            lines = b"".join(
                _line(one, reason, now) for one in going if not one.artifact.is_removed
            )
            if lines:
                handles.ledger.append(lines)
            # 4. It happens.
            for one in going:
                _remove(handles, one, done)
            # 5.
            if done.gone:
                handles.artifacts.sync()
    finally:
        handles.close()
    return done


def _open(home: TrustedRoot, session_id: str) -> SessionHandles:
    try:
        return SessionHandles.open(home, session_id, create=False)
    except ReadFailed as error:
        if error.errno != errno.EROFS:
            raise
        # Nothing but the ledger is opened for writing.
        raise WriteFailed("log: expected to write, got EROFS", errno.EROFS) from None


def _catch_up(handles: SessionHandles, limits: Limits) -> LedgerFacts:
    """Read the ledger as it is now, and mend the end that a dead writer left."""
    facts = LedgerFacts()
    size = handles.ledger.size()
    bound = limits.max_ledger_line_bytes
    lines = LedgerLines(handles.ledger.read_at, end=size, max_bytes=bound)
    for item in read_entries(lines):
        if not isinstance(item, LedgerFault):
            facts.take(item)
    if lines.consumed < size:
        mended = settle_tail(handles, lines.consumed, size, max_line_bytes=bound)
        if mended is not None:
            facts.take(mended)
    return facts


def _is_as_it_was(
    one: Removable, facts: LedgerFacts, handles: SessionHandles, done: Removed
) -> bool:
    """Say whether file and ledger have nothing new about it since the inventory."""
    name, then = one.artifact.filename, one.artifact.facts
    found = handles.artifacts.facts(name)
    if found is None:
        return False  # another collection was here
    if found == then and facts.lines.get(name, 0) == one.artifact.lines:
        return True
    done.changed.append(one)
    return False


def _remove(handles: SessionHandles, one: Removable, done: Removed) -> None:
    facts = one.artifact.facts
    try:
        name = one.artifact.filename
        is_removed = facts is not None and handles.artifacts.remove_file(name, like=facts)
        # Its line is written, so whoever removed it before us did what the line says.
        if is_removed or handles.artifacts.identity(name) is None:
            done.gone.append(one)
        else:
            done.failed.append(
                Failed(one.artifact, "file: expected the one that was looked at, got another")
            )
    except CtxauditError as error:
        done.failed.append(Failed(one.artifact, str(error)))


def _line(one: Removable, reason: str, now: datetime) -> bytes:
    moment = now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return encode_entry(
        LedgerEntry(
            event=LedgerEvent.REMOVED,
            filename=one.artifact.filename,
            sha256=one.artifact.sha256,
            blake3=one.artifact.blake3,
            bytes=one.artifact.size,
            recorded_at=f"{moment}Z",
            reason=reason,
        )
    )
