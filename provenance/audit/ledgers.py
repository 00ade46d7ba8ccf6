"""What artifact ledgers say was stored, for artifacts that nothing else cites.

Guarantees: a ledger is read below the root, line by line; a line that is no entry is a finding and
the rest counts. A ledger is the writer's word about its own files: it is used where there is no
pointer to hold them to, and for nothing else. A ledger is told from a transcript by its first
record, or by the folder of artifacts that it lies beside; a damaged one too.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> stored_digests(TrustedRoot("/nowhere"), "s1", notes=Notes())
    {}
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from provenance.artifacts.ledger import LEDGER_NAME, LedgerFault, read_ledger
from provenance.artifacts.ledger_entry import LEDGER_SCHEMA, LedgerEvent
from provenance.artifacts.verify import ARTIFACT_FOLDER
from provenance.audit.notes import Notes
from provenance.errors import CtxauditError
from provenance.findings import Finding, Location, Severity
from provenance.fs import Entry, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits

__all__ = ["LINES_ENDINGS", "TRANSCRIPT_ENDING", "is_ledger", "is_session_folder", "stored_digests"]

TRANSCRIPT_ENDING = ".jsonl"
# What is called like this is a transcript, whatever stands in it.
LINES_ENDINGS = (TRANSCRIPT_ENDING, f"{TRANSCRIPT_ENDING}.zst")
# A ledger's longest entry describes an artifact of 10 GB in less.
_SNIFFED_BYTES = 1 << 20


def is_session_folder(entries: Iterable[Entry]) -> bool:
    """Say whether a folder with these entries holds the artifacts of a session."""
    return any(
        entry.name == ARTIFACT_FOLDER and entry.kind in ("directory", "link") for entry in entries
    )


def is_ledger(folder: TrustedRoot, name: str) -> bool:
    """Say whether a file is an artifact ledger and no transcript; False where it cannot be read.

    Args:
        folder: the folder that it lies in.
        name: of the file, with its ending.
    """
    try:
        if name == LEDGER_NAME:
            with folder.open_directory() as directory:
                if is_session_folder(directory.entries()):
                    return True
        with folder.open_file(name) as file:
            data = file.read_at(0, _SNIFFED_BYTES)
    except CtxauditError:
        return False  # what is wrong with it is for the check of the transcript to say
    return next(filter(None, map(_schema_of, data.split(b"\n"))), "") == LEDGER_SCHEMA


def _schema_of(line: bytes) -> str:
    """Give the schema of a record, `none` for one without, and nothing for what is no record."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    schema = value.get("schema")
    return schema if isinstance(schema, str) and schema else "none"


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
