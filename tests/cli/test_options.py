"""Shared options, and how to speak."""

from __future__ import annotations

import io
import sys

import click
import pytest

from cli.operator_files import label_of
from cli.options import environment_name, manner_from


def test_names_of_variables() -> None:
    assert environment_name("--as-tenant") == "CTXAUDIT_AS_TENANT"


@pytest.mark.parametrize(
    ("color", "above", "no_color", "terminal", "expected"),
    [
        (None, None, "", True, (True, True)),
        (None, None, "1", True, (True, False)),
        (None, None, "", False, (False, False)),
        ("never", None, "", True, (True, False)),
        ("always", None, "1", False, (True, True)),
        (None, "always", "", False, (True, True)),
        ("never", "always", "", False, (False, False)),
        ("auto", "always", "", False, (False, False)),
    ],
)
def test_manner(
    color: str | None,
    above: str | None,
    no_color: str,
    terminal: bool,
    expected: tuple[bool, bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", stream)
    ctx = click.Context(click.Command("x"), obj={"color": above, "quiet": False})
    manner = manner_from(ctx, color=color, quiet=False)
    assert (manner.boxes, manner.color) == expected


def test_labels_hold_no_folder() -> None:
    assert [label_of(path) for path in ("/srv/a.toml", "a.toml", "/")] == [
        "a.toml",
        "a.toml",
        "file",
    ]
