"""A transcript that is written to, cut, altered, deleted or replaced while it is read.

Nothing here depends on timing: each change happens between two reads of the verifier, in the same
thread, and the file system's clock is waited for so that no change can hide within its step.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from provenance.fs import BackendName, OpenFile
from provenance.resolution import SourceResolution
from provenance.resolver import SourcePointerResolver
from tests.trees import sha256_of, transcript_line, write_transcript

pytestmark = pytest.mark.attack

_EVENTS = 2000  # several blocks
_CITED = 1500


class _Meddler:
    """Changes a file after each of its reads, so many times, from the `after`-th read on."""

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        path: Path,
        act: Callable[[Path], None],
        *,
        times: int,
        after: int = 1,
    ) -> None:
        self.left = times
        real = OpenFile.read_at
        reads = 0

        def read_and_meddle(file: OpenFile, offset: int, size: int) -> bytes:
            nonlocal reads
            data = real(file, offset, size)
            reads += 1
            if reads >= after and self.left > 0 and path.exists():
                self.left -= 1
                _until_the_clock_ticks(path)
                act(path)
            return data

        patch.setattr(OpenFile, "read_at", read_and_meddle)


def _until_the_clock_ticks(path: Path) -> None:
    then = path.stat().st_ctime_ns
    probe = path.with_name("clock")
    probe.touch()
    while probe.stat().st_ctime_ns <= then:
        probe.chmod(0o600)
    probe.unlink()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_transcript(tmp_path, "s1", _EVENTS)
    return tmp_path / "s1.jsonl"


def _ask(
    path: Path,
    backend: BackendName,
    act: Callable[[Path], None],
    *,
    times: int = 1,
    after: int = 1,
    cited: int = _CITED,
) -> SourceResolution:
    with (
        SourcePointerResolver(path.parent, path.parent, backend=backend) as resolver,
        pytest.MonkeyPatch.context() as patch,
    ):
        meddler = _Meddler(patch, path, act, times=times, after=after)
        result = resolver.resolve(f"transcript:s1:{cited}")
        assert meddler.left < times, "nothing was changed: the test showed nothing"
    return result


def _append(path: Path) -> None:
    number = path.read_bytes().count(b"\n") + 1
    with path.open("ab") as file:
        file.write(transcript_line("s1", number) + b"\n")


def _append_half_a_line(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"half')


def _alter_the_cited_line(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[_CITED - 1] = transcript_line("s1", _CITED, content="altered")
    path.write_bytes(b"\n".join(lines))


def _break_an_early_line(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"X")


def _alter_behind_the_cited_line(path: Path) -> None:
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(len(data) - 10)
        file.write(b"X")


def _cut(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    os.truncate(path, len(b"\n".join(lines[:100])) + 1)


def _replace_by_a_true_copy(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def _replace_by_another(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(
        b"".join(transcript_line("s1", n, content="new") + b"\n" for n in range(1, _EVENTS + 1))
    )
    other.replace(path)


def _touch(path: Path) -> None:
    os.utime(path)


_EVIDENCE = sha256_of(transcript_line("s1", _CITED))


@pytest.mark.parametrize("times", [1, 1000])
@pytest.mark.parametrize("act", [_append, _append_half_a_line])
def test_growth_does_not_matter_however_long_it_lasts(
    path: Path, backend: BackendName, act: Callable[[Path], None], times: int
) -> None:
    result = _ask(path, backend, act, times=times)
    assert result.reason == "verified_transcript_event"
    assert result.evidence_sha256 == _EVIDENCE
    assert result.quiescence == "stat"


@pytest.mark.parametrize("act", [_touch, _replace_by_a_true_copy, _alter_behind_the_cited_line])
def test_a_change_that_alters_nothing_before_the_event_is_survived(
    path: Path, backend: BackendName, act: Callable[[Path], None]
) -> None:
    result = _ask(path, backend, act)
    assert result.reason == "verified_transcript_event"
    assert result.evidence_sha256 == _EVIDENCE


@pytest.mark.parametrize("after", [1, 2, 4])
def test_an_altered_event_is_never_given_with_its_old_bytes(
    path: Path, backend: BackendName, after: int
) -> None:
    result = _ask(path, backend, _alter_the_cited_line, after=after)
    if result.status == "available":
        assert result.evidence_sha256 == sha256_of(transcript_line("s1", _CITED, content="altered"))
        assert result.excerpt == "altered"
    else:
        assert result.reason == "source_changed_during_read"


def test_damage_that_is_done_meanwhile_is_found(path: Path, backend: BackendName) -> None:
    result = _ask(path, backend, _break_an_early_line)
    assert (result.status, result.reason) == ("corrupt", "transcript_invalid_json")


def test_a_transcript_that_is_cut_lacks_the_event(path: Path, backend: BackendName) -> None:
    result = _ask(path, backend, _cut)
    assert (result.status, result.reason) == ("missing", "transcript_event_missing")


def test_a_deleted_transcript_has_disappeared(path: Path, backend: BackendName) -> None:
    result = _ask(path, backend, Path.unlink)
    assert (result.status, result.reason) == ("missing", "source_disappeared")


def test_the_transcript_is_what_its_name_leads_to_at_the_end(
    path: Path, backend: BackendName
) -> None:
    result = _ask(path, backend, _replace_by_another)
    assert result.status == "available"
    assert result.excerpt == "new"


def test_a_link_that_takes_its_place_is_the_boundary(
    path: Path, backend: BackendName, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(path.read_bytes())

    def swap(place: Path) -> None:
        place.unlink()
        place.symlink_to(outside)

    result = _ask(path, backend, swap)
    assert (result.status, result.reason) == ("denied", "ownership_boundary")


def test_one_that_is_rewritten_without_end_is_inconclusive(
    path: Path, backend: BackendName
) -> None:
    versions = iter(range(10**6))

    def rewrite(place: Path) -> None:
        with place.open("r+b") as file:
            file.write(transcript_line("s1", 1, content=f"{next(versions):<13}"))

    result = _ask(path, backend, rewrite, times=10**6)
    assert (result.status, result.reason) == ("corrupt", "source_changed_during_read")
    assert result.conclusive is False
    assert next(versions) < 500  # it gave up soon


def test_a_writer_through_a_shared_mapping_is_seen_or_said_to_be_possible(
    path: Path, backend: BackendName
) -> None:
    # A mapping need not change a time at once. What is said is then said with the weaker guard.
    with path.open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE)
    old = transcript_line("s1", _CITED)
    place = mapping.find(old)
    new = old.replace(b"event", b"EVENT", 1)

    def scribble(_: Path) -> None:
        mapping[place : place + len(old)] = new

    with mapping:
        result = _ask(path, backend, scribble, after=3)
        assert result.quiescence in (None, "stat")
        assert result.evidence_sha256 in (None, sha256_of(old), sha256_of(new))
        with SourcePointerResolver(path.parent, path.parent, backend=backend) as resolver:
            again = resolver.resolve(f"transcript:s1:{_CITED}")
        assert again.evidence_sha256 == sha256_of(new)
