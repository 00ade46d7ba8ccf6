"""The pool without semaphores: the same answers, whatever happens to its processes."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import NoReturn

import pytest

from provenance import pools
from provenance.pools import PipePool, start_pool
from provenance.processes import kill_workers
from tests.trees import CHECKOUT, run_python

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform"
)
_started = 0


def _start(value: int) -> None:
    global _started  # noqa: PLW0603 - of the worker
    _started = value


def _add(number: int) -> int:
    return _started + number


def _raise(error: Exception) -> NoReturn:
    raise error


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def pool() -> Iterator[PipePool]:
    found = PipePool(2, multiprocessing.get_context("fork"), _start, (1_000,))
    yield found
    kill_workers(found)
    found.shutdown(cancel_futures=True)
    assert not multiprocessing.active_children()


def test_what_is_asked_is_answered(pool: PipePool) -> None:
    futures = [pool.submit(_add, number) for number in range(200)]
    assert [future.result() for future in futures] == list(range(1_000, 1_200))


def test_an_error_of_a_task_is_its_own(pool: PipePool) -> None:
    with pytest.raises(ValueError, match="mine"):
        pool.submit(_raise, ValueError("mine")).result()
    with pytest.raises(AttributeError):
        pool.submit(lambda: None).result()  # cannot be sent
    assert pool.submit(_add, 1).result() == 1_001


def test_one_that_dies_costs_its_task_alone(pool: PipePool) -> None:
    with pytest.raises(BrokenProcessPool):
        pool.submit(_die).result()
    assert pool.submit(_add, 1).result() == 1_001


def test_when_all_are_dead_every_task_is_told(pool: PipePool) -> None:
    futures = [pool.submit(_die) for _ in range(2)]
    for future in futures:
        assert isinstance(future.exception(), BrokenProcessPool)
    with pytest.raises(BrokenProcessPool):
        while True:  # until the pool has heard of it
            pool.submit(_add, 1).result()


def test_tasks_that_wait_are_cancelled(pool: PipePool) -> None:
    kill_workers(pool)
    futures = [pool.submit(_add, number) for number in range(3)]
    pool.shutdown(cancel_futures=True)
    for future in futures:
        assert future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


@pytest.mark.parametrize("error", [PermissionError(13, "no"), ImportError("no semaphores")])
def test_it_takes_the_place_of_pythons_own(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = multiprocessing.get_context("fork")
    own = start_pool(1, context, _start, (1,))
    own.shutdown()
    assert isinstance(own, concurrent.futures.ProcessPoolExecutor)
    monkeypatch.setattr(pools, "ProcessPoolExecutor", lambda **_: _raise(error))
    with start_pool(1, context, _start, (1,)) as other:
        assert isinstance(other, PipePool)
        assert other.submit(_add, 1).result() == 2


def test_an_audit_without_semaphores_says_the_same() -> None:
    """As in a confined process, and in containers without `/dev/shm`."""
    program = """
import os, sys
from cli import main
from provenance import pools
used = []
class Noted(pools.PipePool):
    def __init__(self, *args):
        used.append(1)
        super().__init__(*args)
def none(**_):
    raise PermissionError(13, "no")
if sys.argv.pop(1) == "without":
    pools.ProcessPoolExecutor, pools.PipePool = none, Noted
try:
    main.main()
finally:
    print(len(used) > 0, file=sys.stderr)
"""
    arguments = ("verify", "sample_state", "--jobs", "2", "--format", "ndjson", "--all")
    own = run_python(program, "with", *arguments, cwd=CHECKOUT, check=False)
    other = run_python(program, "without", *arguments, cwd=CHECKOUT, check=False)
    assert (own.stderr, other.stderr) == ("False\n", "True\n")
    assert _results(own.stdout) == _results(other.stdout)


def _results(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith('{"pointer"')]
