"""What a writer that was killed left behind, put right under the ledger's lock.

Guarantees: a whole artifact is never lost, renamed or altered here; it gets the ledger line that
it lacks. A ledger tail that says nothing true is moved to `tool-results.torn` beside the ledger,
byte for byte; only a line for an artifact that does not exist is dropped.

Example:
    >>> TORN_NAME
    'tool-results.torn'
"""

from __future__ import annotations

from collections.abc import Callable

from provenance.artifacts.handles import SessionHandles
from provenance.artifacts.index import SessionIndex
from provenance.artifacts.ledger_entry import (
    LedgerEntry,
    LedgerError,
    LedgerEvent,
    encode_entry,
    parse_entry,
)
from provenance.artifacts.segments import SEGMENT_BYTES, ContentDigester, ContentFacts
from provenance.fs.failures import (
    FILE_FAILURES,
    SourceAbsent,
)
from provenance.fs.reading import OpenFile
from provenance.pointers import is_name

__all__ = ["TORN_NAME", "adopt_unrecorded", "describe_file", "settle_tail"]

TORN_NAME = "tool-results.torn"
"""Where the bytes of torn ledger lines go; in the session's folder, one stretch a line."""

# No writer is silent for so long and still alive.
_STALE_SECONDS = 24 * 3600.0


def describe_file(file: OpenFile) -> ContentFacts | None:
    """Give the facts of an open file, read from its handle; None where it changed meanwhile.

    Raises:
        ReadFailed: the device or file system refused.
    """
    digester = ContentDigester()
    for offset in range(0, file.size, SEGMENT_BYTES):
        digester.update(file.read_at(offset, min(SEGMENT_BYTES, file.size - offset)))
    facts = digester.finish()
    return facts if facts.bytes == file.size and file.is_unchanged() else None


def settle_tail(
    handles: SessionHandles, start: int, end: int, *, max_line_bytes: int
) -> LedgerEntry | None:
    """Deal with ledger bytes that no line end follows; hold the lock while calling.

    Args:
        handles: the session.
        start: offset behind the last line end.
        end: size of the ledger.
        max_line_bytes: longest line that can be an entry.

    Returns:
        The entry, where the tail is a whole one that is true: it has got its line end. Otherwise
        None, and the ledger ends at `start`.
    """
    entry = _entry_in(handles, start, end - start) if end - start <= max_line_bytes else None
    if entry is not None and (entry.event is not LedgerEvent.STORED or _is_there(handles, entry)):
        handles.ledger.append(b"\n", sync=False)
        handles.sync()
        return entry
    if entry is None or not _is_free(handles, entry.filename):
        _set_aside(handles, start, end)
    handles.ledger.truncate(start)
    handles.ledger.sync()
    return None


def adopt_unrecorded(
    handles: SessionHandles,
    index: SessionIndex,
    *,
    make_entry: Callable[[str, ContentFacts], LedgerEntry],
    now_seconds: float,
) -> int:
    """Give each artifact without a ledger line one; hold the lock while calling.

    Names of whatever else stands there are reserved. Temporary files of dead writers go.

    Returns:
        The number of bytes that the ledger grew by.
    """
    grown = 0
    for found in handles.artifacts.entries():
        if not is_name(found.name):
            handles.artifacts.discard_stale_draft(
                found.name, before_seconds=now_seconds - _STALE_SECONDS
            )
            continue
        if found.kind == "file" and not index.is_recorded(found.name):
            facts = _facts_of(handles, found.name)
            if facts is not None:
                entry = make_entry(found.name, facts)
                line = encode_entry(entry)
                handles.ledger.append(line, sync=False)
                grown += len(line)
                index.apply(entry)
        index.reserve(found.name)
    if grown:
        handles.sync()
    return grown


def _entry_in(handles: SessionHandles, start: int, size: int) -> LedgerEntry | None:
    try:
        return parse_entry(handles.ledger.read_at(start, size))
    except LedgerError:
        return None


def _is_there(handles: SessionHandles, entry: LedgerEntry) -> bool:
    facts = _facts_of(handles, entry.filename)
    return facts is not None and (facts.sha256, facts.blake3, facts.bytes) == (
        entry.sha256,
        entry.blake3,
        entry.bytes,
    )


def _is_free(handles: SessionHandles, name: str) -> bool:
    try:
        handles.artifacts.open_file(name).close()
    except SourceAbsent:
        return True
    except FILE_FAILURES:
        return False
    return False


def _facts_of(handles: SessionHandles, name: str) -> ContentFacts | None:
    try:
        with handles.artifacts.open_file(name) as file:
            return describe_file(file)
    except FILE_FAILURES:
        return None


def _set_aside(handles: SessionHandles, start: int, end: int) -> None:
    with handles.session.open_append(TORN_NAME) as torn:
        for offset in range(start, end, SEGMENT_BYTES):
            torn.append(
                handles.ledger.read_at(offset, min(SEGMENT_BYTES, end - offset)), sync=False
            )
        torn.append(b"\n")
