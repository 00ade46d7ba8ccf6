"""One turn at a time within a process, for whatever opens the files of a state store.

Guarantees: while a turn is held no other thread of this process opens or closes these files. SQLite
keeps processes apart with record locks, and the kernel drops all record locks that a process has on
a file when the process closes any handle on it: a copy made by one thread would take the locks of
another thread's write away (https://sqlite.org/howtocorrupt.html, 2.2).

A fork waits for the turn, so that no thread is inside a call while the process is doubled: what
SQLite remembers of its locks would be wrong in the child (the same page, 2.6). The child starts
with a turn of its own. Where the thread that forks is itself inside a call (a signal handler, a
callback), the child has a connection that is not its own: it may not open the store for writing,
and `has_foreign_connection` says so.

Example:
    >>> with one_at_a_time():
    ...     has_foreign_connection()
    False
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["has_foreign_connection", "one_at_a_time"]


class _Turn:
    def __init__(self, *, is_inherited: bool = False) -> None:
        self.lock = threading.RLock()
        self.depth = 0
        self.is_inherited = is_inherited


_turn = _Turn()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait for the turn and hold it; within one thread turns may nest."""
    turn = _turn  # a child that is forked meanwhile has another one
    with turn.lock:
        turn.depth += 1
        try:
            yield
        finally:
            turn.depth -= 1


def has_foreign_connection() -> bool:
    """Say whether this process was forked inside a call, and so has a connection of its parent."""
    return _turn.is_inherited


def _before_fork() -> None:
    _turn.lock.acquire()


def _after_fork_in_parent() -> None:
    _turn.lock.release()


def _after_fork_in_child() -> None:
    global _turn  # noqa: PLW0603 - one of this process
    # A depth of more than 0: the thread that forked is inside a call. (A program that forks in C
    # and calls this hook alone comes here too, whichever of its threads was inside.)
    _turn = _Turn(is_inherited=_turn.is_inherited or _turn.depth > 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
