"""Something else stands where evidence belongs: the right state, at once, and nothing leaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenance.fs import BackendName
from provenance.resolution import REASON_STATUS, Reason
from provenance.resolver import SourcePointerResolver
from tests.attacks.hostile import SECRET, build, snapshot
from tests.trees import is_root, run_python, without_privileges, write_artifact, write_transcript

pytestmark = pytest.mark.attack


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    home = tmp_path / "home"
    home.mkdir()
    return home, build(home)


def test_each_thing_in_each_place(
    hostile: tuple[Path, dict[str, str]], backend: BackendName
) -> None:
    home, expected = hostile
    before = snapshot(home)
    with SourcePointerResolver(
        home / "transcripts", home / "artifacts", backend=backend
    ) as resolver:
        one_by_one = {pointer: resolver.resolve(pointer) for pointer in expected}
        together = resolver.resolve_many(expected)
    assert {pointer: result.reason for pointer, result in one_by_one.items()} == expected
    assert list(together) == list(one_by_one.values())
    for result in together:
        assert result.status is REASON_STATUS[Reason(str(result.reason))]
        assert (result.evidence_sha256 is None) == (result.status != "available")
        assert SECRET not in repr(result)
        assert str(home) not in repr(result)
    assert snapshot(home) == before
    if not is_root():
        pytest.skip("not root: devices were NOT tested, everything else was")


def test_pipes_that_nobody_writes_to_do_not_hold_up_processes(
    hostile: tuple[Path, dict[str, str]],
) -> None:
    home, expected = hostile
    with SourcePointerResolver(home / "transcripts", home / "artifacts") as resolver:
        results = resolver.resolve_many(expected, jobs=2)
    assert [result.reason for result in results] == list(expected.values())


@pytest.mark.parametrize("kind", ["link", "chain"])
def test_the_operators_root_may_be_a_link(tmp_path: Path, backend: BackendName, kind: str) -> None:
    home = tmp_path / "home"
    pointer = write_artifact(home, "s1", "log.txt", b"hello")
    event = write_transcript(home, "s1", 1)[0]
    (tmp_path / "link").symlink_to("home")
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    with SourcePointerResolver(tmp_path / kind, tmp_path / kind, backend=backend) as resolver:
        assert [result.status for result in resolver.resolve_many([pointer, event])] == [
            "available", "available",
        ]  # fmt: skip


_AS_NOBODY = """
import json, sys
from provenance.resolver import SourcePointerResolver
home, backend, *pointers = sys.argv[1:]
with SourcePointerResolver(f"{home}/transcripts", f"{home}/artifacts", backend=backend) as resolver:
    print(json.dumps([[r.status, r.reason] for r in resolver.resolve_many(pointers)]))
"""


def test_permissions_that_refuse(open_folder: Path, backend: BackendName) -> None:
    import json

    command = without_privileges()
    home = open_folder / "home"
    closed = {
        write_artifact(home / "artifacts", "closed-file", "f", b"x"): "closed-file/tool-results/f",
        write_artifact(
            home / "artifacts", "closed-folder", "f", b"x"
        ): "closed-folder/tool-results",
        write_artifact(home / "artifacts", "closed-session", "f", b"x"): "closed-session",
    }
    for place in closed.values():
        (home / "artifacts" / place).chmod(0o000)
    event = write_transcript(home / "transcripts", "closed", 1)[0]
    (home / "transcripts" / "closed.jsonl").chmod(0o000)
    readable = write_artifact(home / "artifacts", "open", "f", b"x")
    for path in (home, home / "artifacts", home / "artifacts" / "open"):
        path.chmod(0o755)
    pointers = [*closed, event, readable]
    done = run_python(_AS_NOBODY, home, backend, *pointers, prefix=command)
    for place in closed.values():
        (home / "artifacts" / place).chmod(0o700)
    assert json.loads(done.stdout) == [
        *[["denied", "filesystem_denied"]] * 4,
        ["available", "verified_artifact"],
    ]
