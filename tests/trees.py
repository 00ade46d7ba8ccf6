"""Small trees of evidence, written with plain file calls, and what tests ask of a machine.

Guarantees: nothing here uses the code under test to build what that code is to judge.

Example:
    >>> pointer_of("s1", "log.txt", b"hello")[:32]
    'artifact:s1:log.txt:2cf24dba5fb0'
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = [
    "CHECKOUT",
    "is_root",
    "open_handles",
    "pointer_of",
    "run_python",
    "run_under_strace",
    "sha256_of",
    "transcript_line",
    "without_privileges",
    "write_artifact",
    "write_transcript",
]

CHECKOUT = Path(__file__).resolve().parent.parent
_NOBODY = 65534


def sha256_of(data: bytes) -> str:
    """The digest of some bytes, in 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def pointer_of(session: str, name: str, data: bytes, *, digits: int = 64) -> str:
    """The pointer of an artifact with these bytes."""
    return f"artifact:{session}:{name}:{sha256_of(data)[:digits]}"


def write_artifact(root: Path, session: str, name: str, data: bytes) -> str:
    """Write an artifact below `root`; gives its full pointer."""
    folder = root / session / "tool-results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return pointer_of(session, name, data)


def transcript_line(session: str, sequence: int, /, **event: object) -> bytes:
    """One record of a transcript, without its line end."""
    record = {
        "schema_version": 1,
        "sequence": sequence,
        "recorded_at": "2026-01-02T03:04:05Z",
        "session_id": session,
        "event_id": f"transcript:{session}:{sequence}",
        "type": "message",
        "content": f"event {sequence} of {session}",
        **event,
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def write_transcript(root: Path, session: str, events: int = 3) -> list[str]:
    """Write a transcript of so many events below `root`; gives the pointers."""
    root.mkdir(parents=True, exist_ok=True)
    lines = [transcript_line(session, number) + b"\n" for number in range(1, events + 1)]
    (root / f"{session}.jsonl").write_bytes(b"".join(lines))
    return [f"transcript:{session}:{number}" for number in range(1, events + 1)]


def is_root() -> bool:
    """Whether this process may do what only root may."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def open_handles() -> dict[str, str]:
    """What this process has open: descriptor and what it leads to (Linux; else nothing)."""
    handles = {}
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return {}
    for number in numbers:
        try:
            handles[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue  # the handle of the listing itself
    return handles


def run_python(
    script: str,
    *arguments: str | Path,
    prefix: Sequence[str] = (),
    check: bool = True,
    cwd: str | Path = "/",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh interpreter that finds this checkout; fails loudly if it fails."""
    done = subprocess.run(
        [*prefix, sys.executable, "-c", script, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if check and done.returncode != 0:
        pytest.fail(f"the script failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def run_under_strace(
    options: Sequence[str], script: str, *arguments: str | Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a script under `strace`; skipped where there is none or it may not trace."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed: nothing was traced")
    probe = subprocess.run(
        [strace, "-o", os.devnull, "true"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"strace may not trace here: {probe.stderr.strip()[:200]}")
    return run_python(script, *arguments, prefix=(strace, *options), check=check)


def without_privileges() -> list[str]:
    """The start of a command that runs without root's privileges; nothing where we have none.

    What it is to reach has to lie in `open_folder` (a fixture): pytest closes its own folders to
    others. Skipped where the interpreter or the checkout is out of reach for others.
    """
    if not is_root():
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv is not installed: cannot give up root's privileges")
    command = [
        setpriv, f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--inh-caps=-all",
    ]  # fmt: skip
    probe = subprocess.run(
        [*command, sys.executable, "-c", "import provenance, msgspec"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "HOME": "/nonexistent"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode != 0:
        pytest.skip("an unprivileged user cannot run this interpreter or read this checkout")
    return command
