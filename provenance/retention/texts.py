r"""Whether bytes are text, whose words can be searched, or may hide them.

Guarantees: text is UTF-8 without NUL, or UTF-16 or UTF-32 with a byte order mark; nothing else is.
A character that is cut off at the end is no fault: a writer may be at work, and it hides nothing.
Memory is bounded by a piece.

Example:
    >>> list(text_only([b"see ", b"a.txt"]))
    [b'see ', b'a.txt']
    >>> list(text_only([b"\x00\x01"]))
    Traceback (most recent call last):
    provenance.retention.texts.NoText: expected text or a known container, got other bytes
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from provenance.errors import DataError

__all__ = ["NoText", "text_only"]

# The mark of UTF-32 begins as one of UTF-16 does, so it is asked first.
_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_MARK = 4


class NoText(DataError):
    """Bytes that are no text may be packed, and cite anything."""

    code = "citer_no_text"

    def __init__(self) -> None:
        """Take the one message there is."""
        super().__init__("expected text or a known container, got other bytes")


def text_only(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Give the pieces of a text as they come.

    Raises:
        NoText: they are not all of a text; pieces before may have been given.
    """
    held, decode = b"", None
    for piece in pieces:
        data = piece
        if decode is None:
            held += piece
            if len(held) < _LONGEST_MARK:
                yield piece
                continue
            decode, data = _decoder(held), held
        _require(decode, data)
        yield piece
    if decode is None:
        _require(_decoder(held), held)


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    name = next((name for mark, name in _MARKED if head.startswith(mark)), "utf-8")
    return codecs.getincrementaldecoder(name)("strict")


def _require(decoder: codecs.IncrementalDecoder, data: bytes) -> None:
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        raise NoText from None
    if "\0" in text:
        raise NoText
