"""Scripts that mount: each runs in a mount namespace of its own, which dies with it.

Guarantees: nothing is mounted for anybody else; where this machine lets us mount nothing, the test
is skipped and says what was not tested.

Example:
    >>> callable(run_with_mounts)
    True
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.trees import is_root, run_python

__all__ = ["run_with_mounts"]


@cache
def _unshare() -> tuple[str, ...] | None:
    program = shutil.which("unshare")
    if program is None or shutil.which("mount") is None:
        return None
    command = (program, "--mount", "--propagation", "private")
    if not is_root():
        command = (program, "--user", "--map-root-user", *command[1:])
    probe = subprocess.run(
        [*command, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, check=False
    )
    return command if probe.returncode == 0 else None


def run_with_mounts(script: str, *arguments: str | Path, what: str) -> dict[str, Any]:
    """Run a script that may mount, and give the JSON object that it prints.

    It says `{"skip": REASON}` where the kernel lacks what it needs.
    """
    command = _unshare()
    if command is None:
        pytest.skip(f"nothing can be mounted here: {what} NOT tested")
    said: dict[str, Any] = json.loads(run_python(script, *arguments, prefix=command).stdout)
    if "skip" in said:
        pytest.skip(f"{said['skip']}: {what} NOT tested")
    return said
