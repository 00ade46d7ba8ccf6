"""What SIGINT does while the command runs: it ends the verifying, and never cuts a line in two.

Guarantees: `KeyboardInterrupt` is raised once in a run, and only where interrupts are not held
back; a SIGINT that comes while they are is kept until they are released. A second SIGINT changes
nothing, so that the report of an interrupted run is whole. The third one ends the process, and
those that it started, at once with exit code 130. An interrupt never leaves a traceback.

Example:
    >>> with Interrupts() as interrupts:
    ...     with interrupts.held_back():
    ...         pass
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all the rest of this module
    from types import FrameType, TracebackType

__all__ = ["Interrupts"]

_ENDS_AT_ONCE = 3
_EXIT_CODE = 130  # ExitCode.INTERRUPTED; that module is not loaded yet when a run begins


class Interrupts:
    """Handles SIGINT while it is entered (on the main thread; elsewhere it does nothing)."""

    def __init__(self) -> None:
        self._count = 0
        self._is_held = False
        self._is_raised = False
        self._before: object = None
        self._hook_before = sys.unraisablehook

    @property
    def is_pending(self) -> bool:
        """Whether a SIGINT came that nobody was told of yet."""
        return self._count > 0 and not self._is_raised

    def hold(self) -> None:
        """Keep a SIGINT until `release`."""
        self._is_held = True

    def release(self) -> None:
        """Let a SIGINT raise at once again; one that was kept raises now.

        Raises:
            KeyboardInterrupt: a SIGINT came while it was held back.
        """
        self._is_held = False
        self.check()

    def check(self) -> None:
        """Raise what was kept, or what came where Python cannot raise (a finalizer, a callback).

        Raises:
            KeyboardInterrupt: a SIGINT came that nobody was told of yet.
        """
        if self.is_pending and not self._is_held:
            self._is_raised = True
            raise KeyboardInterrupt

    def held_back(self) -> _HeldBack:
        """Give a context in which a SIGINT waits until the block is left without an error."""
        return _HeldBack(self, self._is_held)

    def start(self) -> None:
        """Take SIGINT over, unless whoever started us ignores it."""
        before = signal.getsignal(signal.SIGINT)
        # Whoever started us with SIGINT ignored (`nohup`, `&` in scripts) means it.
        if before is signal.SIG_IGN or before is None:
            return
        try:
            signal.signal(signal.SIGINT, self._hear)
        except ValueError:
            return  # not the main thread
        self._before = before
        self._hook_before = sys.unraisablehook
        sys.unraisablehook = self._hear_unraisable

    def stop(self, *, for_good: bool = False) -> None:
        """Give SIGINT back.

        Args:
            for_good: ignore it from now on instead: all is said, and the interpreter that shuts
                down would answer with a traceback.
        """
        if self._before is None:
            return
        after = signal.SIG_IGN if for_good else self._before
        signal.signal(signal.SIGINT, after)  # type: ignore[arg-type]
        self._before = None
        if not for_good:
            sys.unraisablehook = self._hook_before

    def __enter__(self) -> Interrupts:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count >= _ENDS_AT_ONCE:
            _end_at_once()
        self.check()

    def _hear_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Keep an interrupt that Python would print and forget; the rest is for the other hook."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._is_raised = False
        else:
            self._hook_before(unraisable)


def _end_at_once() -> None:
    """End this process and those that it started: one left alone would hold our output open."""
    try:
        processes = sys.modules.get("multiprocessing.process")
        if processes is not None:
            for child in processes.active_children():
                child.kill()
    finally:
        os._exit(_EXIT_CODE)


class _HeldBack:
    """One nested span of holding back."""

    def __init__(self, interrupts: Interrupts, was_held: bool) -> None:  # noqa: FBT001
        self._interrupts = interrupts
        self._was_held = was_held

    def __enter__(self) -> None:
        self._interrupts.hold()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._was_held:
            return
        if kind is None:
            self._interrupts.release()
        else:
            self._interrupts._is_held = False  # what goes on is the error
