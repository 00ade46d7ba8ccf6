"""`ctxaudit explain` and `ctxaudit schema`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import jsonschema
import pytest

from cli.exit_codes import ExitCode
from cli.main import app
from cli.verdict import COUNTABLE
from provenance.audit import all_explanations
from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Severity
from provenance.pointers import SourcePointerKind
from provenance.reports import closing_lines
from provenance.resolution import (
    Quiescence,
    Reason,
    SourceResolutionStatus,
    Strength,
    resolution_for,
)
from provenance.schemas import SCHEMA_NAMES, load_schema


@pytest.mark.parametrize("code", [*map(str, Reason), *(str(code.value) for code in ExitCode)])
def test_every_reason_and_exit_code_is_explained(code: str, call: Callable[..., Any]) -> None:
    done = call("explain", code)
    assert done.code == 0
    assert done.out.startswith(f"{code} (")
    for heading in ("What it means", "How it arises", "What to do"):
        assert heading in done.out


@pytest.mark.parametrize("page", all_explanations(), ids=lambda page: page.code)
def test_what_only_looks_like_it_stands_at_the_end(page: Any, call: Callable[..., Any]) -> None:
    done = call("explain", page.code)
    assert done.code == 0
    heading = "  Looks like it and is none: "
    if page.look_alike:
        assert done.out.endswith(f"\n\n{heading}{page.look_alike}\n")
    else:
        assert heading not in done.out
        assert done.out.endswith(f"{page.remedy}\n")


def test_both_sorts_of_pages_were_looked_at() -> None:
    assert {bool(page.look_alike) for page in all_explanations()} == {True, False}


def _words() -> set[str]:
    """Collect the words that stand in reports and that options take."""
    words = {*AuditReport().summary.to_dict(), *map(str, Severity), *map(str, Quiescence)}
    words |= {*map(str, Strength), *map(str, SourceResolutionStatus), *map(str, SourcePointerKind)}
    words |= set(AuditedSource(resolution_for("x", Reason.MALFORMED_POINTER)).to_dict())
    interrupted = AuditReport(is_interrupted=True)
    words |= set(json.loads("".join(closing_lines(interrupted)))["run"]) - {"summary"}
    words |= set(COUNTABLE)
    for name in app.list_commands(click.Context(app)):
        command = app.get_command(click.Context(app), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter.type, click.Choice):
                words |= set(parameter.type.choices)
    return words


@pytest.mark.parametrize("word", sorted(_words()))
def test_every_word_of_reports_and_options_is_explained(
    word: str, call: Callable[..., Any]
) -> None:
    done = call("explain", word)
    assert done.code == 0
    assert done.out.startswith(f"{word} (")


def test_all_pages_are_listed(call: Callable[..., Any]) -> None:
    lines = call("explain").out.splitlines()
    assert len(lines) == len(all_explanations())
    assert any("state_unreadable" in line for line in lines)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("artefact_missing", "artifact_missing"),
        ("corupt", "corrupt"),
        ("zzzzzz", ""),
        ("", ""),
        ("x" * 10_000, ""),
        ("\x1b[31m", ""),
    ],
)
def test_an_unknown_code_names_those_like_it(
    code: str, hint: str, call: Callable[..., Any]
) -> None:
    done = call("explain", code)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err
    assert ("like it" in done.err) == bool(hint)
    assert len(done.err.splitlines()) == 1
    assert "\x1b" not in done.err


def test_schemas(call: Callable[..., Any]) -> None:
    assert call("schema").out.split() == list(SCHEMA_NAMES)
    for name in SCHEMA_NAMES:
        done = call("schema", name)
        assert done.out == load_schema(name)
        jsonschema.Draft202012Validator.check_schema(json.loads(done.out))
        assert call("schema", f"ctxaudit.{name}/1").out == done.out
    assert call("schema", "nonsense").code == 2


def test_the_state_schema_takes_a_home_s_state(home: Any, call: Callable[..., Any]) -> None:
    state = home.state("one.json", ["transcript:s1:1"])
    jsonschema.validate(json.loads(state.read_text()), json.loads(call("schema", "state").out))
