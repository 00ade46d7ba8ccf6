"""The command as a whole: options, help, completion, start-up, and how a run ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.exit_codes import VERDICTS, ExitCode, worst
from cli.main import app, main
from cli.options import environment_name

_COMMANDS = (
    "attest",
    "cite",
    "compact",
    "completion",
    "doctor",
    "explain",
    "gc",
    "keygen",
    "log",
    "pin",
    "policy",
    "render",
    "schema",
    "seal",
    "show",
    "spill",
    "state",
    "transcript",
    "verify",
)


def _commands() -> Iterator[tuple[str, click.Command]]:
    yield "ctxaudit", app
    ctx = click.Context(app)
    for name in app.list_commands(ctx):
        command = app.get_command(ctx, name)
        assert command is not None
        yield name, command


def _all_commands() -> Iterator[tuple[str, click.Command]]:
    """Give the commands of groups too."""
    for name, command in _commands():
        yield name, command
        if isinstance(command, click.Group) and command is not app:
            ctx = click.Context(command)
            for inner in command.list_commands(ctx):
                found = command.get_command(ctx, inner)
                assert found is not None
                yield f"{name} {inner}", found


def test_the_commands() -> None:
    assert [name for name, _ in _commands()] == ["ctxaudit", *_COMMANDS]
    assert app.get_command(click.Context(app), "nonsense") is None


def test_every_option_has_its_environment_variable() -> None:
    seen = 0
    for _, command in _all_commands():
        for parameter in command.params:
            # --version is no setting; in an environment it would only break every command.
            if not isinstance(parameter, click.Option) or parameter.name == "version":
                continue
            flag = max(parameter.opts, key=len)
            assert parameter.envvar == environment_name(flag)
            assert parameter.envvar == "CTXAUDIT_" + flag[2:].upper().replace("-", "_")
            assert parameter.show_envvar
            assert parameter.help
            seen += 1
    assert seen > 30


@pytest.mark.parametrize("name", [name for name, _ in _all_commands() if name != "ctxaudit"])
def test_every_command_explains_itself_with_an_example(name: str, call: Callable[..., Any]) -> None:
    for flag in ("--help", "-h"):
        done = call(*name.split(), flag)
        assert done.code == 0
        assert f"Usage: ctxaudit {name}" in done.out
        assert "Examples:" in done.out
        assert f"ctxaudit {name} " in done.out.partition("Examples:")[2]
        assert done.err == ""


def test_the_examples_about_the_sample_work(
    call: Callable[..., Any], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    seen = 0
    for _, command in _all_commands():
        for line in (command.epilog or "").splitlines():
            words = line.partition(">")[0].split()
            if "sample_state" not in line or words[:1] != ["ctxaudit"]:
                continue
            done = call(*words[1:])
            assert done.code == (14 if words[1] == "verify" else 0)
            assert done.out
            seen += 1
    assert seen >= 6


def test_help_lists_every_command(call: Callable[..., Any]) -> None:
    done = call("--help")
    assert done.code == 0
    for name in _COMMANDS:
        assert f"\n  {name} " in done.out
    nothing = call()
    assert (nothing.code, nothing.out) == (2, "")
    assert "Usage: ctxaudit" in nothing.err


def test_version(run: Callable[..., Any]) -> None:
    from provenance import __version__

    assert run("--version").out == f"ctxaudit {__version__}\n"


@pytest.mark.parametrize(
    "args", [["nonsense"], ["--nonsense"], ["verify", "--nonsense"], ["explain"]]
)
def test_what_is_mistyped_is_told_in_one_line(args: list[str], call: Callable[..., Any]) -> None:
    done = call(*args)
    if args == ["explain"]:
        assert done.code == 0
        return
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "\x1b" not in call("verify", "--\x1b[31m\n").err


def test_options_from_the_environment(call: Callable[..., Any], home: Any) -> None:
    first, second = home.transcript("s1", 2)
    done = call(
        "verify",
        CTXAUDIT_POINTER=f"{first} {second}",
        CTXAUDIT_TRANSCRIPT_ROOT=str(home.path / "transcripts"),
        CTXAUDIT_FORMAT="json",
    )
    assert done.code == 0
    assert done.report["summary"]["available"] == 2
    assert call("verify", home.path, CTXAUDIT_JOBS="none").code == 2
    assert call("schema", CTXAUDIT_COLOR="purple").code == 2


@pytest.mark.parametrize("name", _COMMANDS)
def test_how_to_speak_is_an_option_of_every_command(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert {"quiet", "color"} <= {parameter.name for parameter in command.params}


def test_help_loads_nothing_heavy(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    program = (
        "import sys\n"
        "from cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment({}),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    loaded = {name.partition(".")[0] for name in eval(done.stderr)}
    assert not loaded & {"rich", "pydantic", "msgspec", "blake3", "json", "tomllib", "asyncio"}
    assert "provenance" not in loaded
    ours = {name for name in eval(done.stderr) if name.startswith("cli.")}
    assert ours <= {
        *("cli.main", "cli.application", "cli.exit_codes", "cli.interrupts"),
        *("cli.lazy", "cli.options", "cli.streams", "cli.values"),
    }


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str, run: Callable[..., Any]) -> None:
    done = run(_CTXAUDIT_COMPLETE=f"{shell}_source")
    assert done.code == 0
    assert "_CTXAUDIT_COMPLETE" in done.out


def test_completion_of_commands_options_and_values(run: Callable[..., Any]) -> None:
    def complete(*words: str) -> set[str]:
        done = run(
            _CTXAUDIT_COMPLETE="bash_complete",
            COMP_WORDS=" ".join(("ctxaudit", *words)),
            COMP_CWORD=str(len(words)),
        )
        return {line.partition(",")[2] for line in done.out.splitlines()}

    assert complete("ver") == {"verify"}
    assert {"--format", "--fail-on"} <= complete("verify", "--f")
    assert complete("verify", "--format", "js") == {"json"}
    done = run(_CTXAUDIT_COMPLETE="bash_complete", COMP_WORDS="ctxaudit verify sam", COMP_CWORD="2")
    assert done.out == "file,sam\n"


def test_a_defect_gives_one_line_and_no_traceback(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise RuntimeError("secret text\n/srv/path")

    monkeypatch.setattr("provenance.audit.all_explanations", fail)
    done = call("explain")
    assert done.code == 1
    assert done.err == "ctxaudit: internal error: RuntimeError\n"
    with pytest.raises(RuntimeError):
        monkeypatch.setenv("CTXAUDIT_DEBUG", "1")
        main(["explain"])


@given(st.lists(st.sampled_from(list(ExitCode))))
def test_the_worst_code_wins(codes: list[ExitCode]) -> None:
    found = worst(codes)
    verdicts = [code for code in VERDICTS if code in codes]
    assert found is (verdicts[0] if verdicts else ExitCode.OK)


def test_the_codes_are_those_of_the_contract() -> None:
    assert [code.value for code in ExitCode] == [0, 1, 2, 3, 4, 11, 12, 13, 14, 130]
    assert [code.value for code in VERDICTS] == [14, 13, 12, 11, 4, 3]


_WORDS = st.one_of(
    st.sampled_from(
        [
            *_COMMANDS,
            "-",
            "--",
            "--pointer",
            "--format",
            "json",
            "ndjson",
            "--scan",
            "--all",
            "--lines",
            "1:2",
            "--raw",
            "--home",
            ".",
            "..",
            "/",
            "--transcript-root",
            "--artifact-root",
            "--fail-on",
            "corrupt",
            "--quiet",
            "--color",
            "always",
            "--session",
            "--no-resolve",
            "--as",
            "native",
            "transcript:s1:1",
            "artifact:s1:a:0123456789ab",
        ]
    ),
    st.text(max_size=12),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=150,
)
@given(st.lists(_WORDS, max_size=7), st.binary(max_size=60))
def test_any_command_line_ends_with_a_documented_code(
    call: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    data: bytes,
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    monkeypatch.chdir(empty)
    done = call(*(arg for arg in args if arg != "--output"), stdin=data)
    assert done.code in set(ExitCode)
    assert done.code not in (ExitCode.TOOL_FAILED, ExitCode.INTERRUPTED)
    assert "internal error" not in done.err
