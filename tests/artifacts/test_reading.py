"""What the store reads back is what the pointer names, or a reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore, WindowError
from provenance.artifacts.reading import VerifiedReader, artifact_pointer_of
from provenance.evidence import EvidenceUnavailable
from provenance.fs import BackendName, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import SourcePointerError, parse_source_pointer
from provenance.resolution import Reason
from tests.trees import pointer_of, write_artifact

_BIG = b"0123456789abcde\n" * (6 << 16)


@pytest.fixture
def reading(home: Path, backend: BackendName) -> Iterator[ArtifactStore]:
    """A store on each back end."""
    with TrustedRoot(home, backend=backend) as root, ArtifactStore(root) as store:
        yield store


def _reason(store: ArtifactStore, pointer: str) -> Reason:
    with pytest.raises(EvidenceUnavailable) as by_read:
        store.read(pointer)
    with pytest.raises(EvidenceUnavailable) as by_iterate:
        list(store.iterate(pointer))
    assert by_read.value.reason is by_iterate.value.reason
    return by_read.value.reason


@pytest.mark.parametrize("data", [b"", b"one\ntwo", "é\n".encode(), _BIG], ids=len)
@pytest.mark.parametrize("digits", [12, 64])
def test_what_is_intact_is_given(
    reading: ArtifactStore, home: Path, data: bytes, digits: int
) -> None:
    full = write_artifact(home, "s1", "a.txt", data)
    pointer = pointer_of("s1", "a.txt", data, digits=digits)
    window = reading.read(parse_source_pointer(pointer), 0, 1)
    assert window.text == data[: data.find(b"\n") + 1].decode()
    assert window.sha256 == full.rsplit(":", maxsplit=1)[1]
    assert b"".join(reading.iterate(pointer)) == data


@pytest.mark.parametrize("data", [b"one\ntwo", _BIG], ids=len)
@pytest.mark.parametrize("digits", [12, 64])
def test_one_changed_byte_is_a_mismatch(
    reading: ArtifactStore, home: Path, data: bytes, digits: int
) -> None:
    write_artifact(home, "s1", "a.txt", data[:-1] + b"!")
    pointer = pointer_of("s1", "a.txt", data, digits=digits)
    assert _reason(reading, pointer) is Reason.ARTIFACT_DIGEST_MISMATCH


def test_each_way_to_be_unavailable_has_its_reason(
    reading: ArtifactStore, home: Path, tmp_path: Path
) -> None:
    folder = home / "s1" / "tool-results"
    pointer = write_artifact(home, "s1", "a.txt", b"text")
    assert _reason(reading, pointer.replace(":s1:", ":s2:")) is Reason.ARTIFACT_MISSING
    assert _reason(reading, pointer.replace("a.txt", "b.txt")) is Reason.ARTIFACT_MISSING
    (home / "s1" / "tool-results.jsonl").write_text(
        '{"schema":"ctxaudit.artifact/1","event":"removed","filename":"b.txt"}\n'
    )
    assert _reason(reading, pointer.replace("a.txt", "b.txt")) is Reason.REMOVED_BY_RETENTION
    write_artifact(home, "states", "a.txt", b"text")
    assert _reason(reading, pointer.replace(":s1:", ":states:")) is Reason.OWNERSHIP_BOUNDARY
    outside = tmp_path / "outside"
    outside.write_bytes(b"text")
    (folder / "link").symlink_to(outside)
    assert _reason(reading, pointer.replace("a.txt", "link")) is Reason.OWNERSHIP_BOUNDARY
    (home / "s3").symlink_to(home / "s1")
    assert _reason(reading, pointer.replace(":s1:", ":s3:")) is Reason.OWNERSHIP_BOUNDARY
    os.mkfifo(folder / "fifo")
    assert _reason(reading, pointer.replace("a.txt", "fifo")) is Reason.ARTIFACT_NOT_A_FILE
    (folder / "folder").mkdir()
    assert _reason(reading, pointer.replace("a.txt", "folder")) is Reason.ARTIFACT_NOT_A_FILE
    latin = write_artifact(home, "s1", "latin.txt", b"caf\xe9")
    assert _reason(reading, latin) is Reason.ARTIFACT_NOT_UTF8


def test_a_store_of_bytes_gives_bytes_and_no_windows_of_them(home: Path) -> None:
    pointer = write_artifact(home, "s1", "a.bin", b"ok\n\xff\xfe\n")
    with ArtifactStore(home, text=False) as store:
        assert b"".join(store.iterate(pointer)) == b"ok\n\xff\xfe\n"
        assert store.read(pointer, 0, 1).text == "ok\n"
        with pytest.raises(EvidenceUnavailable) as caught:
            store.read(pointer, 1, 1)
        assert caught.value.reason is Reason.ARTIFACT_NOT_UTF8


def test_a_bound_on_artifacts_applies_before_reading(home: Path) -> None:
    pointer = write_artifact(home, "s1", "a.txt", b"12345")
    with ArtifactStore(home, limits=Limits(max_artifact_bytes=5)) as store:
        assert store.read(pointer).text == "12345"
    with ArtifactStore(home, limits=Limits(max_artifact_bytes=4)) as store:
        assert _reason(store, pointer) is Reason.ARTIFACT_TOO_LARGE


@pytest.mark.parametrize("pointer", ["", "artifact:s1", "artifact:s1:a.txt:xyz", "file:a:b:c"])
def test_a_malformed_pointer_is_the_callers_error(store: ArtifactStore, pointer: str) -> None:
    with pytest.raises(SourcePointerError):
        store.read(pointer)
    with pytest.raises(SourcePointerError):
        store.iterate(pointer)


def test_a_pointer_to_an_event_is_no_artifact(store: ArtifactStore) -> None:
    with pytest.raises(WindowError, match="artifact"):
        store.read("transcript:s1:1")


class _Meddler:
    """Takes bytes, and alters the file while they go by."""

    def __init__(self, path: Path, times: list[int]) -> None:
        self.path = path
        self.times = times
        self.taken = bytearray()

    def feed(self, block: bytearray) -> None:
        self.taken += block
        if self.times:
            self.times.pop()
            with self.path.open("ab") as file:
                file.write(b"!")


@pytest.mark.parametrize(
    ("times", "reason"),
    [(1, Reason.ARTIFACT_DIGEST_MISMATCH), (99, Reason.SOURCE_CHANGED_DURING_READ)],
)
def test_a_file_that_changes_is_read_again(home: Path, times: int, reason: Reason) -> None:
    pointer = artifact_pointer_of(write_artifact(home, "s1", "a.txt", b"text"))
    path = home / "s1" / "tool-results" / "a.txt"
    left = [0] * times
    with TrustedRoot(home) as root:
        reader = VerifiedReader(root, text=True, limits=DEFAULT_LIMITS)
        with pytest.raises(EvidenceUnavailable) as caught:
            reader.read(pointer, lambda: _Meddler(path, left))
    assert caught.value.reason is reason


def test_a_change_between_the_two_readings_is_noticed(store: ArtifactStore, home: Path) -> None:
    pointer = write_artifact(home, "s1", "a.txt", _BIG)
    pieces = store.iterate(pointer)
    first = next(pieces)
    with (home / "s1" / "tool-results" / "a.txt").open("r+b") as file:
        file.seek(len(first) + 5)
        file.write(b"!")
    with pytest.raises(EvidenceUnavailable) as caught:
        list(pieces)
    assert caught.value.reason is Reason.SOURCE_CHANGED_DURING_READ


def test_reading_makes_nothing(home: Path, store: ArtifactStore) -> None:
    with pytest.raises(EvidenceUnavailable):
        store.read(pointer_of("s1", "a.txt", b""))
    assert not home.exists()
