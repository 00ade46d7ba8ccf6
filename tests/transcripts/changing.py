"""Changing a file while it is read, at a chosen read and not at a chosen time.

Guarantees: deterministic; a change is made between two reads of the code under test, and is visible
in the file's facts however coarse the clock of the file system is.

Example:
    >>> with Changes({1: lambda: None}):
    ...     pass
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest import mock

from provenance.fs import OpenFile

__all__ = ["Changes", "append", "make_older", "overwrite"]


class Changes:
    """While entered, runs `actions[n]` right after the n-th read of a file, counted from 1.

    A callable instead of a mapping runs after every read; `reads` counts them.
    """

    def __init__(self, actions: Mapping[int, Callable[[], object]] | Callable[[], object]) -> None:
        self._actions = actions
        self.reads = 0
        self._patch: Any = None

    def __enter__(self) -> Changes:
        read = OpenFile.read_at

        def read_at(file: OpenFile, offset: int, size: int) -> bytes:
            data = read(file, offset, size)
            self.reads += 1
            if callable(self._actions):
                self._actions()
            elif self.reads in self._actions:
                self._actions[self.reads]()
            return data

        self._patch = mock.patch.object(OpenFile, "read_at", read_at)
        self._patch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._patch.stop()


_times = itertools.count(10**18, 10**9)


def make_older(path: Path) -> None:
    """Give the file a time of its own, unlike any that it had before."""
    moment = next(_times)
    os.utime(path, ns=(moment, moment))


def append(path: Path, data: bytes) -> None:
    """Append, as a writer does."""
    with path.open("ab") as file:
        file.write(data)


def overwrite(path: Path, offset: int, data: bytes) -> None:
    """Write over bytes in place, the size kept; the time changes even within one tick."""
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)
    make_older(path)
