"""Several processes: the same answers, whatever happens to the processes."""

from __future__ import annotations

import concurrent.futures
import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance import parallel
from provenance.findings import Finding
from provenance.owners import Detail, Session
from provenance.parallel import deal
from provenance.resolution import SourceResolution
from provenance.resolver import SourcePointerResolver
from tests.trees import CHECKOUT, run_python, write_artifact, write_transcript

_SESSIONS = st.tuples(st.booleans(), st.sampled_from(["s1", "s2", "s3", "s4"]))
_ASKED = st.dictionaries(
    _SESSIONS, st.lists(st.tuples(st.text(max_size=2), st.just("0")), min_size=1, max_size=60)
)


@given(_ASKED, st.integers(1, 9))
def test_dealing_loses_and_repeats_nothing(asked: dict[Session, list[Detail]], jobs: int) -> None:
    tasks = deal(asked, jobs)
    got: dict[Session, list[Detail]] = {}
    for task in tasks:
        assert task
        for session, start, details in task:
            assert details
            part = got.setdefault(session, [])
            assert start == len(part)
            part += details
            if not session[0]:
                # One transcript is one pass: never cut.
                assert details == asked[session]
    assert got == asked


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def pointers(home: Path) -> list[str]:
    """A hundred and twenty sources of all kinds, in no order that helps."""
    listed = []
    for session in range(6):
        listed += write_transcript(home, f"s{session}", 4)
        for number in range(10):
            listed.append(write_artifact(home, f"s{session}", f"f{number}", b"%d" % number))
        listed += [f"transcript:s{session}:9", f"artifact:s{session}:f1:{'0' * 12}", "rubbish"]
        listed.append(f"artifact:s{session}:f2:{'0' * 64}")
    os.mkfifo(home / "s0" / "tool-results" / "pipe")
    listed.append(f"artifact:s0:pipe:{'0' * 12}")
    listed += listed[:10]
    return [listed[(7 * number) % len(listed)] for number in range(len(listed))]


def _no_children() -> None:
    """Wait until every child has ended (the guard against a hang is pytest's)."""
    while multiprocessing.active_children():
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def _children_end() -> Iterator[None]:
    yield
    _no_children()


@pytest.mark.parametrize("jobs", [2, 3, 500])
@pytest.mark.parametrize("chars", [0, 7])
def test_the_answers_are_the_same(home: Path, pointers: list[str], jobs: int, chars: int) -> None:
    with SourcePointerResolver(home, home, max_excerpt_chars=chars) as resolver:
        alone = resolver.resolve_many(pointers)
        together = resolver.resolve_many(pointers, jobs=jobs)
    assert together == alone
    assert [result.to_dict() for result in together] == [result.to_dict() for result in alone]
    for one, other in zip(alone, together, strict=True):
        assert type(one) is type(other) is SourceResolution
        assert hash(one) == hash(other)
        assert type(one.reason) is type(other.reason)
        assert type(one.strength) is type(other.strength)


@pytest.mark.parametrize("asked", [[], ["rubbish"], ["rubbish", "x:y"], ["transcript:s1:1"]])
def test_few_questions_need_no_process(
    home: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_transcript(home, "s1", 1)
    monkeypatch.setattr(parallel, "answer_in_processes", lambda *_, **__: pytest.fail("started"))
    with SourcePointerResolver(home, home) as resolver:
        assert resolver.resolve_many(asked, jobs=4) == resolver.resolve_many(asked)


def test_authorization_stays_in_this_process(home: Path, pointers: list[str]) -> None:
    seen: list[tuple[int, str]] = []

    def authorize(pointer: object) -> bool:
        seen.append((os.getpid(), str(pointer)))
        return len(seen) % 2 == 0

    with SourcePointerResolver(home, home, authorize=authorize) as resolver:
        results = resolver.resolve_many(pointers, jobs=2)
    assert {pid for pid, _ in seen} == {os.getpid()}
    assert len(seen) == sum(pointer != "rubbish" for pointer in pointers)
    assert {str(result.status) for result in results} >= {"denied", "available"}


def _heard(home: Path, pointers: list[str], jobs: int) -> list[tuple[str, str]]:
    heard: list[Finding] = []
    with SourcePointerResolver(home, home, on_finding=heard.append) as resolver:
        resolver.resolve_many(pointers, jobs=jobs)
    return sorted((finding.code, finding.target) for finding in heard)


def test_findings_are_the_same_and_heard_here_once(home: Path, pointers: list[str]) -> None:
    home.chmod(0o777)
    os.link(home / "s1" / "tool-results" / "f1", home / "second")
    os.link(home / "s2" / "tool-results" / "f7", home / "third")
    (home / "s9.jsonl").write_bytes(b'{"type":"message"}\n' * 3)
    asked = [*pointers, "transcript:s9:3"]
    alone = _heard(home, asked, 1)
    assert len(alone) > 4
    assert _heard(home, asked, 2) == alone


def test_a_process_that_is_killed_costs_no_answer(home: Path, pointers: list[str]) -> None:
    with SourcePointerResolver(home, home) as resolver:
        alone = resolver.resolve_many(pointers)
        killed = []
        real = parallel._unpack

        def kill_one(task: object, answers: object) -> object:
            if not killed:
                killed.append(multiprocessing.active_children()[0].pid)
                os.kill(killed[0] or 0, signal.SIGKILL)
            return real(task, answers)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parallel, "_unpack", kill_one)
            together = resolver.resolve_many(pointers, jobs=2)
    assert killed
    assert together == alone


_DIES = """
import os, signal, sys
from provenance import parallel
from provenance.resolver import SourcePointerResolver
home, when, *pointers = sys.argv[1:]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

with SourcePointerResolver(home, home) as resolver:
    alone = resolver.resolve_many(pointers)
    setattr(parallel, when, die)     # forked: the workers have it too
    together = resolver.resolve_many(pointers, jobs=2)
assert together == alone
print(len(together))
"""


@pytest.mark.parametrize("when", ["_start_worker", "_work"])
def test_processes_that_all_die_cost_no_answer(home: Path, pointers: list[str], when: str) -> None:
    done = run_python(_DIES, home, when, *pointers)
    assert done.stdout == f"{len(pointers)}\n"


def test_a_pool_that_breaks_while_work_is_handed_out_costs_no_answer(
    home: Path, pointers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = concurrent.futures.ProcessPoolExecutor.submit
    submitted = []

    def submit(pool: object, *arguments: object) -> object:
        submitted.append(1)
        if len(submitted) > 3:
            raise BrokenProcessPool("a worker died")
        return real(pool, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(concurrent.futures.ProcessPoolExecutor, "submit", submit)
    with SourcePointerResolver(home, home) as resolver:
        together = resolver.resolve_many(pointers, jobs=2)
        assert len(submitted) == 4
        assert together == resolver.resolve_many(pointers)


@pytest.mark.parametrize(
    "failure",
    [OSError(errno.EAGAIN, "no"), OSError(errno.EMFILE, "no"), RuntimeError("no thread"),
     NotImplementedError("no semaphores")],
)  # fmt: skip
@pytest.mark.parametrize("when", ["__init__", "submit"])
def test_where_no_process_is_to_be_had_we_do_the_work(
    home: Path,
    pointers: list[str],
    when: str,
    failure: Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(concurrent.futures.ProcessPoolExecutor, when, refuse)
    with SourcePointerResolver(home, home) as resolver:
        assert resolver.resolve_many(pointers, jobs=2) == resolver.resolve_many(pointers)


def test_a_fork_that_fails_half_way_leaves_no_child_waiting(
    home: Path, pointers: list[str]
) -> None:
    script = """
import errno, multiprocessing, os, sys
from provenance.resolver import SourcePointerResolver
home, *pointers = sys.argv[1:]
real, forks = os.fork, []

def fork():
    forks.append(1)
    if len(forks) > 1:
        raise OSError(errno.EAGAIN, "no more processes")
    return real()

with SourcePointerResolver(home, home) as resolver:
    alone = resolver.resolve_many(pointers)
    os.fork = fork
    assert resolver.resolve_many(pointers, jobs=3) == alone
print(len(forks))
"""
    # It would wait for its child at the end, for ever.
    assert run_python(script, home, *pointers).stdout == "2\n"


def test_a_worker_that_may_have_no_children_does_it_alone(
    home: Path, pointers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        multiprocessing.current_process(), "_config", {"daemon": True}, raising=False
    )
    with SourcePointerResolver(home, home) as resolver:
        together = resolver.resolve_many(pointers, jobs=2)
    monkeypatch.undo()
    with SourcePointerResolver(home, home) as resolver:
        assert together == resolver.resolve_many(pointers)


_BESIDE_A_THREAD = """
import os, sys, threading
from provenance.limits import Limits
from provenance.resolver import SourcePointerResolver

class OurLimits(Limits):
    pass

home, limits, *pointers = sys.argv[1:]
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()

def fork():
    raise AssertionError("forked beside a thread")

os.fork = fork
limits = OurLimits() if limits == "ours" else Limits()
with SourcePointerResolver(home, home, limits=limits) as resolver:
    alone = resolver.resolve_many(pointers)
    together = resolver.resolve_many(pointers, jobs=2)
stop.set()
thread.join()
print(together == alone, __name__, sys.modules["__main__"].__dict__ is globals())
"""


@pytest.mark.parametrize("limits", ["plain", "ours"])
@pytest.mark.parametrize("how", ["file", "command"])
def test_beside_another_thread_nothing_is_forked_and_no_script_runs_twice(
    home: Path, pointers: list[str], how: str, limits: str
) -> None:
    # A script without `if __name__ == "__main__"`, as scripts are.
    place = home / "script.py"
    place.write_text(_BESIDE_A_THREAD, encoding="utf-8")
    program = [str(place)] if how == "file" else ["-c", _BESIDE_A_THREAD]
    done = subprocess.run(
        [sys.executable, "-W", "error", *program, str(home), limits, *pointers],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True __main__ True\n", "")


def test_an_interrupt_while_processes_start_leaves_none_to_nobody(
    home: Path, pointers: list[str]
) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from provenance.resolver import SourcePointerResolver
home, *pointers = sys.argv[1:]
real = os.fork

def fork():
    child = real()
    if child:
        os.kill(os.getpid(), signal.SIGINT)
    return child

os.fork = fork
with SourcePointerResolver(home, home) as resolver:
    try:
        resolver.resolve_many(pointers, jobs=2)
    except KeyboardInterrupt:
        print("interrupted")
print(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())
"""
    assert run_python(script, home, *pointers).stdout == "interrupted\n[]\n"


def test_an_interrupt_leaves_no_child_and_passes_through(home: Path, pointers: list[str]) -> None:
    def interrupt(*_: object) -> object:
        raise KeyboardInterrupt

    with SourcePointerResolver(home, home) as resolver, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_unpack", interrupt)
        with pytest.raises(KeyboardInterrupt):
            resolver.resolve_many(pointers, jobs=2)
    _no_children()


_INTERRUPTED = """
import os, sys, time
from provenance import parallel
from provenance.resolver import SourcePointerResolver
home, *pointers = sys.argv[1:]

def work(task):
    os.write(1, b"working %d\\n" % os.getpid())  # in one piece, whoever else writes
    time.sleep(3600)

parallel._work = work
try:
    with SourcePointerResolver(home, home) as resolver:
        resolver.resolve_many(pointers, jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_sigint_ends_workers_that_are_busy(home: Path, pointers: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, str(home), *pointers],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            assert program.stdout is not None
            workers = [program.stdout.readline().split() for _ in range(2)]
            assert [words[0] for words in workers] == ["working", "working"]
            # As a terminal does it: to the whole group.
            os.killpg(program.pid, signal.SIGINT)
            out, said = program.communicate()
        except BaseException:
            os.killpg(program.pid, signal.SIGKILL)
            raise
    assert out == "interrupted\n"
    assert said == ""  # no traceback, of a worker or of a pool that was left alone
    for _, pid in workers:
        assert not os.path.exists(f"/proc/{pid}") or _is_dead(pid)


def _is_dead(pid: str) -> bool:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] in ("Z", "X")


def test_children_of_the_embedding_program_are_left_alone(home: Path, pointers: list[str]) -> None:
    started: list[multiprocessing.process.BaseProcess] = []

    def start_one_and_interrupt(*_: object) -> object:
        # As another thread of the program might do meanwhile.
        child = multiprocessing.get_context("spawn").Process(target=os.getpid)
        child.start()
        started.append(child)
        raise KeyboardInterrupt

    with SourcePointerResolver(home, home) as resolver, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_unpack", start_one_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            resolver.resolve_many(pointers, jobs=2)
    started[0].join()
    assert started[0].exitcode == 0


def test_what_the_caller_leaves_unread_is_cleaned_up(home: Path, pointers: list[str]) -> None:
    from provenance.fs import TrustedRoot
    from provenance.owners import Owners

    with TrustedRoot(home) as root:
        owners = Owners(root, root)
        asked: dict[Session, list[Detail]] = {
            (False, f"s{number}"): [(1, None)] for number in range(6)
        }
        answers = owners.answer(asked, jobs=2)
        next(iter(answers))
        answers.close()  # type: ignore[attr-defined]
    _no_children()


_EXHAUSTED = """
import json, os, resource, sys
from provenance.resolver import SourcePointerResolver
home, *pointers = sys.argv[1:]
with SourcePointerResolver(home, home) as resolver:
    alone = resolver.resolve_many(pointers)
    before = set(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
    hoard = []
    try:
        while True:
            hoard.append(os.dup(0))
    except OSError:
        pass
    seen = []
    for _ in range(16):
        results = resolver.resolve_many(pointers, jobs=2)
        for one, other in zip(alone, results):
            assert other == one or (other.reason == "source_read_failed" and not other.conclusive)
        seen.append(results == alone)
        for _ in range(2):
            if hoard:
                os.close(hoard.pop())
    while hoard:
        os.close(hoard.pop())
    left = sorted(set(os.listdir("/proc/self/fd")) - before)
print(json.dumps([seen[0], seen[-1], left]))
"""


def test_a_process_without_free_handles_never_crashes(home: Path, pointers: list[str]) -> None:
    assert json.loads(run_python(_EXHAUSTED, home, *pointers).stdout) == [False, True, []]


def test_threads_may_ask_at_once(home: Path, pointers: list[str]) -> None:
    with SourcePointerResolver(home, home) as resolver:
        alone = resolver.resolve_many(pointers)
        got: list[object] = []
        threads = [
            threading.Thread(target=lambda: got.append(resolver.resolve_many(pointers)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == [alone] * 4
