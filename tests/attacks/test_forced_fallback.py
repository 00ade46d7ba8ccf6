"""`openat2` is taken away by fault injection: the walk gives the same answers, every one.

A flag that chooses the walk would not show that the choice itself works, so the kernel's answer is
what is changed here (`strace -e inject`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hostile import build
from tests.trees import run_python, run_under_strace

pytestmark = pytest.mark.attack

_SCRIPT = """
import json, sys
from provenance.fs import TrustedRoot
from provenance.resolver import SourcePointerResolver
home, expected = sys.argv[1], json.loads(open(sys.argv[2]).read())
with TrustedRoot(f"{home}/artifacts") as root:
    backend = root.backend
with SourcePointerResolver(f"{home}/transcripts", f"{home}/artifacts") as resolver:
    results = resolver.resolve_many(expected)
    again = tuple(map(resolver.resolve, expected))
assert results == again
print(json.dumps({"backend": backend, "results": [result.to_dict() for result in results]}))
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, str]]:
    home = tmp_path_factory.mktemp("home")
    expected = build(home)
    listed = tmp_path_factory.mktemp("pointers") / "pointers.json"
    listed.write_text(json.dumps(expected), encoding="utf-8")
    return home, listed, expected


@pytest.fixture(scope="module")
def plain(hostile: tuple[Path, Path, dict[str, str]]) -> dict[str, Any]:
    home, listed, expected = hostile
    said: dict[str, Any] = json.loads(run_python(_SCRIPT, home, listed).stdout)
    assert [result["reason"] for result in said["results"]] == list(expected.values())
    return said


def _with(hostile: tuple[Path, Path, dict[str, str]], tmp_path: Path, *faults: str) -> Any:
    home, listed, _ = hostile
    trace = tmp_path / "trace"
    options = ["-f", "-o", str(trace), "-e", "trace=openat2,statx"]
    for fault in faults:
        options += ["-e", f"inject={fault}"]
    said = json.loads(run_under_strace(options, _SCRIPT, home, listed).stdout)
    assert "INJECTED" in trace.read_text(encoding="utf-8", errors="replace")
    return said


@pytest.mark.parametrize("error", ["ENOSYS", "EPERM"])
def test_without_the_call(
    hostile: tuple[Path, Path, dict[str, str]], plain: dict[str, Any], tmp_path: Path, error: str
) -> None:
    said = _with(hostile, tmp_path, f"openat2:error={error}")
    assert said["backend"] == "walk"
    assert said["results"] == plain["results"]


def test_a_filter_that_comes_after_the_choice(
    hostile: tuple[Path, Path, dict[str, str]], plain: dict[str, Any], tmp_path: Path
) -> None:
    if plain["backend"] != "openat2":
        pytest.skip("no openat2 on this kernel: losing it later was NOT tested")
    said = _with(hostile, tmp_path, "openat2:error=EPERM:when=10+")
    assert said["backend"] == "openat2"
    assert said["results"] == plain["results"]


def test_without_the_call_and_without_mount_ids_from_statx(
    hostile: tuple[Path, Path, dict[str, str]], plain: dict[str, Any], tmp_path: Path
) -> None:
    said = _with(hostile, tmp_path, "openat2:error=ENOSYS", "statx:error=ENOSYS")
    assert said["backend"] == "walk"
    assert said["results"] == plain["results"]


def test_a_signal_during_the_call_is_no_answer(
    hostile: tuple[Path, Path, dict[str, str]], plain: dict[str, Any], tmp_path: Path
) -> None:
    if plain["backend"] != "openat2":
        pytest.skip("no openat2 on this kernel: interrupting it was NOT tested")
    said = _with(hostile, tmp_path, "openat2:error=EINTR:when=2+3")
    assert said == plain


@pytest.mark.parametrize("error", ["EIO", "EMFILE", "ENOMEM", "EINVAL"])
def test_a_machine_that_fails_is_inconclusive(
    hostile: tuple[Path, Path, dict[str, str]], plain: dict[str, Any], tmp_path: Path, error: str
) -> None:
    if plain["backend"] != "openat2":
        pytest.skip("no openat2 on this kernel: its failing was NOT tested")
    said = _with(hostile, tmp_path, f"openat2:error={error}")
    assert said["backend"] == "openat2"
    for result in said["results"]:
        assert result["status"] != "available"
        if result["reason"] == "source_read_failed":
            assert result["conclusive"] is False
        else:
            # Refused before anything was opened, or by what is plainly no file.
            assert result["reason"] in (
                "ownership_boundary", "transcript_not_a_file", "artifact_not_a_file",
            )  # fmt: skip
