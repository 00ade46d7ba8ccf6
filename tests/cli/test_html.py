"""`--format html` and `--excerpts` on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Home

_SECRET = "the-words-of-the-evidence"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with two available sources, one that was altered and one that a policy denies."""
    home = Home(tmp_path / "home")
    event = home.transcript("s1", 3, content=_SECRET)[0]
    denied = home.transcript("s2", 2, content=f"{_SECRET}-denied")[0]
    artifact = home.artifact("s1", "a.txt", f"{_SECRET} <script>alert(1)</script>")
    altered = home.artifact("s1", "b.txt", f"{_SECRET}-before")
    home.artifact("s1", "b.txt", f"{_SECRET}-after")
    home.state("a.json", [event, artifact, altered, denied])
    (tmp_path / "policy.toml").write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "s2"\nwhy = "not ours"\n'
    )
    return home


def _verify(call: Callable[..., Done], home: Home, *options: str | Path, **env: str) -> Done:
    policy = home.path.parent / "policy.toml"
    return call("verify", home.path, "--policy", policy, "--format", "html", *options, **env)


def test_one_file_with_the_verdict_of_the_run(
    call: Callable[..., Done], home: Home, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    done = _verify(call, home, "--output", report)
    assert done.code == 14
    assert done.out == ""
    page = report.read_text(encoding="ascii")
    assert "<b>14</b>" in page
    assert "Corrupt: some evidence is not what was cited." in page
    assert page.endswith("</html>\n")
    # No text of the evidence, no path of this machine.
    assert _SECRET not in page
    assert str(tmp_path) not in page


def test_beside_other_reports_and_to_standard_output(
    call: Callable[..., Done], home: Home, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    done = call("verify", home.path, "--format", "json", "--output", report, "--format", "html")
    assert done.out.startswith("<!doctype html>")
    results = json.loads(report.read_text())["results"]
    assert len(results) == done.out.count(' data-s="')


def test_the_same_run_gives_the_same_page_but_for_its_times(
    call: Callable[..., Done], home: Home
) -> None:
    pages = [
        re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "", _verify(call, home, "--jobs", jobs).out)
        for jobs in ("1", "2")
    ]
    assert pages[0] == pages[1]


def test_excerpts_only_of_what_is_available_and_only_on_the_page(
    call: Callable[..., Done], home: Home, tmp_path: Path
) -> None:
    reports = {kind: tmp_path / f"r.{kind}" for kind in ("json", "ndjson", "sarif", "console")}
    options = [
        part for kind, file in reports.items() for part in ("--format", kind, "--output", file)
    ]
    policy = home.path.parent / "policy.toml"
    done = call("verify", home.path, "--policy", policy, *options, "--format", "html", "--excerpts")
    assert done.code == 14
    assert done.out.count("<pre ") == 2
    assert f"{_SECRET} &lt;script&gt;" in done.out
    assert "This page holds <b>excerpts of the evidence</b>" in done.out
    for word in ("denied", "before", "after"):
        assert f"{_SECRET}-{word}" not in done.out
    for file in reports.values():
        assert _SECRET not in file.read_text()


def test_an_excerpt_is_bounded(call: Callable[..., Done], tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.state("a.json", [home.artifact("s1", "long.txt", "x" * 5_000)])
    done = call("verify", home.path, "--format", "html", "--excerpts")
    assert "the first 1,000 characters" in done.out
    assert "x" * 1_000 in done.out
    assert "x" * 1_001 not in done.out


def test_excerpts_without_the_page_are_a_mistake(call: Callable[..., Done], home: Home) -> None:
    done = call("verify", home.path, "--excerpts", "--format", "json")
    assert done.code == 2
    assert "--excerpts: expected with --format html" in done.err
    # A variable may be set for many runs; then it does nothing here.
    done = call("verify", home.path, "--format", "json", CTXAUDIT_EXCERPTS="1")
    assert done.code == 14
    assert _SECRET not in done.out
    assert "<pre " in _verify(call, home, CTXAUDIT_EXCERPTS="1").out


def test_what_weakens_from_the_environment_stands_on_the_page(
    call: Callable[..., Done], home: Home
) -> None:
    done = _verify(call, home, CTXAUDIT_EXIT_ZERO="1")
    assert done.code == 0
    assert "<code>CTXAUDIT_EXIT_ZERO</code>" in done.out
    assert "Exit code 0, since --exit-zero was given; without it 14." in done.out
    assert 'class="verdict care"' in done.out


def test_transcripts_have_a_page_too(call: Callable[..., Done], home: Home) -> None:
    done = call("transcript", "check", home.path, "--format", "html")
    assert done.code == 0
    assert "Transcripts checked whole" in done.out
    assert "<code>ctxaudit transcript check</code>" in done.out
    assert _SECRET not in done.out
