"""One turn at a time within a process."""

from __future__ import annotations

import os
import threading

from provenance.stores.guarding import one_at_a_time


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


def test_a_child_does_not_inherit_a_turn_that_is_held() -> None:
    holds, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one_at_a_time():
            holds.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    child = os.fork()
    if child == 0:
        with one_at_a_time():
            os._exit(0)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert status == 0
