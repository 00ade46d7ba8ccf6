"""Reading a transcript that somebody may be writing: again and again until an answer holds.

Guarantees: an answer is given only if the file's facts were the same before and after the pass, or
if the file only grew and the bytes that decided the answer read the same a second time (equal
SHA-256). The name is looked up again after every change, so that a transcript that was removed or
replaced is not answered for by its old bytes.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> def one_pass(file, hashed):
    ...     raise AssertionError("never called: there is nothing to read")
    >>> read_steadily(TrustedRoot("/nowhere"), "s1", one_pass, attempts=3)
    Traceback (most recent call last):
    provenance.evidence.EvidenceUnavailable: source: expected available, got missing \
(transcript_missing)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from provenance.errors import CallerError
from provenance.evidence import EvidenceUnavailable
from provenance.fs.failures import (
    FILE_FAILURES,
    FileFailure,
    ReadFailed,
)
from provenance.fs.reading import FileFacts, OpenFile
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.pointers import is_name
from provenance.resolution import Reason
from provenance.transcripts.scan import EVERY_LINE, Scan, hash_prefix

__all__ = ["SessionIdError", "Steady", "file_name", "read_steadily"]

_Kept = TypeVar("_Kept")


class SessionIdError(CallerError, ValueError):
    """A session id outside the pointer grammar; no file can be named after it."""

    code = "session_id_invalid"


class Steady(NamedTuple):
    """How far an answer holds.

    Attributes:
        scan: what the pass found.
        holds_to: what is said of lines up to this number holds; `EVERY_LINE` where the file's
            facts stayed the same.
    """

    scan: Scan
    holds_to: int


def file_name(session_id: str) -> str:
    """Give the name of a session's transcript.

    Raises:
        SessionIdError: the session id is outside the pointer grammar.
    """
    if not is_name(session_id):
        raise SessionIdError(
            f"session_id: expected a name of the pointer grammar, got {session_id!r:.50}"
        )
    return f"{session_id}.jsonl"


def read_steadily(
    root: TrustedRoot,
    session_id: str,
    one_pass: Callable[[OpenFile, bool], tuple[_Kept, Scan]],
    *,
    attempts: int,
    last: int | None = None,
) -> tuple[_Kept, Steady]:
    """Read a transcript until the answer holds.

    Args:
        root: the transcript root.
        session_id: whose transcript.
        one_pass: reads the open file once; told whether to give the digest of what it read.
        attempts: how often it is read again when it changes meanwhile.
        last: the number of the last line that matters; None for all.

    Returns:
        What the accepted pass kept, and how far it holds.

    Raises:
        EvidenceUnavailable: there is no such file, it may not be read, it never held still, ...
        SessionIdError: the session id is outside the pointer grammar.
    """
    file = _open(root, session_id, absent=Reason.TRANSCRIPT_MISSING)
    partly: tuple[_Kept, Steady] | None = None
    for number in range(attempts + 1):
        with file:
            # 1. One pass. The first, which is nearly always the only one, spares the digest.
            try:
                kept, found = one_pass(file, number > 0)
                # 2. Nothing changed: all of it holds.
                if file.is_unchanged():
                    return kept, Steady(found, EVERY_LINE)
            except FILE_FAILURES as failure:
                raise _refusal(failure) from failure
            facts = file.facts
        # 3. What the name leads to now is the transcript.
        file = _open(root, session_id, absent=Reason.SOURCE_DISAPPEARED)
        # 4. Only grown: what was decided by the same bytes holds, up to the last whole line.
        if _has_only_grown(facts, file.facts) and found.prefix_sha256 is not None:
            held = found.prefix_sha256 == _hash_again(file, found)
            partly = (kept, Steady(found, found.settled)) if held else None
            if held and found.settled >= (found.decided if last is None else last):
                file.close()
                break
        else:
            partly = None
    else:
        file.close()
    # 5. Where it never held still, what rests on whole lines is known all the same.
    if partly is None:
        raise EvidenceUnavailable(Reason.SOURCE_CHANGED_DURING_READ)
    return partly


def _has_only_grown(before: FileFacts, now: FileFacts) -> bool:
    same_file = (before.device, before.inode) == (now.device, now.inode)
    return same_file and now.size >= before.size


def _open(root: TrustedRoot, session_id: str, *, absent: Reason) -> OpenFile:
    try:
        return root.open_file(file_name(session_id))
    except FILE_FAILURES as failure:
        raise _refusal(failure, absent=absent) from failure


def _hash_again(file: OpenFile, found: Scan) -> bytes | None:
    try:
        return hash_prefix(file, found.prefix_bytes)
    except ReadFailed as failure:
        file.close()
        raise _refusal(failure) from failure


def _refusal(
    failure: FileFailure, *, absent: Reason = Reason.SOURCE_DISAPPEARED
) -> EvidenceUnavailable:
    return EvidenceUnavailable(
        reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE, absent=absent)
    )
