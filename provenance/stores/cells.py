"""Cells of a store that anybody may have written: each has the type it should have, or is refused.

Guarantees: pure; no message holds more of a cell than its first bytes, as printable ASCII.

Example:
    >>> number_of(3, "version")
    3
"""

from __future__ import annotations

import hashlib
import re

from provenance.durable.failures import DurableValueError
from provenance.durable.instants import require_time
from provenance.fs.sqlite import Cell, TextCell
from provenance.stores.failures import StoreDamaged

__all__ = [
    "bytes_of",
    "checked_bytes",
    "digest_of",
    "number_of",
    "shown_cell",
    "text_of",
    "time_of",
]

_is_digest = re.compile(r"[0-9a-f]{64}").fullmatch
_SHOWN_BYTES = 40


def text_of(cell: Cell, field: str) -> str:
    """Give the text of a cell that is UTF-8."""
    if not isinstance(cell, TextCell):
        raise StoreDamaged(f"{field}: expected text, got {_kind(cell)}")
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        raise StoreDamaged(f"{field}: expected UTF-8, got another encoding") from None


def time_of(cell: Cell, field: str) -> str:
    """Give a time with a zone, as it was written."""
    try:
        return require_time(text_of(cell, field), field)
    except DurableValueError as error:
        raise StoreDamaged(str(error)) from None


def number_of(cell: Cell, field: str, *, least: int = 1) -> int:
    """Give a whole number of `least` or more."""
    if not isinstance(cell, int) or cell < least:
        got = str(cell) if isinstance(cell, int) else _kind(cell)
        raise StoreDamaged(f"{field}: expected a whole number of {least} or more, got {got}")
    return cell


def digest_of(cell: Cell) -> str:
    """Give 64 lower-case hex digits."""
    text = text_of(cell, "sha256")
    if _is_digest(text) is None:
        raise StoreDamaged("sha256: expected 64 hex digits, got another text")
    return text


def bytes_of(cell: Cell, field: str) -> bytes:
    """Give the bytes of a cell that is no text."""
    if not isinstance(cell, bytes) or isinstance(cell, TextCell):
        raise StoreDamaged(f"{field}: expected bytes, got {_kind(cell)}")
    return cell


def checked_bytes(digest: Cell, document: Cell, field: str) -> bytes:
    """Give bytes that have the digest in the cell beside them."""
    data = bytes_of(document, field)
    if hashlib.sha256(data).hexdigest() != digest_of(digest):
        raise StoreDamaged(f"{field}: expected the digest that was stored, got other bytes")
    return data


def _kind(cell: Cell) -> str:
    match cell:
        case None:
            return "null"
        case TextCell():
            return "text"
        case bytes():
            return "bytes"
        case _:
            return "a number"


def shown_cell(cell: Cell) -> str:
    """Show a name out of a hostile file: printable ASCII, bounded."""
    if not isinstance(cell, TextCell):
        return _kind(cell)
    return ascii(cell[:_SHOWN_BYTES].decode("utf-8", "replace"))
