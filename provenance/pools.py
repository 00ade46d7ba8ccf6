"""A pool of processes, also where the machine gives no semaphores.

Guarantees: the same interface, failures and answers either way. Python's own pool needs POSIX
semaphores, which are files in `/dev/shm`: a confined process and some containers have none. The one
here needs pipes alone. What its workers send is unpickled: they are forks of this process with the
same rights, and nothing crosses a boundary.

Example:
    >>> start_pool.__name__
    'start_pool'
"""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

from provenance.processes import kill_workers, signals_held

__all__ = ["PipePool", "Pool", "start_pool"]

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def start_pool(
    workers: int,
    context: BaseContext,
    initializer: Callable[..., None],
    initargs: tuple[object, ...],
) -> Pool:
    """Start a pool.

    Args:
        workers: how many processes.
        context: how they are started.
        initializer: runs first in each of them.
        initargs: what it is given.

    Raises:
        OSError, ImportError, RuntimeError: there is nothing to be had to start one with.
    """
    pool: ProcessPoolExecutor | None = None
    try:
        # An interrupt between the start of a process and the note of it would leave it to nobody.
        with signals_held({signal.SIGINT}):
            try:
                pool = ProcessPoolExecutor(
                    max_workers=workers,
                    mp_context=context,
                    initializer=initializer,
                    initargs=initargs,
                )
            except (OSError, ImportError):
                return PipePool(workers, context, initializer, initargs)
            pool.submit(_nothing)  # the first task starts them
    except BaseException:
        if pool is not None:  # it did not come about, or an interrupt came for it
            kill_workers(pool)
            with suppress(RuntimeError):  # the pool's own thread was not to be had
                pool.shutdown(cancel_futures=True)
        raise
    return pool


def _nothing() -> None:
    """Do nothing, in a worker."""


class PipePool(Executor):
    """A fixed number of processes, each with two pipes and a thread that waits for its answers."""

    def __init__(
        self,
        workers: int,
        context: BaseContext,
        initializer: Callable[..., None],
        initargs: tuple[object, ...],
    ) -> None:
        """Start the processes; none of them is left where one could not be started."""
        self._processes: dict[int, BaseProcess] = {}
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._is_broken = False
        self._ends: list[tuple[Connection, Connection]] = []
        self._threads: list[threading.Thread] = []
        try:
            for _ in range(workers):
                self._start_process(context, initializer, initargs)
        except BaseException:
            self._close()
            for process in self._processes.values():
                process.kill()
                process.join()
            raise
        self._working = workers
        # After the last fork: a process with threads is not forked.
        for number, process in enumerate(self._processes.values()):
            thread = threading.Thread(target=self._attend, args=(number, process), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _start_process(
        self,
        context: BaseContext,
        initializer: Callable[..., None],
        initargs: tuple[object, ...],
    ) -> None:
        tasks, give = context.Pipe(duplex=False)
        take, answers = context.Pipe(duplex=False)
        # What an earlier one holds of ours would keep a worker waiting after we are gone.
        others = [end for ends in self._ends for end in ends]
        self._ends.append((give, take))
        try:
            process = context.Process(  # type: ignore[attr-defined]
                target=_serve,
                args=(tasks, answers, (*others, give, take), initializer, initargs),
                daemon=True,
            )
            process.start()
        finally:
            tasks.close()
            answers.close()
        self._processes[process.pid] = process

    def submit(
        self,
        fn: Callable[_Parameters, _Result],
        /,
        *args: _Parameters.args,
        **kwargs: _Parameters.kwargs,
    ) -> Future[_Result]:
        """Hand out one call.

        Raises:
            BrokenProcessPool: no process is left to take it.
        """
        future: Future[_Result] = Future()
        with self._guard:
            if self._is_broken:
                raise BrokenProcessPool("workers: expected one that is left, got none")
            self._tasks.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the interface of `Executor`
        """End the pool; tasks that nobody took are dropped if `cancel_futures` says so."""
        if cancel_futures:
            self._drop(lambda future: future.cancel())
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()
            for process in self._processes.values():
                process.join()
            self._close()

    def _attend(self, number: int, process: BaseProcess) -> None:
        give, take = self._ends[number]
        while (task := self._tasks.get()) is not None:
            future, *call = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                give.send(tuple(call))
                is_right, answer = take.recv()
            except (OSError, EOFError):
                self._break(future)
                return
            except Exception as error:  # noqa: BLE001 - what cannot be sent is the task's own fault
                future.set_exception(error)
                continue
            if is_right:
                future.set_result(answer)
            else:
                future.set_exception(answer)
        give.close()  # it ends when there is nothing more to come

    def _break(self, future: Future[Any]) -> None:
        future.set_exception(BrokenProcessPool("worker: expected an answer, got its end"))
        with self._guard:
            self._working -= 1
            self._is_broken = self._working == 0
        if self._is_broken:
            self._drop(lambda left: left.set_exception(BrokenProcessPool("workers: none is left")))

    def _drop(self, end: Callable[[Future[Any]], object]) -> None:
        while True:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                return
            if task is not None:
                end(task[0])

    def _close(self) -> None:
        for ends in self._ends:
            for end in ends:
                end.close()


_Task = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]
Pool = ProcessPoolExecutor | PipePool


def _serve(
    tasks: Connection,
    answers: Connection,
    others: tuple[Connection, ...],
    initializer: Callable[..., None],
    initargs: tuple[object, ...],
) -> None:
    for end in others:
        end.close()
    initializer(*initargs)
    while True:
        try:
            function, args, kwargs = tasks.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, object] = (True, function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is awaited
            answer = (False, error)
        answers.send(answer)
