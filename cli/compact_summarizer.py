"""A program that sums up a conversation: run without a shell, bounded in time and in what it says.

Guarantees: the program gets the conversation as JSON on its standard input, and nothing else of
ours; its standard error is dropped. When it has answered, failed or run out of time, it and the
processes of its group are gone; also where SIGTERM or SIGHUP ends us. Its answer is whole when it
has ended, though a process that it left behind holds its output open. What goes wrong is an
exception and never a text.

Example:
    >>> with ProgramSummarizer(("cat",), seconds=10) as summarize:
    ...     summarize('[{"role": "user"}]')
    '[{"role": "user"}]'
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from types import TracebackType

from .compact_endings import Endings

__all__ = ["MOST_BYTES", "ProgramSummarizer", "SummaryProgramFailed", "SummaryTooLarge"]

MOST_BYTES = 4 << 20
"""So much is read of what a program says; a summary is a thousandth of it."""
_PIECE = 1 << 16
_LISTEN_SECONDS = 0.05
_POLL_SECONDS = 0.01
_LEFTOVER_SECONDS = 1.0
"""So long a program that has ended is listened to, where others still hold its output open."""


class SummaryProgramFailed(Exception):
    """The program ended with another code than 0, or by a signal."""


class SummaryTooLarge(Exception):
    """The program says more than a summary can be."""


class ProgramSummarizer:
    """Runs the program once for each conversation; a context manager that ends what still runs."""

    def __init__(
        self, command: Sequence[str], *, seconds: float, most_bytes: int = MOST_BYTES
    ) -> None:
        """Take the program with its arguments, and its bounds."""
        self._command = tuple(command)
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False
        # The handler of a signal may come in on the thread that has it.
        self._guard = threading.RLock()
        self._endings = Endings(self.stop)

    def __call__(self, conversation: str) -> str:
        """Give what the program says of a conversation.

        Raises:
            TimeoutError: it did not end in time.
            SummaryProgramFailed: it failed.
            SummaryTooLarge: it says too much.
            UnicodeDecodeError: what it says is not UTF-8.
            OSError: it cannot be started.
        """
        deadline = time.monotonic() + self._seconds
        # In JSON a half of a surrogate pair stands in a string, where its escape means the same.
        data = conversation.encode("utf-8", "backslashreplace")
        process = self._start()
        try:
            answer = self._talk(process, data, deadline)
            _await_end(process, deadline)
        finally:
            self._end()
            with self._guard:
                self._process = None
            _close(process)
        if process.returncode != 0:
            raise SummaryProgramFailed
        return answer.decode()

    def stop(self) -> None:
        """End the program, and start none any more; from any thread, it may be talked to."""
        self._is_stopped = True
        self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._guard:
            if self._was_stopped():
                raise SummaryProgramFailed
            self._process = subprocess.Popen(  # noqa: S603 - the operator's own, and no shell
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            process = self._process
        # A signal that came while it was being started found nothing to end.
        if self._was_stopped():
            self._end()
        return process

    def _was_stopped(self) -> bool:
        return self._is_stopped

    def _end(self) -> None:
        """Kill the program and its group."""
        with self._guard:
            # As long as nobody has waited for it, its number is its own.
            if self._process is not None and self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def _talk(self, process: subprocess.Popen[bytes], data: bytes, deadline: float) -> bytes:
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise SummaryProgramFailed
        rest = memoryview(data)
        parts: list[bytes] = []
        size = 0
        ended_at: float | None = None
        with selectors.DefaultSelector() as ready:
            for pipe in (stdin, stdout):
                os.set_blocking(pipe.fileno(), False)
            ready.register(stdout, selectors.EVENT_READ)
            ready.register(stdin, selectors.EVENT_WRITE)
            while True:
                now = time.monotonic()
                if ended_at is None and _has_ended(process):
                    ended_at = now
                if ended_at is not None and now >= ended_at + _LEFTOVER_SECONDS:
                    return b"".join(parts)
                if ended_at is None and now >= deadline:
                    raise TimeoutError
                # Nothing tells of its end where others hold its output open: it is asked for.
                for key, _ in ready.select(_LISTEN_SECONDS):
                    if key.fileobj is stdin:
                        rest = _written(stdin.fileno(), rest)
                        if not rest:
                            ready.unregister(stdin)
                            stdin.close()
                        continue
                    piece = os.read(stdout.fileno(), _PIECE)
                    if not piece:
                        return b"".join(parts)
                    parts.append(piece)
                    size += len(piece)
                    if size > self._most_bytes:
                        raise SummaryTooLarge

    def __enter__(self) -> ProgramSummarizer:
        self._endings.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._endings.__exit__(kind, error, trace)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def _written(fd: int, data: memoryview) -> memoryview:
    """Write what the pipe takes; gives the rest, nothing where nobody reads any more."""
    try:
        return data[os.write(fd, data[:_PIECE]) :]
    except BlockingIOError:
        return data
    except BrokenPipeError:
        return data[:0]


def _await_end(process: subprocess.Popen[bytes], deadline: float) -> None:
    """Wait until the program has ended, without taking its number away from it."""
    if not hasattr(os, "waitid"):
        try:
            process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return
    while not _has_ended(process):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(_POLL_SECONDS)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the program has ended; its number stays its own. Not known everywhere."""
    waitid = getattr(os, "waitid", None)
    if waitid is None:
        return False
    return waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
