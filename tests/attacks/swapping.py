"""A process that exchanges two names as fast as the kernel lets it, and a race against it.

Guarantees: the exchange is one `renameat2(RENAME_EXCHANGE)`, so both names exist at every instant;
after `stop` they stand as they stood at first. The loop is C where there is a compiler, else
Python.

Example:
    >>> "renameat2" in _C
    True
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import pytest

__all__ = ["Swapper", "build_swapper", "raced"]

_C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>

static volatile sig_atomic_t stopped;
static void stop(int number) { (void)number; stopped = 1; }

int main(int count, char **names)
{
    long swaps = 0;
    if (count != 3) return 2;
    signal(SIGTERM, stop);
    while (!stopped || swaps % 2) {
        if (syscall(SYS_renameat2, AT_FDCWD, names[1], AT_FDCWD, names[2], 2)) {
            perror("renameat2");
            return 1;
        }
        if (++swaps == 2 && (puts("swapping") < 0 || fflush(stdout))) return 1;
    }
    printf("%ld\n", swaps);
    return 0;
}
"""

_PYTHON = r"""
import ctypes, os, signal, sys
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
call = ctypes.CDLL(None, use_errno=True).renameat2
first, second = map(os.fsencode, sys.argv[1:])
swaps = 0
while not stopped or swaps % 2:
    if call(-100, first, -100, second, 2):
        print(os.strerror(ctypes.get_errno()), file=sys.stderr)
        sys.exit(1)
    swaps += 1
    if swaps == 2:
        print("swapping", flush=True)
print(swaps)
"""


def build_swapper(folder: Path) -> list[str]:
    """Give the command that swaps the two names that are added to it."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is not None:
        source, program = folder / "swapper.c", folder / "swapper"
        source.write_text(_C, encoding="utf-8")
        built = subprocess.run(
            [compiler, "-O2", "-o", str(program), str(source)], capture_output=True, check=False
        )
        if built.returncode == 0:
            return [str(program)]
    return [sys.executable, "-c", _PYTHON]


class Swapper:
    """Exchanges two names until the block ends; `swaps` says afterwards how often."""

    def __init__(self, command: list[str], first: Path, second: Path) -> None:
        """Name the two; nothing is swapped before the block begins."""
        self._command = [*command, str(first), str(second)]
        self.swaps = 0

    def __enter__(self) -> Swapper:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "swapping\n":
            _, said = self._process.communicate()
            pytest.skip(f"this file system exchanges no names, nothing was raced: {said.strip()}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        out, said = self._process.communicate()
        if kind is None:
            assert self._process.returncode == 0, said
            self.swaps = int(out)


def raced(inside: int, refused: int, swaps: int) -> None:
    """Skip, with the numbers, where the two processes never met: then nothing was shown."""
    if not (inside and refused and swaps > 2):
        pytest.skip(
            f"no race took place ({inside} inside, {refused} refused, {swaps} swaps on "
            f"{os.cpu_count()} processors): nothing leaked, and nothing was shown"
        )
