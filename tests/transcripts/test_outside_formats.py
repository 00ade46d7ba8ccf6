"""Formats from outside: an example package is used; one that is of no use breaks nothing."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenance.transcripts import formats
from provenance.transcripts.adapters.protocol import FORMAT_GROUP
from tests.transcripts.breaking import audit
from tests.trees import CHECKOUT, run_python

PACKAGE = CHECKOUT / "tests/data/outside_format"
CLAUDE = CHECKOUT / "tests/data/transcripts/claude-code/synthetic/clean.jsonl"
TRAIL = b"paper-trail 1\nU Name the files.\nC call-1 ls\nR call-1 README.md\nA There is one.\n"


def _install(site: Path, points: dict[str, str], modules: dict[str, str] | None = None) -> None:
    """Do what an installer does with a package of modules: its files, and what it announces."""
    for name, text in (modules or {}).items():
        (site / f"{name}.py").write_text(text)
    about = site / f"example_{len(list(site.iterdir()))}-1.0.dist-info"
    about.mkdir()
    name = about.name.partition("-")[0]
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[{FORMAT_GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that the interpreter looks for packages in, with the example in it."""
    site = tmp_path / "site"
    site.mkdir()
    shutil.copy(PACKAGE / "ctxaudit_paper_trail.py", site)
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    _install(site, project["entry-points"][FORMAT_GROUP])
    return site


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "one.trail").write_bytes(TRAIL)
    (tree / "two.jsonl").write_bytes(TRAIL.replace(b"R call-1", b"R call-2"))
    shutil.copy(CLAUDE, tree / "claude.jsonl")
    return tree


_VERIFY = """
import runpy, sys
runpy.run_module("cli", run_name="__main__", alter_sys=True)
"""


def _verify(site: Path, *arguments: str | Path, code: int) -> dict[str, Any]:
    path = f"{CHECKOUT}:{site}"
    done = run_python(
        _VERIFY, "verify", *arguments, "--format", "json", check=False, PYTHONPATH=path
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _formats(report: dict[str, Any]) -> dict[str, str]:
    return {one["target"]: one["format"] for one in report["transcripts"]}


def test_an_outside_format_is_told_by_its_content(site: Path, tree: Path) -> None:
    report = _verify(site, tree, code=14)
    assert _formats(report) == {
        "claude.jsonl": "claude-code", "one.trail": "paper-trail", "two.jsonl": "paper-trail",
    }  # fmt: skip
    said = {one["target"]: one for one in report["transcripts"]}
    one = said["one.trail"]
    assert (one["sessions"], one["records"]) == (["one"], 4)
    assert (one["calls"], one["call_results"]) == (1, 1)
    assert one["findings"] == {}
    # What its records say of each other is found as for any other format.
    assert said["two.jsonl"]["findings"] == {"interrupted_call": 1, "orphan_result": 1}


def test_an_outside_format_may_be_named(site: Path, tree: Path) -> None:
    (tree / "other.txt").write_bytes(b"not the first line\nU hi\nX strange\n")
    report = _verify(site, tree / "other.txt", "--as", "paper-trail", code=0)
    (one,) = report["transcripts"]
    assert (one["format"], one["records"]) == ("paper-trail", 2)
    assert one["unknown_types"] == {"X": 1}


def test_without_the_package_the_name_is_of_no_format(tmp_path: Path, tree: Path) -> None:
    done = run_python(_VERIFY, "verify", tree / "one.trail", "--as", "paper-trail", check=False)
    assert done.returncode == 2
    assert "claude-code" in done.stderr
    assert "Traceback" not in done.stderr
    (tree / "two.jsonl").unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    assert _formats(_verify(empty, tree, code=0)) == {"claude.jsonl": "claude-code"}


_SHAPE = """
class {cls}:
    name = {name!r}
    suffixes = {suffixes!r}
    has_separate_sessions = False
    def identify(self, head):
        {identify}
    def records(self, source):
        {records}
    def references(self, record):
        {references}
    def sessions(self, source):
        {sessions}
"""
_HARMLESS = {
    "cls": "F", "name": "x-format", "suffixes": (".jsonl",), "identify": "return False",
    "records": "return iter(())", "references": "return ()", "sessions": "return ()",
}  # fmt: skip


def _module(**other: object) -> str:
    return _SHAPE.format(**{**_HARMLESS, **other})


# What is of no use, each with the reason.
_USELESS = {
    "raises when it is imported": "raise RuntimeError('no')",
    "is no Python": "def (",
    "lacks the object": "",
    "is no format": "F = 3",
    "is a function": "def F(): pass",
    "raises when it is made": "class F:\n    def __init__(self): raise ValueError",
    "wants an argument": "class F:\n    def __init__(self, one): pass",
    "lacks a method": _module().replace("def sessions", "def sessions_"),
    "takes the name of ours": _module(name="claude-code"),
    "takes the name of the last one": _module(name="native"),
    "takes the name of another one": _module(name="paper-trail"),
    "has no name": _module(name=""),
    "has a name of capitals": _module(name="X-Format"),
    "has a name with a line end": _module(name="x\n"),
    "leaves the program": "import sys\nsys.exit(3)",
    "has a name that is no text": _module(name=3),
    "has a name that raises": _module().replace(
        "name = 'x-format'", "name = property(lambda self: 1 / 0)"
    ),
    "has endings that are no text": _module(suffixes=(3,)),
    "has no list of endings": _module(suffixes=3),
}


@pytest.fixture
def packages(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of packages, as this very interpreter finds it."""
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)
    for cached in (formats._load, formats._suffixes):
        cached.cache_clear()
    yield site
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(site) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]
    for cached in (formats._load, formats._suffixes):
        cached.cache_clear()


def _told(tree: Path) -> dict[str, tuple[str, int]]:
    return {one.target: (one.format, one.records) for one in audit(tree).transcripts}


_SOUND = {
    "claude.jsonl": ("claude-code", 5), "one.trail": ("paper-trail", 4),
    "two.jsonl": ("paper-trail", 4),
}  # fmt: skip


@pytest.mark.parametrize("why", _USELESS)
def test_what_is_of_no_use_is_rejected_and_named(why: str, packages: Path, tree: Path) -> None:
    # The example's name sorts before, so that it is the one that stays.
    _install(packages, {"useless": "useless_module:F"}, {"useless_module": _USELESS[why]})
    assert formats.rejected_formats() == ("useless",)
    assert "paper-trail" in formats.format_names()
    assert list(formats.known_formats())[-1] == "native"
    assert _told(tree) == _SOUND


def test_what_is_of_no_use_breaks_no_program(site: Path, tree: Path) -> None:
    modules = {f"useless_{number}": text for number, text in enumerate(_USELESS.values())}
    points = {name.replace("_", "-"): f"{name}:F" for name in modules}
    _install(site, points, modules)
    report = _verify(site, tree, code=14)
    assert set(_formats(report).values()) == {"claude-code", "paper-trail"}


def test_one_that_raises_when_it_is_asked_is_passed_over(packages: Path, tree: Path) -> None:
    # It is asked after ours, and before the example.
    text = _module(name="a-format", identify="raise KeyError('no')")
    _install(packages, {"a-format": "asked_module:F"}, {"asked_module": text})
    assert _told(tree) == _SOUND


_MINE = "return head.data.startswith(b'mine')"
_ONE = "yield Record(ordinal=1, kind='k', raw=b'', value=None)"


@pytest.mark.parametrize(
    "broken",
    [
        {"records": "raise KeyError('no')"},
        {"records": "yield 1"},
        {"records": "return None"},
        {"records": _ONE, "references": "raise KeyError('no')"},
        {"sessions": "raise KeyError('no')"},
        {"sessions": "return None"},
    ],
    ids=str,
)
def test_one_that_raises_when_it_reads_costs_its_own_files_alone(
    broken: dict[str, Any], packages: Path, tree: Path
) -> None:
    (tree / "mine.jsonl").write_bytes(b"mine\n")
    text = "from provenance.transcripts.records import Record\n"
    text += _module(identify=_MINE, **broken)
    _install(packages, {"x-format": "reading_module:F"}, {"reading_module": text})
    said = _told(tree)
    assert said.pop("mine.jsonl")[0] == "x-format"
    assert said == _SOUND
