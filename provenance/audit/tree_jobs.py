"""The same checks of a tree's transcripts in several processes, in the order of their names.

Guarantees: what is said of a transcript does not depend on the number of processes; one that dies
costs time and no answer (what it had is checked here). Results are taken in order, so that no more
than a few of them wait.

Example:
    $ ctxaudit verify ~/.claude/projects --jobs 2
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool

from provenance.audit.tree_job import Checked, Job, check_here
from provenance.pools import Pool, start_pool
from provenance.processes import (
    NO_PROCESSES,
    kill_workers,
    may_have_workers,
    prepare_worker,
    process_context,
)
from provenance.transcripts.discovery import Candidate

__all__ = ["check_in_processes"]

# So many transcripts go to a process at a time, and so many of these wait for each process.
_BATCH = 8
_WAITING_PER_PROCESS = 4


_Batch = list[tuple[int, Candidate]]

_job: Job | None = None


def check_in_processes(job: Job, *, jobs: int) -> Iterator[Checked]:
    """Check all candidates of a tree, with `jobs` processes where they can be had."""
    numbered = list(enumerate(job.tree.candidates))
    batches = [numbered[start : start + _BATCH] for start in range(0, len(numbered), _BATCH)]
    workers = min(jobs, len(batches))
    context = process_context()
    # What the ids of records are told apart by is keyed in each process; a fork keeps the key.
    if not may_have_workers(workers) or context.get_start_method() != "fork":
        yield from _all_here(job, batches)
        return
    try:
        executor = start_pool(workers, context, _start, (job,))
    except NO_PROCESSES:
        yield from _all_here(job, batches)
        return
    finished = False
    try:
        waiting: deque[tuple[_Batch, Future[list[Checked]] | None]] = deque()
        for batch in batches:
            waiting.append((batch, _submit(executor, batch)))
            if len(waiting) > _WAITING_PER_PROCESS * workers:
                yield from _result(job, *waiting.popleft())
        while waiting:
            yield from _result(job, *waiting.popleft())
        finished = True
    finally:
        if not finished:
            kill_workers(executor)
        with contextlib.suppress(RuntimeError):
            executor.shutdown(cancel_futures=True)


def _all_here(job: Job, batches: list[_Batch]) -> Iterator[Checked]:
    for batch in batches:
        for number, candidate in batch:
            yield check_here(job, number, candidate)


def _submit(executor: Pool, batch: _Batch) -> Future[list[Checked]] | None:
    try:
        return executor.submit(_work, batch)
    except NO_PROCESSES:
        return None  # it broke: the rest is checked here


def _result(job: Job, batch: _Batch, future: Future[list[Checked]] | None) -> Iterator[Checked]:
    if future is not None:
        try:
            yield from future.result()
            return
        except (BrokenProcessPool, CancelledError):
            pass
    yield from _all_here(job, [batch])


def _start(job: Job) -> None:
    global _job  # noqa: PLW0603 - one per process, set before its first task
    prepare_worker()
    _job = job


def _work(batch: _Batch) -> list[Checked]:
    job = _job
    assert job is not None  # noqa: S101 - the initializer ran
    return [check_here(job, number, candidate) for number, candidate in batch]
