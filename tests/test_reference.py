"""The generated pages say what the program says; `scripts/build_reference.py` makes them so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.build_reference import (
    ENVIRONMENT,
    MAN_PAGE,
    SPECIAL,
    environment_page,
    pages,
)
from tests.trees import CHECKOUT

_STALE = "stale: run python scripts/build_reference.py"


def _words(roff: str) -> str:
    """Give the words of a man page, without what is markup."""
    text = re.sub(r"^\.[A-Za-z\"\\]+ ?", "", roff, flags=re.MULTILINE)
    for escaped, plain in (
        *((r"\fB", ""), (r"\fR", ""), (r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"')),
        *((r"\(ha", "^"), (r"\(ti", "~"), (r"\(ga", "`"), (r"\&", ""), (r"\e", "\\")),
    ):
        text = text.replace(escaped, plain)
    return " ".join(text.split())


def test_the_man_page_has_every_command_option_and_sentence_of_the_help() -> None:
    # Not compared letter by letter: how an option's values are shown depends on click's version.
    page = _words(MAN_PAGE.read_text(encoding="utf-8"))
    flags: set[str] = set()
    for command in pages():
        assert command.name in page, _STALE
        help_text = " ".join((command.command.help or "").split())
        assert help_text in page, (_STALE, command.name)
        for parameter in command.command.get_params(command.context):
            record = parameter.get_help_record(command.context)
            if record is None or not record[1]:
                continue
            flags.update(re.findall(r"--[a-z-]+", record[0]))
            assert " ".join(record[1].split()) in page, (_STALE, command.name, parameter.name)
        for example in (command.command.epilog or "").split("\n"):
            assert " ".join(example.strip("\b").split()) in page, (_STALE, command.name)
    rows = re.findall(r"^\\fB(.*?)\\fR$", MAN_PAGE.read_text("utf-8"), re.MULTILINE)
    shown = {flag for row in rows for flag in re.findall(r"--[a-z-]+", row.replace("\\", ""))}
    assert shown == flags, _STALE


def test_the_page_of_the_environment_is_that_of_the_code() -> None:
    assert ENVIRONMENT.read_text(encoding="utf-8") == environment_page(), _STALE


def test_what_weakens_a_verdict_is_said() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", environment_page(), flags=re.MULTILINE)
    )
    assert "`verify`" in rows["CTXAUDIT_EXIT_ZERO"]
    assert rows["CTXAUDIT_JOBS"].strip() == rows["CTXAUDIT_SANDBOX"].strip() == ""


def test_every_variable_that_is_read_and_is_no_option_is_named() -> None:
    read: set[str] = set()
    for folder in ("cli", "provenance"):
        for path in (CHECKOUT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            read.update(re.findall(r"""environ(?:\.get\(|\[)\s*["'](\w+)""", text))
            read.update(re.findall(r"""getenv\(\s*["'](\w+)""", text))
            # Also where the name is held in a constant first.
            read.update(re.findall(r"""["'](_?CTXAUDIT_[A-Z_]+)["']""", text))
    read -= set(re.findall(r"^\| `(\w+)` \| `", environment_page(), flags=re.MULTILINE))
    assert read <= SPECIAL.keys(), "name them in SPECIAL of scripts/build_reference.py"


@pytest.mark.parametrize(
    "command",
    [
        ("mandoc", "-T", "lint", "-W", "warning"),
        ("man", "--warnings", "--encoding=UTF-8", "-l"),
    ],
)
def test_a_man_page_reader_has_nothing_to_say(command: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not here")
    done = subprocess.run(
        [*command, MAN_PAGE], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    said = done.stdout if command[0] == "mandoc" else done.stderr
    # Without a date the page is the same from any day on which it is made.
    assert [row for row in said.splitlines() if "missing date" not in row] == []
    if command[0] == "man":
        assert "ctxaudit verify home --format json" in done.stdout


def test_hostile_help_is_text_in_the_page() -> None:
    from scripts.build_reference import _text, _wrapped

    for line in (".so /etc/passwd", "'br", "\\fB\\n[x]", "--a"):
        (shown,) = _wrapped(_text(line))
        assert not shown.startswith((".", "'"))
        assert _words(shown) == line
