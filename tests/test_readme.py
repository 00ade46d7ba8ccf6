"""What the README and the other pages promise is what the program does."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.exit_codes import ExitCode
from cli.main import app

_CHECKOUT = Path(__file__).resolve().parent.parent
_PAGES = sorted(
    path.relative_to(_CHECKOUT).as_posix()
    for path in (*_CHECKOUT.glob("*.md"), *(_CHECKOUT / "docs").rglob("*.md"))
)


def _readme() -> str:
    return (_CHECKOUT / "README.md").read_text(encoding="utf-8")


def _blocks(text: str, *languages: str) -> list[str]:
    found = re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [body for language, body in found if language.strip() in languages]


def _shell_lines(text: str) -> list[str]:
    """Read the commands of the shell blocks, without prompts, comments and what they print."""
    lines = []
    for body in _blocks(text, "bash", "sh", "shell"):
        lines += re.sub(r"\\\n\s*", " ", body).split("\n")
    for body in _blocks(text, "console"):
        rows = re.sub(r"\\\n\s*", " ", body).split("\n")
        lines += [row.removeprefix("$ ") for row in rows if row.startswith("$ ")]
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def _uses(text: str) -> list[list[str]]:
    """Find each use of the command, in blocks and in running text, as its words."""
    spans = re.findall(r"`((?:ctxaudit|python -m ctxaudit)\b[^`\n]*)`", text)
    uses = []
    for line in [*_shell_lines(text), *spans]:
        try:
            words = shlex.split(line)
        except ValueError as error:
            pytest.fail(f"{line!r} is no shell command: {error}")
        starts = [n for n, word in enumerate(words) if Path(word).name == "ctxaudit"]
        for start in starts:
            rest = words[start + 1 :]
            stop = next((n for n, word in enumerate(rest) if word in ("|", "&&", ";", ">")), None)
            uses.append(rest[:stop])
    return uses


def _help(*command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def _commands(*group: str) -> list[str]:
    listing = _help(*group).partition("Commands:\n")[2]
    return re.findall(r"^  ([a-z]+) ", listing, re.MULTILINE)


def _options(*command: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", _help(*command)))


def test_the_first_two_commands_audit_the_sample_and_pass_the_tests() -> None:
    first, second = _shell_lines(_readme())[:2]
    assert first.endswith("ctxaudit verify sample_state")
    assert "'.[test]'" in second
    assert re.search(r"\bpytest -n auto$", second)


@pytest.mark.parametrize("page", _PAGES)
def test_each_use_of_the_command_is_one_it_has(page: str) -> None:
    commands = _commands()
    for words in _uses((_CHECKOUT / page).read_text(encoding="utf-8")):
        command = next((word for word in words if not word.startswith("-")), None)
        # Words in capitals or angle brackets stand for something that the reader fills in.
        if command is None or not re.fullmatch(r"[a-z]+", command):
            known = _options()
        else:
            assert command in commands, f"{page}: ctxaudit {command}"
            known = _options(command) | _options()
            # A command of a group: the word behind it.
            rest = words[words.index(command) + 1 :]
            inner = next((word for word in rest if word in _commands(command)), None)
            if inner is not None:
                known |= _options(command, inner)
        for word in words:
            option = word.partition("=")[0]
            if option.startswith("-") and option != "-":
                assert option in known, f"{page}: {' '.join(words)}"


def test_the_readme_names_every_command() -> None:
    shown = {words[0] for words in _uses(_readme()) if words}
    assert set(_commands()) <= shown


def test_the_readme_lists_the_exit_codes() -> None:
    section = _readme().partition("## Exit codes")[2].partition("\n## ")[0]
    listed = [int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert listed == sorted(ExitCode)


@pytest.mark.parametrize(
    "source", [pytest.param(body, id=str(n)) for n, body in enumerate(_blocks(_readme(), "python"))]
)
def test_each_python_example_runs(source: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_CHECKOUT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", _PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (_CHECKOUT / page).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target) or target.startswith("#") or "NNNN" in target:
            continue
        place = (_CHECKOUT / page).parent / target.partition("#")[0]
        assert place.exists(), f"{page}: {target}"


def test_each_decision_has_its_row(checkout: Path) -> None:
    folder = checkout / "docs" / "decisions"
    listing = (folder / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in sorted(folder.glob("[0-9]*.md")) if path.name[:4] != "0000"]
    assert pages == re.findall(r"^\| \[\d{4}\]\(([^)]+)\)", listing, re.MULTILINE)
    for number, name in enumerate(pages, start=1):
        text = (folder / name).read_text(encoding="utf-8")
        assert name.startswith(f"{number:04d}-")
        assert re.findall(r"^#+ .*", text, re.MULTILINE)[0].startswith(f"# {number:04d}: ")
        for heading in ("Status: ", "## Context", "## Decision", "## Cost"):
            assert f"\n{heading}" in text, f"{name}: {heading}"
