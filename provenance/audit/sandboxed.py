"""The same audit in a process that can do nothing but read what it was asked to look at.

Guarantees: all parsing and verifying of hostile bytes is done by a child that was confined before
it read any of them (`provenance/fs/confinement.py`), and so is every worker that it starts. What
it says comes back as typed values, never as code. A child that dies, says something else or tried
what it must not, is an error: never a report. Where the machine cannot confine a process, nothing
is read. Not guaranteed: that a child which was taken over tells the truth about what it read.

Example:
    $ ctxaudit verify --sandbox sample_state
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import NoReturn

from provenance.audit import sandbox_wire as wire
from provenance.audit.listener import Listener
from provenance.audit.request import CITING_FOLDERS, STDIN, AuditRequest, TargetError
from provenance.audit.run import run_audit
from provenance.audit.sandbox_child import STOP, be_the_child
from provenance.audit.sandbox_modules import load_all
from provenance.audit.sandbox_sense import Sense
from provenance.audit_report import AuditReport
from provenance.errors import CtxauditError, MachineError
from provenance.fs import TrustedRoot
from provenance.fs.confinement import SandboxUnavailable, require_landlock
from provenance.fs.scratch import scratch_folder
from provenance.processes import signals_held

__all__ = ["SandboxFailed", "readable_places", "run_sandboxed_audit"]

_BLOCK = 1 << 20
_ENDINGS = frozenset({signal.SIGTERM, signal.SIGHUP}) if hasattr(signal, "SIGHUP") else frozenset()


class SandboxFailed(MachineError):
    """The confined process gave no result; nothing is known of the evidence."""

    code = "sandbox_failed"


def run_sandboxed_audit(
    request: AuditRequest,
    *,
    clock: Callable[[], datetime],
    stopwatch: Callable[[], float],
    listener: Listener | None = None,
    is_interrupted: bool = False,
    precheck: Callable[[], str | None] | None = None,
) -> AuditReport:
    """Run one audit in a confined process; the same as `run_audit` otherwise.

    Args:
        request: what is asked.
        clock: the time of day, with a zone.
        stopwatch: seconds that only go up.
        listener: hears of results as they come; it runs here, not in the confined process.
        is_interrupted: an interrupt came before; count what there is and verify nothing.
        precheck: looks at the targets first, confined; gives what is wrong with them, or None.

    Raises:
        TargetError: a target cannot be used.
        SandboxUnavailable: no process can be confined here; nothing was read.
        SandboxFailed: the process came to another end than a report.
    """
    # 1. Whether it can be done at all. A fork takes one thread along; a lock of another would stay
    #    locked for ever.
    require_landlock()
    if threading.active_count() > 1:
        raise SandboxUnavailable("program: expected one thread to fork from, got several")
    # 2. All that will be needed, while it can still be loaded.
    load_all(with_seals=request.seal is not None)
    places = readable_places(request)
    sense = Sense(request, today=clock().astimezone(UTC).date())
    with signals_held(_ENDINGS), scratch_folder() as scratch, _Confined() as confined:
        # 3. The child; it never comes back from here.
        confined.start(
            lambda give: be_the_child(
                give,
                lambda said: _audit(
                    said, request, clock, stopwatch, precheck, is_interrupted=is_interrupted
                ),
                places,
                scratch,
                wants_decisions=listener is not None and listener.wants_decisions,
            )
        )
        # 4. What it says, until its report.
        return confined.follow(listener or Listener(), sense)


def readable_places(request: AuditRequest) -> tuple[str, ...]:
    """Give the absolute paths of the folders that an audit reads below: its roots, nothing else.

    A file that was named lies in a root too: its folder, or the home whose `states/` it lies in.
    """
    named = [request.transcript_root, request.artifact_root]
    named += [
        target if _is_folder(target) else _root_of_file(PurePath(target))
        for target in request.targets
        if target != STDIN
    ]
    return tuple(dict.fromkeys(str(TrustedRoot(path).path.absolute()) for path in named if path))


def _is_folder(target: str) -> bool:
    try:
        TrustedRoot(target).open_directory().close()
    except CtxauditError:
        return False
    return True


def _root_of_file(path: PurePath) -> str:
    folder = TrustedRoot(path.parent).path.absolute()
    return str(folder.parent if folder.name in CITING_FOLDERS else folder)


class _Confined:
    """The child as its parent sees it; it is gone at the end of the `with`."""

    def __init__(self) -> None:
        self._child = 0
        self._take = -1
        self._buffer = bytearray()

    def start(self, work: Callable[[int], NoReturn]) -> None:
        self._take, give = os.pipe()
        # Our signal waits until the child has said what it does to it: by itself it would end it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {STOP})
        try:
            child = os.fork()
            if child == 0:
                work(give)
        except OSError:
            raise SandboxFailed("process: expected to start one, got a refusal") from None
        finally:
            os.close(give)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with suppress(OSError):  # it does so itself, too: whoever comes first
            os.setpgid(child, child)
        self._child = child

    def follow(self, listener: Listener, sense: Sense) -> AuditReport:
        parts: dict[str, list[object]] = {}
        is_stopped = False
        with signals_held({signal.SIGINT}):
            while True:
                try:
                    kind, payload = self._next()
                    if kind == wire.PART:
                        name, values = wire.part_of_report(payload)
                        parts.setdefault(name, []).extend(values)
                    elif kind == wire.REPORT:
                        rest = wire.rest_of_report(payload)
                        lists = {name: tuple(values) for name, values in parts.items()}
                        report = replace(rest, **lists)  # type: ignore[arg-type]
                        sense.require_report(report)
                        # It may have been done already.
                        return replace(report, is_interrupted=True) if is_stopped else report
                    else:
                        _pass_on(kind, payload, listener, sense)
                except KeyboardInterrupt:
                    # The child ends its verifying and says what it has, as `run_audit` does.
                    is_stopped = True
                    os.kill(self._child, STOP)
                except wire.WireError as error:
                    raise SandboxFailed(f"confined process: {error}") from None

    def _next(self) -> tuple[bytes, bytes]:
        while (found := wire.take_frame(self._buffer)) is None:
            # The only place where an interrupt is let in: nothing that was read is lost to it. So
            # is what asks this process to end: the folder of the child is removed first.
            with _released({signal.SIGINT, *_ENDINGS}):
                select.select([self._take], [], [])
            block = os.read(self._take, _BLOCK)
            if not block:
                raise SandboxFailed(self._end())
            self._buffer += block
        return found

    def _end(self) -> str:
        # It stays a zombie, so that its number, and that of its group, is nobody else's yet.
        ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOWAIT)
        if ended is None:
            how = "no exit"
        else:
            is_exit = ended.si_code == os.CLD_EXITED
            how = f"{'exit' if is_exit else 'signal'} {ended.si_status}"
        return f"confined process: expected a report, got its end by {how}"

    def __enter__(self) -> _Confined:
        return self

    def __exit__(self, *error: object) -> None:
        if self._child:
            # All that it started is in its group: the filter of calls lets nobody leave.
            for end in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    end(self._child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._child, 0)
        if self._take >= 0:
            os.close(self._take)


def _pass_on(kind: bytes, payload: bytes, listener: Listener, sense: Sense) -> None:
    match kind:
        case wire.PLAN:
            total = wire.decode(payload, int)
            sense.take_plan(total)
            listener.on_plan(total)
        case wire.WAIT:
            listener.on_wait()
        case wire.DECISIONS:
            for decision in wire.decode(payload, wire.Decisions):
                listener.on_decision(decision)
        case wire.SOURCES:
            sources = wire.decode(payload, wire.Sources)
            sense.take_sources(sources)
            listener.on_sources(sources)
        case wire.TRANSCRIPT:
            listener.on_transcript(wire.decode(payload, wire.Transcript))  # type: ignore[arg-type]
        case wire.VERIFIED:
            listener.on_verified()
        case wire.TARGET_REFUSED:
            raise TargetError(wire.decode(payload, str))
        case _:
            raise SandboxFailed(f"confined process: {wire.decode(payload, str)}")


@contextmanager
def _released(numbers: Set[signal.Signals]) -> Iterator[None]:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def _audit(
    said: Listener,
    request: AuditRequest,
    clock: Callable[[], datetime],
    stopwatch: Callable[[], float],
    precheck: Callable[[], str | None] | None,
    *,
    is_interrupted: bool,
) -> AuditReport:
    fault = None if precheck is None else precheck()
    if fault is not None:
        raise TargetError(fault)
    return run_audit(
        request, clock=clock, stopwatch=stopwatch, listener=said, is_interrupted=is_interrupted
    )
