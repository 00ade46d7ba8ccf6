"""Where a person finds a source below the roots, as a report may say it.

Guarantees: pure. Only a pointer of the grammar names a place, and one that a policy denied names
none: it was not looked at, and the reader may not look either.

Example:
    >>> place_of("transcript:s1:3", "transcript_invalid_json")
    's1.jsonl, line 3'
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


def place_of(pointer: str, reason: str) -> str:
    """Say where a source lies; empty where that is nowhere, or must not be said."""
    if reason.startswith("policy"):
        return ""
    try:
        parsed = parse_source_pointer(pointer)
    except SourcePointerError:
        return ""
    if parsed.artifact_name is not None:
        return f"{parsed.session_id}/tool-results/{parsed.artifact_name}"
    if reason in _IN_SOME_FILE:
        return f"record {parsed.sequence} of session {parsed.session_id}"
    return f"{parsed.session_id}.jsonl, line {parsed.sequence}"
