"""What SIGTERM and SIGHUP do while `ctxaudit compact` holds what must not be left half done.

Guarantees: a program in a session of its own does not outlive us because somebody ended us, and
files that belong together get their names all or none. The signal then does what it would have
done: by default this process ends by it (143 and 129 in a shell). One that whoever started us
ignores (`nohup`) stays ignored. Off the main thread nothing is changed.

Example:
    >>> with Endings(lambda: None), held_endings():
    ...     pass
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType

__all__ = ["Endings", "held_endings"]

# Those that ask a process to end; the others are the terminal's (see `interrupts`) or end at once.
_SIGNALS = tuple(
    found for name in ("SIGTERM", "SIGHUP") if (found := getattr(signal, name, None)) is not None
)


class Endings:
    """Handles the signals while it is entered."""

    def __init__(self, end: Callable[[], None] | None) -> None:
        """Take what ends the program; it is called on the main thread, between any two steps.

        Args:
            end: ends it; None: the signal waits until the block is left.
        """
        self._end = end
        self._before: dict[int, object] = {}
        self._waiting: int | None = None

    def __enter__(self) -> Endings:
        for number in _SIGNALS:
            before = signal.getsignal(number)
            if before is signal.SIG_IGN or before is None:
                continue
            # Known before it is changed: the signal may come in between.
            self._before[number] = before
            try:
                signal.signal(number, self._hear)
            except ValueError:  # not the main thread
                del self._before[number]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in list(self._before):
            self._restore(number)
        if self._waiting is not None:
            os.kill(os.getpid(), self._waiting)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._end is None:
            self._waiting = number
            return
        try:
            self._end()
        finally:
            self._restore(number)
            os.kill(os.getpid(), number)

    def _restore(self, number: int) -> None:
        before = self._before.pop(number, None)
        if before is not None:
            signal.signal(number, before)  # type: ignore[arg-type]


def held_endings() -> Endings:
    """Give a context in which the signals wait until it is left."""
    return Endings(None)
