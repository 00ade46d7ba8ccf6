#!/usr/bin/env python3
"""Write what is generated from the commands: `docs/man/ctxaudit.1` and `docs/environment.md`.

Guarantees: both are the program's own help, put into another form; nothing in them is written by
hand but the words below. A test fails where one of them is stale; this script makes it right.

Example:
    python scripts/build_reference.py
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import click  # noqa: E402

from cli.application import app  # noqa: E402
from provenance._version import __version__  # noqa: E402

MAN_PAGE = ROOT / "docs" / "man" / "ctxaudit.1"
ENVIRONMENT = ROOT / "docs" / "environment.md"

# Variables that are no options; a test compares their names with what the code reads.
SPECIAL = {
    "CTXAUDIT_DEBUG": "Any text: an internal error shows its traceback instead of one line. For "
    "developers: it may show evidence and paths of the machine.",
    "NO_COLOR": "Any text: no colour, unless `--color always` is given.",
    "_CTXAUDIT_COMPLETE": "Set by the scripts of `ctxaudit completion`; not for people.",
    "CTXAUDIT_SEAL_KEY": "The text of the private key of `seal`, in place of the file that `--key` "
    "names. Whoever sees the environment has the key.",
    "SQLITE_TMPDIR": "Where SQLite puts what does not fit into memory, before `TMPDIR`.",
    "TMPDIR": "Where private copies of databases and other temporary files go.",
}
_INTRODUCTION = """\
# Environment variables

Made by `scripts/build_reference.py` from the commands themselves; not to be edited.

Every option but `--help` and `--version` has a variable: `CTXAUDIT_` and its name in capitals, with
`_` for `-`. What stands on the command line comes first. A flag is set by `1`, `true`, `yes` or
`on`. Where an option may be repeated, its values are separated by blanks, those of files and
folders by `:`.

A variable that **weakens** a verdict (evidence can pass with it that would not pass without) is
named in every report that it had a part in, as `weakened_by_environment`.

| variable | option of | weakens a verdict of |
|---|---|---|
"""
_OTHERS = """
## Others

| variable | what it does |
|---|---|
"""


class Page(NamedTuple):
    """One command: its full name, and click's own view of it."""

    name: str
    command: click.Command
    context: click.Context


def pages() -> Iterator[Page]:
    """Give all commands, groups before what is in them."""
    top = click.Context(app, info_name="ctxaudit", **app.context_settings)
    yield Page("ctxaudit", app, top)
    yield from _below(app, top)


def _below(group: click.Group, above: click.Context) -> Iterator[Page]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None or command.hidden:
            continue
        context = click.Context(command, info_name=name, parent=above)
        yield Page(context.command_path, command, context)
        if isinstance(command, click.Group):
            yield from _below(command, context)


def environment_page() -> str:
    """Give `docs/environment.md`."""
    users: dict[str, list[str]] = {}
    weakening: dict[str, list[str]] = {}
    for page in pages():
        module = sys.modules[getattr(page.command.callback, "__module__", "")]
        names = getattr(module, "_WEAKENING", ())
        for option in _options(page):
            if not isinstance(option.envvar, str):
                continue
            users.setdefault(option.envvar, []).append(page.name)
            if option.name in names:
                weakening.setdefault(option.envvar, []).append(page.name)
    rows = [
        f"| `{name}` | {_code(users[name])} | {_code(weakening.get(name, ()))} |\n"
        for name in sorted(users)
    ]
    others = [f"| `{name}` | {words} |\n" for name, words in sorted(SPECIAL.items())]
    return _INTRODUCTION + "".join(rows) + _OTHERS + "".join(others)


def _code(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name.removeprefix('ctxaudit ')}`" for name in names)


def _options(page: Page) -> list[click.Option]:
    return [one for one in page.command.params if isinstance(one, click.Option)]


def man_page() -> str:
    """Give `docs/man/ctxaudit.1`."""
    found = list(pages())
    top = found[0]
    rows = [
        '.\\" Made by scripts/build_reference.py from the commands; not to be edited.',
        f'.TH CTXAUDIT 1 "" "ctxaudit {__version__}" "User Commands"',
        ".SH NAME",
        r"ctxaudit \- " + _text(_first_sentence(top.command.help or "")),
        ".SH SYNOPSIS",
    ]
    for page in found:
        if not isinstance(page.command, click.Group):
            rows += [".nf", _synopsis(page), ".fi"]
    rows += [".SH DESCRIPTION", *_paragraphs(top.command.help or "")]
    rows += [".SH OPTIONS", *_option_rows(top)]
    rows.append(".SH COMMANDS")
    for page in found[1:]:
        rows += [f'.SS "{_text(page.name)}"', ".nf", _synopsis(page), ".fi", ".PP"]
        rows += _paragraphs(page.command.help or "")
        rows += _option_rows(page)
        if page.command.epilog:
            rows += _paragraphs(page.command.epilog)
    rows += [
        ".SH ENVIRONMENT",
        *_paragraphs("Every option but --help and --version has a variable, shown beside it."),
    ]
    for name, words in sorted(SPECIAL.items()):
        rows += [".TP", rf"\fB{_text(name)}\fR", _text(words.replace("`", ""))]
    rows += [".SH EXAMPLES", *_paragraphs(top.command.epilog or "")]
    return "\n".join(_tidy(rows)) + "\n"


def _tidy(rows: list[str]) -> Iterator[str]:
    """Leave out paragraphs that a heading begins anyhow; break long lines outside of tables."""
    is_kept = False
    before = ""
    for row in rows:
        if row in (".nf", ".fi"):
            is_kept = row == ".nf"
        is_heading = before.startswith((".SH", ".SS")) or before == ".PP"
        if not (row == ".PP" and is_heading):
            yield from [row] if is_kept or row.startswith(".") else _wrapped(row)
            before = row


def _wrapped(row: str) -> list[str]:
    lines = textwrap.wrap(row, 79, break_long_words=False, break_on_hyphens=False)
    return [r"\&" + line if line.startswith((".", "'")) else line for line in lines]


def _synopsis(page: Page) -> str:
    pieces = page.command.collect_usage_pieces(page.context)
    return rf"\fB{_text(page.name)}\fR " + _text(" ".join(pieces))


def _option_rows(page: Page) -> list[str]:
    rows: list[str] = []
    for one in page.command.get_params(page.context):
        record = one.get_help_record(page.context)
        if record is not None and record[1]:
            rows += [".TP", rf"\fB{_text(record[0])}\fR", _text(" ".join(record[1].split()))]
    return rows


def _paragraphs(text: str) -> list[str]:
    """Set paragraphs as click does: one that begins with a backspace keeps its lines."""
    rows: list[str] = []
    for paragraph in "\n".join(line.strip(" ") for line in text.split("\n")).split("\n\n"):
        lines = [line for line in paragraph.split("\n") if line]
        if not lines:
            continue
        if lines[0] == "\b":
            rows += [".PP", ".nf", *map(_text, lines[1:]), ".fi"]
        else:
            rows += [".PP", _text(" ".join(lines))]
    return rows


def _first_sentence(text: str) -> str:
    return text.split(".", maxsplit=1)[0].strip()


def _text(text: str) -> str:
    """Escape what roff would take for its own."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace('"', r"\(dq")
    text = text.replace("^", r"\(ha").replace("~", r"\(ti").replace("`", r"\(ga")
    return r"\&" + text if text.startswith(".") else text


def main() -> int:
    """Write both."""
    for path, text in ((MAN_PAGE, man_page()), (ENVIRONMENT, environment_page())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
