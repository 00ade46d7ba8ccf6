"""SIGINT while an audit runs."""

from __future__ import annotations

import os
import signal

import pytest

from cli.interrupts import Interrupts


def test_an_interrupt_waits_while_it_is_held_back() -> None:
    done = []
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.held_back():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the line is whole")
    assert done == ["the line is whole"]


def test_a_second_one_does_not_wait() -> None:
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.held_back():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("not reached")


def test_without_holding_back_it_comes_at_once() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_earlier_interrupt_does_not_come_again() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with interrupts.held_back():
            pass


def test_the_handler_of_before_is_put_back() -> None:
    def handler(number: int, frame: object) -> None:
        pass

    before = signal.signal(signal.SIGINT, handler)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) is not handler
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
