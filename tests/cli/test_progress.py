"""Progress on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from cli.options import Manner
from cli.progress import Progress


def test_it_shows_itself_in_a_long_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    now = [0.0]
    manner = Manner(boxes=True, color=True, quiet=False)
    progress = Progress.where_wanted(manner, clock=lambda: now[0])
    assert progress is not None
    progress.plan(10)
    progress.advance(2)
    assert stream.getvalue() == ""
    now[0] = 5.0
    progress.advance(3)
    progress.close()
    assert "verifying" in stream.getvalue()
    assert "5 of 10" in " ".join(stream.getvalue().split())


def test_it_is_not_drawn_for_each_of_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    now = [0.0]
    progress = Progress.where_wanted(Manner(True, True, False), clock=lambda: now[0])
    assert progress is not None
    progress.plan(1_000)
    now[0] = 5.0
    progress.advance(1)
    drawn = len(stream.getvalue())
    for _ in range(998):
        progress.advance(1)
    assert len(stream.getvalue()) == drawn
    # The last one is shown, however soon it comes; so is one that comes later.
    progress.advance(1)
    assert len(stream.getvalue()) > drawn
    progress.close()


def test_nobody_is_shown_anything_who_did_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    clock = float
    assert Progress.where_wanted(Manner(True, True, False), clock=clock) is None
    assert Progress.where_wanted(Manner(True, True, True), clock=clock) is None
