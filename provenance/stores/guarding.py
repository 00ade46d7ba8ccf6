"""One turn at a time within a process, for whatever opens the files of a state store.

Guarantees: while a turn is held no other thread of this process opens or closes these files. SQLite
keeps processes apart with record locks, and the kernel drops all record locks that a process has on
a file when the process closes any handle on it: a copy made by one thread would take the locks of
another thread's write away (https://sqlite.org/howtocorrupt.html, 2.2). After a fork the child
starts with a turn of its own.

Example:
    >>> with one_at_a_time():
    ...     pass
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["one_at_a_time"]


class _Turn:
    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.RLock()


_turn = _Turn()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait for the turn and hold it; within one thread turns may nest."""
    global _turn  # noqa: PLW0603 - one of this process, which a child must not inherit held
    if _turn.process != os.getpid():
        _turn = _Turn()
    with _turn.lock:
        yield
