"""One line of the artifact ledger: what happened to an artifact (spec 01.6).

Guarantees: `encode_entry` writes one compact, key-sorted line of UTF-8 that `parse_entry` reads
back as an equal entry. `parse_entry` refuses what is not exactly such an object: another schema,
unknown or duplicate keys, floats, NaN, numbers beyond 2**63 - 1, digests and counts that do not
fit each other, nesting, a byte-order mark. White space and the order of keys are free.

A `stored` line has every value but the notes `tool`, `call_id` and `reason`, which may be null.
`renamed` and `removed` lines need the file name alone and may repeat the rest.

Example:
    >>> entry = parse_entry(
    ...     b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"log.txt"}')
    >>> entry.event.value, entry.filename
    ('removed', 'log.txt')
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import NoReturn

import msgspec

from provenance.errors import DataError
from provenance.pointers import is_name

__all__ = [
    "LEDGER_SCHEMA",
    "MAX_NOTE_CHARS",
    "LedgerEntry",
    "LedgerError",
    "LedgerEvent",
    "encode_entry",
    "parse_entry",
]

LEDGER_SCHEMA = "ctxaudit.artifact/1"
MAX_NOTE_CHARS = 8192
"""Longest tool name, call id or reason, in characters; real call ids have up to 1,400."""

_MAX_COUNT = 2**63 - 1
_is_digest = re.compile(r"[0-9a-f]{64}").fullmatch
_is_time = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_has_surrogate = re.compile("[\ud800-\udfff]").search
_is_whole_number = re.compile(r"0|[1-9][0-9]{0,18}").fullmatch


class LedgerError(DataError, ValueError):
    """A line, or an entry to be written as one, breaks a rule of the ledger."""

    code = "invalid_ledger_line"


class LedgerEvent(StrEnum):
    """What happened to the artifact of that name."""

    STORED = "stored"
    RENAMED = "renamed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One event; the fields are the keys of the line. Building an invalid one is refused.

    Attributes:
        event: what happened.
        filename: the artifact's name below `tool-results`.
        sha256: digest of its bytes, 64 lower-case hex digits.
        blake3: the same by BLAKE3.
        bytes: its size.
        segment_bytes: length of a segment; the last may be shorter.
        segments: BLAKE3 of each segment; may be empty where the event is not `stored`.
        segment_lines: the number of lines that end in each segment.
        tool: the tool whose result it is.
        call_id: the call whose result it is.
        recorded_at: ISO 8601 with a zone.
        reason: why, where that needs saying.
        schema: always `ctxaudit.artifact/1`.
    """

    event: LedgerEvent
    filename: str
    sha256: str | None = None
    blake3: str | None = None
    bytes: int | None = None
    segment_bytes: int | None = None
    segments: tuple[str, ...] = ()
    segment_lines: tuple[int, ...] = ()
    tool: str | None = None
    call_id: str | None = None
    recorded_at: str | None = None
    reason: str | None = None
    schema: str = LEDGER_SCHEMA

    def __post_init__(self) -> None:
        if self.schema != LEDGER_SCHEMA:
            raise LedgerError(f"schema: expected {LEDGER_SCHEMA}")
        _check_event(self.event)
        _check_name(self.filename)
        stored = self.event is LedgerEvent.STORED
        _check_digest("sha256", self.sha256, required=stored)
        _check_digest("blake3", self.blake3, required=stored)
        _check_count("bytes", self.bytes, required=stored)
        _check_count("segment_bytes", self.segment_bytes, required=stored)
        _check_time(self.recorded_at, required=stored)
        _check_note("tool", self.tool)
        _check_note("call_id", self.call_id)
        _check_note("reason", self.reason)
        if stored or self.segments or self.segment_lines:
            self._check_segments()

    def _check_segments(self) -> None:
        size, length = self.bytes, self.segment_bytes
        if size is None or not length:
            raise LedgerError("segments: expected none without bytes and segment_bytes")
        count = -(-size // length)
        if len(self.segments) != count or len(self.segment_lines) != count:
            raise LedgerError("segments: expected one digest and one line count for each segment")
        for digest in self.segments:
            _check_digest("segments", digest, required=True)
        for number, lines in enumerate(self.segment_lines):
            _check_count("segment_lines", lines, required=True)
            # A line has at least one byte: its end.
            if lines > min(length, size - number * length):
                raise LedgerError("segment_lines: expected no more lines than bytes")


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(LedgerEntry)
_KEYS = frozenset(field.name for field in fields(LedgerEntry))


def encode_entry(entry: LedgerEntry) -> bytes:
    """Write an entry as one line, its end included."""
    return _encoder.encode(entry) + b"\n"


def parse_entry(line: bytes) -> LedgerEntry:
    """Read one line; apply a limit on its length first.

    Args:
        line: the bytes between two line ends, without the end.

    Raises:
        LedgerError: it breaks a rule; no part of the line is in the message.
    """
    try:
        entry = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _judge(line)  # a fast refusal is no verdict
    # What prints back to the same bytes has no duplicate key, no unknown one and nothing odd.
    return entry if _encoder.encode(entry) == line else _judge(line)


def _judge(line: bytes) -> LedgerEntry:
    """Read a line that is not as we write it; slow, strict, names the rule."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise LedgerError("line: expected UTF-8") from None
    if text.startswith("\ufeff"):
        raise LedgerError("line: expected no byte-order mark")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole_number,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except LedgerError:
        raise
    except (ValueError, RecursionError):
        raise LedgerError("line: expected one JSON object") from None
    if not isinstance(value, dict):
        raise LedgerError("line: expected one JSON object")
    return _entry_of(value)


def _entry_of(value: dict[str, object]) -> LedgerEntry:
    if not value.keys() <= _KEYS:
        raise LedgerError("line: expected the keys of the ledger alone, got another")
    if not {"schema", "event", "filename"} <= value.keys():
        raise LedgerError("line: expected the keys schema, event and filename")
    for name in ("segments", "segment_lines"):
        items = value.get(name)
        if items is None:
            value[name] = ()
        elif isinstance(items, list):
            value[name] = tuple(items)
        else:
            raise LedgerError(f"{name}: expected an array")
    event = value["event"]
    if not isinstance(event, str) or event not in {str(item) for item in LedgerEvent}:
        raise LedgerError("event: expected stored, renamed or removed")
    value["event"] = LedgerEvent(event)
    # Each type is checked by the entry itself.
    return LedgerEntry(**value)  # type: ignore[arg-type]


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise LedgerError("line: expected each key once")
    return found


def _whole_number(digits: str) -> int:
    # Longer ones are beyond every count; int() would refuse or take long.
    if _is_whole_number(digits) is None:
        raise LedgerError("number: expected a count of at most 19 digits")
    return int(digits)


def _no_float(_: str) -> NoReturn:
    raise LedgerError("number: expected a whole number")


def _check_event(value: object) -> None:
    if not isinstance(value, LedgerEvent):
        raise LedgerError("event: expected stored, renamed or removed")


def _check_name(value: object) -> None:
    if not isinstance(value, str) or not is_name(value):
        raise LedgerError("filename: expected a name of the pointer grammar")


def _check_digest(name: str, value: object, *, required: bool) -> None:
    if value is None and not required:
        return
    if not isinstance(value, str) or _is_digest(value) is None:
        raise LedgerError(f"{name}: expected 64 lower-case hex digits")


def _check_count(name: str, value: object, *, required: bool) -> None:
    if value is None and not required:
        return
    if type(value) is not int or not 0 <= value <= _MAX_COUNT:
        raise LedgerError(f"{name}: expected a whole number from 0 to 2**63 - 1")


def _check_time(value: object, *, required: bool) -> None:
    if value is None and not required:
        return
    if not isinstance(value, str) or _is_time(value) is None:
        raise LedgerError("recorded_at: expected an ISO 8601 time with a zone")
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise LedgerError("recorded_at: expected a time that exists") from None


def _check_note(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str) or len(value) > MAX_NOTE_CHARS or _has_surrogate(value):
        raise LedgerError(f"{name}: expected text of at most {MAX_NOTE_CHARS} characters")
