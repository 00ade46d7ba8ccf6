"""The confined side of `--sandbox`: gives up its rights, audits, and tells its parent.

Guarantees: nothing of the program that it was forked from runs on in this process: it ends here,
whatever happens. It is confined before the first hostile byte is read. An interrupt of the parent
comes as a signal of its own, between two frames, and never between a frame and what the report
counts of it.

Example:
    >>> STOP.name
    'SIGUSR1'
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from provenance.audit import sandbox_wire as wire
from provenance.audit.listener import Listener
from provenance.audit.request import TargetError
from provenance.audit.sandbox_modules import SandboxRefusal, watch
from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript
from provenance.decisions import AuthorizationDecision
from provenance.errors import CtxauditError
from provenance.fs.confinement import confine
from provenance.processes import end_with_parent

__all__ = ["STOP", "be_the_child"]

# Worth a system call.
_DECISIONS_AT_ONCE = 1_000
# What the parent sends to end the verifying; a terminal's SIGINT is ignored here.
STOP = getattr(signal, "SIGUSR1", signal.SIGTERM)


def be_the_child(
    give: int,
    work: Callable[[Listener], AuditReport],
    places: Sequence[str],
    scratch: Path,
    *,
    wants_decisions: bool = False,
) -> NoReturn:
    """Do the work and end the process: nothing of the program that it was forked from runs on."""
    try:
        # 1. An interrupt is the parent's to handle; it sends a signal of its own.
        said = Said(give, wants_decisions=wants_decisions)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(STOP, said.stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {STOP, signal.SIGTERM, signal.SIGHUP})
        end_with_parent(os.getppid())
        # A group of its own, so that all that comes of it can be ended at once.
        os.setpgid(0, 0)
        # 2. Confined before the first hostile byte is read.
        noted: list[str] = []
        confine(places, scratch=scratch, keep=(give,))
        watch(places, str(scratch), _noting(noted, os.getpid()))
        # 3. The audit; its report only if nothing was tried that must not be.
        try:
            report = work(said)
        except TargetError as error:
            _require_nothing(noted)
            said.send(wire.TARGET_REFUSED, str(error))
        else:
            _require_nothing(noted)
            said.flush()
            for piece in wire.frames_of_report(report):
                said.write(piece)
    except BaseException as error:  # noqa: BLE001 - all of them end the process
        text = str(error) if isinstance(error, CtxauditError) else type(error).__name__
        with suppress(BaseException):
            os.write(give, wire.frame(wire.FAILED, text[:1_000]))
    finally:
        os._exit(0)


def _noting(noted: list[str], process: int) -> Callable[[str], None]:
    def note(what: str) -> None:
        if os.getpid() != process:
            # A worker has nobody to tell. What it had is verified again by this process itself,
            # where it is tried again, and noted.
            os._exit(1)
        noted.append(what)

    return note


def _require_nothing(noted: Sequence[str]) -> None:
    if noted:
        raise SandboxRefusal(f"expected to read its roots alone, got {noted[0]}")


class Said(Listener):
    """Tells the parent of all that is heard; an interrupt comes between two frames alone."""

    def __init__(self, give: int, *, wants_decisions: bool = False) -> None:
        self.wants_decisions = wants_decisions
        self._decisions: list[AuthorizationDecision] = []
        self._give = give
        self._is_open = False  # whether an interrupt may be raised
        self._is_stopped = False

    def stop(self, number: int, frame: object) -> None:
        """Hear the parent's signal."""
        self._is_stopped = True
        self._check()

    def _check(self) -> None:
        if self._is_stopped and self._is_open:
            self._is_open = False
            raise KeyboardInterrupt

    def held_back(self) -> AbstractContextManager[None]:
        return _HeldBack(self)

    def hold(self) -> bool:
        """Keep an interrupt; gives whether one could be raised until now."""
        was_open, self._is_open = self._is_open, False
        return was_open

    def release(self, *, is_open: bool, quietly: bool) -> None:
        """Let an interrupt be raised again if it could be before.

        One that was kept raises now, or, `quietly`, at the end of the next span.
        """
        self._is_open = is_open
        if not quietly:
            self._check()

    def on_plan(self, total: int) -> None:
        self.send(wire.PLAN, total)
        self._is_open = True
        self._check()

    def on_wait(self) -> None:
        self.send(wire.WAIT, None)
        if self._is_stopped:
            raise KeyboardInterrupt

    def on_decision(self, decision: AuthorizationDecision) -> None:
        self._decisions.append(decision)
        if len(self._decisions) >= _DECISIONS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Send the decisions that were heard."""
        decisions, self._decisions = self._decisions, []
        if decisions:
            self.send(wire.DECISIONS, tuple(decisions))

    def on_sources(self, sources: Sequence[AuditedSource]) -> None:
        self.flush()
        self.send(wire.SOURCES, tuple(sources))

    def on_transcript(self, transcript: CheckedTranscript | None) -> None:
        self.send(wire.TRANSCRIPT, transcript)

    def on_verified(self) -> None:
        self._is_open = False
        self.send(wire.VERIFIED, None)

    def send(self, kind: bytes, value: object) -> None:
        """Send one value."""
        self.write(wire.frame(kind, value))

    def write(self, piece: bytes) -> None:
        """Send bytes, all of them."""
        with self.held_back():
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self._give, rest) :]


class _HeldBack(AbstractContextManager[None]):
    """One span, also within another, in which no interrupt is raised."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self._was_open = False

    def __enter__(self) -> None:
        self._was_open = self._said.hold()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._said.release(is_open=self._was_open, quietly=kind is not None)
