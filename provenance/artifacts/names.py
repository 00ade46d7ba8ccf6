"""File names of artifacts: automatic ones, and an injective encoding of suggested ones.

Guarantees: every name is in the pointer grammar, is no name that Windows reserves, and two
different (suggestion, round) pairs never give one name; neither gives an automatic name, in any
case. The one exception is a collision of SHA-256, since long suggestions are named by it.

A suggestion that is a plain name already stays as it is. Any other, and any that begins with the
mark `x-`, becomes `x-` and its UTF-8 bytes, where what is not an ASCII letter, digit, `-` or `.`
stands as `_` and two hex digits. A `_` that no two hex digits follow therefore cannot come from a
suggestion: `_sha256_` marks a long one, `_n2-` the second artifact under one suggestion.

Example:
    >>> [encode_name(text) for text in ("log.txt", "a/b", "..", "CON", "")]
    ['log.txt', 'x-a_2fb', 'x-._2e', 'x-CON', 'x-']
    >>> encode_name("log.txt", occurrence=2)
    'x-_n2-log.txt'
"""

from __future__ import annotations

import hashlib
import re

from provenance.pointers import is_name

__all__ = ["MAX_NAME_CHARS", "automatic_name", "automatic_number", "encode_name", "is_name_for"]

MAX_NAME_CHARS = 200
"""Longest name in characters, from the pointer grammar (spec 01.1)."""

_MARK = "x-"
_RESERVED_BY_WINDOWS = re.compile(
    r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE | re.ASCII
)
_AUTOMATIC = re.compile(r"tool_result_([0-9]+)\.txt", re.IGNORECASE | re.ASCII)
# Canonical numbers only: 001 to 999 padded, 1000 and more without a leading zero. More than 18
# digits are no count of files; a ledger that claims such a number must not move ours.
_CANONICAL = re.compile(r"tool_result_([0-9]{3}|[1-9][0-9]{3,17})\.txt", re.ASCII)
_LATER = re.compile(r"x-_n([1-9][0-9]{0,17})-", re.ASCII)
_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.")
_ESCAPES = tuple(chr(byte) if byte in _KEPT else f"_{byte:02x}" for byte in range(256))


def automatic_name(number: int) -> str:
    """Give the name of the `number`-th artifact without a suggestion; numbers start at 1."""
    return f"tool_result_{number:03d}.txt"


def automatic_number(name: str) -> int | None:
    """Give the number in an automatic name; None for any other name."""
    match = _CANONICAL.fullmatch(name)
    if match is None:
        return None
    return int(match[1]) or None


def encode_name(suggested: str, *, occurrence: int = 1) -> str:
    """Turn any text into a file name; injective over (suggested, occurrence).

    Args:
        suggested: what the caller would like to call the artifact; any text, lone surrogates too.
        occurrence: 1 for the first artifact under this suggestion, then 2, 3, ...

    Returns:
        A name in the pointer grammar of at most `MAX_NAME_CHARS` characters. Two names may differ
        by case alone, as their suggestions do; the store keeps such names apart.
    """
    if occurrence == 1 and _is_plain(suggested):
        return suggested
    start = _MARK if occurrence == 1 else f"{_MARK}_n{occurrence}-"
    # Never shorter than the text: what is too long already need not be escaped to see that.
    if len(suggested) <= MAX_NAME_CHARS:
        name = start + _escaped(suggested)
        if len(name) <= MAX_NAME_CHARS:
            return name
    digest = hashlib.sha256(_bytes_of(suggested)).hexdigest()
    return f"{start}_sha256_{digest}"


def is_name_for(name: str, suggested: str) -> bool:
    """Say whether `name` is one that `encode_name` gives for `suggested`, at any occurrence."""
    match = _LATER.match(name)
    # Longer numbers come from no store; int() must not meet them.
    return name == encode_name(suggested, occurrence=int(match[1]) if match else 1)


def _is_plain(text: str) -> bool:
    """Say whether `text` may stand as it is: readable, portable, and no name with a meaning."""
    return (
        is_name(text)
        and text[:2].lower() != _MARK
        and not text.endswith(".")  # Windows drops it
        and _RESERVED_BY_WINDOWS.fullmatch(text) is None
        and _AUTOMATIC.fullmatch(text) is None
    )


def _escaped(text: str) -> str:
    parts = [_ESCAPES[byte] for byte in _bytes_of(text)]
    if parts and parts[-1] == ".":
        parts[-1] = "_2e"
    return "".join(parts)


def _bytes_of(text: str) -> bytes:
    # A lone surrogate has a byte form of its own here, equal to that of no other text.
    return text.encode("utf-8", "surrogatepass")
