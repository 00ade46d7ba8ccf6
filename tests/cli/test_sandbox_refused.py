"""`--sandbox` on a machine that cannot: an error, never a run without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.trees import CHECKOUT


@pytest.mark.parametrize("command", ["verify", "transcript check"])
@pytest.mark.parametrize("found", [-1, 1, 2])
def test_a_kernel_that_cannot_is_an_error_and_nothing_is_read(
    found: int, home: Any, environment: Callable[..., dict[str, str]], command: str
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    program = (
        "from cli import main\n"
        "from provenance.fs import _landlock\n"
        f"_landlock._system_call = lambda number, *rest: {found}\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split(), home.path, "--sandbox"],
        env=environment({}),
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--sandbox: kernel: expected Landlock with ABI 3 or more" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_with_several_threads_is_refused(
    home: Any, environment: Callable[..., dict[str, str]]
) -> None:
    """A fork takes one thread along; a lock that another holds would stay held."""
    program = """
import sys, threading
from cli import main
from provenance.audit import sandboxed
sandboxed.require_landlock = lambda: 7
stop = threading.Event()
threading.Thread(target=stop.wait, daemon=True).start()
main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, "verify", home.path, "--sandbox"],
        env=environment({}),
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--sandbox: program: expected one thread to fork from, got several" in done.stderr
