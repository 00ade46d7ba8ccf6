"""Ctrl-C while `verify` waits for a collection of garbage to end, confined or not."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from provenance.fs.confinement import LEAST_ABI, landlock_abi
from tests.trees import CHECKOUT

# It is interrupted when it waits for the first time.
_PROGRAM = """
import os, signal
from cli import auditing, main
real = auditing._Relay.on_wait
def interrupted(self):
    global sent
    if not sent:
        sent = True
        os.kill(os.getpid(), signal.SIGINT)
    real(self)
sent = False
auditing._Relay.on_wait = interrupted
main.main()
"""


@pytest.mark.parametrize("options", [(), ("--sandbox",), ("--sandbox", "--jobs", "2")])
def test_an_interrupt_ends_the_wait_for_a_gc(
    options: tuple[str, ...], home: Any, environment: Callable[..., dict[str, str]]
) -> None:
    if options and (landlock_abi() or 0) < LEAST_ABI:
        pytest.skip("no Landlock here, or an old one")
    home.state("one.json", home.transcript("s1", 2))
    folder = os.open(home.path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        done = subprocess.run(
            [
                *(sys.executable, "-c", _PROGRAM, "verify", home.path, "--format", "json"),
                *options,
            ],
            env=environment({}),
            capture_output=True,
            cwd=CHECKOUT,
            check=False,
            timeout=25,  # it would wait for 30 s
        )
    finally:
        os.close(folder)
    assert (done.returncode, done.stderr) == (130, b"")
    report = json.loads(done.stdout)
    assert report["results"] == []  # and its end is told by the exit code
