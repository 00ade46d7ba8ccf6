"""How far a long audit has come, on standard error, for a person at a terminal.

Guarantees: nothing is shown where standard error is no terminal, with `--quiet`, or in the first
second. No thread is started, so that processes can be forked; the line goes away at the end.

Example:
    >>> from .options import Manner
    >>> Progress.where_wanted(Manner(False, False, True), clock=lambda: 0.0) is None
    True
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from .options import Manner

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Progress"]

_SHOWN_AFTER_SECONDS = 1.0
# Drawing costs more than checking a small file; an eye sees no more than this.
_SECONDS_BETWEEN = 0.1


class Progress:
    """Counts what is done, and shows it once the run turns out to be long."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._drawn: float | None = None
        self._total = 0
        self._done = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    @classmethod
    def where_wanted(cls, manner: Manner, *, clock: Callable[[], float]) -> Progress | None:
        """Build one where somebody is there to see it."""
        if manner.quiet or sys.stderr is None or not sys.stderr.isatty():
            return None
        return cls(clock)

    def plan(self, total: int) -> None:
        """Take the number of things to do."""
        self._total = total

    def advance(self, count: int) -> None:
        """Note that `count` more are done."""
        self._done += count
        now = self._clock()
        if now - self._started < _SHOWN_AFTER_SECONDS:
            return
        if self._drawn is None:
            self._show()
        elif now - self._drawn < _SECONDS_BETWEEN and self._done < self._total:
            return
        self._drawn = now
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done)
            self._bar.refresh()

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(" of "),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        self._task = bar.add_task("verifying", total=self._total)
        bar.start()
        self._bar = bar
