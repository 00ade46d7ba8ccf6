"""One turn at a time within a process."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable

from provenance.stores.guarding import has_foreign_connection, one_at_a_time


def test_turns_nest_in_one_thread_and_keep_others_out() -> None:
    entered = threading.Event()

    def enter() -> None:
        with one_at_a_time():
            entered.set()

    thread = threading.Thread(target=enter)
    with one_at_a_time(), one_at_a_time():
        thread.start()
        assert not entered.wait(0.05)
    thread.join()
    assert entered.is_set()


def _in_a_child(work: Callable[[], bool]) -> bool:
    """Fork and say whether the child found it to be so."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(0 if work() else 1)
        os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _can_enter() -> bool:
    entered: list[bool] = []

    def enter() -> None:
        with one_at_a_time():
            entered.append(True)

    thread = threading.Thread(target=enter)  # another thread than the one that forked
    thread.start()
    thread.join()
    return bool(entered)


def test_a_fork_waits_for_a_turn_that_another_thread_holds() -> None:
    holds, leave = threading.Event(), threading.Event()
    left: list[bool] = []

    def hold() -> None:
        with one_at_a_time():
            holds.set()
            leave.wait()
            left.append(True)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    threading.Timer(0.05, leave.set).start()
    assert _in_a_child(lambda: bool(left) and not has_foreign_connection() and _can_enter())
    thread.join()
    assert _can_enter()


def test_a_child_that_is_forked_inside_a_turn_has_its_own_and_says_so() -> None:
    with one_at_a_time():
        assert _in_a_child(lambda: has_foreign_connection() and _can_enter())
        assert _in_a_child(lambda: _in_a_child(has_foreign_connection))
    assert not has_foreign_connection()
    assert _in_a_child(lambda: not has_foreign_connection())
