"""Processes that do a part of the work: starting them, ending them, and when there are none.

Guarantees: a worker runs nothing of the program that it works for; an interrupt is the parent's to
handle. Whether processes can be had is found out before one is started.

Example:
    >>> may_have_workers(1) in (True, False)
    True
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pickle import PicklingError
from types import ModuleType
from typing import Any

__all__ = [
    "NO_PROCESSES",
    "end_with_parent",
    "kill_workers",
    "may_have_workers",
    "prepare_worker",
    "process_context",
    "signals_held",
]

# A machine that gives no process, thread, descriptor or semaphore (a pool that broke is among
# them), and roots or limits of the program's own classes that another process cannot be told of.
NO_PROCESSES = (OSError, RuntimeError, ImportError, PicklingError, AttributeError)

_SET_PDEATHSIG = 1  # of prctl, linux/prctl.h
_ends_with_parent = False


def end_with_parent(parent: int) -> None:
    """See to it that this process ends when its parent does, and so do its own workers (Linux).

    Args:
        parent: its process id; where it is gone already, this process ends now.
    """
    global _ends_with_parent  # noqa: PLW0603 - of the process; its forks have it too
    _ends_with_parent = True
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def may_have_workers(count: int) -> bool:
    """Say whether so many processes can be started.

    A daemonic process may have no children, and starting one without a handle to spare loses the
    last of them for good.
    """
    return not multiprocessing.current_process().daemon and _handles_are_free(16 + 2 * count)


def prepare_worker() -> None:
    """Make a process that has just begun a worker."""
    # An interrupt is the parent's to handle; here it would only print a traceback. Nor is what the
    # program does to end itself well meant for this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A fork has the one thread of its parent for its parent; what was spawned has whichever asked,
    # and must not end with that.
    is_fork = type(multiprocessing.current_process()).__name__ == "ForkProcess"
    if _ends_with_parent or is_fork:
        end_with_parent(os.getppid())
    # What was inherited is not this process's to collect: looking through it would copy its pages.
    gc.freeze()


@contextmanager
def signals_held(numbers: Collection[signal.Signals]) -> Iterator[None]:
    """Give a context in which signals wait, for this thread and for what it starts."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def kill_workers(executor: Executor) -> None:
    """End what an interrupt or a broken pool leaves: a worker may be hashing, for nobody.

    One that was started by a pool that did not come about would wait for ever.
    """
    # Both kinds of pools keep them there (`provenance/pools.py`).
    workers = tuple((getattr(executor, "_processes", None) or {}).values())
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join()


def _handles_are_free(count: int) -> bool:
    taken: list[int] = []
    try:
        while len(taken) < count:
            taken += os.pipe()
    except OSError:
        return False
    finally:
        for handle in taken:
            os.close(handle)
    return True


class _Worker(multiprocessing.context.SpawnProcess):
    """A process that does not run the program's main module again, as `spawn` would.

    It needs nothing of it, and a script without the usual guard would do its work a second time.
    """

    _one_at_a_time = threading.Lock()

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: ANN401, N802 - multiprocessing's own
        with _Worker._one_at_a_time:
            program = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return multiprocessing.context.SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = program


class _Spawning(multiprocessing.context.SpawnContext):
    Process = _Worker


def process_context() -> multiprocessing.context.BaseContext:
    """Give the way in which processes are started here."""
    # A fork is the cheapest start, and safe only while there is no other thread.
    forks = sys.platform == "linux" and threading.active_count() == 1 and hasattr(os, "fork")
    return multiprocessing.get_context("fork") if forks else _Spawning()
