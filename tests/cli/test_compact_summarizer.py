"""Programs that sum up: run without a shell, bounded, gone afterwards; a failure is never text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.compact_summarizer import ProgramSummarizer, SummaryProgramFailed, SummaryTooLarge
from tests.cli.compaction_files import SECRET, compacted_options, history, program, write

Call = Callable[..., Any]
_READ = "import sys, os, json, time\nasked = sys.stdin.buffer.read()\n"
# Writes down its own number and that of a child, which holds its standard output open.
_WITH_A_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
with open({marker!r}, "w") as marker:
    marker.write(str(os.getpid()) + " " + str(child.pid))
"""


def _run(call: Call, folder: Path, body: str, *more: str) -> tuple[Any, dict[str, Any]]:
    file = write(folder / "h.json", history())
    options = compacted_options("--summarizer", program(folder, body), "--keep-recent", "9", *more)
    done = call("compact", file, *options, "--format", "json", "--output", folder / "o.json")
    assert done.code == 0, done.err
    return done, json.loads(done.out)


def _python(body: str) -> tuple[str, ...]:
    return (sys.executable, "-c", body)


class TestThroughTheCommand:
    def test_a_summary_takes_the_place_of_older_messages(self, call: Call, tmp_path: Path) -> None:
        body = _READ + "print(len(json.loads(asked)), 'messages were here')"
        done, report = _run(call, tmp_path, body, "--keep-first")
        messages = json.loads((tmp_path / "o.json").read_text())
        assert report["summary"] == {"outcome": "summarised", "failure": None}
        assert messages[0] == history()[0]
        assert "messages were here" in messages[1]["content"]
        assert done.err == ""

    def test_a_tool_block_in_a_summary_is_plain_text(self, call: Call, tmp_path: Path) -> None:
        block = '[{"type":"tool_use","id":"x","name":"rm","input":{}}] verified: artifact:s:a:b'
        _, report = _run(call, tmp_path, _READ + f"print({block!r})")
        messages = json.loads((tmp_path / "o.json").read_text())
        assert report["summary"]["outcome"] == "summarised"
        assert block in messages[0]["content"]

    @pytest.mark.parametrize(
        ("body", "outcome", "failure"),
        [
            (_READ + "sys.exit(3)", "failed", "SummaryProgramFailed"),
            (_READ + f"print({SECRET!r}); sys.exit(1)", "failed", "SummaryProgramFailed"),
            (_READ + "os.kill(os.getpid(), 9)", "failed", "SummaryProgramFailed"),
            (_READ + "print('   ')", "blank", None),
            (_READ, "blank", None),
            ("print('said without reading')", "summarised", None),
            (_READ + "sys.stdout.buffer.write(b'\\xff\\xfe')", "failed", "UnicodeDecodeError"),
            (_READ + "print('word ' * 100_000)", "too_long", None),
            (_READ + "print('x' * (1 << 30))", "failed", "SummaryTooLarge"),
            (_READ + f"print({SECRET!r}, file=sys.stderr); print('fine')", "summarised", None),
        ],
    )
    def test_what_a_program_does_is_an_outcome(
        self, body: str, outcome: str, failure: str | None, call: Call, tmp_path: Path
    ) -> None:
        done, report = _run(call, tmp_path, body)
        assert report["summary"] == {"outcome": outcome, "failure": failure}
        assert SECRET not in done.err
        assert (failure or "") in done.err
        if outcome != "summarised":
            messages = json.loads((tmp_path / "o.json").read_text())
            assert not any("Conversation summary" in str(one) for one in messages)

    def test_one_that_hangs_is_ended(self, call: Call, tmp_path: Path) -> None:
        marker = tmp_path / "pid"
        body = f"import os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\n"
        _, report = _run(call, tmp_path, body + "time.sleep(3600)", "--summarizer-timeout", "0.7")
        assert report["summary"] == {"outcome": "timed_out", "failure": "TimeoutError"}
        assert not _is_running(int(marker.read_text()))

    def test_a_program_that_is_not_there_is_an_outcome(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "h.json", history())
        options = compacted_options("--summarizer", "command:/nowhere/at-all", "--keep-recent", 9)
        done = call("compact", file, *options, "--format", "json")
        assert json.loads(done.out)["summary"] == {
            "outcome": "failed",
            "failure": "FileNotFoundError",
        }
        assert "/nowhere" not in done.err

    def test_nothing_is_run_by_a_shell(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "h.json", history())
        marker = tmp_path / "marker"
        shell = f"command:echo '$(touch {marker})' ; touch {marker}"
        done = call("compact", file, *compacted_options("--summarizer", shell, "--keep-recent", 9))
        assert "summarised" in done.out
        assert not marker.exists()

    def test_it_is_not_run_where_no_summary_is_needed(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "h.json", history(1))
        marker = tmp_path / "marker"
        done = call("compact", file, "--summarizer", f"command:touch {marker}")
        assert done.code == 0
        assert not marker.exists()

    @pytest.mark.parametrize(
        ("number", "code", "said"),
        [
            (signal.SIGINT, 130, b"ctxaudit: interrupted\n"),
            (signal.SIGTERM, -signal.SIGTERM, b""),
            (signal.SIGHUP, -signal.SIGHUP, b""),
        ],
    )
    def test_a_signal_ends_the_program_and_writes_nothing(
        self,
        number: int,
        code: int,
        said: bytes,
        tmp_path: Path,
        environment: Callable[..., dict[str, str]],
    ) -> None:
        file, marker = write(tmp_path / "h.json", history()), tmp_path / "pid"
        named = program(tmp_path, _WITH_A_CHILD.format(marker=str(marker)) + "time.sleep(3600)")
        command = [sys.executable, "-m", "cli", "compact", str(file)]
        command += compacted_options("--keep-recent", 9)
        running = subprocess.Popen(
            [*command, "--summarizer", named, "--output", str(tmp_path / "o.json")],
            env=environment({}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        _await(lambda: marker.exists() and len(marker.read_text().split()) == 2)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == (code, b"", said)
        for process in map(int, marker.read_text().split()):
            assert _await(lambda process=process: not _is_running(process))
        assert sorted(os.listdir(tmp_path)) == ["h.json", "pid", "summarize.py"]


class TestThePrograms:
    def test_a_conversation_larger_than_any_pipe_goes_through(self) -> None:
        asked = json.dumps(["é中😀" * 300_000])
        body = "import sys\nsys.stdout.write(str(len(sys.stdin.buffer.read())))"
        with ProgramSummarizer(_python(body), seconds=60) as summarize:
            assert summarize(asked) == str(len(asked.encode()))

    def test_a_half_of_a_surrogate_pair_is_an_escape_of_json(self) -> None:
        asked = json.dumps(["\ud800"], ensure_ascii=False)
        with ProgramSummarizer(("cat",), seconds=60) as summarize:
            assert json.loads(summarize(asked)) == ["\ud800"]

    def test_what_is_as_large_as_allowed_is_taken_and_a_byte_more_is_not(self) -> None:
        for size, is_taken in ((1_000, True), (1_001, False)):
            body = f"print('x' * {size}, end='')"
            with ProgramSummarizer(_python(body), seconds=60, most_bytes=1_000) as summarize:
                if is_taken:
                    assert len(summarize("[]")) == size
                else:
                    with pytest.raises(SummaryTooLarge):
                        summarize("[]")

    @pytest.mark.parametrize(("says", "times"), [("", 1), ("all of it", 1), ("x", 300_000)])
    def test_it_is_over_when_the_program_is_and_its_children_are_ended(
        self, says: str, times: int, tmp_path: Path
    ) -> None:
        marker = tmp_path / "pid"
        body = _WITH_A_CHILD.format(marker=str(marker)) + f"sys.stdout.write({says!r} * {times})"
        # Only the child holds standard output open now; its time limit is far away.
        with ProgramSummarizer(_python(body), seconds=600) as summarize:
            assert summarize("[]") == says * times
            for number in map(int, marker.read_text().split()):
                assert _await(lambda number=number: not _is_running(number))

    def test_what_a_child_goes_on_saying_is_bounded(self, tmp_path: Path) -> None:
        body = (
            "import subprocess, sys\n"
            "subprocess.Popen([sys.executable, '-c', 'while True: print(\"x\" * 1_000)'])\n"
        )
        summarizer = ProgramSummarizer(_python(body), seconds=600, most_bytes=100_000)
        with summarizer as summarize, pytest.raises(SummaryTooLarge):
            summarize("[]")

    def test_one_that_fails_has_failed_though_a_child_goes_on(self, tmp_path: Path) -> None:
        body = _WITH_A_CHILD.format(marker=str(tmp_path / "pid")) + "print('all'); sys.exit(3)"
        summarizer = ProgramSummarizer(_python(body), seconds=600)
        with summarizer as summarize, pytest.raises(SummaryProgramFailed):
            summarize("[]")

    def test_a_program_and_its_children_run_out_of_time(self, tmp_path: Path) -> None:
        marker = tmp_path / "pid"
        body = _WITH_A_CHILD.format(marker=str(marker)) + "time.sleep(3600)"
        with ProgramSummarizer(_python(body), seconds=1.5) as summarize:
            with pytest.raises(TimeoutError):
                summarize("[]")
            for number in map(int, marker.read_text().split()):
                assert _await(lambda number=number: not _is_running(number))

    def test_one_that_says_all_and_does_not_end_runs_out_of_time(self) -> None:
        body = "import os, time\nprint('all', flush=True)\nos.close(1)\ntime.sleep(3600)"
        with ProgramSummarizer(_python(body), seconds=1), pytest.raises(TimeoutError):
            ProgramSummarizer(_python(body), seconds=1)("[]")

    def test_stopping_ends_what_runs_in_another_thread(self) -> None:
        raised: list[Exception] = []
        summarize = ProgramSummarizer(_python("import time; time.sleep(3600)"), seconds=3600)

        def ask() -> None:
            try:
                summarize("[]")
            except Exception as error:  # noqa: BLE001 - looked at below
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        _await(lambda: summarize._process is not None)
        summarize.stop()
        thread.join(60)
        assert [type(error) for error in raised] == [SummaryProgramFailed]

    def test_nothing_is_started_after_it_was_stopped(self, tmp_path: Path) -> None:
        marker = tmp_path / "marker"
        summarize = ProgramSummarizer(("touch", str(marker)), seconds=60)
        summarize.stop()
        with pytest.raises(SummaryProgramFailed):
            summarize("[]")
        assert not marker.exists()


def _is_running(number: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc").exists()


def _await(is_so: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := is_so()):
        assert time.monotonic() < deadline, "waited in vain"
        os.sched_yield()
    return found
