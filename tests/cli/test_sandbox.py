"""`--sandbox`: the same answers from processes that can do nothing else, or none at all."""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from provenance.fs._seccomp import DENIED
from provenance.fs.confinement import LEAST_ABI, landlock_abi
from tests.trees import CHECKOUT

_ABI = landlock_abi()
_HAS_FILTER = platform.machine() in DENIED
pytestmark = pytest.mark.skipif(
    _ABI is None or _ABI < LEAST_ABI, reason=f"this kernel's Landlock is {_ABI}, too old or absent"
)

# A format from outside, as an entry point would load it; `act` is what it does when it is asked.
_PLANTED = """
import ctypes, os, stat, sys
from cli import main
from provenance.transcripts import formats
from provenance.transcripts.outside import guard

PARENT, OUTSIDE = os.getpid(), os.environ["OUTSIDE"]
ROOT = OUTSIDE + "/roots/target"

def held():
    for number in range(3, 1024):
        try:
            yield number, os.readlink("/proc/self/fd/%d" % number)
        except OSError:
            continue

def back():
    (number,) = (number for number, what in held() if what.startswith("pipe:"))
    return number

{body}

class Planted:
    name, suffixes, has_separate_sessions = "planted", (".planted",), False
    def identify(self, head):
        if head.name.endswith(".planted"):
            act()
        return False
    def records(self, source): return ()
    references = sessions = records

ours, rejected = formats._load()
formats._load = lambda: ({{"planted": guard(Planted), **ours}}, rejected)
main.main()
"""


@pytest.fixture
def run_planted(
    tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    target = tmp_path / "roots" / "target"
    target.mkdir(parents=True)
    (target / "a.planted").write_text('{"a":1}\n', encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")

    def run(
        body: str, *options: str, pass_fds: tuple[int, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *(sys.executable, "-c", _PLANTED.format(body=textwrap.dedent(body)), "verify"),
                *(target, "--format", "json", *options),
            ],
            env=environment({"OUTSIDE": str(tmp_path)}),
            capture_output=True,
            text=True,
            cwd=CHECKOUT,
            check=False,
            timeout=60,
            pass_fds=pass_fds,
        )

    return run


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


# Each is refused, by the kernel alone: what they leave or find would be seen below.
_ATTEMPTS = """
import socket
try: import resource
except ImportError: pass

def check(number):
    if number < 0: raise PermissionError(ctypes.get_errno())

def libc(name, *args):
    library = ctypes.CDLL(None, use_errno=True)
    getattr(library, name).restype = ctypes.c_long
    check(getattr(library, name)(*args))

HOME = os.path.expanduser("~")
ATTEMPTS = [
    lambda: open("/etc/passwd").read(),
    lambda: os.read(os.open("/etc/passwd", os.O_RDONLY), 10),
    lambda: os.listdir(HOME),
    lambda: os.listdir("/"),
    lambda: open(OUTSIDE + "/secret").read(),
    lambda: open(ROOT + "/../../secret").read(),
    lambda: open("/proc/self/../../etc/passwd").read(),
    lambda: open("/proc/%d/environ" % PARENT).read(),
    lambda: open("/proc/%d/mem" % PARENT, "rb").read(1),
    lambda: open("/proc/self/environ").read(),
    lambda: open(ROOT + "/new", "w"),
    lambda: open(ROOT + "/a.planted", "a"),
    lambda: os.truncate(ROOT + "/a.planted", 0),
    lambda: os.unlink(ROOT + "/a.planted"),
    lambda: os.rename(ROOT + "/a.planted", ROOT + "/b.planted"),
    lambda: os.rename(OUTSIDE + "/secret", OUTSIDE + "/taken"),
    lambda: os.link(ROOT + "/a.planted", OUTSIDE + "/linked"),
    lambda: os.symlink("/etc", ROOT + "/link"),
    lambda: os.mkdir(ROOT + "/folder"),
    lambda: os.mkfifo(ROOT + "/fifo"),
    lambda: open("/tmp/ctxaudit-planted-%d" % PARENT, "w"),
    lambda: open("/dev/shm/ctxaudit-planted-%d" % PARENT, "w"),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    lambda: os.kill(PARENT, 9),
    lambda: os.kill(PARENT, 19),
    lambda: os.kill(PARENT, 0),
    lambda: socket.create_connection(("127.0.0.1", PORT), 5),
    lambda: socket.socket().bind(("127.0.0.1", 0)),
    lambda: libc("ptrace", 16, PARENT, None, None),
    lambda: libc("mount", b"/", b"/mnt", None, 4096, None),
]

def act():
    if any(number != back() and not what.startswith(ROOT) for number, what in held()):
        os._exit(60)  # something besides the way back and what it may read
    for number, attempt in enumerate(ATTEMPTS):
        try:
            attempt()
        except OSError:
            continue
        except BaseException as error:
            if type(error).__name__ != "SandboxRefusal":
                os._exit(99)
            continue
        os._exit(100 + number)
    os._exit(50)
"""


def _assert_untouched(tmp_path: Path) -> None:
    assert (tmp_path / "secret").read_text() == "secret"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roots", "secret"]
    (target,) = (tmp_path / "roots").iterdir()
    assert [path.name for path in target.iterdir()] == ["a.planted"]
    assert (target / "a.planted").read_text() == '{"a":1}\n'


@pytest.mark.attack
@pytest.mark.parametrize("watched", ["", "sandboxed.watch = lambda *rest: None"])
def test_a_planted_parser_can_do_nothing_else(
    watched: str, run_planted: Callable[..., Any], tmp_path: Path, listening: int
) -> None:
    if _ABI is not None and _ABI < 6:
        pytest.skip(f"ABI {_ABI} cannot forbid signals and connections")
    program = f"from provenance.audit import sandboxed\n{watched}\nPORT = {listening}\n"
    done = run_planted(program + _ATTEMPTS, "--sandbox")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "ctxaudit: --sandbox: confined process: expected a report, got its end by exit 50\n"
    )
    _assert_untouched(tmp_path)


def test_without_the_sandbox_the_same_parser_can(
    run_planted: Callable[..., Any], tmp_path: Path
) -> None:
    """The look-alike: what is refused above is possible otherwise."""
    run_planted("def act(): open(OUTSIDE + '/taken', 'w').write(open('/etc/passwd').read())")
    assert (tmp_path / "taken").read_text() == Path("/etc/passwd").read_text()


@pytest.mark.attack
@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        ("open('/etc/passwd')", "an attempt to open another file"),
        ("open(ROOT + '/a.planted', 'w')", "an attempt to open another file"),
        ("import antigravity", "a need for the module 'antigravity'"),
        ("os.kill(PARENT, 15)", "an attempt at os.kill"),
        ("open('secret')", "an attempt to open another file"),
        ("import pathlib; pathlib.Path('secret').read_text()", "an attempt to open another file"),
        ("os.open('roots/../secret', os.O_RDONLY)", "an attempt to open another file"),
        ("open('planted', 'w')", "an attempt to open another file"),
        ("os.listdir('.')", "an attempt to list another folder"),
        ("os.chmod(OUTSIDE + '/secret', 0o600)", "an attempt at os.chmod"),
        ("os.chmod('secret', 0o644)", "an attempt at os.chmod"),
        ("import socket; socket.socket(2, 2)", "an attempt at socket.__new__"),
        ("os.fork() or os._exit(0)", "an attempt to start a process"),
        ("import resource; resource.prlimit(PARENT, 0)", "an attempt at resource.prlimit"),
    ],
)
def test_an_attempt_that_is_passed_over_is_told_all_the_same(
    attempt: str, told: str, run_planted: Callable[..., Any], tmp_path: Path
) -> None:
    """The guard around formats from outside passes over whatever they raise."""
    done = run_planted(f"os.chdir(OUTSIDE)\ndef act(): {attempt}", "--sandbox")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"expected to read its roots alone, got {told}" in done.stderr
    assert done.stderr.count("\n") == 1
    _assert_untouched(tmp_path)


@pytest.mark.attack
def test_the_current_folder_is_not_pythons_own(
    run_planted: Callable[..., Any],
) -> None:
    """`python -m` and `python -c` put it on the path of modules."""
    body = "os.chdir(OUTSIDE); sys.path.insert(0, OUTSIDE)\ndef act(): open('secret')"
    done = run_planted(body, "--sandbox")
    assert (done.returncode, done.stdout) == (1, "")
    assert "an attempt to open another file" in done.stderr


def test_a_target_may_be_named_from_the_current_folder(
    home: Any, environment: Callable[..., dict[str, str]]
) -> None:
    """The look-alike: the same words, from within this package."""
    home.state("one.json", home.transcript("s1", 2))
    done = subprocess.run(
        [sys.executable, "-m", "cli", "verify", "--sandbox", home.path.name],
        env=environment({"PYTHONPATH": str(CHECKOUT)}),
        capture_output=True,
        text=True,
        cwd=home.path.parent,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_parser_that_reads_its_root_alone_is_no_attempt(run_planted: Callable[..., Any]) -> None:
    plain = run_planted("def act(): open(ROOT + '/a.planted').read()")
    done = run_planted("def act(): open(ROOT + '/a.planted').read()", "--sandbox")
    assert (done.returncode, done.stderr) == (plain.returncode, "")
    assert _comparable(json.loads(done.stdout)) == _comparable(json.loads(plain.stdout))


@pytest.mark.attack
def test_it_is_confined_before_the_first_hostile_byte(
    home: Any, environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """In the order of system calls: restrict, then open what lies below a root, in one process."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    home.state("one.json", home.transcript("s1", 2))
    log = tmp_path / "log"
    done = subprocess.run(
        [
            *(
                "strace",
                "-f",
                "-o",
                log,
                "-e",
                "trace=openat,openat2,landlock_restrict_self,pread64",
            ),
            *(sys.executable, "-m", "cli", "verify", "--sandbox", "--jobs", "2", home.path),
        ],
        env=environment({}),
        capture_output=True,
        cwd=CHECKOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = log.read_text().splitlines()
    (restricted,) = (n for n, row in enumerate(rows) if "landlock_restrict_self" in row)
    hostile = [n for n, row in enumerate(rows) if ".jsonl" in row or '"one.json"' in row]
    assert hostile
    assert min(hostile) > restricted
    parent = rows[0].split()[0]
    assert all(rows[number].split()[0] != parent for number in hostile)


@pytest.mark.attack
@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("os._exit(0)", "expected a report, got its end by exit 0"),
        ("os.kill(os.getpid(), 9)", "expected a report, got its end by signal 9"),
        ("os.write(back(), b'R' + bytes(3) + b'\\2{]'); os._exit(0)", "expected values of a rep"),
        ("os.write(back(), b'R' + bytes(3) + b'\\2{}'); os._exit(0)", "expected values of a rep"),
        ("os.write(back(), b'P' + bytes(3) + b'\\2-1'); os._exit(0)", "expected a number of 0 or"),
        ("os.write(back(), b'Z' * 100)", "expected one of a known kind"),
        ("os.write(back(), b'R' + bytes(3))", "frame: expected"),
    ],
)
def test_a_process_that_dies_or_lies_is_never_a_report(
    act: str, said: str, run_planted: Callable[..., Any]
) -> None:
    done = run_planted(f"def act(): {act}", "--sandbox")
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_answers_are_the_same_and_for_any_number_of_processes(run: Callable[..., Any]) -> None:
    plain = run("verify", CHECKOUT / "sample_state", "--format", "json", "--all")
    for jobs in ("1", "2"):
        done = run(
            *("verify", CHECKOUT / "sample_state", "--format", "json", "--all"),
            *("--sandbox", "--jobs", jobs),
        )
        assert done.code == plain.code == 14
        assert _comparable(done.report) == _comparable(plain.report)
        assert (plain.report["sandboxed"], done.report["sandboxed"]) == (False, True)


def test_waivers_of_the_operator_count_there_too(
    home: Any, run: Callable[..., Any], tmp_path: Path
) -> None:
    pointers = home.transcript("s1", 2)
    home.state("one.json", [*pointers, "transcript:gone:1", "transcript:gone:2"])
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(
        "".join(
            f'[[waiver]]\nreason = "lost"\nowner = "ops"\nexpires = {day}\n'
            f'pointer = "transcript:gone:{number}"\n'
            for number, day in ((1, "2999-01-01"), (2, "2001-01-01"), (3, "2999-01-01"))
        ),
        encoding="utf-8",
    )
    options = ("verify", home.path, "--waivers", waivers, "--format", "json")
    plain, done = run(*options), run(*options, "--sandbox")
    assert (done.code, done.err) == (plain.code, plain.err)
    assert _comparable(done.report) == _comparable(plain.report)
    assert done.report["summary"]["waived"] == 1


def _comparable(report: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in report.items()
        if key not in ("started_at", "finished_at", "sandboxed")
    }


@pytest.mark.parametrize(("side", "jobs"), [("shows", "1"), ("harmless", "3")])
def test_every_format_is_read_without_another_module_or_file(
    side: str, jobs: str, run: Callable[..., Any]
) -> None:
    """All samples of all findings are checked in one run: containers, databases, archives."""
    samples = sorted((CHECKOUT / "tests" / "data" / "findings").glob(f"*/{side}"))
    options = ("--format", "json", "--jobs", jobs, *samples)
    plain = run("verify", *options)
    done = run("verify", "--sandbox", *options)
    assert (done.code, done.err) == (plain.code, plain.err)
    assert _comparable(done.report) == _comparable(plain.report)
    assert len(done.report["transcripts"]) > 40


def test_names_that_are_no_unicode_pass(home: Any, run: Callable[..., Any]) -> None:
    folder = os.fsencode(home.path / "logs")
    os.mkdir(folder)
    line = b'{"type":"user","uuid":"u","sessionId":"s"}\n'
    with open(folder + b"/caf\xe9.jsonl", "wb") as file:
        file.write(line)
    plain = run("verify", home.path / "logs", "--format", "json")
    done = run("verify", home.path / "logs", "--format", "json", "--sandbox")
    assert _comparable(done.report) == _comparable(plain.report)


@pytest.mark.parametrize(
    ("command", "target"), [("verify", "absent"), ("transcript check", "notes.md")]
)
def test_targets_that_cannot_be_used_are_usage_with_the_same_words(
    command: str, target: str, home: Any, run: Callable[..., Any]
) -> None:
    home.path.joinpath("notes.md").write_text("no transcript", encoding="utf-8")
    plain = run(*command.split(), home.path / target)
    done = run(*command.split(), "--sandbox", home.path / target)
    assert (done.code, done.out, done.err) == (plain.code, plain.out, plain.err)
    assert done.code == 2


def test_only_the_named_roots_can_be_read(home: Any, run: Callable[..., Any]) -> None:
    """A link as a root is followed once, by the operator's will; a link in it is refused."""
    pointers = home.transcript("s1", 2)
    link = home.path.parent / "link"
    link.symlink_to(home.path / "transcripts")
    done = run(
        *("verify", "--sandbox", "--pointer", pointers[0], "--transcript-root", link),
        *("--artifact-root", home.path / "absent", "--format", "json"),
    )
    assert done.code == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_a_whole_report(
    jobs: str, home: Any, environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    home.transcript("s0", 1)
    home.state("many.json", [f"transcript:s{number}:1" for number in range(9_000)])
    report_file = tmp_path / "report.json"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "cli", "verify", "--sandbox", "--jobs", jobs, home.path),
            *("--format", "json", "--output", report_file, "--format", "ndjson"),
        ],
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=CHECKOUT,
        bufsize=0,  # what `readline` leaves must be there for `communicate`
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, talk = process.communicate()
    assert (process.returncode, talk) == (130, b"")
    lines = [json.loads(line) for line in (first + rest).splitlines()]
    report = json.loads(report_file.read_text())
    assert report["summary"]["total"] == 9_000
    assert report["results"] == [line for line in lines if "pointer" in line]


@pytest.mark.attack
def test_no_process_outlives_the_one_that_was_started(
    home: Any, environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    home.transcript("s0", 1)
    home.state("many.json", [f"transcript:s{number}:1" for number in range(9_000)])
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "cli", "verify", "--sandbox", "--jobs", "2", home.path),
            *("--format", "ndjson"),
        ],
        env=environment({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        cwd=CHECKOUT,
        bufsize=0,
    )
    assert process.stdout is not None
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert children
    watched = [os.pidfd_open(int(child)) for child in children]
    process.kill()
    process.wait()
    for handle in watched:
        # Readable once the process has ended; a test that hangs here has found one that did not.
        select.select([handle], [], [])
        os.close(handle)
    process.stdout.close()


@pytest.mark.attack
@pytest.mark.skipif(not _HAS_FILTER, reason="no filter of system calls on this architecture")
def test_a_process_that_was_forked_past_python_ends_with_the_run(
    run_planted: Callable[..., Any], tmp_path: Path
) -> None:
    """It would leave its group; what tells is a pipe that only it holds open at its other end."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    body = f"""
    from provenance.audit import sandbox_child
    library = ctypes.CDLL(None)
    fork, pause = library.fork, library.pause
    real = sandbox_child.confine
    sandbox_child.confine = lambda *a, keep, **k: real(*a, keep=(*keep, {writing}), **k)
    def act():
        if fork() == 0:
            try: os.setsid()
            except OSError: pass
            while True: pause()
    """
    done = run_planted(body, "--sandbox", pass_fds=(writing,))
    os.close(writing)
    assert os.read(reading, 1) == b""  # a test that hangs here has found one that goes on
    os.close(reading)
    assert done.returncode in (1, 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_leaves_nothing(
    number: signal.Signals, home: Any, environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    scratch = tmp_path / "temporary"
    scratch.mkdir()
    home.transcript("s0", 1)
    home.state("many.json", [f"transcript:s{number}:1" for number in range(9_000)])
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "cli", "verify", "--sandbox", home.path),
            *("--format", "ndjson"),
        ],
        env=environment({"TMPDIR": str(scratch)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=CHECKOUT,
        bufsize=0,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert list(scratch.iterdir())
    process.send_signal(number)
    _, talk = process.communicate()
    assert (process.returncode, talk) == (-number, b"")
    assert list(scratch.iterdir()) == []


def test_nothing_is_left_behind(
    home: Any, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "temporary"
    scratch.mkdir()
    home.state("one.json", home.transcript("s1", 2))
    done = run("verify", "--sandbox", home.path, TMPDIR=str(scratch))
    assert done.code == 0
    assert list(scratch.iterdir()) == []


def test_the_variable_asks_for_it_too(home: Any, run: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 2))
    done = run("verify", home.path, "--format", "json", CTXAUDIT_SANDBOX="1")
    assert done.report["sandboxed"] is True
