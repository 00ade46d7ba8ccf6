r"""What a confined process says to the one that started it: frames of typed, bounded JSON.

Guarantees: nothing that arrives is executed or chooses a type: each frame is decoded strictly into
the values of a report, or refused. A frame is at most `LARGEST_FRAME` bytes. All values of a report
pass, also text that is no valid Unicode.

Example:
    >>> cut = bytearray(frame(PLAN, 3))
    >>> kind, payload = take_frame(cut)
    >>> kind == PLAN, decode(payload, int)
    (True, 3)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar, get_origin, get_type_hints

import msgspec

from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript
from provenance.decisions import AuthorizationDecision
from provenance.errors import DataError

__all__ = [
    "DECISIONS",
    "FAILED",
    "LARGEST_FRAME",
    "PART",
    "PLAN",
    "REPORT",
    "SOURCES",
    "TARGET_REFUSED",
    "TRANSCRIPT",
    "VERIFIED",
    "WAIT",
    "Decisions",
    "Sources",
    "Transcript",
    "WireError",
    "decode",
    "frame",
    "frames_of_report",
    "part_of_report",
    "rest_of_report",
    "take_frame",
]

WAIT = b"W"
PLAN, SOURCES, TRANSCRIPT, VERIFIED = b"P", b"S", b"T", b"V"
DECISIONS = b"D"
PART, REPORT = b"I", b"R"
TARGET_REFUSED, FAILED = b"E", b"F"
_KINDS = frozenset(
    {WAIT, PLAN, DECISIONS, SOURCES, TRANSCRIPT, VERIFIED, PART, REPORT, TARGET_REFUSED, FAILED}
)

Decisions = tuple[AuthorizationDecision, ...]
Sources = tuple[AuditedSource, ...]
Transcript = CheckedTranscript | None

_HEADER_BYTES = 5
# One value of a report is bounded by the largest document that is read; a claim may stand in it in
# full, escaped with six characters for one.
LARGEST_FRAME = 1 << 28
# Values are gathered up to this size: worth a system call, and no burden to hold.
_PIECE = 1 << 20

_Value = TypeVar("_Value")


class WireError(DataError):
    """What a confined process sent is not what it may send."""

    code = "sandbox_wire"


def frame(kind: bytes, value: object) -> bytes:
    """Build one frame."""
    return _framed(kind, _encode(value))


def _framed(kind: bytes, payload: bytes) -> bytes:
    if len(payload) > LARGEST_FRAME:
        raise WireError(f"frame: expected at most {LARGEST_FRAME} bytes, got {len(payload)}")
    return kind + len(payload).to_bytes(4, "big") + payload


def take_frame(buffer: bytearray) -> tuple[bytes, bytes] | None:
    """Take the first frame out of what has arrived; None where it is not whole yet.

    Raises:
        WireError: it is none, or too large.
    """
    if len(buffer) < _HEADER_BYTES:
        return None
    kind, size = bytes(buffer[:1]), int.from_bytes(buffer[1:_HEADER_BYTES], "big")
    if kind not in _KINDS or size > LARGEST_FRAME:
        raise WireError("frame: expected one of a known kind and bounded size, got another")
    end = _HEADER_BYTES + size
    if len(buffer) < end:
        return None
    payload = bytes(buffer[_HEADER_BYTES:end])
    del buffer[:end]
    return kind, payload


def _encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Half a character (a name that is not UTF-8) passes as an escape.
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def decode(payload: bytes, kind: type[_Value]) -> _Value:
    """Read a payload as a value of this type, strictly.

    Raises:
        WireError: it is none.
    """
    try:
        return msgspec.json.decode(payload, type=kind)
    except msgspec.ValidationError:
        raise _refused() from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # half a character, or no JSON at all
    except (ValueError, TypeError, RecursionError):
        raise _refused() from None
    try:
        return msgspec.convert(json.loads(payload), type=kind)
    except (ValueError, TypeError, RecursionError):  # msgspec's errors are ValueErrors
        raise _refused() from None


def _refused() -> WireError:
    return WireError("frame: expected values of a report, got something else")


def frames_of_report(report: AuditReport) -> Iterator[bytes]:
    """Give a report as frames: its long parts in pieces, the rest at the end."""
    for name in _PARTS:
        pieces: list[bytes] = []
        size = 0
        for value in getattr(report, name):
            piece = _encode(value)
            pieces.append(piece)
            size += len(piece)
            if size >= _PIECE:
                yield _part(name, pieces)
                pieces, size = [], 0
        if pieces:
            yield _part(name, pieces)
    emptied: dict[str, Any] = dict.fromkeys(_PARTS, ())
    yield frame(REPORT, replace(report, **emptied))


def _part(name: str, pieces: list[bytes]) -> bytes:
    return _framed(PART, b'["%b",[%b]]' % (name.encode("ascii"), b",".join(pieces)))


def part_of_report(payload: bytes) -> tuple[str, tuple[object, ...]]:
    """Read a piece of a report: the name of the field, and values that belong into it.

    Raises:
        WireError: it is none.
    """
    head = payload[: _LONGEST_NAME + 4].split(b'"', 2)
    name = head[1].decode("ascii", "replace") if len(head) == 3 else ""
    if name not in _PARTS:
        raise _refused()
    kind: Any = tuple.__class_getitem__((str, _PARTS[name]))
    _, values = decode(payload, kind)
    return name, values


def rest_of_report(payload: bytes) -> AuditReport:
    """Read the last piece: all fields, the long ones empty.

    Raises:
        WireError: it is none, or a field is not there or not known.
    """
    report = decode(payload, AuditReport)
    # A field that is left out would be taken for nothing: no findings, no sources.
    if json.loads(payload).keys() != {field.name for field in fields(AuditReport)}:
        raise _refused()
    if any(getattr(report, name) for name in _PARTS):
        raise _refused()
    return report


def _long_parts() -> dict[str, Any]:
    hints = get_type_hints(AuditReport)
    named = [field.name for field in fields(AuditReport)]
    return {name: hints[name] for name in named if get_origin(hints[name]) is tuple}


# The fields of a report that hold any number of values, with the types of these.
_PARTS = _long_parts()
_LONGEST_NAME = max(map(len, _PARTS))
