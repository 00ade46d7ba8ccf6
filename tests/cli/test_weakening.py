"""Which options can make a failing audit pass: those that came from the environment are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from cli.commands import transcript_check, verify
from cli.outputs import FORMATS

# A decision on every option that has a variable. True: evidence can pass with it that would fail,
# or the run can succeed where nothing of the target was verified.
_DECISIONS = {
    "verify": {
        "--pointer": True,  # it counts as verified beside a target that holds nothing
        "--transcript-root": True,
        "--artifact-root": True,
        "--policy": True,  # it may refuse less than another one would
        "--as-tenant": True,
        "--waivers": True,
        "--decisions": False,  # a file more
        "--min-strength": False,  # none asks for less than what holds without it
        "--lock": True,
        "--fast": True,
        "--seal": True,
        "--seal-checkpoint": False,  # one condition more beside --seal
        "--attest": False,
        "--attest-output": False,
        "--scan": True,  # a state is read as a text: what it cites otherwise is not checked
        "--as": True,
        "--all": False,  # only adds what lies in the targets themselves
        "--since": True,
        "--session": True,
        "--excerpts": False,
        "--jobs": False,
        "--sandbox": False,  # the same answers, or none
        "--format": False,  # the exit code is the same in each
        "--output": False,
        "--fail-on": True,
        "--exit-zero": True,
        "--color": False,
        "--quiet": False,  # what weakens is named all the same
    },
    "check": {
        "--as": True,
        "--since": True,
        "--session": True,
        "--expect-hash": True,  # another hash than the one that the operator knows
        "--jobs": False,
        "--sandbox": False,  # the same answers, or none
        "--format": False,
        "--output": False,
        "--fail-on": True,
        "--exit-zero": True,
        "--color": False,
        "--quiet": False,
    },
}
_COMMANDS = {"verify": verify, "check": transcript_check}


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_option_has_a_decision_and_the_command_follows_it(name: str) -> None:
    module = _COMMANDS[name]
    options = {
        parameter.opts[-1] if parameter.opts[-1].startswith("--") else parameter.opts[0]: parameter
        for parameter in module.command.params
        if isinstance(parameter, click.Option) and parameter.envvar is not None
    }
    assert set(options) == set(_DECISIONS[name])
    names = {parameter.name: flag for flag, parameter in options.items()}
    weakening = {names[one] for one in module._WEAKENING}
    assert weakening == {flag for flag, weakens in _DECISIONS[name].items() if weakens}
    assert len(module._WEAKENING) == len(weakening)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_names_them(home: Any, call: Callable[..., Any], kind: str) -> None:
    home.state("one.json", [])
    (pointer,) = home.transcript("s1", 1)
    assert call("verify", home.path).code == 3
    variables = {"CTXAUDIT_POINTER": pointer, "CTXAUDIT_FAIL_ON": "missing"}
    for options in ((), ("--quiet",)):
        done = call("verify", home.path, "--format", kind, *options, **variables)
        assert done.code == 0
        assert all(name in done.out for name in variables)
        unset = call("verify", home.path, "--pointer", pointer, "--format", kind, *options)
        assert not any(name in unset.out for name in variables)


def test_a_state_that_is_read_as_a_text(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    (pointer,) = home.transcript("s1", 1)
    state = home.state("one.json", [pointer])
    lone = tmp_path / "lone.json"
    lone.write_text(state.read_text().replace('"schema"', '"no schema"'))
    assert call("verify", lone, home.path).code != 0
    done = call("verify", lone, home.path, "--format", "json", CTXAUDIT_SCAN="1")
    assert (done.code, done.report["weakened_by_environment"]) == (0, ["CTXAUDIT_SCAN"])
