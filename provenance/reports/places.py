"""Where a person finds a source below the roots, as a report may say it.

Guarantees: pure. Only a pointer of the grammar names a place, and one that a policy denied names
none: it was not looked at, and the reader may not look either.

Example:
    >>> place_of("transcript:s1:3", "transcript_invalid_json", "transcripts/")
    'transcripts/s1.jsonl, on the way to record 3'
"""

from __future__ import annotations

from provenance.pointers import SourcePointerError, parse_source_pointer
from provenance.resolution import Reason

__all__ = ["place_of"]

# Which file they are about is not known: another agent's has any name.
_IN_SOME_FILE = frozenset(
    {
        Reason.TRANSCRIPT_MISSING,
        Reason.TRANSCRIPT_EVENT_MISSING,
        Reason.TRANSCRIPT_SESSION_MISMATCH,
    }
)


def place_of(pointer: str, reason: str, folder: str | None = None) -> str:
    """Say where a source lies; empty where that is nowhere, or must not be said.

    No line is named: a transcript is read up to the record, what is wrong may stand anywhere before
    it, and its file may end there. A finding names the line where one is known.

    Args:
        pointer: of the source.
        reason: why it is not available.
        folder: where the root of its kind lies, with its `/`; None: a transcript's file is not
            known.
    """
    if reason.startswith("policy") or reason == Reason.REFUSED_BY_POLICY:
        return ""
    try:
        parsed = parse_source_pointer(pointer)
    except SourcePointerError:
        return ""
    if parsed.artifact_name is not None:
        return f"{folder or ''}{parsed.session_id}/tool-results/{parsed.artifact_name}"
    if folder is None or reason in _IN_SOME_FILE:
        return f"record {parsed.sequence} of session {parsed.session_id}"
    return f"{folder}{parsed.session_id}.jsonl, on the way to record {parsed.sequence}"
