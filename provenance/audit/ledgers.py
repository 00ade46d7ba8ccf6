"""What artifact ledgers say was stored, for artifacts that nothing else cites.

Guarantees: a ledger is read below the root, line by line; a line that is no entry is a finding and
the rest counts. A ledger is the writer's word about its own files: it is used where there is no
pointer to hold them to, and for nothing else.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> stored_digests(TrustedRoot("/nowhere"), "s1", notes=Notes())
    {}
"""

from __future__ import annotations

from provenance.artifacts.ledger import LEDGER_NAME, LedgerFault, read_ledger
from provenance.artifacts.ledger_entry import LedgerEvent
from provenance.audit.notes import Notes
from provenance.errors import CtxauditError
from provenance.findings import Finding, Location, Severity
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = ["stored_digests"]


def stored_digests(
    root: TrustedRoot,
    session_id: str,
    *,
    notes: Notes,
    prefix: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, str]:
    """Give the full digest of each artifact that the ledger of a session says is stored.

    Args:
        root: the artifact root.
        session_id: a name of the pointer grammar.
        notes: hears of lines that are no entries, and of a ledger that cannot be read.
        prefix: stands before the target of findings.
        limits: bounds the length of a line.
    """
    target = f"{prefix}{session_id}/{LEDGER_NAME}"
    stored: dict[str, str] = {}
    try:
        for item in read_ledger(root, session_id, limits=limits):
            if isinstance(item, LedgerFault):
                place = Location(ordinal=item.line, line=item.line)
                notes.add(Finding(str(item.kind), Severity.WARNING, target, place, item.message))
            elif item.event is LedgerEvent.STORED and item.sha256 is not None:
                stored[item.filename] = item.sha256
            elif item.event is LedgerEvent.REMOVED:
                stored.pop(item.filename, None)
    except CtxauditError as error:
        notes.add(Finding("ledger_unreadable", Severity.WARNING, target, message=str(error)))
    return stored
