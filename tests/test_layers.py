"""The layers of the design hold: who imports whom, and who may open a file."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.file_access import find_file_access

# Only these open files; everything else is handed handles, bytes or text.
_OPENERS = ("provenance/fs/", "provenance/stores/")


def _contracts(checkout: Path) -> dict[str, dict[str, Any]]:
    with (checkout / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)["tool"]["importlinter"]
    return {contract["id"]: contract for contract in settings["contracts"]}


def _run_import_linter(checkout: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_import_contract_is_kept(checkout: Path) -> None:
    done = _run_import_linter(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(_contracts(checkout))} kept, 0 broken." in done.stdout


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("provenance/pointers.py", "import os", "Pure layers"),
        ("provenance/limits.py", "import provenance.resolver", "Imports point downwards"),
        ("provenance/audit/__init__.py", "import rich", "The library knows neither"),
        ("provenance/novel.py", "", "novel"),
    ],
)
def test_a_planted_import_breaks_its_contract(
    file: str, line: str, contract: str, checkout: Path, tmp_path: Path
) -> None:
    for name in ("provenance", "cli"):
        shutil.copytree(checkout / name, tmp_path / name, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as planted:
        planted.write(f"\n{line}\n")
    done = _run_import_linter(tmp_path)
    assert done.returncode == 1
    assert contract in done.stdout


def test_every_layer_below_the_files_is_held_to_be_pure(checkout: Path) -> None:
    contracts = _contracts(checkout)
    layers = contracts["layers"]["layers"]
    below = layers[next(n for n, layer in enumerate(layers) if "fs" in layer) + 1 :]
    # In brackets stands what the design has and the tree may not have yet.
    required = {
        f"provenance.{name.strip()}"
        for layer in below
        for name in layer.replace(":", "|").split("|")
        if not name.strip().startswith("(")
    }
    assert required == set(contracts["pure"]["source_modules"])


def test_a_layer_in_brackets_is_absent(checkout: Path) -> None:
    layers = _contracts(checkout)["layers"]["layers"]
    optional = [
        name.strip()[1:-1]
        for layer in layers
        for name in layer.replace(":", "|").split("|")
        if name.strip().startswith("(")
    ]
    present = [
        name
        for name in optional
        if (checkout / "provenance" / name / "__init__.py").exists()
        or (checkout / "provenance" / f"{name}.py").exists()
    ]
    assert present == [], "now that it exists: take the brackets away and list it where it is pure"


def test_files_are_opened_in_one_place_only(checkout: Path) -> None:
    found = []
    for package in ("provenance", "cli"):
        for path in sorted((checkout / package).rglob("*.py")):
            name = path.relative_to(checkout).as_posix()
            if not name.startswith(_OPENERS):
                found += find_file_access(path.read_text(encoding="utf-8"), name)
    assert [str(hit) for hit in found] == []


def test_the_library_never_imports_itself_as_a_whole(checkout: Path) -> None:
    # Its public names lead to every layer, so using one inside the library would tie them together.
    library = checkout / "provenance"
    modules = {path.stem for path in library.iterdir()}
    culprits = []
    for path in sorted(library.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                whole = any(alias.name == "provenance" for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module == "provenance":
                whole = any(alias.name not in modules for alias in node.names)
            else:
                continue
            if whole:
                culprits.append(f"{path.relative_to(checkout).as_posix()}:{node.lineno}")
    assert culprits == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("open('x')", "builtins.open"),
        ("opener = open", "builtins.open"),
        ("import io\nio.open('x')", "io.open"),
        ("import os\nos.open('x', 0)", "os.open"),
        ("import os as o\no.open('x', 0)", "os.open"),
        ("from os import open as raw\nraw('x', 0)", "os.open"),
        ("import os\nos.path.join('a', 'b')", "os.path.join"),
        ("import os.path as p\np.join('a', 'b')", "os.path.join"),
        ("from os import path\npath.join('a', 'b')", "os.path.join"),
        ("from os.path import join", "os.path.join"),
        ("import os\nos.listdir('x')", "os.listdir"),
        ("import os\nlist(map(os.stat, names))", "os.stat"),
        ("import os\ngetattr(os, 'open')('x', 0)", "os.open"),
        ("import builtins\nbuiltins.open('x')", "builtins.open"),
        ("import shutil", "shutil"),
        ("from tempfile import mkstemp", "tempfile.mkstemp"),
        ("path.open()", ".open()"),
        ("from pathlib import Path\nPath('x').read_text()", ".read_text()"),
        ("self.root.joinpath('x')", ".joinpath()"),
        ("(root / name).write_bytes(b'')", ".write_bytes()"),
        ("root / 'transcripts'", "path / text"),
        ("root / f'{session}.jsonl'", "path / text"),
        ("def late():\n    import click\n    click.open_file('-')", "click.open_file"),
    ],
)
def test_a_planted_file_access_is_found(source: str, name: str) -> None:
    assert name in [hit.name for hit in find_file_access(source, "planted.py")]


@pytest.mark.parametrize(
    "source",
    [
        "from provenance.fs import TrustedRoot\nTrustedRoot(place).open_file('a', 'b')",
        "import os\nos.fspath(place), os.getpid(), os.fsencode(name), os.environ.get('X')",
        "', '.join(names)",
        "total / 2, total / count",
        "policy_text.replace('open', 'shut')",
        "'open(' in text",
        "directory.open_append(name)",
        "status = 'open'",
        "import os\nos.open(os.devnull, os.O_WRONLY)",
    ],
)
def test_what_opens_nothing_is_left_alone(source: str) -> None:
    assert find_file_access(source, "planted.py") == []


def test_the_finder_names_file_and_line() -> None:
    (hit,) = find_file_access("x = 1\n\n\ny = open('z')\n", "provenance/planted.py")
    assert str(hit) == "provenance/planted.py:4: builtins.open"
