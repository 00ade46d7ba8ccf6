"""What a history became, for frameworks that hand in the whole history before every request.

Without it each request would shorten the history anew from its beginning: a summarizer would be
asked every time, and the messages would begin differently every time, which no prompt cache
survives.

Guarantees: a view is used only where the history begins with all messages that it was made of, or
with the view itself. Of a few conversations the latest view is kept; one that was forgotten is made
anew, nothing else. May be shared between threads.

Example:
    >>> memory = Memory()
    >>> memory.keep(["a", "b", "c"], ["s", "c"], "a and b")
    >>> memory.recall(["a", "b", "c", "d"])
    Recalled(view=['s', 'c', 'd'], summary='a and b')
    >>> memory.recall(["a", "x"])
    Recalled(view=['a', 'x'], summary=None)
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Memory", "Recalled"]

_MOST = 16


class Recalled(NamedTuple):
    """What a history is compacted from.

    Attributes:
        view: its messages, those at the beginning as they were compacted before.
        summary: the one that stands among them; None where none is known.
    """

    view: list[Any]
    summary: str | None = None


class _Known(NamedTuple):
    history: list[Any]
    view: list[Any]
    summary: str | None


class Memory:
    """The latest views of a few conversations."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: list[_Known] = []
        self._lock = threading.Lock()

    def recall(self, history: Sequence[Any]) -> Recalled:
        """Give a history with its beginning as it was compacted before, where it was."""
        with self._lock:
            known = sorted(self._known, key=lambda one: len(one.history), reverse=True)
        for one in known:
            if _begins_with(history, one.history):
                return Recalled([*one.view, *history[len(one.history) :]], one.summary)
        # A framework that put the view in the place of its history hands in what it was given.
        for one in known:
            if one.view and _begins_with(history, one.view):
                return Recalled(list(history), one.summary)
        return Recalled(list(history))

    def keep(self, history: Sequence[Any], view: Sequence[Any], summary: str | None) -> None:
        """Keep what a history became, in the place of what its beginning became."""
        new = _Known(list(history), list(view), summary)
        with self._lock:
            others = [
                one
                for one in self._known
                if not _begins_with(history, one.history)
                and not (one.view and _begins_with(history, one.view))
            ]
            self._known = [*others, new][-_MOST:]


def _begins_with(history: Sequence[Any], start: Sequence[Any]) -> bool:
    # The first message differs between most conversations, so most comparisons end there.
    return len(history) >= len(start) and all(
        one is other or one == other for one, other in zip(history, start, strict=False)
    )
