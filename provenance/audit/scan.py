r"""Find well-formed pointers in any text: notes, logs, JSON, prose in any language.

Guarantees: every pointer that is found parses. Time is linear in the text. A pointer ends where its
grammar ends: `transcript:s1:12.` at the end of a sentence is `transcript:s1:12`, because a sequence
has no dots; `transcript:s1:12.5`, `transcript:s1:12:x` and `mytranscript:s1:12` hold no pointer. A
number that goes on (`12-15`) is cited by its first part. After a JSON escape (`\ntranscript:...`) a
pointer counts as standing alone.

Example:
    >>> [(hit.line, hit.pointer) for hit in scan_text("as in (transcript:s1:12),\nand so on")]
    [(1, 'transcript:s1:12')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Hit", "scan_text"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
# What stands before: no part of a word, unless it is the letter of a JSON escape.
_BEFORE = r"(?:(?<![A-Za-z0-9_])(?<![A-Za-z0-9_][.-])|(?<=\\[bfnrt]))"
# What stands after: the token is over, or goes on as prose does.
_AFTER = r"(?![A-Za-z0-9_])(?![:.][A-Za-z0-9])"
_find_pointers = re.compile(
    rf"{_BEFORE}(?:transcript:{_NAME}:[1-9][0-9]{{0,17}}"
    rf"|artifact:{_NAME}:{_NAME}:(?:[0-9A-Fa-f]{{64}}|[0-9A-Fa-f]{{12}})){_AFTER}"
).finditer
_SNIPPET_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """One pointer in a text.

    Attributes:
        pointer: as it stands there.
        line: number of the line, counted from 1; lines end with a line feed.
        text: the line around it, at most 200 characters.
    """

    pointer: str
    line: int
    text: str


def scan_text(text: str) -> Iterator[Hit]:
    """Give each pointer in `text` with the line it stands on, in order.

    Args:
        text: any text; the caller bounds its size.
    """
    line, counted_to = 1, 0
    for match in _find_pointers(text):
        start, end = match.span()
        line += text.count("\n", counted_to, start)
        counted_to = start
        yield Hit(match.group(), line, _line_around(text, start, end))


def _line_around(text: str, start: int, end: int) -> str:
    # Both searches are bounded, or a file of one long line would cost its square.
    spare = max(0, _SNIPPET_CHARACTERS - (end - start))
    first = text.rfind("\n", max(0, start - spare // 2), start) + 1
    if not first:
        first = max(0, start - spare // 2)
    last = text.find("\n", end, end + spare - (start - first))
    if last < 0:
        last = min(len(text), end + spare - (start - first))
    return text[first:last]
