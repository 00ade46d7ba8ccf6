r"""What stays in the prompt of a result that moves to the store: its beginning and its end.

Guarantees: the head is a prefix of the text and the tail a suffix, they never overlap, no
character is split, and together they are no larger than the room given. Where lines are, whole
lines stay. Nothing here touches a file.

How the room is shared depends on what the text looks like: the end of a log says what happened,
a listing is judged by both ends, and anything else is read from the top.

Example:
    >>> ends = keep_ends("one\ntwo\nthree\nfour\n", room=16, unit=Unit.BYTES)
    >>> ends.head, ends.tail
    ('one\ntwo\n', 'four\n')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Ends", "Shape", "Unit", "keep_ends", "shape_of", "size_in"]


class Unit(StrEnum):
    """What a cap counts."""

    BYTES = "bytes"
    CHARACTERS = "characters"


class Shape(StrEnum):
    """What a text looks like."""

    LOG = "log"
    LISTING = "listing"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Ends:
    """The two pieces that stay."""

    head: str
    tail: str


# The head's part of the room, in percent.
_HEAD_PERCENT = {Shape.LOG: 20, Shape.LISTING: 50, Shape.DOCUMENT: 67}

# Enough lines at either end to see a pattern; more would cost and tell nothing new.
_SAMPLE_CHARS = 8192
_FEWEST_LINES = 8

# A time or a level at the beginning of a line, after brackets perhaps.
_is_log_line = re.compile(
    r"[\[(<]?(?:"
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +[0-9]{1,2} "
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r")",
    re.ASCII | re.IGNORECASE,
).match
# A mode as `ls -l` prints it; a place as grep prints it; a name or path without a blank in it.
_is_listing_line = re.compile(
    r"[-bcdlps][-rwxsStT]{9}|[^\s:]+:[0-9]+:|[^\s,;{}()\[\]\"'<>=]*[^\s,;:.{}()\[\]\"'<>=]\Z"
).match


def size_in(unit: Unit, text: str) -> int:
    """Measure a text; in bytes it must be encodable."""
    return len(text) if unit is Unit.CHARACTERS else len(text.encode("utf-8"))


def shape_of(text: str) -> Shape:
    """Guess what a text is from the lines at its beginning and at its end."""
    lines = [
        line.strip("\r ")
        for piece in (text[:_SAMPLE_CHARS], text[-_SAMPLE_CHARS:])
        # The outermost lines of a sample may be cut.
        for line in piece.split("\n")[:-1]
    ]
    lines = [line for line in lines if line]
    if len(lines) < _FEWEST_LINES:
        return Shape.DOCUMENT
    if 4 * sum(_is_log_line(line) is not None for line in lines) >= len(lines):
        return Shape.LOG
    if 4 * sum(_is_listing_line(line) is not None for line in lines) >= 3 * len(lines):
        return Shape.LISTING
    return Shape.DOCUMENT


def keep_ends(text: str, *, room: int, unit: Unit, shape: Shape = Shape.DOCUMENT) -> Ends:
    """Choose what stays of a text that is larger than `room`.

    Args:
        text: the whole, without lone surrogates.
        room: most bytes or characters of head and tail together; 0 keeps nothing.
        unit: what `room` counts.
        shape: how the room is shared.
    """
    for_head = room * _HEAD_PERCENT[shape] // 100
    head = _whole_lines_of_head(_first(text, for_head, unit))
    tail = _whole_lines_of_tail(_last(text, room - for_head, unit), text)
    return Ends(head, tail)


def _first(text: str, room: int, unit: Unit) -> str:
    piece = text[:room]
    if unit is Unit.CHARACTERS:
        return piece
    # Only a character cut at the end can be undecodable, and it is left out.
    return piece.encode("utf-8")[:room].decode("utf-8", "ignore")


def _last(text: str, room: int, unit: Unit) -> str:
    if room == 0:
        return ""
    piece = text[-room:]
    if unit is Unit.CHARACTERS:
        return piece
    return piece.encode("utf-8")[-room:].decode("utf-8", "ignore")


def _whole_lines_of_head(head: str) -> str:
    """Cut behind the last line end, where that leaves at least half: lines may be huge."""
    whole = head.rfind("\n") + 1
    return head[:whole] if 2 * whole >= len(head) else head


def _whole_lines_of_tail(tail: str, text: str) -> str:
    before = len(text) - len(tail)
    if before == 0 or text[before - 1] == "\n":
        return tail
    start = tail.find("\n") + 1
    return tail[start:] if start and 2 * start <= len(tail) else tail
