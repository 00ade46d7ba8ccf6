r"""What stands in a shortened tool result: that it is a part, of how much, and where the whole is.

Guarantees: no notice leaves room to take a part for the whole: it has both lengths. A text is
believed to be a spilled one only where this process made exactly that text: a tool can print any
notice, with numbers that fit. What is read without that knowledge (`notices_in`, `is_shortened`)
may be so; it looks at every notice in a text, and no text is left out of a store for it.

Example:
    >>> cut(40, 100)
    '\n\n[... truncated: the first 40 of 100 characters are shown ...]'
    >>> text = spilled("beginning\n", "\nend", 100, "artifact:s:a.txt:0123456789ab")
    >>> [(one.total, one.pointer) for one in notices_in(text)]
    [(100, 'artifact:s:a.txt:0123456789ab')]
    >>> spilled_ends(text) is None  # nothing was spilled here
    True
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha256
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

__all__ = [
    "Cut",
    "Notice",
    "SpilledEnds",
    "cut",
    "cut_in",
    "is_shortened",
    "notices_in",
    "possible_pointers",
    "remember_spilled",
    "spilled",
    "spilled_ends",
]

_MARK = "characters are left out here"
_find_notices = re.compile(
    r"\[(?P<left_out>[0-9]{1,19}) of (?P<total>[0-9]{1,19}) characters are left out here\."
    r" The whole result is kept as\n(?P<pointer>\S{1,2000})\n"
    r"Read on: ctxaudit show (?P=pointer) --lines A:B\]\n",
).finditer
_find_cut = re.compile(
    r"\n\n\[\.\.\. truncated: the first (?P<shown>[0-9]{1,19}) of (?P<total>[0-9]{1,19})"
    r" characters are shown \.\.\.\]\Z"
).search
# The longest notice of a beginning, by far.
_MOST_OF_CUT = 200


class Notice(NamedTuple):
    """What a notice of a spilled text says.

    Attributes:
        head: how many characters of the beginning stand before it.
        tail: how many of the end stand behind it.
        total: how many the whole has.
        pointer: where the whole is.
    """

    head: int
    tail: int
    total: int
    pointer: str

    @property
    def most(self) -> int:
        """How many characters it may take itself, at most."""
        return 1 + len(spilled("", "", self.total, self.pointer))


class Cut(NamedTuple):
    """What the notice of a cut text says: how many characters are shown, and of how many."""

    shown: int
    total: int


class SpilledEnds(NamedTuple):
    """What stands in the prompt of a spilled text.

    Attributes:
        head: its beginning.
        tail: its end.
        total: how many characters the whole has.
        pointer: where the whole is.
    """

    head: str
    tail: str
    total: int
    pointer: str


def cut(shown: int, total: int) -> str:
    """Say at the end of a text that it is only the beginning of one."""
    return f"\n\n[... truncated: the first {shown} of {total} characters are shown ...]"


def cut_in(text: str) -> Cut | None:
    """Read a text as a cut one by what stands at its end, whoever wrote that; None: it is none.

    A tool can print it, too. What follows from it is no more than that the text is not cut for the
    sake of the notice alone, and that a shorter beginning of it still says how long the whole was.
    """
    found = _find_cut(text, max(0, len(text) - _MOST_OF_CUT))
    if found is None:
        return None
    one = Cut(int(found["shown"]), int(found["total"]))
    is_true = 0 < one.shown == found.start() and one.shown < one.total
    return one if is_true and found.group() == cut(*one) else None


def spilled(head: str, tail: str, total: int, pointer: str) -> str:
    """Put the notice of a spilled text between its two ends."""
    start = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{start}{_notice(total - len(head) - len(tail), total, pointer)}{tail}"


def remember_spilled(ends: SpilledEnds) -> None:
    """Note that this process put these ends into a view: their text is believed from now on."""
    _made.add(ends)


def spilled_ends(text: str) -> SpilledEnds | None:
    """Read a text that this process made of a spilled one; None for every other text."""
    return _made.find(text) if _made.has_any and _MARK in text else None


def notices_in(text: str) -> Iterator[Notice]:
    """Read a text as a spilled one in every way that its numbers allow, whoever made it.

    One tool's output may hold several notices, and hold them by intent: this tells what may be so,
    and nothing is to be left out of a store for it.
    """
    for found in _find_notices(text) if _MARK in text else ():
        total, left_out, pointer = int(found["total"]), int(found["left_out"]), found["pointer"]
        if found.group() != _notice(left_out, total, pointer):
            continue  # leading zeros
        before, tail = found.start(), len(text) - found.end()
        if before and text[before - 1] != "\n":
            continue  # it would stand in a line of its own
        # The line end before it may be the head's own or one that was put there.
        for head in (before - 1, before):
            is_whole = head == before or (head > 0 and text[head - 1] != "\n")
            if is_whole and total - head - tail == left_out:
                yield Notice(head, tail, total, pointer)


def possible_pointers(text: str) -> frozenset[str]:
    """Give each pointer that a text may have been spilled to, by the numbers in its notices."""
    return frozenset(one.pointer for one in notices_in(text))


def is_shortened(original: str, shown: str, pointer: str | None) -> bool:
    """Say whether layer 1 may have made one text of another; needs nothing but the two.

    Args:
        original: the text as it was. Where a result has other blocks beside its text, that of
            `provenance.messages.shapes.text_in_result`; `with_result_text` puts another there.
        shown: what stands in its place.
        pointer: where the whole went; None: the original was cut, and not stored.

    Returns:
        Whether `shown` is shorter and made of the original: its beginning, or with a pointer its
        two ends; or the ends of its ends, where it may be a spilled text itself, of that pointer.
        Every number in the notice is true.
    """
    if len(shown) >= len(original):
        return False
    if pointer is None:
        return _is_beginning(original, shown)
    found = [one for one in notices_in(shown) if one.pointer == pointer]
    if not found:
        return False
    most_head, most_tail = _common_head(original, shown), _common_tail(original, shown)
    # By the length of the whole: how long the ends may be at most. Further on in the original the
    # heads get longer and the tails shorter, so the first head that is long enough decides.
    wholes: dict[int, list[tuple[int, int]]] = {}
    for whole in notices_in(original):
        if whole.pointer == pointer:
            wholes.setdefault(whole.total, []).append((whole.head, whole.tail))
    for one in found:
        if one.head > most_head or one.tail > most_tail:
            continue
        if one.total == len(original):
            return True
        known = wholes.get(one.total, [])
        at = bisect_left(known, one.head, key=itemgetter(0))
        if at < len(known) and one.tail <= known[at][1]:
            return True
    return False


def _is_beginning(original: str, shown: str) -> bool:
    one, before = cut_in(shown), cut_in(original)
    if one is None or not shown.startswith(original[: one.shown]):
        return False
    if before is not None and one.shown < before.shown:
        return one.total == before.total
    return one.shown < len(original) == one.total


def _notice(left_out: int, total: int, pointer: str) -> str:
    return (
        f"[{left_out} of {total} {_MARK}. The whole result is kept as\n"
        f"{pointer}\n"
        f"Read on: ctxaudit show {pointer} --lines A:B]\n"
    )


def _common_head(one: str, other: str) -> int:
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, 1, key=lambda size: not one.startswith(other[:size]))


def _common_tail(one: str, other: str) -> int:
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, 1, key=lambda size: not one.endswith(other[-size:]))


class _Made:
    """The texts that were made of spilled ones here, the latest of them, by their digests."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._known: OrderedDict[bytes, Notice] = OrderedDict()

    @property
    def has_any(self) -> bool:
        """Whether anything was made at all; if not, no text needs to be searched."""
        return bool(self._known)

    def add(self, ends: SpilledEnds) -> None:
        key = _digest(spilled(*ends))
        with self._lock:
            self._known[key] = Notice(len(ends.head), len(ends.tail), ends.total, ends.pointer)
            self._known.move_to_end(key)
            if len(self._known) > self._most:
                self._known.popitem(last=False)

    def find(self, text: str) -> SpilledEnds | None:
        key = _digest(text)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                return None
            self._known.move_to_end(key)
        head, tail, total, pointer = known
        return SpilledEnds(text[:head], text[len(text) - tail :], total, pointer)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


_MOST_MADE = 10_000
_made = _Made(_MOST_MADE)
