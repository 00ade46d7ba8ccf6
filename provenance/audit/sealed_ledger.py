"""Ledger entries that a seal covers, for whoever rests on what they say of an artifact (`--fast`).

Guarantees: an entry is given only if its very line, in its place, is a leaf of the log, and no
later line says something else of that artifact. The caller has to have found the log sound.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> sealed_entries(TrustedRoot("/nowhere"), History(), limits=Limits())
    {}
"""

from __future__ import annotations

import hashlib
from collections.abc import Container

from provenance.artifacts.ledger import LEDGER_NAME, LedgerLines
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerError, LedgerEvent, parse_entry
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.sealing.history import History

__all__ = ["sealed_entries"]


def sealed_entries(
    root: TrustedRoot,
    sealed: History,
    *,
    limits: Limits,
    skipped: Container[tuple[str, str]] = (),
) -> dict[tuple[str, str], LedgerEntry]:
    """Give the entry of each stored artifact, by session and file name.

    Args:
        root: the artifact root.
        sealed: what a sound log says.
        limits: bounds the length of a line.
        skipped: `ledger` and session, of what is not to be opened.
    """
    found: dict[tuple[str, str], LedgerEntry] = {}
    for session, leaves in sealed.ledgers.items():
        if ("ledger", session) in skipped:
            continue
        of_session: dict[tuple[str, str], LedgerEntry] = {}
        try:
            with root.open_file(session, LEDGER_NAME) as file:
                lines = LedgerLines(
                    file.read_at, end=file.size, max_bytes=limits.max_ledger_line_bytes
                )
                for number, line in enumerate(lines):
                    if line is None:
                        continue  # it names nothing that could be rested on
                    digest = hashlib.sha256(line).hexdigest()
                    is_sealed = number < len(leaves) and leaves[number].sha256 == digest
                    _take(of_session, session, line, is_sealed=is_sealed)
        except CtxauditError:
            continue  # nothing of it is offered; that it cannot be read is told elsewhere
        found |= of_session
    return found


def _take(
    found: dict[tuple[str, str], LedgerEntry], session: str, line: bytes, *, is_sealed: bool
) -> None:
    try:
        entry = parse_entry(line)
    except LedgerError:
        return
    key = session, entry.filename
    match entry.event:
        case LedgerEvent.STORED if is_sealed:
            found[key] = entry
        case LedgerEvent.STORED | LedgerEvent.REMOVED:
            found.pop(key, None)
        case LedgerEvent.RENAMED:
            pass  # a note about the name; the artifact is the one that was stored
