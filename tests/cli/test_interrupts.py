"""SIGINT while the command runs: raised once, kept where it would do harm, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.interrupts import Interrupts


def _interrupt(times: int = 1) -> None:
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_waits_while_it_is_held_back(times: int) -> None:
    done = []
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.held_back():
        _interrupt(times)
        done.append("the line is whole")
    assert done == ["the line is whole"]


def test_without_holding_back_it_comes_at_once() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        _interrupt()


def test_a_second_one_does_not_break_what_the_first_one_began() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            _interrupt()
        _interrupt()
        with interrupts.held_back():
            pass
        assert not interrupts.is_pending


def test_holding_back_is_nested() -> None:
    with Interrupts() as interrupts:
        interrupts.hold()
        with interrupts.held_back():
            _interrupt()
        assert interrupts.is_pending
        with pytest.raises(KeyboardInterrupt):
            interrupts.release()
        assert not interrupts.is_pending


def test_an_error_is_not_replaced() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(LookupError), interrupts.held_back():
            _interrupt()
            raise LookupError
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()


def test_one_that_python_would_forget_is_raised_later(capfd: pytest.CaptureFixture[str]) -> None:
    class Finalized:
        def __del__(self) -> None:
            _interrupt()

    with Interrupts() as interrupts:
        Finalized()
        assert interrupts.is_pending
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert capfd.readouterr().err == ""


def test_the_handlers_of_before_are_put_back() -> None:
    def handler(number: int, frame: object) -> None:
        pass

    hook = sys.unraisablehook
    before = signal.signal(signal.SIGINT, handler)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) is not handler
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert sys.unraisablehook is hook


@pytest.mark.parametrize(
    ("interrupts", "code"), [("stop(for_good=True); hit(1)", 7), ("hit(3)", 130)]
)
def test_the_end_of_a_process(
    environment: Callable[..., dict[str, str]], tmp_path: Path, interrupts: str, code: int
) -> None:
    program = (
        "import os, signal, sys\n"
        "from cli.interrupts import Interrupts\n"
        "interrupts = Interrupts()\n"
        "interrupts.hold()\n"
        "interrupts.start()\n"
        "stop = interrupts.stop\n"
        "def hit(times):\n"
        "    for _ in range(times):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        f"{interrupts}\n"
        "sys.exit(7)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment({}),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
