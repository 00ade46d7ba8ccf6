r"""What stands in a shortened tool result: that it is a part, of how much, and where the whole is.

Guarantees: no notice leaves room to take a part for the whole: it has both lengths. The notice of a
spilled text can be read back, so that shortening it again keeps its pointer; where its numbers do
not fit what stands around it, it is taken for text.

Example:
    >>> cut(40, 100)
    '\n\n[... truncated: the first 40 of 100 characters are shown ...]'
    >>> text = spilled("beginning\n", "\nend", 100, "artifact:s:a.txt:0123456789ab")
    >>> spilled_ends(text).total, spilled_ends(text).pointer
    (100, 'artifact:s:a.txt:0123456789ab')
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["SpilledEnds", "cut", "spilled", "spilled_ends"]

_find_notice = re.compile(
    r"\[(?P<left_out>[0-9]{1,19}) of (?P<total>[0-9]{1,19}) characters are left out here\."
    r" The whole result is kept as\n(?P<pointer>\S{1,2000})\n"
    r"Read on: ctxaudit show (?P=pointer) --lines A:B\]\n",
).search


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


def spilled(head: str, tail: str, total: int, pointer: str) -> str:
    """Put the notice of a spilled text between its two ends."""
    left_out = total - len(head) - len(tail)
    start = "" if not head or head.endswith("\n") else "\n"
    return (
        f"{head}{start}"
        f"[{left_out} of {total} characters are left out here. The whole result is kept as\n"
        f"{pointer}\n"
        f"Read on: ctxaudit show {pointer} --lines A:B]\n"
        f"{tail}"
    )


def spilled_ends(text: str) -> SpilledEnds | None:
    """Read a text with such a notice; None where it is none."""
    found = _find_notice(text) if "characters are left out here" in text else None
    if found is None:
        return None
    head, tail = text[: found.start()], text[found.end() :]
    total, left_out = int(found["total"]), int(found["left_out"])
    # A line end before the notice may be the head's own or one that was put there.
    for candidate in (head, head.removesuffix("\n")):
        if len(candidate) + len(tail) + left_out == total:
            return SpilledEnds(candidate, tail, total, found["pointer"])
    return None
