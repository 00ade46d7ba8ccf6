"""A pointer that is refused causes no system call on any file: watched from outside.

A difference would tell an outsider what exists. The script marks the stretches to look at with
`getppid`, which nothing else here calls.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.trees import run_under_strace, write_artifact, write_transcript

pytestmark = pytest.mark.attack

_SCRIPT = """
import os, sys
from provenance.resolver import SourcePointerResolver
home, there, event = sys.argv[1:]
mark = os.getppid

async def coroutine(pointer):
    return True

def error(pointer):
    raise ValueError("no")

def refusal(pointer):
    raise PermissionError("no")

pointers = [there, event, "artifact:s9:log.txt:" + "0" * 12, "transcript:s9:1"]
cases = [
    (lambda pointer: False, pointers),
    (refusal, pointers),
    (error, pointers),
    (coroutine, pointers),
    (lambda pointer: 1, pointers),
    (lambda pointer: True, ["", "transcript:s1:0", "x:y", "artifact:s1:../x:" + "0" * 12]),
]
said = []
for authorize, asked in cases:
    resolver = SourcePointerResolver(home, home, authorize=authorize)
    mark()
    results = [resolver.resolve(pointer) for pointer in asked]
    results += resolver.resolve_many(asked)
    results += resolver.resolve_many(asked, jobs=2)
    resolver.close()
    mark()
    said += results
assert not any(result.evidence_sha256 for result in said)
# That the tracer would have seen it:
resolver = SourcePointerResolver(home, home)
mark()
assert resolver.resolve(there).evidence_sha256
mark()
print(*{str(result.reason) for result in said})
"""

# What the interpreter does for itself: memory, locks, time, signals.
_HARMLESS = {
    "brk", "mmap", "munmap", "mremap", "madvise", "futex", "clock_gettime", "rt_sigprocmask",
    "rt_sigaction", "sched_yield", "getrandom",
}  # fmt: skip


def _stretches(trace: str) -> list[list[str]]:
    """The calls between each odd and the next even marker."""
    stretches: list[list[str]] = []
    inside = False
    for line in trace.splitlines():
        found = re.match(r"(?:\d+ +)?(?:<\.\.\. )?([a-z_0-9]+)", line)
        if found is None:
            continue
        if found[1] == "getppid":
            inside = not inside
            if inside:
                stretches.append([])
        elif inside:
            stretches[-1].append(found[1])
    return stretches


def test_a_refused_pointer_touches_no_file(tmp_path: Path) -> None:
    home, trace = tmp_path / "home", tmp_path / "trace"
    there = write_artifact(home, "s1", "log.txt", b"hello")
    event = write_transcript(home, "s1", 1)[0]
    options = ["-f", "-o", str(trace)]
    done = run_under_strace(options, _SCRIPT, home, there, event)
    assert set(done.stdout.split()) == {
        "policy_denied", "policy_error", "malformed_pointer", "unsupported_scheme",
    }  # fmt: skip
    *refused, allowed = _stretches(trace.read_text(encoding="utf-8", errors="replace"))
    assert len(refused) == 6
    for calls in refused:
        assert set(calls) <= _HARMLESS, calls
    assert {"openat", "openat2"} & set(allowed)
