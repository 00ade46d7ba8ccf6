"""The judge of one transcript line: pure, strict, built on the standard library alone.

Guarantees: the rules of spec 01.5 in their order, the first broken one decides. Whatever the bytes
are, a judgement comes back and nothing is raised. No judgement, note or message holds text of the
line.

Example:
    >>> judge_line(b'{"sequence":2}', 1, "s1", limits=Limits()).reason.value
    'transcript_sequence_mismatch'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from provenance.canonical import canonical_json
from provenance.limits import Limits
from provenance.resolution import Reason
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = [
    "ENVELOPE_FIELDS",
    "ENVELOPE_FIELD_ABSENT",
    "SCHEMA_VERSION",
    "Judgement",
    "Note",
    "evidence_of",
    "excerpt_of",
    "is_zoned_time",
    "judge_envelope",
    "judge_line",
    "printable",
    "record_size",
]

SCHEMA_VERSION = 1
# The code of the note on a record that lacks a field of its envelope.
ENVELOPE_FIELD_ABSENT = "envelope_field_absent"
ENVELOPE_FIELDS = ("event_id", "recorded_at", "schema_version", "sequence", "session_id")

_ABSENT = object()

_DATE = r"([0-9]{4})(-)?(0[1-9]|1[0-2])(?(2)-)(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3])(?::?[0-5][0-9](?::?[0-5][0-9](?:[.,][0-9]+)?)?)"
_ZONE = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
_match_time = re.compile(f"{_DATE}[Tt ]{_CLOCK}{_ZONE}").fullmatch
_replace_surrogates = re.compile("[\ud800-\udfff]").sub


class Note(NamedTuple):
    """Something about a line that is tolerated and reported; `message` names the field."""

    code: str
    message: str


class Judgement(NamedTuple):
    """What the judge says of one line.

    Attributes:
        reason: the broken rule; None where the line is in order.
        record: the parsed line; None where there is a reason.
        notes: what was tolerated; at most one of each code.
    """

    reason: Reason | None
    record: dict[str, object] | None = None
    notes: tuple[Note, ...] = ()


_OTHER_VERSION = Note(
    "schema_version_unknown", f"schema_version: expected {SCHEMA_VERSION}, got another or none"
)
_BAD_TIME = Note(
    "recorded_at_invalid", "recorded_at: expected an ISO 8601 time with a zone, got another or none"
)


def judge_line(line: bytes, sequence: int, session_id: str, *, limits: Limits) -> Judgement:
    """Judge one line in the place where it stands.

    Args:
        line: its bytes; the line end may be left on.
        sequence: its number, counted from 1.
        session_id: the session whose transcript it stands in.
        limits: bounds on size and nesting.
    """
    # 1. Size, without the line's end.
    if record_size(line) > limits.max_record_bytes:
        return Judgement(Reason.TRANSCRIPT_RECORD_TOO_LARGE)
    # 2. UTF-8.
    try:
        line.decode()
    except UnicodeDecodeError:
        return Judgement(Reason.SOURCE_NOT_UTF8)
    # 3. JSON, 4. its nesting.
    try:
        record = parse_strict(line, max_nesting=limits.max_nesting)
    except NotStrictJson:
        return Judgement(Reason.TRANSCRIPT_INVALID_JSON)
    # 5. An object.
    if not isinstance(record, dict):
        return Judgement(Reason.TRANSCRIPT_RECORD_NOT_OBJECT)
    # 6. Its envelope.
    reason, notes = judge_envelope(record, sequence, session_id)
    return Judgement(reason, record if reason is None else None, notes)


def judge_envelope(
    record: Mapping[str, object], sequence: int, session_id: str
) -> tuple[Reason | None, tuple[Note, ...]]:
    """Judge the envelope of a parsed record; see `judge_line`."""
    absent = []
    # 1. A real integer that is the line's number: no bool, float, string or null.
    found = record.get("sequence", _ABSENT)
    if found is _ABSENT:
        absent.append("sequence")
    elif type(found) is not int or found != sequence:
        return Reason.TRANSCRIPT_SEQUENCE_MISMATCH, ()
    # 2. The session that the file is named after.
    found = record.get("session_id", _ABSENT)
    if found is _ABSENT:
        absent.append("session_id")
    elif found != session_id:
        return Reason.TRANSCRIPT_SESSION_MISMATCH, ()
    # 3. The canonical pointer to this very line.
    found = record.get("event_id", _ABSENT)
    if found is _ABSENT:
        absent.append("event_id")
    elif found != f"transcript:{session_id}:{sequence}":
        return Reason.TRANSCRIPT_EVENT_ID_MISMATCH, ()
    # 4. What is tolerated and reported.
    notes = []
    if absent:
        fields = ", ".join(absent)
        notes.append(Note(ENVELOPE_FIELD_ABSENT, f"{fields}: expected in the envelope, got none"))
    version = record.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        notes.append(_OTHER_VERSION)
    if not is_zoned_time(record.get("recorded_at")):
        notes.append(_BAD_TIME)
    return None, tuple(notes)


def is_zoned_time(value: object) -> bool:
    """Say whether `value` is the text of an ISO 8601 date and time with a zone.

    Extended or basic form, seconds and their fraction optional, `T` or a space between, `Z` or an
    offset; the day is one of the calendar. No leap seconds, weeks or day numbers.
    """
    if type(value) is not str:
        return False
    match = _match_time(value)
    if match is None:
        return False
    year, _, month, day = match.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def record_size(line: bytes) -> int:
    r"""Give the bytes of a line that the limit counts: all but one `\n` or `\r\n` at its end."""
    size = len(line)
    if line.endswith(b"\n"):
        size -= 1
    return size - 1 if line.endswith(b"\r", 0, size) else size


def evidence_of(line: bytes) -> bytes:
    """Give the bytes of a line that are hashed: all but the CR and LF bytes at its end."""
    return line.rstrip(b"\r\n")


def excerpt_of(record: Mapping[str, object], max_chars: int) -> str | None:
    """Give the first characters of what a record says, for a person.

    Args:
        record: a parsed record.
        max_chars: the most characters; 0 gives None.

    Returns:
        `content` where that is a string, else its JSON with sorted keys; where the record has
        none, the JSON of the event, which is the record without its envelope.
    """
    if max_chars <= 0:
        return None
    content = record.get("content", _ABSENT)
    if content is _ABSENT:
        content = {key: record[key] for key in record if key not in ENVELOPE_FIELDS}
    if not isinstance(content, str):
        content = canonical_json(content, max_chars=max_chars)
    return printable(content[:max_chars])


def printable(text: str) -> str:
    """Give the text with U+FFFD in the place of each lone surrogate."""
    return text if text.isascii() else _replace_surrogates("\ufffd", text)
