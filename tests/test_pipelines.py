"""What other people's pipelines are given: valid by the platforms' schemas, run as there."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.commands.verify import command as verify_command
from cli.outputs import FORMATS
from tests.trees import CHECKOUT

yaml = pytest.importorskip("yaml", reason="PyYAML is not here")

_ACTION = CHECKOUT / "action.yml"
_HOOKS = CHECKOUT / ".pre-commit-hooks.yaml"
_PAGE = CHECKOUT / "docs" / "pipelines.md"

# exit code, log, outputs, summary
_Step = Callable[..., tuple[int, str, dict[str, str], str]]


def _tool(name: str) -> str:
    found = shutil.which(
        name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if found is None:
        pytest.skip(f"{name} is not here")
    return found


def _action() -> dict[str, Any]:
    return yaml.safe_load(_ACTION.read_text(encoding="utf-8"))


def _snippets(word: str) -> list[str]:
    blocks = re.findall(r"^```yaml\n(.*?)^```", _PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if word in block]


def _validate(schema: str, path: Path) -> subprocess.CompletedProcess[str]:
    # The schemas are in the package: nothing is fetched.
    return subprocess.run(
        [_tool("check-jsonschema"), "--builtin-schema", schema, path],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_is_one() -> None:
    done = _validate("vendor.github-actions", _ACTION)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("schema", "word", "name", "count"),
    [
        ("vendor.github-workflows", "runs-on:", "workflow.yml", 1),
        ("vendor.gitlab-ci", "script:", "gitlab-ci.yml", 2),
    ],
)
def test_the_snippets_are_valid(
    schema: str, word: str, name: str, count: int, tmp_path: Path
) -> None:
    found = [block for block in _snippets(word) if "on: [push]" in block or "runs-on" not in block]
    assert len(found) == count
    for block in found:
        path = tmp_path / name
        path.write_text(block, encoding="utf-8")
        done = _validate(schema, path)
        assert done.returncode == 0, done.stdout


def test_a_snippet_with_a_mistake_is_none(tmp_path: Path) -> None:
    """The look-alike: the schemas do find mistakes."""
    path = tmp_path / "gitlab-ci.yml"
    path.write_text(_snippets("junit:")[0].replace("when: always", "when: often"), "utf-8")
    assert _validate("vendor.gitlab-ci", path).returncode == 1
    path.write_text(_ACTION.read_text("utf-8").replace("shell: bash", "shel: bash"), "utf-8")
    assert _validate("vendor.github-actions", path).returncode == 1


def test_the_action_has_no_weakness_that_a_linter_knows(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "evidence.yml").write_text(_snippets("runs-on:")[0], encoding="utf-8")
    shutil.copy(_ACTION, tmp_path)
    done = subprocess.run(
        [
            *(_tool("zizmor"), "--offline", "--no-progress", "--persona=pedantic", "--format=json"),
            *(tmp_path / "action.yml", folder / "evidence.yml"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert [finding["ident"] for finding in json.loads(done.stdout)] == [], done.stdout


def test_nothing_of_an_expression_reaches_a_shell() -> None:
    for step in _action()["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_the_inputs_are_options_of_verify() -> None:
    own = {"targets", "annotations", "summary", "fail"}
    # Built beside this; the test says when they are there.
    coming = {"waivers", "lock", "seal"}
    options = {name for one in verify_command.params for name in one.opts}
    for name in _action()["inputs"].keys() - own - coming:
        assert f"--{name}" in options, name


def test_the_hooks_are_hooks() -> None:
    done = subprocess.run(
        [_tool("pre-commit"), "validate-manifest", _HOOKS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("hook", "path", "runs"),
    [
        ("ctxaudit-verify", "agents/home/ctxaudit.toml", True),
        ("ctxaudit-verify", "states/deploy.json", True),
        ("ctxaudit-verify", "transcripts/s1.jsonl", True),
        ("ctxaudit-verify", "s1/tool-results/a.txt", True),
        ("ctxaudit-verify", "ctxaudit.lock", True),
        ("ctxaudit-verify", "src/states.py", False),
        ("ctxaudit-verify", "ctxaudit.toml.md", False),
        ("ctxaudit-transcript-check", "logs/s1.jsonl", True),
        ("ctxaudit-transcript-check", "s1/tool-results.jsonl", False),
        ("ctxaudit-transcript-check", "s1.jsonl.gz", False),
    ],
)
def test_when_a_hook_runs(hook: str, path: str, runs: bool) -> None:
    (found,) = (one for one in yaml.safe_load(_HOOKS.read_text("utf-8")) if one["id"] == hook)
    is_taken = re.search(found["files"], path) is not None
    is_left = "exclude" in found and re.search(found["exclude"], path) is not None
    assert (is_taken and not is_left) is runs


@pytest.mark.parametrize(
    ("hook", "args", "files", "code"),
    [
        ("ctxaudit-verify", ["."], [], 14),
        ("ctxaudit-verify", [], [], 2),  # a home that nobody named must not pass for sound
        ("ctxaudit-transcript-check", [], ["transcripts/deploy-2041.jsonl"], 0),
    ],
)
def test_a_hook_does_its_work(
    hook: str, args: list[str], files: list[str], code: int, tmp_path: Path
) -> None:
    """As pre-commit runs it: the entry, the arguments, the files, from the repository's root."""
    shutil.copytree(CHECKOUT / "sample_state", tmp_path / "repository")
    (found,) = (one for one in yaml.safe_load(_HOOKS.read_text("utf-8")) if one["id"] == hook)
    name, *words = found["entry"].split()
    assert name == "ctxaudit"
    assert found.get("pass_filenames", True) is (hook != "ctxaudit-verify")
    assert "args" not in found
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words, *args, *files],
        cwd=tmp_path / "repository",
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr


@pytest.fixture
def step(tmp_path: Path) -> _Step:
    """Run the action's second step as GitHub does: bash, the variables, the files behind them."""
    place = tmp_path / "temporary" / "ctxaudit-x"
    programs = place / "venv" / "bin"
    programs.mkdir(parents=True)
    python = programs / "python"
    # What the first step installs; `-I` keeps the checkout out, so that it is named here.
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -I ] && shift 3\n'
        f"PYTHONPATH='{CHECKOUT}' exec '{sys.executable}' -m cli \"$@\"\n",
        encoding="utf-8",
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    action = _action()
    (found,) = (one for one in action["runs"]["steps"] if one.get("id") == "verify")
    script = found["run"]
    # Two formats are built beside this; where they are not there yet, others stand in for them.
    for name, other in (("markdown", "ndjson"), ("github", "console")):
        if name not in FORMATS:
            script = script.replace(f"--format {name}", f"--format {other}")
    number = 0

    def run(inputs: Mapping[str, str], **environment: str) -> tuple[int, str, dict[str, str], str]:
        nonlocal number
        number += 1
        output, summary = tmp_path / f"output-{number}", tmp_path / f"summary-{number}"
        values = {name: one.get("default", "") for name, one in action["inputs"].items()}
        values["sandbox"] = "false"  # not every machine that runs the tests has it
        values |= inputs
        variables = {
            name: re.sub(
                r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: values[match[1]], text
            ).replace("${{ steps.install.outputs.place }}", str(place))
            for name, text in found["env"].items()
        }
        kept = {name: text for name, text in os.environ.items() if not name.startswith("CTXAUDIT_")}
        done = subprocess.run(
            # https://docs.github.com/actions: how `shell: bash` is started.
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            env=kept
            | variables
            | {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
            | environment,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
        shown = summary.read_text("utf-8") if summary.exists() else ""
        return done.returncode, done.stdout, outputs, shown

    return run


def test_the_action_on_the_sample(step: _Step) -> None:
    code, log, outputs, summary = step({"targets": "sample_state\n"})
    assert code == 14
    assert outputs["exit-code"] == "14"
    report = json.loads(Path(outputs["json"]).read_text("utf-8"))
    assert report["summary"]["total"] == 10
    assert json.loads(Path(outputs["sarif"]).read_text("utf-8"))["version"] == "2.1.0"
    assert Path(outputs["markdown"]).read_text("utf-8") == summary
    assert "artifact:deploy-2041:canary.txt" in summary
    assert "ctxaudit verify: exit code 14" in log


def test_the_switches_of_the_action(step: _Step) -> None:
    code, log, outputs, summary = step(
        {
            "targets": "sample_state",
            "fail": "false",
            "summary": "false",
            "annotations": "false",
            "fail-on": "denied",
            "all": "true",
        }
    )
    assert (code, outputs["exit-code"], summary) == (0, "13", "")
    assert "canary.txt" not in log


@pytest.mark.parametrize("name", ["all", "sandbox", "annotations", "summary", "fail"])
@pytest.mark.parametrize(
    "value", ["", "yes", "0", "true ", "truefalse", "*", "false\ntrue", "true\n"]
)
def test_a_switch_is_true_or_false(name: str, value: str, step: _Step) -> None:
    code, _, outputs, summary = step({"targets": "sample_state", name: value})
    assert (code, summary) == (2, "")
    assert outputs == {"exit-code": "2", "sarif": "", "json": "", "markdown": ""}


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("True", "False")])
def test_a_switch_has_any_case(yes: str, no: str, step: _Step) -> None:
    code, log, outputs, summary = step(
        {"targets": "sample_state", "fail": no, "summary": no, "annotations": no, "all": yes}
    )
    assert (code, outputs["exit-code"], summary) == (0, "14", "")
    assert "canary.txt" not in log
    report = json.loads(Path(outputs["json"]).read_text("utf-8"))
    assert report["summary"]["total"] > 10


def test_a_run_without_a_report_says_so(step: _Step) -> None:
    code, log, outputs, summary = step({"targets": "sample_state\nabsent"})
    assert code == 2
    assert outputs == {"exit-code": "2", "sarif": "", "json": "", "markdown": ""}
    assert "absent: expected a file or folder" in log
    assert summary == ""
    assert step({"targets": ""})[0] == 2


@pytest.mark.parametrize(
    "name", ["targets", "policy", "fail-on", "min-strength", "jobs", "as-tenant"]
)
def test_no_input_is_code(name: str, step: _Step, tmp_path: Path) -> None:
    hostile = f"$(touch {tmp_path}/ran); `touch {tmp_path}/ran` '\" --exit-zero"
    inputs = {"targets": "sample_state", "fail": "true"} | {name: hostile}
    code, _, outputs, _ = step(inputs)
    # Who asks may have any name; everything else is refused. Never is it an option.
    assert code == (14 if name == "as-tenant" else 2)
    assert outputs["exit-code"] == str(code)
    assert not (tmp_path / "ran").exists()


def test_a_target_is_no_option(step: _Step) -> None:
    assert step({"targets": "--exit-zero\nsample_state"})[0] == 2


def test_variables_of_earlier_steps_weaken_nothing(step: _Step) -> None:
    code, _, outputs, _ = step(
        {"targets": "sample_state"}, CTXAUDIT_EXIT_ZERO="1", CTXAUDIT_FAIL_ON="missing"
    )
    assert code == 14
    assert json.loads(Path(outputs["json"]).read_text("utf-8"))["weakened_by_environment"] == []


def test_what_is_said_of_a_name_is_no_workflow_command(step: _Step) -> None:
    _, log, _, _ = step({"targets": "sample_state\n::set-output name=exit-code::0"})
    stop = log.index("::stop-commands::")
    token = log[stop:].split("::")[2].split("\n")[0]
    assert len(token) == 32
    assert stop < log.index("set-output name") < log.index(f"::{token}::")
