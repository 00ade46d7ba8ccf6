"""What SIGINT does while an audit runs: it ends the verifying, and never cuts a line in two.

Guarantees: the first SIGINT raises `KeyboardInterrupt` as soon as no output is being written; the
second one raises it at once. The handler that was there before is put back.

Example:
    >>> with Interrupts() as interrupts:
    ...     with interrupts.held_back():
    ...         pass
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

__all__ = ["Interrupts"]


class Interrupts:
    """Handles SIGINT while it is entered (on the main thread; elsewhere it does nothing)."""

    def __init__(self) -> None:
        self._held = False
        self._count = 0
        self._before: signal.Handlers | object = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            # Whoever started us with SIGINT ignored (`nohup`, `&` in scripts) means it.
            if before is not signal.SIG_IGN and before is not None:
                self._before = before
                signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let a first SIGINT wait until the block is left without an error."""
        before = self._count
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._count > before:
            raise KeyboardInterrupt

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if not self._held or self._count > 1:
            raise KeyboardInterrupt
