"""Artifacts held against sealed ledger lines: the verdicts of SHA-256, and the result says so."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance import SourcePointerResolver
from provenance.artifacts import ArtifactStore
from provenance.artifacts.ledger import read_ledger
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent
from provenance.artifacts.sealed import SealedLine, SealedLines, sealed_line
from provenance.artifacts.verify import ArtifactSession
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Outcome, Reason, Strength
from tests.trees import write_artifact

_LARGE = (1 << 20) + 5


def _line(data: bytes) -> SealedLine:
    return SealedLine(hashlib.sha256(data).hexdigest(), blake3(data).hexdigest(), len(data))


def _check(
    root: Path,
    digest: str,
    line: SealedLine | None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    threads: bool = True,
    session: str = "s1",
) -> Outcome:
    with (
        TrustedRoot(root) as trusted,
        ArtifactSession(trusted, session, limits=limits, excerpt_chars=5, threads=threads) as one,
    ):
        return one.verify("f", digest, line)


@pytest.mark.parametrize("size", [0, 3, _LARGE, 3 << 20])
@pytest.mark.parametrize("digits", [12, 64])
@pytest.mark.parametrize("threads", [True, False])
def test_the_answer_is_that_of_sha256_and_says_how_it_was_found(
    tmp_path: Path, size: int, digits: int, threads: bool
) -> None:
    data = (b"caf\xc3\xa9 line\n" * (size // 11 + 1))[:size].decode("utf-8", "ignore").encode()
    write_artifact(tmp_path, "s1", "f", data)
    line = _line(data)
    plain = _check(tmp_path, line.sha256[:digits], None, threads=threads)
    fast = _check(tmp_path, line.sha256[:digits], line, threads=threads)
    assert plain.checked_by is None
    assert fast == plain._replace(checked_by="blake3")
    assert fast.sha256 == line.sha256
    assert fast.strength is (Strength.FULL if digits == 64 else Strength.PREFIX)
    assert fast.size == len(data)


@pytest.mark.parametrize("size", [30, _LARGE])
@pytest.mark.parametrize("change", ["flip", "cut", "grow", "other"])
def test_other_bytes_are_found(tmp_path: Path, size: int, change: str) -> None:
    data = b"x" * size
    line = _line(data)
    altered = {"flip": b"y" + data[1:], "cut": data[1:], "grow": data + b"x", "other": b""}[change]
    write_artifact(tmp_path, "s1", "f", altered)
    assert _check(tmp_path, line.sha256, line) == Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)


def test_a_length_that_is_not_the_lines_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from provenance.artifacts import verify

    data = b"x" * _LARGE
    write_artifact(tmp_path, "s1", "f", data + b"x")

    def never(*_: object, **__: object) -> bool:
        pytest.fail("read")

    monkeypatch.setattr(verify, "stream", never)
    line = _line(data)
    assert _check(tmp_path, line.sha256, line).reason is Reason.ARTIFACT_DIGEST_MISMATCH


@pytest.mark.parametrize("size", [30, _LARGE])
def test_a_line_with_a_wrong_length_or_digest_never_passes(tmp_path: Path, size: int) -> None:
    data = b"x" * size
    write_artifact(tmp_path, "s1", "f", data)
    good = _line(data)
    for line in (
        SealedLine(good.sha256, good.blake3, size + 1),
        SealedLine(good.sha256, "0" * 64, size),
    ):
        assert _check(tmp_path, good.sha256, line).reason is Reason.ARTIFACT_DIGEST_MISMATCH


@pytest.mark.parametrize("size", [30, _LARGE])
def test_a_line_about_other_bytes_than_the_pointers_is_not_used(tmp_path: Path, size: int) -> None:
    data, other = b"x" * size, b"y" * size
    write_artifact(tmp_path, "s1", "f", data)
    # The pointer and the file agree, the line does not: SHA-256 is computed.
    found = _check(tmp_path, _line(data).sha256, _line(other))
    assert (found.reason, found.checked_by) == (Reason.VERIFIED_ARTIFACT, None)
    # The line and the file agree, the pointer does not.
    found = _check(tmp_path, _line(other).sha256, _line(data))
    assert found.reason is Reason.ARTIFACT_DIGEST_MISMATCH


def test_what_is_checked_otherwise_is_checked_here_too(tmp_path: Path) -> None:
    binary = b"\xff" * 40
    write_artifact(tmp_path, "s1", "f", binary)
    line = _line(binary)
    assert _check(tmp_path, line.sha256, line).reason is Reason.ARTIFACT_NOT_UTF8
    assert _check(tmp_path, line.sha256, line, session="states").reason is (
        Reason.OWNERSHIP_BOUNDARY
    )
    small = Limits(max_artifact_bytes=39)
    assert _check(tmp_path, line.sha256, line, limits=small).reason is Reason.ARTIFACT_TOO_LARGE
    path = tmp_path / "s1/tool-results/f"
    path.rename(tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    assert _check(tmp_path, line.sha256, line).reason is Reason.OWNERSHIP_BOUNDARY
    path.unlink()
    assert _check(tmp_path, line.sha256, line).reason is Reason.ARTIFACT_MISSING


def test_what_the_store_wrote_gives_its_line(tmp_path: Path) -> None:
    with ArtifactStore(tmp_path) as store:
        spilled = store.spill("s1", "text\n")
    with TrustedRoot(tmp_path) as root:
        (entry,) = read_ledger(root, "s1")
    assert isinstance(entry, LedgerEntry)
    assert sealed_line(entry) == SealedLine(spilled.sha256, spilled.blake3, 5)


def test_a_line_that_says_it_is_gone_or_lacks_a_digest_is_none() -> None:
    whole = {"filename": "f", "sha256": "ab" * 32, "blake3": "cd" * 32, "bytes": 1}
    assert sealed_line(LedgerEntry(event=LedgerEvent.RENAMED, **whole)) is not None  # type: ignore[arg-type]
    assert sealed_line(LedgerEntry(event=LedgerEvent.REMOVED, **whole)) is None  # type: ignore[arg-type]
    for key in ("sha256", "blake3", "bytes"):
        assert sealed_line(LedgerEntry(event=LedgerEvent.RENAMED, **(whole | {key: None}))) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("jobs", [1, 2])
def test_only_artifacts_with_a_sealed_line_are_checked_so(tmp_path: Path, jobs: int) -> None:
    with ArtifactStore(tmp_path) as store:
        pointers = [store.spill("s1", f"text {n}\n", name=f"f{n}").pointer for n in range(4)]
    sealed = SealedLines({("s1", f"f{n}"): _line(f"text {n}\n".encode()) for n in (0, 2)})
    assert pickle.loads(pickle.dumps(sealed)) == sealed
    asked: list[tuple[str, str]] = []

    def ledger(session_id: str, filename: str) -> SealedLine | None:
        asked.append((session_id, filename))
        return sealed(session_id, filename)

    with SourcePointerResolver(
        tmp_path / "transcripts",
        tmp_path,
        sealed_ledger=ledger,
        authorize=lambda pointer: pointer.artifact_name != "f2",
    ) as resolver:
        found = resolver.resolve_many([*pointers, "transcript:s1:1", "nonsense"], jobs=jobs)
    assert [one.checked_by for one in found] == ["blake3", None, None, None, None, None]
    assert [one.evidence_bytes for one in found] == [7, 7, None, 7, None, None]
    assert ("s1", "f2") not in asked  # denied: not even the ledger is asked


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.binary(max_size=40) | st.text(max_size=20).map(str.encode),
    st.binary(max_size=3),
    st.sampled_from([12, 64]),
)
def test_it_is_never_more_than_sha256_would_say(
    tmp_path: Path, data: bytes, more: bytes, digits: int
) -> None:
    write_artifact(tmp_path, "s1", "f", data + more)
    line = _line(data)
    plain = _check(tmp_path, line.sha256[:digits], None)
    fast = _check(tmp_path, line.sha256[:digits], line)
    assert fast._replace(checked_by=None) == plain
