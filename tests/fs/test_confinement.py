"""What a confined process is told of its kernel, and what it hands to it."""

from __future__ import annotations

import platform
import struct
import sys
from pathlib import Path

import pytest

from provenance.fs import _landlock, _seccomp, confinement
from provenance.fs.confinement import SandboxUnavailable, landlock_abi, require_landlock
from tests.trees import CHECKOUT, run_python


@pytest.mark.parametrize(
    ("abi", "expected"),
    [
        (1, ((1 << 13) - 1,)),
        (2, ((1 << 14) - 1,)),
        (3, ((1 << 15) - 1,)),
        (4, ((1 << 15) - 1, 3)),
        (5, ((1 << 16) - 1, 3)),
        (6, ((1 << 16) - 1, 3, 3)),
        (7, ((1 << 16) - 1, 3, 3)),
        (99, ((1 << 16) - 1, 3, 3)),
    ],
)
def test_each_abi_is_asked_for_all_that_it_can_forbid(
    abi: int, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of `linux/landlock.h`; an older kernel refuses a field that it does not know."""
    asked: list[tuple[int, ...]] = []

    def kernel(number: int, attributes: bytes, *rest: object) -> int:
        assert number == 444
        asked.append(struct.unpack(f"={len(attributes) // 8}Q", attributes))
        return 5

    monkeypatch.setattr(_landlock, "_system_call", kernel)
    assert _landlock.create_ruleset(abi) == 5
    assert asked == [expected]


@pytest.mark.parametrize(("found", "abi"), [(-1, None), (0, None), (1, 1), (7, 7)])
def test_the_abi_is_the_kernels_word(
    found: int, abi: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_landlock, "_system_call", lambda *_: found)
    monkeypatch.setattr(sys, "platform", "linux")
    assert landlock_abi() == abi


def test_elsewhere_than_on_linux_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock_abi() is None


@pytest.mark.parametrize("abi", [None, 1, 2])
def test_too_little_is_refused(abi: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "landlock_abi", lambda: abi)
    with pytest.raises(SandboxUnavailable, match="expected Landlock with ABI 3 or more"):
        require_landlock()


def test_enough_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "landlock_abi", lambda: 3)
    assert require_landlock() == 3


@pytest.mark.skipif((landlock_abi() or 0) < 3, reason="no Landlock here, or an old one")
@pytest.mark.parametrize("step", ["create_ruleset", "give_up_privileges", "restrict_this_thread"])
def test_a_step_that_fails_is_an_error_and_not_passed_over(step: str, tmp_path: object) -> None:
    program = f"""
import os, sys
from pathlib import Path
from provenance.fs import _landlock, _seccomp, confinement
def fail(*_):
    raise OSError(1, "no")
_landlock.{step} = fail
give = os.dup(1)
try:
    confinement.confine(["/"], scratch=Path(sys.argv[1]), keep=(give,))
except confinement.SandboxUnavailable as error:
    os.write(give, str(error).encode())
"""
    done = run_python(program, str(tmp_path), cwd=CHECKOUT)
    assert done.stdout == "kernel: expected to confine this process, got EPERM"


@pytest.mark.skipif((landlock_abi() or 0) < 3, reason="no Landlock here, or an old one")
def test_what_does_not_fit_into_memory_goes_to_the_scratch_folder(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from provenance.fs import confinement, private_copy
from provenance.fs.scratch import scratch_database
import sqlite3
give = os.dup(1)
scratch = Path(sys.argv[1])
confinement.confine([], scratch=scratch, keep=(give,))
base = scratch_database(cache_kib=64)
base.execute("create table t (a)")
base.execute("begin")
base.executemany("insert into t values (?)", (("x" * 500,) for _ in range(5_000)))
handles = [f"/proc/self/fd/{number}" for number in range(3, 20)]
names = [os.readlink(handle) for handle in handles if os.path.lexists(handle)]
os.write(give, repr(any(name.startswith(str(scratch)) for name in names)).encode())
with private_copy.private_copy({}, max_bytes=0, attempts=1) as copy:
    os.write(give, repr(copy.folder.parent == scratch).encode())
base.close()
"""
    done = run_python(program, str(tmp_path), cwd=CHECKOUT)
    assert done.stdout == "TrueTrue"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif((landlock_abi() or 0) < 3, reason="no Landlock here, or an old one")
def test_a_file_and_a_folder_can_be_read_and_their_neighbours_cannot(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "folder" / "below").mkdir(parents=True)
    for name in ("file", "neighbour", "folder/below/deep", "folder2"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    program = """
import os, sys
from pathlib import Path
from provenance.fs import confinement
give, place = os.dup(1), sys.argv[1]
readable = [place + "/file", place + "/folder", place + "/absent", place + "/\\0"]
confinement.confine(readable, scratch=Path(place, "scratch"), keep=(give,))
for name in ("file", "neighbour", "folder/below/deep", "folder2", "absent"):
    try:
        os.close(os.open(f"{place}/{name}", os.O_RDONLY))
        os.write(give, b"read ")
    except OSError as error:
        os.write(give, f"{error.errno} ".encode())
"""
    done = run_python(program, str(tmp_path), cwd=CHECKOUT)
    assert done.stdout == "read 13 read 13 2 "


_HAS_FILTER = platform.machine() in _seccomp.DENIED


@pytest.mark.attack
@pytest.mark.skipif((landlock_abi() or 0) < 3, reason="no Landlock here, or an old one")
@pytest.mark.skipif(not _HAS_FILTER, reason="no filter of system calls on this architecture")
def test_what_landlock_does_not_judge_is_refused_too(tmp_path: Path) -> None:
    """Limits and priorities of the parent, sockets, modes, sessions: and what is needed passes."""
    program = """
import os, resource, socket, sys, time
from pathlib import Path
from provenance.fs import confinement
give, place, parent = os.dup(1), sys.argv[1], os.getppid()
Path(place, "file").touch()
confinement.confine([place, "/proc"], scratch=Path(place), keep=(give,))
def fork():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
for name, attempt in {
    "limit": lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (1, 1)),
    "affinity": lambda: os.sched_setaffinity(parent, {0}),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, parent, 5),
    "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "pair": lambda: socket.socketpair(),
    "program": lambda: os.execv("/bin/true", ["true"]),
    "mode": lambda: os.chmod(place + "/file", 0o666),
    "times": lambda: os.utime(place + "/file"),
    "session": os.setsid,
    "everybody": lambda: os.kill(-1, 0),
    "own limit": lambda: resource.getrlimit(resource.RLIMIT_CPU),
    "worker": fork,
    "write": lambda: Path(place, "other").write_text("x"),
}.items():
    try:
        attempt()
        os.write(give, f"{name}\\n".encode())
    except OSError as error:
        assert error.errno == 1, error
held = open("/proc/self/status").read()
for line in held.splitlines():
    if line.startswith(("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")):
        value = int(line.split()[1], 16)
        if line.startswith(("CapBnd", "CapInh", "CapAmb")) and os.geteuid() == 0:
            assert value == 0, line
        assert line.startswith("CapBnd") or value & ~(1 << 2 | 1 << 28) == 0, line
os.write(give, b"end")
"""
    done = run_python(program, str(tmp_path), cwd=CHECKOUT)
    assert done.stdout.split("\n") == ["own limit", "worker", "write", "end"]


def _answer(program: bytes, *words: int) -> int:
    """Run a filter as the kernel does, on the 32-bit words of `struct seccomp_data`."""
    steps = list(struct.iter_unpack("=HBBI", program))
    at = held = 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            held = words[value // 4]
            continue
        is_so = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
        at += yes if is_so else no


@pytest.mark.parametrize(
    ("machine", "word", "numbers"),
    [
        ("x86_64", 0xC000003E, {"read": 0, "prlimit": 302, "clone": 56, "ioctl": 16, "kill": 62}),
        (
            "aarch64",
            0xC00000B7,
            {"read": 63, "prlimit": 261, "clone": 220, "ioctl": 29, "kill": 129},
        ),
    ],
)
def test_the_filter_of_each_architecture(machine: str, word: int, numbers: dict[str, int]) -> None:
    program = _seccomp.program_for(machine)
    allow, refuse = 0x7FFF0000, 0x00050001

    def answer(number: int, first: int = 0, second: int = 0, *, architecture: int = word) -> int:
        return _answer(program, number, architecture, 0, 0, first, 0, second, 0)

    assert answer(numbers["read"]) == allow
    assert answer(numbers["read"], architecture=0x40000003) == refuse
    assert answer(numbers["read"] | 0x4000_0000) == refuse
    assert answer(435) == 0x00050000 | 38
    assert answer(numbers["prlimit"]) == allow
    assert answer(numbers["prlimit"], 77) == refuse
    assert answer(numbers["clone"], 0x01200011) == allow
    assert answer(numbers["clone"], 0x10000011) == refuse
    assert answer(numbers["kill"], 77) == allow
    assert answer(numbers["kill"], 0xFFFFFFFF) == refuse
    assert answer(numbers["ioctl"], 3, 0x5401) == allow
    assert answer(numbers["ioctl"], 3, 0x40086602) == refuse
    for name, number in _seccomp.DENIED[machine].items():
        assert answer(number) == refuse, name
