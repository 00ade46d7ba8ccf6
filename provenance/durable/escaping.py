r"""How text is written into the durable context, so that none can pass for anything else.

Guarantees: `unescape` gives back exactly what was escaped, and whatever is escaped stands on one
line, shows no hidden character, and holds no text that reads as one of the format's own fields.
Letters of every script, emoji and ordinary punctuation are kept. Two flavours: free text doubles a
backslash and writes everything else as `\uXXXX`; quoted text (pointers, reasons) is what stands
inside a JSON string.

Not guaranteed: letters of another script that look like Latin ones (a Cyrillic `s`) are kept.

Example:
    >>> print(escape_text("done (source_status=available)"))
    done (source_status\u003davailable)
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from provenance.pointers import SourcePointerError, parse_source_pointer

__all__ = [
    "escape_hidden",
    "escape_label",
    "escape_pointer",
    "escape_quoted",
    "escape_text",
    "unescape",
]

# The fields of the format. A text that ends in one of them, before an equals sign, could be read
# as that field; "resource=" ends in "source=" and counts, since a search would find it.
_FIELDS = (
    "captured",
    "confirmed",
    "conflict",
    "conflict_winner",
    "done_omitted",
    "evidence_sha256",
    "evidence_unavailable",
    "rank",
    "reason",
    "score",
    "source",
    "source_status",
    "status",
    "title",
)
# How far back from an equals sign a field's name is looked for: the longest has 20 characters.
_REACH = 32

# Unicode's control, format, surrogate, line, paragraph and space characters other than U+0020, and
# what it calls default ignorable (joiners, fillers, variation selectors, tags). Spelled out, so
# that a state renders alike under each Python; a test compares it with unicodedata.
_HIDDEN = (
    r"\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    r"\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164"
    r"\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
# The equals sign and the characters that compatibility folding turns into one; semicolons alike.
_EQUALS = r"=\u207c\u208c\u2a74-\u2a76\ufe66\uff1d"
_SEMICOLONS = r";\u037e\ufe14\ufe54\uff1b"

_in_text = re.compile(rf"[\\{_HIDDEN}{_EQUALS}]")
_in_label = re.compile(rf"[\\{_HIDDEN}{_EQUALS}:]")
_in_quoted = re.compile(rf'["\\{_HIDDEN}{_EQUALS}]')
_in_pointer = re.compile(rf'["\\{_HIDDEN}{_EQUALS}{_SEMICOLONS}]')
_hidden = re.compile(f"[{_HIDDEN}]")
_hidden_but_line_feed = re.compile(rf"(?!\n)[{_HIDDEN}]")
_is_equals = re.compile(f"[{_EQUALS}]").match
_escape_sequence = re.compile(r'\\(?:u([0-9a-f]{4})|(["\\bfnrt]))')
_has_surrogate = re.compile(r"[\ud800-\udfff]").search

_SHORT = {'"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def escape_text(text: str) -> str:
    """Escape free text: content, description, title, source id, conflict key."""
    return _in_text.sub(_free, text)


def escape_label(text: str) -> str:
    """Escape free text that a colon ends: the ids of items and the type of a source."""
    return _in_label.sub(_free, text)


def escape_quoted(text: str) -> str:
    """Escape a reason as inside a JSON string, fields and hidden characters too."""
    return _in_quoted.sub(_quoted, text)


def escape_pointer(pointer: str) -> str:
    """Escape a pointer; one of the grammar has nothing to escape and stays as it is."""
    try:
        parse_source_pointer(pointer)
    except SourcePointerError:
        return _in_pointer.sub(_quoted, pointer)
    return pointer


def escape_hidden(document: str) -> str:
    r"""Write the hidden characters of a JSON document as `\uXXXX`; its line ends are kept."""
    return _hidden_but_line_feed.sub(lambda match: _unicode_escape(match[0]), document)


def unescape(text: str) -> str:
    """Give back what any of the functions above escaped; what is no escape stays as it is."""
    plain = _escape_sequence.sub(_unescaped, text)
    if _has_surrogate(plain):  # two escapes make one character beyond U+FFFF
        plain = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return plain


def _free(match: re.Match[str]) -> str:
    char = match[0]
    if char == "\\":
        return "\\\\"
    if _is_equals(char) and not _ends_in_field(match.string, match.start()):
        return char
    return _unicode_escape(char)


def _quoted(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or _free(match)


def _ends_in_field(text: str, end: int) -> bool:
    """Say whether the name of a field stands before `end`, however it is spelled.

    Case, compatibility forms (full width, bold), hidden characters and a space before the equals
    sign do not hide a name.
    """
    before = _hidden.sub("", text[max(0, end - _REACH) : end]).rstrip(" ")
    if not before.isascii():
        before = "".join(map(_folded, before))
    return before.casefold().endswith(_FIELDS)


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    return unicodedata.normalize("NFKC", char)


def _unicode_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _unescaped(match: re.Match[str]) -> str:
    digits, short = match.groups()
    return _LONG[short] if digits is None else chr(int(digits, 16))
