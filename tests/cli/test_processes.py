"""The command in a real process: pipes, terminals, full disks, odd locales, interrupts."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

_MANY = 9_000  # results of some 200 bytes each: far more than a pipe holds (64 KiB)


@pytest.fixture
def start(environment: Callable[..., dict[str, str]], tmp_path: Path) -> Callable[..., Any]:
    """Start the command and give the process."""

    def start(*args: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        extra = options.pop("environment", {})
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "cli", *map(str, args)],
            env=environment(extra),
            cwd=tmp_path,
            bufsize=0,  # what `readline` leaves must be there for `communicate`
            **(pipes | options),
        )

    return start


def _many(home: Any) -> Path:
    home.transcript("s0", 1)
    home.state("many.json", [f"transcript:s{number}:1" for number in range(_MANY)])
    return home.path


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_reports_what_was_verified(
    home: Any, start: Callable[..., Any], tmp_path: Path, jobs: str
) -> None:
    report_file = tmp_path / "report.json"
    process = start(
        *("verify", _many(home), "--format", "json", "--output", report_file),
        *("--format", "ndjson", "--jobs", jobs),
    )
    # The first line is there, and the process cannot end: its output does not fit into the pipe.
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, talk = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in talk
    lines = [json.loads(line) for line in (first + rest).splitlines()]
    results = [line for line in lines if "pointer" in line]
    (run,) = [line["run"] for line in lines if "run" in line]
    assert run["interrupted"] is True
    summary = run["summary"]
    assert 0 < len(results) < _MANY
    assert summary["total"] == _MANY
    assert summary["not_checked"] == _MANY - len(results)
    report = json.loads(report_file.read_text())
    assert report["summary"] == summary
    assert report["results"] == results
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "report.json"]


def test_an_interrupt_while_pointers_are_read(home: Any, start: Callable[..., Any]) -> None:
    process = start("verify", "-", "--transcript-root", home.path, "--format", "json")
    # More than a pipe holds: when this returns, the process has begun to read.
    process.stdin.write(b"transcript:s1:1\n" * 20_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, talk = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in talk
    summary = json.loads(out)["summary"]
    assert summary["total"] == summary["not_checked"] == 1


@pytest.mark.parametrize("sent", [1, 60, 5_000])
def test_what_was_received_before_an_interrupt_is_counted(
    home: Any, start: Callable[..., Any], sent: int
) -> None:
    """Few bytes stay in an unfinished block of a buffered reader; many fill several blocks."""
    process = start("verify", "-", "--transcript-root", home.path, "--format", "json")
    data = b"".join(b"transcript:s%d:1\n" % number for number in range(sent))
    process.stdin.write(data + b"transcript:cut")
    process.stdin.flush()
    # The pipe is empty once everything was received; then the process waits for more.
    while _bytes_in(process.stdin.fileno()):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, talk = process.communicate()
    assert (process.returncode, talk) == (130, b"")
    summary = json.loads(out)["summary"]
    assert summary["total"] == summary["not_checked"] == sent


def _bytes_in(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("again", [1, 2])
def test_more_interrupts_break_nothing(
    home: Any, start: Callable[..., Any], tmp_path: Path, again: int
) -> None:
    report_file = tmp_path / "report.json"
    process = start(
        *("verify", _many(home), "--format", "json", "--output", report_file),
        *("--format", "ndjson"),
    )
    first = process.stdout.readline()
    for _ in range(1 + again):
        process.send_signal(signal.SIGINT)
    rest, talk = process.communicate()
    assert (process.returncode, talk) == (130, b"")
    # Signals that come before the first was heard are one; a third that was heard ends at once.
    if again == 1 or report_file.exists():
        lines = [json.loads(line) for line in (first + rest).splitlines()]
        report = json.loads(report_file.read_text())
        assert report["summary"]["total"] == _MANY
        assert report["results"] == [line for line in lines if "pointer" in line]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupts_without_end_leave_no_process(
    home: Any, start: Callable[..., Any], jobs: str
) -> None:
    process = start("verify", _many(home), "--format", "ndjson", "--jobs", jobs)
    process.stdout.readline()
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.stdout.read(1)
    # A process that was left would hold the pipes open, and this would wait for ever.
    process.communicate()
    assert process.returncode == 130


@pytest.mark.parametrize("phase", ["run_audit", "verdict_of", "_write"])
@pytest.mark.parametrize("times", [1, 2])
def test_interrupts_in_every_phase_leave_a_whole_report(
    home: Any,
    environment: Callable[..., dict[str, str]],
    tmp_path: Path,
    phase: str,
    times: int,
) -> None:
    home.state("one.json", home.transcript("s1", 3))
    program = (
        "import os, signal, sys\n"
        "from cli import auditing, main\n"
        f"inner = auditing.{phase}\n"
        "def outer(*args, **options):\n"
        f"    for _ in range({times}):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return inner(*args, **options)\n"
        f"auditing.{phase} = outer\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "verify", home.path, "--format", "json"],
        env=environment({}),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr in (b"", b"ctxaudit: interrupted\n")
    summary = json.loads(done.stdout)["summary"]
    assert summary["total"] == 3
    assert summary["not_checked"] == (3 if phase == "run_audit" else 0)


@pytest.mark.parametrize("module", ["click", "provenance.audit", "rich", "cli.application"])
def test_an_interrupt_during_an_import(
    home: Any, environment: Callable[..., dict[str, str]], tmp_path: Path, module: str
) -> None:
    home.state("one.json", home.transcript("s1", 3))
    program = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "verify", home.path, "--color", "always"],
        env=environment({}),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr in (b"", b"ctxaudit: interrupted\n")


def test_an_ignored_interrupt_stays_ignored(home: Any, start: Callable[..., Any]) -> None:
    process = start(
        *("verify", _many(home), "--format", "ndjson"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate()
    assert process.returncode == 12
    assert out.count(b"\n") == _MANY - 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_no_byte_is_lost_where_a_signal_cuts_a_write_short(
    environment: Callable[..., dict[str, str]], tmp_path: Path, unbuffered: str
) -> None:
    program = (
        "import signal\n"
        "from cli.streams import write_text\n"
        "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        "for _ in range(4):\n    write_text('line\\n' * 13_125)\n"
    )
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment({"PYTHONUNBUFFERED": unbuffered}),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert process.stdout is not None
        first = process.stdout.read(5)
        process.send_signal(signal.SIGUSR1)
        rest = process.communicate()[0]
        assert first + rest == b"line\n" * 4 * 13_125


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_does_not_block(
    home: Any, start: Callable[..., Any], unbuffered: str
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = start(
        *("verify", _many(home), "--format", "ndjson"),
        stdout=writing,
        environment={"PYTHONUNBUFFERED": unbuffered},
    )
    os.close(writing)
    with open(reading, "rb") as pipe:
        lines = pipe.read().splitlines()
    assert process.communicate()[1] == b""
    assert process.returncode == 12
    assert len(lines) == _MANY


def test_standard_input_that_does_not_block(home: Any, start: Callable[..., Any]) -> None:
    for args in (
        ["verify", "-", "--transcript-root", home.path],
        ["spill", "--home", home.path, "--session", "s1"],
    ):
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        process = start(*args, stdin=reading)
        os.close(reading)
        with open(writing, "wb") as pipe:
            pipe.writelines(b"transcript:s1:%d\n" % number for number in range(1, 20_000))
        out, talk = process.communicate()
        assert talk == b""
        if args[0] == "verify":
            assert process.returncode == 12
            assert b"19999 sources" in out
        else:
            assert process.returncode == 0


def test_standard_input_that_cannot_be_read(home: Any, start: Callable[..., Any]) -> None:
    writable_only = os.open(home.path.parent / "file", os.O_WRONLY | os.O_CREAT)
    for args in (["verify", "-", home.path], ["spill", "--home", home.path, "--session", "s1"]):
        process = start(*args, stdin=writable_only)
        out, talk = process.communicate()
        assert (process.returncode, out) == (2, b"")
        assert talk.count(b"\n") == 1
    os.close(writable_only)


@pytest.mark.parametrize("kind", ["console", "json", "ndjson"])
def test_a_reader_that_leaves_changes_nothing(
    home: Any, start: Callable[..., Any], kind: str
) -> None:
    process = start("verify", _many(home), "--format", kind)
    process.stdout.readline()
    process.stdout.close()
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 12


@pytest.mark.parametrize(
    "args", [["--help"], ["explain"], ["schema", "report"], ["verify", "--help"]]
)
def test_a_reader_that_was_never_there(args: list[str], start: Callable[..., Any]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*args, stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == b""
    assert process.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "args",
    [
        ["verify", "home"],
        ["verify", "home", "--format", "json"],
        ["verify", "home", "--format", "ndjson"],
        ["explain"],
        ["schema", "state"],
        ["render", "home/states/one.json"],
        ["show", "transcript:s1:1", "--home", "home"],
        ["--help"],
        *([name, "--help"] for name in ("explain", "render", "schema", "show", "spill", "verify")),
        ["--version"],
    ],
)
def test_a_full_disk_is_no_success(home: Any, start: Callable[..., Any], args: list[str]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    with open("/dev/full", "wb") as full:
        process = start(*args, stdout=full)
        talk = process.communicate()[1]
    assert process.returncode == 1
    assert talk.count(b"\n") == 1
    assert b"Traceback" not in talk


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_report_that_cannot_be_written_is_no_success(home: Any, run: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    done = run("verify", home.path, "--format", "json", "--output", "/dev/full")
    assert done.code == 1
    assert "--output: full: " in done.err
    assert run("verify", home.path, "--format", "json", "--output", "/dev/null").code == 0


def test_closed_streams(home: Any, start: Callable[..., Any], tmp_path: Path) -> None:
    home.state("one.json", home.transcript("s1", 1))

    def run(*args: str | Path, closed: Sequence[int]) -> tuple[int, bytes]:
        process = start(*args, preexec_fn=lambda: [os.close(number) for number in closed])
        _, talk = process.communicate()
        return process.returncode, talk

    for closed, code in (((0,), 0), ((1,), 1), ((2,), 0), ((0, 2), 0), ((0, 1, 2), 1)):
        for extra in ([], ["--jobs", "2"], ["--format", "ndjson"]):
            found, talk = run("verify", home.path, *extra, closed=closed)
            assert found == code
            assert talk.count(b"\n") == (2 not in closed and code)
    # What has another place than standard output is there.
    report = tmp_path / "report.json"
    output = ["--format", "json", "--output", report]
    for closed in ((0,), (1,), (2,), (0, 1, 2)):
        report.unlink(missing_ok=True)
        assert run("verify", home.path, *output, closed=closed)[0] == 0
        assert json.loads(report.read_bytes())["summary"]["available"] == 1
    both = [*output, "--format", "console"]
    place = ["--format", "json", "--output", "/dev/stdout"]
    assert run("verify", home.path, *place, closed=(1,))[0] == 1
    assert run("verify", home.path, *both, closed=(1,))[0] == 1
    # What talks to the closed standard error ends up in no file that is open.
    report.unlink()
    assert (
        run("verify", home.path, "--artifact-root", tmp_path / "no", *output, closed=(2,))[0] == 0
    )
    json.loads(report.read_bytes())


@pytest.mark.parametrize(
    "args",
    [
        ["explain", "14"],
        ["schema", "state"],
        ["render", "home/states/one.json"],
        ["show", "transcript:s1:1", "--home", "home"],
        ["show", "transcript:s1:1", "--home", "home", "--raw"],
        ["cite", "home/transcripts/s1.jsonl", "--grep", "event"],
        ["completion", "bash"],
        ["doctor", "home"],
        ["gc", "home"],
        ["policy", "test", "policy.toml", "transcript:s1:1"],
        ["transcript", "check", "home/transcripts"],
        ["verify", "home", "--format", "json"],
        ["verify", "home", "--format", "html"],
        ["--help"],
        ["verify", "--help"],
        ["--version"],
    ],
)
def test_a_closed_standard_output_is_no_success(
    home: Any, start: Callable[..., Any], tmp_path: Path, args: list[str]
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    (tmp_path / "policy.toml").write_text('default = "deny"')
    process = start(*args, preexec_fn=lambda: os.close(1))
    talk = process.communicate()[1]
    assert process.returncode == 1
    assert b"standard output: expected to write, got a closed one" in talk
    assert b"Traceback" not in talk


@pytest.mark.parametrize(
    "args",
    [
        ["verify", "-", "home"],
        ["spill", "--home", "home", "--session", "s1"],
        ["spill", "-", "--home", "home", "--session", "s1"],
        ["transcript", "append", "s2", "--home", "home"],
        ["compact", "-"],
        ["policy", "test", "policy.toml", "-"],
        ["state", "put", "home", "n", "-", "--replaces", "none", "--author", "a"],
    ],
)
def test_a_closed_standard_input_is_no_empty_one(
    home: Any, start: Callable[..., Any], tmp_path: Path, args: list[str]
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    (tmp_path / "policy.toml").write_text('default = "deny"')
    before = sorted(tmp_path.rglob("*"))
    process = start(*args, preexec_fn=lambda: os.close(0))
    out, talk = process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert b"-: expected standard input, got a closed one" in talk
    assert talk.count(b"\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_the_numbers_of_closed_streams_are_taken(
    environment: Callable[..., dict[str, str]],
) -> None:
    code = (
        "import os, subprocess, sys; from cli.main import _keep_standard_numbers as keep; "
        "keep(); fd = os.open(os.devnull, os.O_RDONLY); "
        "kept = [os.fstat(n).st_rdev == os.stat(os.devnull).st_rdev for n in range(3)]; "
        "child = subprocess.run(['true']).returncode; "
        "os._exit(0 if fd > 2 and all(kept) and not child else 1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment({}),
        preexec_fn=lambda: [os.close(number) for number in range(3)],
        check=False,
    )
    assert done.returncode == 0


def test_a_text_that_no_encoding_holds(home: Any, run: Callable[..., Any]) -> None:
    path = home.state("one.json", ["transcript:s1:1"])
    document = json.loads(path.read_text())
    document["facts"][0]["content"] = "é 你好 \u202e \x1b[31m [red]x[/red] \U0001f600"
    path.write_text(json.dumps(document))
    for locale in (
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"LC_ALL": "C.UTF-8"},
    ):
        for color in ("never", "always"):
            done = run("verify", home.path, "--color", color, **locale)
            assert done.code == 12
            assert done.err == ""
            assert "\x1b[31m [red]" not in done.out
            assert "\u202e" not in done.out
            assert r"\x1b[31m" in done.out
            assert "[red]x[/red]" in done.out
        done = run("verify", home.path, "--format", "json", **locale)
        assert done.out.isascii()
        assert done.report["results"][0]["cited_by"][0]["text"].startswith("é 你好")


def test_arguments_that_are_no_text(home: Any, run: Callable[..., Any]) -> None:
    name = os.fsdecode(b"\xff\x1b[31m.json")
    home.state("one.json", home.transcript("s1", 1))
    (home.path / "states" / "one.json").rename(home.path / "states" / name)
    for kind in ("console", "json", "ndjson"):
        done = run("verify", home.path, "--format", kind)
        assert done.code == 0
        assert "\x1b" not in done.out
    done = run("verify", os.fsdecode(b"nowhere-\xff\x1b[31m"))
    assert done.code == 2
    assert "\x1b" not in done.err
    done = run("verify", "--pointer", os.fsdecode(b"transcript:\xff:1"), home.path)
    assert done.code == 14


def _in_a_terminal(start: Callable[..., Any], *args: object, **environment: str) -> str:
    controller, terminal = pty.openpty()
    process = start(*args, stdout=terminal, environment=environment)
    os.close(terminal)
    parts = []
    try:
        while part := os.read(controller, 1 << 16):
            parts.append(part)
    except OSError:  # Linux: the other end is closed
        pass
    os.close(controller)
    process.communicate()
    return b"".join(parts).decode()


def test_boxes_and_colours_are_for_a_terminal(home: Any, start: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    colored = _in_a_terminal(start, "verify", home.path)
    assert "╭" in colored
    assert "\x1b[32m" in colored
    plain = _in_a_terminal(start, "verify", home.path, NO_COLOR="1")
    assert "╭" in plain
    assert "\x1b[32m" not in plain
    assert "\x1b[32m" not in _in_a_terminal(start, "verify", home.path, "--color", "never")
    assert "\x1b[32m" in _in_a_terminal(
        start, "verify", home.path, "--color", "always", NO_COLOR="1"
    )
    assert "\x1b" not in _in_a_terminal(start, "verify", home.path, "--format", "json")


def test_a_pipe_gets_plain_lines(home: Any, run: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    plain = run("verify", home.path)
    assert "\x1b" not in plain.out
    assert plain.out.isascii()
    assert plain.err == ""
    assert run("verify", home.path, COLUMNS="40").out == plain.out
    assert run("--color", "always", "verify", home.path).out != plain.out
    assert run("verify", home.path, CTXAUDIT_COLOR="always").out != plain.out
    assert run("verify", home.path, FORCE_COLOR="1", TTY_COMPATIBLE="1").out == plain.out


def test_quiet_leaves_the_data(home: Any, run: Callable[..., Any]) -> None:
    home.state("one.json", [*home.transcript("s1", 1), "transcript:s2:1"])
    for args in (["verify", "--quiet"], ["--quiet", "verify"]):
        done = run(*args, home.path)
        assert done.code == 12
        assert "transcript:s2:1" in done.out
        assert "transcript:s1:1" not in done.out
        assert "What" not in done.out
        assert done.out.splitlines()[-1].startswith("Exit code 12.")


def test_raw_bytes_do_not_go_to_a_terminal(home: Any, start: Callable[..., Any]) -> None:
    (pointer,) = home.transcript("s1", 1)
    seen = _in_a_terminal(start, "show", pointer, "--home", home.path, "--raw")
    assert seen == ""
