"""The distribution as a user gets it: built, installed into a fresh environment, looked at.

No package index is asked: the build runs in this environment, and the fresh environment is given
links to the installed files of the declared dependencies and of nothing else, so that an import
that nobody declared fails here as it would for a user.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import provenance

_LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "*.py[cod]", "build", "dist", "*.egg-info", "venv", "node_modules"
)
_TOP_LEVEL = {"ctxaudit", "provenance"}


@dataclass(frozen=True, slots=True)
class _Built:
    """The two files of a release, and what the wheel says of itself."""

    sdist: Path
    wheel: Path
    facts: Message

    def names(self) -> list[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return archive.namelist()


def _run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(command),
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _project(checkout: Path) -> dict[str, Any]:
    with (checkout / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> _Built:
    """Build the sdist from a clean copy and the wheel from the sdist, as a release does.

    A copy, since builds leave folders behind that the next build would take stale modules from.
    """
    place = tmp_path_factory.mktemp("build")
    copy = place / "copy"
    shutil.copytree(checkout, copy, ignore=_LEFT_OUT)
    done = _run(
        sys.executable, "-m", "build", "--no-isolation", "--outdir", place / "dist", cwd=copy
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (place / "dist").glob("*.whl")
    (sdist,) = (place / "dist").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        facts = message_from_string(archive.read(name).decode("utf-8"))
    return _Built(sdist, wheel, facts)


def _declared(built: _Built) -> list[Requirement]:
    requirements = [Requirement(text) for text in built.facts.get_all("Requires-Dist", [])]
    return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]


def _closure(requirements: list[Requirement]) -> dict[str, metadata.Distribution]:
    """Find the installed distributions that the requirements lead to, and theirs."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        distribution = metadata.distribution(name)
        assert requirement.specifier.contains(distribution.version, prereleases=True), requirement
        if name in found:
            continue
        found[name] = distribution
        for text in distribution.requires or []:
            further = Requirement(text)
            if further.marker is None or further.marker.evaluate({"extra": ""}):
                waiting.append(further)
    return found


@pytest.fixture(scope="module")
def installed(built: _Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and its declared dependencies; gives its folder."""
    place = tmp_path_factory.mktemp("environment")
    home = place / "venv"
    venv.create(home, symlinks=True, with_pip=False)
    done = _run(
        sys.executable, "-m", "pip", "--python", home / "bin" / "python", "--quiet", "install",
        "--no-deps", "--no-index", "--disable-pip-version-check", built.wheel,
        cwd=place,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (site,) = home.glob("lib/python*/site-packages")
    for distribution in _closure(_declared(built)).values():
        for file in distribution.files or []:
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return home


def test_listed_packages_are_the_folders(checkout: Path) -> None:
    settings = _project(checkout)["tool"]["setuptools"]
    folders = settings["package-dir"]
    assert folders == {"ctxaudit": "cli"}
    found = set()
    for package, folder in {**folders, "provenance": "provenance"}.items():
        for path in (checkout / folder).rglob("*"):
            if path.suffix in (".py", ".json"):
                parts = path.parent.relative_to(checkout / folder).parts
                found.add(".".join((package, *parts)))
    assert sorted(found) == settings["packages"]


def test_the_wheel_holds_every_module_and_data_file(built: _Built, checkout: Path) -> None:
    expected = set()
    for package, folder in (("ctxaudit", "cli"), ("provenance", "provenance")):
        for path in (checkout / folder).rglob("*"):
            if path.suffix in (".py", ".json", ".LICENSE") or path.name == "py.typed":
                inner = path.relative_to(checkout / folder).as_posix()
                expected.add(f"{package}/{inner}")
    packed = {name for name in built.names() if ".dist-info/" not in name}
    (data,) = {name.partition("/")[0] for name in packed if ".data/" in name}
    assert packed == expected | {f"{data}/data/share/man/man1/ctxaudit.1"}


def test_the_wheel_has_no_other_top_level_package(built: _Built) -> None:
    tops = {PurePosixPath(name).parts[0] for name in built.names()}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == _TOP_LEVEL


def test_name_version_and_licence(built: _Built, checkout: Path) -> None:
    assert built.facts["Name"] == "ctxaudit-provenance"
    assert built.facts["Version"] == provenance.__version__
    assert built.facts["License-Expression"] == "Apache-2.0"
    assert built.facts["Requires-Python"] == ">=3.11"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in built.names())
    changelog = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(provenance.__version__)}\]", changelog, re.MULTILINE)


def test_the_version_stands_in_one_place(checkout: Path) -> None:
    assert "version" in _project(checkout)["project"]["dynamic"]
    places = [
        path.relative_to(checkout).as_posix()
        for folder in ("provenance", "cli")
        for path in sorted((checkout / folder).rglob("*.py"))
        if f'"{provenance.__version__}"' in path.read_text(encoding="utf-8")
    ]
    assert places == ["provenance/_version.py"]


def test_the_source_distribution_can_be_tested(built: _Built) -> None:
    with tarfile.open(built.sdist) as archive:
        inner = {PurePosixPath(*PurePosixPath(n).parts[1:]) for n in archive.getnames()}
    for name in ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "cli/main.py"):
        assert PurePosixPath(name) in inner, name
    for name in ("provenance/py.typed", "tests/conftest.py", "tests/test_packaging.py"):
        assert PurePosixPath(name) in inner, name


def test_an_installed_wheel_has_no_package_named_cli(installed: Path, tmp_path: Path) -> None:
    script = "import importlib.util as u; print(u.find_spec('cli'), u.find_spec('ctxaudit').origin)"
    done = _run(installed / "bin" / "python", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    nothing, origin = done.stdout.split()
    assert nothing == "None"
    assert Path(origin).is_relative_to(installed)


@pytest.mark.parametrize("start", [["ctxaudit"], ["python", "-m", "ctxaudit"]])
def test_the_installed_command_says_its_version_and_help(
    start: list[str], installed: Path, tmp_path: Path
) -> None:
    program: list[str | Path] = [installed / "bin" / start[0], *start[1:]]
    version = _run(*program, "--version", cwd=tmp_path)
    assert version.returncode == 0, version.stderr
    assert provenance.__version__ in version.stdout
    overview = _run(*program, "--help", cwd=tmp_path)
    assert overview.returncode == 0, overview.stderr
    assert "verify" in overview.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_installed_library_has_its_public_names(installed: Path, tmp_path: Path) -> None:
    script = (
        "import provenance\n"
        "from provenance import parse_source_pointer\n"
        "for name in provenance.__all__: getattr(provenance, name)\n"
        "print(parse_source_pointer('transcript:s:1'), provenance.__file__)"
    )
    done = _run(installed / "bin" / "python", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pointer, file = done.stdout.split()
    assert pointer == "transcript:s:1"
    assert Path(file).is_relative_to(installed)


def test_every_installed_module_imports_with_the_declared_dependencies(
    installed: Path, tmp_path: Path, built: _Built
) -> None:
    modules = sorted(
        ".".join(PurePosixPath(name).with_suffix("").parts).removesuffix(".__init__")
        for name in built.names()
        if name.endswith(".py") and not name.endswith("__main__.py")
    )
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = _run(installed / "bin" / "python", "-c", script, *modules, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_editable_install_finds_both_packages(checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy, ignore=_LEFT_OUT)
    target = tmp_path / "site"
    done = _run(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
        "--no-build-isolation", "--disable-pip-version-check", "--target", target,
        "--editable", copy,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    script = (
        f"import site; site.addsitedir({str(target)!r})\n"
        "import ctxaudit, provenance; print(ctxaudit.__file__, provenance.__file__)"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    found = _run(sys.executable, "-S", "-c", script, cwd=outside)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == [
        str(copy / "cli" / "__init__.py"),
        str(copy / "provenance" / "__init__.py"),
    ]
