"""Is a stream of bytes UTF-8? Answered piece by piece, in bounded memory.

Guarantees: `feed` and `finish` together accept exactly the byte strings that Python's strict
decoder accepts (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).

Example:
    >>> check = Utf8Check()
    >>> check.feed(bytes([0xC3])), check.feed(bytes([0xA9])), check.finish()
    (True, True, True)
"""

from __future__ import annotations

import codecs

__all__ = ["Utf8Check", "head_text"]

# Larger pieces fall out of the processor's cache while the decoder writes its text.
_PIECE = 32 << 10
_decode = codecs.utf_8_decode


class Utf8Check:
    """Remembers at most three bytes between pieces."""

    __slots__ = ("_carry", "_valid")

    def __init__(self) -> None:
        self._carry = b""
        self._valid = True

    def feed(self, data: bytes | bytearray) -> bool:
        """Take the next bytes; False as soon as the whole cannot be UTF-8 any more."""
        if not self._valid:
            return False
        if data.isascii():
            # A character cut short by the last piece cannot go on with an ASCII byte.
            self._valid = not (self._carry and data)
            return self._valid
        view = memoryview(data)
        try:
            for start in range(0, len(view), _PIECE):
                piece = self._carry + view[start : start + _PIECE]
                _, used = _decode(piece, "strict", False)
                self._carry = piece[used:]
        except UnicodeDecodeError:
            self._valid = False
        return self._valid

    def finish(self) -> bool:
        """Say whether all that was fed is UTF-8, a character cut short at the end being none."""
        return self._valid and not self._carry


def head_text(data: bytes, characters: int) -> str:
    """Give the first characters of UTF-8 bytes, none of them split; what is no UTF-8 as U+FFFD."""
    if characters <= 0:
        return ""
    # Four bytes are the longest character.
    text, _ = _decode(data[: 4 * characters], "replace", len(data) <= 4 * characters)
    return text[:characters]
