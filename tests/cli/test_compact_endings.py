"""SIGTERM and SIGHUP while something must not be left half done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from cli.compact_endings import Endings, held_endings

_BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """What was heard, with handlers that were there before."""
    found: list[str] = []

    def hear(number: int, frame: FrameType | None) -> None:
        found.append("before")

    kept = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield found
    for number, handler in kept.items():
        signal.signal(number, handler)


@_BOTH
def test_the_program_ends_first_and_then_what_was_there_before_goes_on(
    number: int, heard: list[str]
) -> None:
    with Endings(lambda: heard.append("ended")):
        os.kill(os.getpid(), number)
        assert heard == ["ended", "before"]
    os.kill(os.getpid(), number)
    assert heard == ["ended", "before", "before"]


@_BOTH
def test_what_is_held_waits_until_the_end(number: int, heard: list[str]) -> None:
    with held_endings():
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        assert heard == []
    assert heard == ["before"]


def test_without_a_signal_nothing_is_heard(heard: list[str]) -> None:
    with held_endings(), Endings(lambda: heard.append("ended")):
        pass
    assert heard == []


@_BOTH
def test_one_that_is_ignored_stays_ignored(number: int, heard: list[str]) -> None:
    signal.signal(number, signal.SIG_IGN)
    with held_endings(), Endings(lambda: heard.append("ended")):
        assert signal.getsignal(number) is signal.SIG_IGN
        os.kill(os.getpid(), number)
    assert heard == []
    assert signal.getsignal(number) is signal.SIG_IGN


def test_off_the_main_thread_nothing_is_changed(heard: list[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen: list[object] = []

    def enter() -> None:
        with Endings(lambda: None):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]
    assert signal.getsignal(signal.SIGTERM) is before
