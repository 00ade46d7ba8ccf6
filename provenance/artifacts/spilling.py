"""One artifact on its way into a session, from bytes to a name and a ledger line.

Guarantees: equal bytes get the name they have already, if the file of that name still holds them
(its digest is computed, not believed); what is altered or gone is stored anew under a fresh name,
and the ledger says so. Hashing, writing and the long fsync happen outside the session's lock.

Example:
    >>> Request(tool="bash", call_id=None, name=None).tool
    'bash'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenance.artifacts.failures import StoreWriteError
from provenance.artifacts.folder import SessionFolder
from provenance.artifacts.names import encode_name, is_name_for
from provenance.artifacts.pending import PendingArtifact
from provenance.artifacts.segments import ContentFacts, describe

__all__ = ["Request", "put_bytes", "put_stream"]

# The folder was replaced under the writer, each time.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller says about an artifact; checked already."""

    tool: str | None
    call_id: str | None
    name: str | None


def put_bytes(folder: SessionFolder, data: bytes, request: Request) -> tuple[str, ContentFacts]:
    """Store content that is in memory; gives its name and facts.

    Raises:
        CtxauditError: the store or the file system refused; nothing half-written is visible.
    """
    for _ in range(_ATTEMPTS):
        with folder.pending(once=False) as pending:
            pending.write(data)
            # The disk works while the digests are computed.
            pending.start_writeout()
            facts = describe(data)
            name = _settle(folder, pending, facts, request)
            if name is not None:
                return name, facts
    raise _replaced()


def put_stream(
    folder: SessionFolder, fill: Callable[[PendingArtifact], ContentFacts], request: Request
) -> tuple[str, ContentFacts]:
    """Store content that `fill` writes into a draft, once; gives its name and facts.

    Raises:
        CtxauditError: as `put_bytes`; whatever `fill` raises.
    """
    with folder.pending(once=True) as pending:
        facts = fill(pending)
        name = _settle(folder, pending, facts, request)
    if name is None:
        raise _replaced()
    return name, facts


def _settle(
    folder: SessionFolder, pending: PendingArtifact, facts: ContentFacts, request: Request
) -> str | None:
    """Find the same bytes stored already, or commit; None where the folder was replaced."""
    altered: set[str] = set()
    known = folder.find_by_digest(facts.sha256)
    while True:
        if known is not None:
            # Read without the lock: it may be large.
            if not folder.holds(known, facts):
                altered.add(known)
            elif _reuse(folder, known, facts, request):
                return known
        pending.sync()
        with folder.locked():
            found = folder.find_by_digest(facts.sha256)
            if found is None or found in altered:
                return folder.commit(
                    pending,
                    facts,
                    suggested=request.name,
                    tool=request.tool,
                    call_id=request.call_id,
                    reason=f"{found} is missing or altered" if found else None,
                )
        # Another writer stored these bytes meanwhile.
        known = found


def _reuse(folder: SessionFolder, known: str, facts: ContentFacts, request: Request) -> bool:
    """Answer with a stored file; False where it was removed since it was looked at.

    The ledger notes a name that it was not stored under, and that it is in use again: what nothing
    cites yet is kept for a while after its last use (`ctxaudit gc`).
    """
    reason = None
    if request.name is not None and not is_name_for(known, request.name):
        reason = f"also suggested as {encode_name(request.name)}"
    with folder.locked():
        if folder.find_by_digest(facts.sha256) != known:
            return False
        if reason is None or folder.has_note(known, reason):
            reason = None if folder.is_use_recorded(known) else "stored again"
        if reason is not None:
            folder.note_suggestion(
                known, facts, reason=reason, tool=request.tool, call_id=request.call_id
            )
        # It may be the work of a writer that died before it could make sure.
        folder.sync()
    return True


def _replaced() -> StoreWriteError:
    return StoreWriteError("store: expected the session's folder to stay in place")
