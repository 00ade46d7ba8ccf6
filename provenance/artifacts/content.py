r"""What a store takes: content, and the notes that go into its ledger line.

Guarantees: nothing here touches a file. What passes can be stored, hashed and noted as it is.

Example:
    >>> encode_content("é", text=True)
    b'\xc3\xa9'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from provenance.artifacts.failures import ContentRefused, SpillArgumentError
from provenance.artifacts.ledger_entry import MAX_NOTE_CHARS
from provenance.artifacts.verify import RESERVED_SESSIONS
from provenance.pointers import is_name
from provenance.utf8 import Utf8Check

__all__ = ["check_note", "check_session", "checked_chunks", "encode_content"]

_surrogates = re.compile("[\ud800-\udfff]")


def encode_content(content: object, *, text: bool, max_bytes: int | None = None) -> bytes:
    """Give the bytes to store.

    Args:
        content: `str`, stored as UTF-8, or bytes (also `bytearray` and `memoryview`).
        text: whether bytes must be UTF-8.
        max_bytes: largest artifact; None means no bound.

    Raises:
        ContentRefused: lone surrogates; bytes that are not UTF-8 in a text store; too many bytes.
        TypeError: another type.
    """
    if isinstance(content, str):
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError:
            raise ContentRefused("content: expected text without lone surrogates") from None
    else:
        data = _as_bytes(content)
        if text and not data.isascii():
            check = Utf8Check()
            _require_utf8(valid=check.feed(data) and check.finish())
    _require_size(len(data), max_bytes)
    return data


def checked_chunks(
    chunks: Iterable[bytes], *, text: bool, max_bytes: int | None = None
) -> Iterator[bytes]:
    """Give the chunks one by one, held to the same rules as whole content."""
    check = Utf8Check()
    size = 0
    for chunk in chunks:
        data = _as_bytes(chunk)
        size += len(data)
        _require_size(size, max_bytes)
        if text:
            _require_utf8(valid=check.feed(data))
        yield data
    if text:
        _require_utf8(valid=check.finish())


def check_session(session_id: object) -> str:
    """Give the session back if it can hold artifacts.

    Raises:
        SpillArgumentError: outside the name grammar, or one of the home's own folders, in any
            case: on a file system that folds case `States` is `states`.
        TypeError: no text.
    """
    if not isinstance(session_id, str):
        raise TypeError(f"session_id: expected str, got {type(session_id).__name__}")
    if not is_name(session_id):
        raise SpillArgumentError(f"session_id: expected a name, got {session_id[:40]!a}")
    if session_id.lower() in RESERVED_SESSIONS:
        raise SpillArgumentError(
            f"session_id: expected none of the home's own folders, got {session_id!a}"
        )
    return session_id


def check_note(name: str, value: object) -> str | None:
    """Give a tool name or call id as the ledger can hold it: lone surrogates become U+FFFD.

    Raises:
        SpillArgumentError: longer than `MAX_NOTE_CHARS`.
        TypeError: neither text nor None.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str or None, got {type(value).__name__}")
    if len(value) > MAX_NOTE_CHARS:
        raise SpillArgumentError(
            f"{name}: expected at most {MAX_NOTE_CHARS} characters, got {len(value)}"
        )
    return _surrogates.sub("\ufffd", value)


def _as_bytes(content: object) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, bytearray | memoryview):
        return bytes(content)
    raise TypeError(f"content: expected str or bytes, got {type(content).__name__}")


def _require_utf8(*, valid: bool) -> None:
    if not valid:
        raise ContentRefused("content: expected UTF-8 (a store with text=False holds any bytes)")


def _require_size(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise ContentRefused(f"content: expected at most {max_bytes} bytes, got more")
