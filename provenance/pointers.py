"""Source pointers: identifiers of evidence that carry no path (spec 01, section 1).

Guarantees: for any text, `parse_source_pointer` returns a pointer whose `str` parses back to an
equal pointer, or raises one of two errors. Two different canonical texts never denote the same
(kind, session, sequence or file name, digest text). Nothing here touches a file.

Example:
    >>> str(parse_source_pointer("artifact:s1:log.txt:0123456789AB"))
    'artifact:s1:log.txt:0123456789ab'
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from provenance.errors import DataError
from provenance.frozen import sealed

__all__ = [
    "SourcePointer",
    "SourcePointerError",
    "SourcePointerKind",
    "UnsupportedSourcePointerError",
    "artifact_pointer",
    "canonical_text",
    "is_name",
    "parse_source_pointer",
    "transcript_pointer",
]


class SourcePointerError(DataError, ValueError):
    """The text is no source pointer (state `corrupt`, reason `malformed_pointer`)."""

    code = "malformed_pointer"


class UnsupportedSourcePointerError(SourcePointerError):
    """The text names a scheme that has no owner here (state `unsupported`)."""

    code = "unsupported_scheme"


class SourcePointerKind(StrEnum):
    """The two owners of evidence."""

    TRANSCRIPT = "transcript"
    ARTIFACT = "artifact"


@sealed
@dataclass(frozen=True, slots=True)
class SourcePointer:
    """One parsed pointer; equal pointers have equal canonical texts.

    Attributes:
        raw: the text as it was given; takes no part in equality.
        kind: which owner verifies it.
        session_id: 1 to 200 ASCII characters of the name grammar.
        sequence: place of the event, 1 to 10**18 - 1; None for an artifact.
        artifact_name: file name in the name grammar; None for a transcript.
        digest_prefix: 12 or 64 lower-case hex digits; None for a transcript.
    """

    raw: str = field(compare=False)
    kind: SourcePointerKind
    session_id: str
    sequence: int | None = None
    artifact_name: str | None = None
    digest_prefix: str | None = None

    def __str__(self) -> str:
        if self.kind is SourcePointerKind.TRANSCRIPT:
            return f"transcript:{self.session_id}:{self.sequence}"
        return f"artifact:{self.session_id}:{self.artifact_name}:{self.digest_prefix}"


class _Blank:
    """The layout of `SourcePointer` without its guard; an instance becomes one when filled."""

    __slots__ = SourcePointer.__slots__


# ASCII classes are spelled out: \w and \d would match other scripts' letters and digits.
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
_SEQUENCE = r"[1-9][0-9]{0,17}"
_DIGEST = r"[0-9A-Fa-f]{64}|[0-9A-Fa-f]{12}"
_is_name = re.compile(_NAME).fullmatch
_match_pointer = re.compile(
    rf"transcript:({_NAME}):({_SEQUENCE})|artifact:({_NAME}):({_NAME}):({_DIGEST})"
).fullmatch
_TRANSCRIPT = SourcePointerKind.TRANSCRIPT
_ARTIFACT = SourcePointerKind.ARTIFACT


def is_name(text: str) -> bool:
    """Say whether `text` is a session id or file name of the pointer grammar."""
    return _is_name(text) is not None


def canonical_text(text: str) -> str:
    """Give the one text of all that denote the same source; what is no pointer as it is."""
    try:
        return str(parse_source_pointer(text))
    except SourcePointerError:
        return text


def parse_source_pointer(text: str) -> SourcePointer:
    """Parse one pointer; the grammar alone decides, no file is looked up.

    Args:
        text: the pointer, exactly as cited.

    Raises:
        UnsupportedSourcePointerError: the scheme before the first colon is unknown.
        SourcePointerError: the text is malformed.
        TypeError: `text` is not a `str`.
    """
    if not isinstance(text, str):
        raise TypeError(f"pointer: expected str, got {type(text).__name__}")
    match = _match_pointer(text)
    if match is None:
        raise _refusal(text)
    blank: Any = _Blank()
    session, sequence, artifact_session, name, digest = match.groups()
    blank.raw = text
    if session is None:
        blank.kind = _ARTIFACT
        blank.session_id = artifact_session
        blank.sequence = None
        blank.artifact_name = name
        # The match left ASCII hex digits alone, so `lower` can only do what is meant.
        blank.digest_prefix = digest.lower()
    else:
        blank.kind = _TRANSCRIPT
        blank.session_id = session
        blank.sequence = int(sequence)
        blank.artifact_name = blank.digest_prefix = None
    blank.__class__ = SourcePointer
    pointer: SourcePointer = blank
    return pointer


def transcript_pointer(session_id: str, sequence: int) -> SourcePointer:
    """Build the pointer of one transcript event; refuses what `parse_source_pointer` would."""
    return parse_source_pointer(f"transcript:{session_id}:{sequence}")


def artifact_pointer(session_id: str, filename: str, digest: str) -> SourcePointer:
    """Build the pointer of one artifact; refuses what `parse_source_pointer` would."""
    return parse_source_pointer(f"artifact:{session_id}:{filename}:{digest}")


def _refusal(text: str) -> SourcePointerError:
    """Name the first broken rule, in the order of spec 01.1 (the fast path only knows *that*)."""
    # 1. Empty, white space, control characters.
    if not text:
        return SourcePointerError("pointer: expected text, got ''")
    if any(char.isspace() or unicodedata.category(char) == "Cc" for char in text):
        return SourcePointerError("pointer: expected no white space or control character")
    # 2. The scheme.
    scheme, colon, _ = text.partition(":")
    if not colon:
        return SourcePointerError("pointer: expected <scheme>:..., got no colon")
    if scheme not in ("transcript", "artifact"):
        return UnsupportedSourcePointerError(
            f"pointer scheme: expected transcript or artifact, got {_shown(scheme)}"
        )
    # 3. The number of parts.
    parts = text.split(":")
    expected = 3 if scheme == "transcript" else 4
    if len(parts) != expected:
        return SourcePointerError(f"pointer: expected {expected} parts, got {len(parts)}")
    # 4. Names.
    if not is_name(parts[1]):
        return SourcePointerError(f"session_id: expected a name, got {_shown(parts[1])}")
    if scheme == "artifact" and not is_name(parts[2]):
        return SourcePointerError(f"filename: expected a name, got {_shown(parts[2])}")
    # 5. Sequence and digest.
    if scheme == "transcript":
        return SourcePointerError(
            f"sequence: expected 1 to 18 ASCII digits without leading zero, got {_shown(parts[2])}"
        )
    return SourcePointerError(f"digest: expected 12 or 64 hex digits, got {_shown(parts[3])}")


def _shown(text: str) -> str:
    """Show a bounded, printable form of a hostile part."""
    return ascii(text if len(text) <= 40 else text[:40] + "...")
