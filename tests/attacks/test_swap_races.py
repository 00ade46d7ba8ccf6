"""Swap races: whatever is exchanged under an opener, bytes from outside never come through.

210,000 opens for each back end, 70,000 for each component that an attacker may exchange with a
link: the session's folder, `tool-results`, the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.artifacts.verify import ArtifactSession
from provenance.fs import BackendName, BoundaryRefused, SourceAbsent, TrustedRoot
from provenance.resolution import Reason
from tests.attacks.swapping import Swapper, build_swapper, raced
from tests.trees import sha256_of, transcript_line, write_artifact

pytestmark = pytest.mark.attack

_OPENS = 70_000
_CHECKS = 15_000
_INSIDE, _SECRET = b"inside " * 3, b"secret " * 3
_TARGETS = {
    "session": "s1",
    "folder": "s1/tool-results",
    "file": "s1/tool-results/log.txt",
}


@pytest.fixture(scope="module")
def swapper(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return build_swapper(tmp_path_factory.mktemp("swapper"))


@pytest.fixture(params=list(_TARGETS))
def component(request: pytest.FixtureRequest) -> str:
    return _TARGETS[request.param]


@pytest.fixture
def trees(tmp_path: Path, component: str) -> Iterator[tuple[Path, Path, Path]]:
    """A root, the component in it, and a link beside it that leads to its double outside."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    write_artifact(root, "s1", "log.txt", _INSIDE)
    write_artifact(outside, "s1", "log.txt", _SECRET)
    link = tmp_path / "link"
    link.symlink_to(outside / component)
    yield root, root / component, link
    # The attacker put everything back.
    assert (root / "s1" / "tool-results" / "log.txt").read_bytes() == _INSIDE


def test_no_open_leads_outside(
    trees: tuple[Path, Path, Path], swapper: list[str], backend: BackendName
) -> None:
    root, target, link = trees
    inside = refused = 0
    with TrustedRoot(root, backend=backend) as trusted, Swapper(swapper, target, link) as race:
        for _ in range(_OPENS):
            try:
                file = trusted.open_file("s1", "tool-results", "log.txt")
            except BoundaryRefused:
                refused += 1
                continue
            data = file.read_at(0, 100)
            file.close()
            assert data == _INSIDE
            inside += 1
        assert trusted.backend == backend
    assert inside + refused == _OPENS
    raced(inside, refused, race.swaps)


def test_no_check_takes_the_outside_for_evidence(
    trees: tuple[Path, Path, Path], swapper: list[str], backend: BackendName
) -> None:
    root, target, link = trees
    ours, theirs = sha256_of(_INSIDE), sha256_of(_SECRET)
    seen: dict[Reason, int] = {}
    with TrustedRoot(root, backend=backend) as trusted, Swapper(swapper, target, link) as race:
        for number in range(_CHECKS):
            digest = theirs if number % 2 else ours
            with ArtifactSession(trusted, "s1", excerpt_chars=100) as session:
                outcome = session.verify("log.txt", digest)
            seen[outcome.reason] = seen.get(outcome.reason, 0) + 1
            if digest == theirs:
                assert outcome.sha256 is None
                assert outcome.excerpt is None
            else:
                # The pointer names what is inside, so nothing else may be said of its bytes.
                assert outcome.reason is not Reason.ARTIFACT_DIGEST_MISMATCH
                assert outcome.sha256 in (None, ours)
                assert outcome.excerpt in (None, _INSIDE.decode())
    assert set(seen) <= {
        Reason.VERIFIED_ARTIFACT,
        Reason.ARTIFACT_DIGEST_MISMATCH,
        Reason.OWNERSHIP_BOUNDARY,
        # A rename changes the file's ctime: one that never rests is inconclusive.
        Reason.SOURCE_CHANGED_DURING_READ,
    }, seen
    raced(seen.get(Reason.VERIFIED_ARTIFACT, 0), seen.get(Reason.OWNERSHIP_BOUNDARY, 0), race.swaps)


def test_no_append_and_no_publish_leads_outside(
    tmp_path: Path, swapper: list[str], backend: BackendName
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        (folder / "s1").mkdir(parents=True)
        (folder / "s1" / "log").write_bytes(b"")
    link = tmp_path / "link"
    link.symlink_to(outside / "s1" / "log")
    inside = refused = 0
    with TrustedRoot(root, backend=backend) as trusted:
        with Swapper(swapper, root / "s1" / "log", link) as race:
            for number in range(_CHECKS):
                with trusted.open_directory("s1") as folder:
                    try:
                        with folder.open_append("log") as log:
                            log.append(b"line\n", sync=False)
                        inside += 1
                    except BoundaryRefused:
                        refused += 1
                    if number % 100 == 0:
                        folder.publish(f"artifact-{number}", [b"x"])
        link.unlink()
        link.symlink_to(outside / "s1")
        with Swapper(swapper, root / "s1", link):
            for number in range(_CHECKS // 10):
                try:
                    with trusted.open_directory("s1") as folder:
                        folder.publish(f"late-{number}", [b"x"])
                except (BoundaryRefused, SourceAbsent):
                    continue
    assert (outside / "s1" / "log").read_bytes() == b""
    assert [path.name for path in (outside / "s1").iterdir()] == ["log"]
    raced(inside, refused, race.swaps)


def test_no_transcript_is_read_from_outside(
    tmp_path: Path, swapper: list[str], backend: BackendName
) -> None:
    from provenance.resolver import SourcePointerResolver

    root = tmp_path / "root"
    root.mkdir()
    ours, theirs = (transcript_line("s1", 1, content=text) for text in ("inside", "secret"))
    (root / "s1.jsonl").write_bytes(ours + b"\n")
    (tmp_path / "outside.jsonl").write_bytes(theirs + b"\n")
    link = tmp_path / "link"
    link.symlink_to("../outside.jsonl")
    seen: dict[str, int] = {}
    with (
        SourcePointerResolver(root, root, backend=backend) as resolver,
        Swapper(swapper, root / "s1.jsonl", link) as race,
    ):
        for _ in range(_CHECKS):
            result = resolver.resolve("transcript:s1:1")
            seen[str(result.reason)] = seen.get(str(result.reason), 0) + 1
            assert result.evidence_sha256 in (None, sha256_of(ours))
            assert result.excerpt in (None, "inside")
    assert set(seen) <= {
        "verified_transcript_event",
        "ownership_boundary",
        "source_changed_during_read",
    }, seen
    raced(seen.get("verified_transcript_event", 0), seen.get("ownership_boundary", 0), race.swaps)


def test_the_race_is_one_that_others_lose(
    trees: tuple[Path, Path, Path], swapper: list[str]
) -> None:
    """The rig itself: checking a path and opening it by name does leak, sooner or later."""
    root, target, link = trees
    path = root / "s1" / "tool-results" / "log.txt"
    leaks = 0
    with Swapper(swapper, target, link):
        for _ in range(_OPENS):
            try:
                if not os.path.realpath(path).startswith(f"{root}/"):
                    continue
                with open(path, "rb") as file:
                    leaks += file.read() == _SECRET
            except OSError:
                continue
            if leaks:
                break
    if not leaks:
        pytest.skip("the careless opener was lucky this time: the race was not shown to be one")
