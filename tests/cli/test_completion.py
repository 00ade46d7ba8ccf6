"""Completion in the real shells: commands, options, values, files, and nothing that is hostile."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.trees import CHECKOUT

_SHELLS = ("bash", "zsh", "fish")


def _bash(words: list[str], script: Path) -> str:
    return f"""
source {script}
complete -p ctxaudit >&2 || exit 9
compopt() {{ printf '%s\\n' "<$2>"; }}
COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
_ctxaudit_completion ctxaudit
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def _zsh(words: list[str], script: Path) -> str:
    # What the completion system of zsh brings along; only it can draw the choices.
    return f"""
compdef() {{ typeset -g registered="$1 $2"; }}
_describe() {{ print -l -- "${{(@P)3}}"; }}
compadd() {{ while [[ $1 == -* ]]; do shift; [[ $1 == unsorted ]] && shift; done
  print -l -- "${{(@P)1:-$1}}"; }}
_path_files() {{ print -- '<default>'; }}
source {script}
[[ $registered == '_ctxaudit_completion ctxaudit' ]] || exit 9
words=({shlex.join(words)}); CURRENT={len(words)}
_ctxaudit_completion
"""


def _fish(words: list[str], script: Path) -> str:
    line = " ".join([*map(shlex.quote, words[:-1]), words[-1]])
    return f"source {script}; complete -C {shlex.quote(line)}"


_PROGRAMS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
_OPTIONS = {
    "bash": ("--norc", "--noprofile"),
    "zsh": ("-f",),
    "fish": ("--no-config",),
}


@pytest.fixture(params=_SHELLS)
def complete(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    environment: Callable[[Mapping[str, str]], dict[str, str]],
) -> Callable[..., list[str]]:
    """Complete a command line in a shell, without a terminal; gives what it offers."""
    shell = request.param
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not here")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "ctxaudit"
    command.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m cli "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    variables = environment({"HOME": str(tmp_path)})
    variables["PATH"] = f"{programs}:{variables['PATH']}"
    script = tmp_path / "script"
    script.write_text(
        subprocess.run(
            [command, "completion", shell],
            env=variables,
            capture_output=True,
            text=True,
            check=True,
        ).stdout,
        encoding="utf-8",
    )

    def complete(*words: str, **extra: str) -> list[str]:
        done = subprocess.run(
            [found, *_OPTIONS[shell], "-c", _PROGRAMS[shell](["ctxaudit", *words], script)],
            env=variables | extra,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == 0, done.stderr
        offered = [re.split(r"[\t]|(?<!\\):", row)[0] for row in done.stdout.splitlines()]
        return [word for word in offered if word]

    return complete


def test_what_is_offered(complete: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "home-of-one").mkdir()
    # Commands, also of the group below.
    assert complete("ver") == ["verify"]
    assert {"append", "check", "repair"} <= set(complete("transcript", ""))
    # Options.
    assert "--min-strength" in complete("verify", "--min")
    # Choices, codes with a page, schemas, states with commas.
    assert complete("verify", "--min-strength", "pos") == ["position"]
    assert "artifact_missing" in complete("explain", "artifact_m")
    assert "report" in complete("schema", "rep")
    assert complete("verify", "--fail-on", "denied,mis") == ["denied,missing"]
    # Files are the shell's own to find.
    files = complete("verify", "home-of")
    assert files in (["<default>"], ["home-of-one/"])


def test_the_environment_of_options_breaks_nothing(complete: Callable[..., list[str]]) -> None:
    hostile = {"CTXAUDIT_FORMAT": "$(touch x)", "CTXAUDIT_JOBS": "many", "CTXAUDIT_COLOR": "\x1b["}
    assert "--format" in complete("verify", "--form", **hostile)


def test_no_text_of_the_command_line_is_run(
    complete: Callable[..., list[str]], tmp_path: Path
) -> None:
    complete("explain", "$(touch ${HOME}/ran)`touch ran`")
    complete("$(touch ran)", "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shell", _SHELLS)
def test_the_script_is_the_same_as_clicks_own(shell: str, run: Callable[..., Any]) -> None:
    own = run(_CTXAUDIT_COMPLETE=f"{shell}_source")
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert done.out.strip().replace(" --max 1", "") == own.out.strip()


def test_another_shell_is_refused(run: Callable[..., Any]) -> None:
    done = run("completion", "tcsh")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


def test_a_shell_that_is_not_here_can_be_written_for(run: Callable[..., Any]) -> None:
    """Nothing is started to write a script."""
    done = run("completion", "bash", PATH="/nowhere", cwd=CHECKOUT)
    assert done.code == 0
    assert "complete -o nosort" in done.out


def test_completion_opens_nothing_below_a_root(
    home: Any, environment: Callable[[Mapping[str, str]], dict[str, str]], tmp_path: Path
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    home.state("one.json", home.transcript("s1", 2))
    log = tmp_path / "log"
    words = f"ctxaudit verify {home.path}/ --pointer transcript:"
    subprocess.run(
        ["strace", "-f", "-o", log, "-e", "trace=%file", sys.executable, "-m", "cli"],
        env=environment({})
        | {"_CTXAUDIT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "4"},
        capture_output=True,
        cwd=CHECKOUT,
        check=True,
    )
    rows = [row for row in log.read_text(encoding="utf-8").splitlines() if "execve(" not in row]
    assert rows
    assert not [row for row in rows if str(home.path) in row]
