"""The digest that somebody wrote down beside a transcript, held against the transcript.

Guarantees: the file with the digest is read in bounded size, below the root, no link followed. A
mismatch says whether marks of redaction stand in the bytes: such a file was changed after its
digest was taken, as a rule on purpose. No mark is a proof of anything.

Example:
    >>> parse_content_hash(b"sha256:" + 64 * b"a")[:10]
    'aaaaaaaaaa'
    >>> parse_content_hash(b"md5:00") is None
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from provenance.errors import CtxauditError
from provenance.findings import Severity
from provenance.fs.failures import FILE_FAILURES, SourceAbsent
from provenance.fs.reasons import reason_of
from provenance.fs.whole import read_whole
from provenance.resolution import Reason
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import Source

__all__ = ["CONTENT_HASH_FILE", "compare_content_hash", "parse_content_hash", "read_content_hash"]

CONTENT_HASH_FILE = "content_hash.txt"
_MOST_BYTES = 4_096
_match = re.compile(rb"\s*(?:sha256:)?([0-9a-fA-F]{64})\s*").fullmatch
_MARK = b"REDACTED"


def parse_content_hash(data: bytes) -> str | None:
    """Give the 64 hex digits of `sha256:<hex>`; None where it is something else."""
    match = _match(data)
    return None if match is None else match[1].decode().lower()


def read_content_hash(source: Source) -> str | Fault:
    """Read the digest that lies beside a source, or say why there is none to be had."""
    try:
        with source.directory.open_file(CONTENT_HASH_FILE) as file:
            found = parse_content_hash(read_whole(file, max_bytes=_MOST_BYTES))
    except SourceAbsent:
        found = None
    except FILE_FAILURES as failure:
        reason = reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE)
        return Fault(str(reason), Severity.ERROR, f"{CONTENT_HASH_FILE}: {failure}")
    except CtxauditError as error:
        return Fault("content_hash_invalid", Severity.WARNING, f"{CONTENT_HASH_FILE}: {error}")
    if found is None:
        return Fault(
            "content_hash_invalid",
            Severity.WARNING,
            f"{CONTENT_HASH_FILE}: expected sha256:<64 hex digits>, got another text",
        )
    return found


def compare_content_hash(source: Source, sha256: str, expected: str) -> Fault | None:
    """Hold a digest against the one that was written down.

    Args:
        source: still open; looked through for marks of redaction where the digests differ.
        sha256: of the file, 64 hex digits.
        expected: the one that was written down.

    Raises:
        ReadFailed, SourceUnreadable: as reading the source does.
    """
    if sha256 == expected:
        return None
    marks, first_line = _count_marks(source.chunks())
    if not marks:
        return Fault(
            "content_hash_mismatch",
            Severity.ERROR,
            "content hash: expected the digest that was written down, got another; no marks of "
            "redaction",
        )
    return Fault(
        "content_hash_mismatch_redacted",
        Severity.WARNING,
        f"content hash: expected the digest that was written down, got another; {marks} marks of "
        f"redaction, the first on line {first_line}",
        line=first_line,
    )


def _count_marks(chunks: Iterable[bytes]) -> tuple[int, int]:
    """Count the marks, and give the line of the first."""
    marks, first_line, lines = 0, 0, 1
    carry = b""
    for chunk in chunks:
        data = carry + chunk
        found = data.find(_MARK)
        if found >= 0 and not first_line:
            first_line = lines + data.count(b"\n", 0, found)
        marks += data.count(_MARK)
        # What may be the beginning of a mark is looked at with the next piece; no mark overlaps
        # another, and none is shorter than what is kept.
        carry = data[-(len(_MARK) - 1) :]
        lines += data.count(b"\n") - carry.count(b"\n")
    return marks, first_line
