"""Artifacts are what their pointer says, byte for byte, or the reason why not."""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from provenance.artifacts import verify as verify_module
from provenance.artifacts.verify import RESERVED_SESSIONS, ArtifactSession
from provenance.fs import BackendName, OpenFile, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Outcome, Quiescence, Reason, Strength
from tests.trees import is_root, run_python, sha256_of, write_artifact

_LARGE = (1 << 20) + 5
_BORDERS = [32 << 10, 256 << 10, 1 << 20, 2 << 20]


def _check(
    root: Path,
    digest: str,
    name: str = "f",
    *,
    session: str = "s1",
    limits: Limits = DEFAULT_LIMITS,
    excerpt_chars: int = 0,
    text: bool = True,
    threads: bool = True,
    backend: BackendName = "auto",
) -> Outcome:
    with (
        TrustedRoot(root, backend=backend) as trusted,
        ArtifactSession(
            trusted,
            session,
            limits=limits,
            excerpt_chars=excerpt_chars,
            text=text,
            threads=threads,
        ) as artifacts,
    ):
        return artifacts.verify(name, digest)


def _put(root: Path, data: bytes, name: str = "f", session: str = "s1") -> str:
    write_artifact(root, session, name, data)
    return sha256_of(data)


def _until_the_clock_ticks(path: Path) -> None:
    """Make sure that what happens to the file now has another time than what happened before."""
    then = path.stat().st_ctime_ns
    probe = path.with_name("clock")
    probe.touch()
    while probe.stat().st_ctime_ns <= then:
        probe.chmod(0o600)
    probe.unlink()


@pytest.fixture(params=[True, False], ids=["two_threads", "one_thread"])
def threads(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("size", [0, 1, 1000, (1 << 20) - 1, 1 << 20, _LARGE, (4 << 20) + 3])
def test_a_digest_that_matches(
    tmp_path: Path, size: int, threads: bool, backend: BackendName
) -> None:
    data = ("é" * (size // 2) + "a" * (size % 2)).encode()
    digest = _put(tmp_path, data)
    full = _check(tmp_path, digest, threads=threads, backend=backend)
    assert full[:4] == (Reason.VERIFIED_ARTIFACT, digest, None, Strength.FULL)
    assert full.quiescence in Quiescence
    prefix = _check(tmp_path, digest[:12], threads=threads, backend=backend)
    assert prefix[:4] == (Reason.VERIFIED_ARTIFACT, digest, None, Strength.PREFIX)


@pytest.mark.parametrize("size", [10, _LARGE])
def test_a_digest_that_does_not_match(tmp_path: Path, size: int, threads: bool) -> None:
    digest = _put(tmp_path, b"x" * size)
    for wrong in (
        "0" * 64,
        "0" * 12,
        digest[:63] + ("0" if digest[63] != "0" else "1"),
        digest[:11] + ("0" if digest[11] != "0" else "1"),
        ("0" if digest[0] != "0" else "1") + digest[1:],
        digest[12:24] if digest[12:24] != digest[:12] else "0" * 12,
    ):
        outcome = _check(tmp_path, wrong, excerpt_chars=10, threads=threads)
        assert outcome == Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)


def test_one_altered_byte_is_found_wherever_it_stands(tmp_path: Path, threads: bool) -> None:
    data = bytearray(b"a" * ((2 << 20) + 100))
    digest = _put(tmp_path, bytes(data))
    path = tmp_path / "s1" / "tool-results" / "f"
    for place in (0, 1 << 20, (2 << 20) - 1, 2 << 20, len(data) - 1):
        data[place] = ord("b")
        path.write_bytes(data)
        data[place] = ord("a")
        assert (
            _check(tmp_path, digest, threads=threads).reason is Reason.ARTIFACT_DIGEST_MISMATCH
        ), place


@pytest.mark.parametrize(
    "bad", [b"\x80", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]
)
@pytest.mark.parametrize("border", [0, *_BORDERS])
def test_what_is_not_utf8_around_every_border(
    tmp_path: Path, threads: bool, bad: bytes, border: int
) -> None:
    for before in range(min(border, len(bad)) + 1):
        for tail in (b"", b"tail"):
            data = b"a" * (border - before) + bad + tail
            digest = _put(tmp_path, data)
            outcome = _check(tmp_path, digest, threads=threads)
            assert outcome == Outcome(Reason.ARTIFACT_NOT_UTF8)
            if before == 1:
                held = _check(tmp_path, digest, threads=threads, text=False)
                assert held.reason is Reason.VERIFIED_ARTIFACT


@pytest.mark.parametrize("character", ["é", "€", "😀"])
@pytest.mark.parametrize("border", _BORDERS)
def test_characters_across_every_border_are_text(
    tmp_path: Path, threads: bool, character: str, border: int
) -> None:
    encoded = character.encode()
    for before in range(1, len(encoded)):
        data = b"a" * (border - before) + encoded * 3
        digest = _put(tmp_path, data)
        assert _check(tmp_path, digest, threads=threads).reason is Reason.VERIFIED_ARTIFACT
        cut = _put(tmp_path, data[:border], "cut")
        assert _check(tmp_path, cut, "cut", threads=threads).reason is Reason.ARTIFACT_NOT_UTF8


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=50), st.text(max_size=20).map(str.encode)))
@example(b"\xef\xbb\xbftext")
@example(b"\x00")
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    digest = _put(tmp_path, data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        assert _check(tmp_path, digest) == Outcome(Reason.ARTIFACT_NOT_UTF8)
    else:
        outcome = _check(tmp_path, digest, excerpt_chars=7)
        assert outcome.sha256 == digest
        assert outcome.excerpt == text[:7]
    assert _check(tmp_path, digest, text=False).sha256 == digest
    assert _check(tmp_path, "0" * 64, text=False).sha256 is None


@pytest.mark.parametrize(
    ("chars", "expected"),
    [(0, None), (1, "😀"), (3, "😀中e"), (4, "😀中e\u0301"), (5, "😀中e\u0301x"), (99, None)],
)
@pytest.mark.parametrize("filler", [0, _LARGE])
def test_excerpts_are_cut_between_characters(
    tmp_path: Path, threads: bool, chars: int, expected: str | None, filler: int
) -> None:
    text = "😀中e\u0301x" + "y" * filler
    digest = _put(tmp_path, text.encode())
    outcome = _check(tmp_path, digest, excerpt_chars=chars, threads=threads)
    assert outcome.excerpt == (text[:chars] if chars > 5 else expected)


def test_a_long_excerpt_of_a_large_file_spans_blocks(tmp_path: Path, threads: bool) -> None:
    text = "😀" * 600_000
    digest = _put(tmp_path, text.encode())
    outcome = _check(tmp_path, digest, excerpt_chars=599_999, threads=threads)
    assert outcome.excerpt == text[:-1]


def test_the_excerpt_of_bytes_is_text_without_surrogates(tmp_path: Path) -> None:
    digest = _put(tmp_path, b"\xff\x00ok\xed\xa0\x80")
    outcome = _check(tmp_path, digest, excerpt_chars=4, text=False)
    assert outcome.excerpt == "\ufffd\x00ok"


@pytest.mark.parametrize("session", sorted(RESERVED_SESSIONS))
def test_the_homes_own_folders_hold_no_artifacts(tmp_path: Path, session: str) -> None:
    digest = _put(tmp_path, b"x", session=session)
    assert _check(tmp_path, digest, session=session) == Outcome(Reason.OWNERSHIP_BOUNDARY)
    near = session + "1"
    _put(tmp_path, b"x", session=near)
    assert _check(tmp_path, digest, session=near).sha256 == digest


@pytest.mark.parametrize("size", [10, _LARGE])
def test_the_limit_applies_before_reading(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * size)
    assert _check(tmp_path, digest, limits=Limits(max_artifact_bytes=size)).sha256 == digest

    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("was read")

    monkeypatch.setattr("provenance.fs.directory._pread", refuse)
    monkeypatch.setattr(verify_module, "stream", refuse)
    outcome = _check(tmp_path, digest, limits=Limits(max_artifact_bytes=size - 1))
    assert outcome == Outcome(Reason.ARTIFACT_TOO_LARGE)


def test_what_is_missing(tmp_path: Path) -> None:
    assert _check(tmp_path / "nothing", "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)
    (tmp_path / "s1").mkdir()
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)
    (tmp_path / "s1" / "tool-results").write_bytes(b"a file where a folder belongs")
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)
    (tmp_path / "s2").write_bytes(b"a file where a folder belongs")
    assert _check(tmp_path, "0" * 64, session="s2") == Outcome(Reason.ARTIFACT_MISSING)
    _put(tmp_path, b"x", session="s3")
    assert _check(tmp_path, "0" * 64, "g", session="s3") == Outcome(Reason.ARTIFACT_MISSING)
    assert _check(tmp_path, "0" * 64, "f" * 200, session="s3") == Outcome(Reason.ARTIFACT_MISSING)


def _ledger(tmp_path: Path, *lines: bytes, session: str = "s1") -> None:
    (tmp_path / session / "tool-results").mkdir(parents=True, exist_ok=True)
    path = tmp_path / session / "tool-results.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def _event(event: str, filename: str = "f", **more: object) -> bytes:
    record = {"schema": "ctxaudit.artifact/1", "event": event, "filename": filename, **more}
    return json.dumps(record).encode()


_STORED = _event(
    "stored",
    sha256="0" * 64,
    blake3="0" * 64,
    bytes=0,
    segment_bytes=1 << 20,
    segments=[],
    segment_lines=[],
    recorded_at="2026-01-02T03:04:05Z",
    tool=None,
    call_id=None,
    reason=None,
)


def test_the_ledger_says_what_was_removed(tmp_path: Path) -> None:
    _ledger(tmp_path, _STORED, _event("removed"))
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.REMOVED_BY_RETENTION)
    assert _check(tmp_path, "0" * 64, "g") == Outcome(Reason.ARTIFACT_MISSING)
    assert _check(tmp_path, "0" * 64, "F") == Outcome(Reason.ARTIFACT_MISSING)


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (_STORED,),
        (_event("removed"), _STORED),
        (_event("removed", "other"),),
        (b"rubbish",),
        (b'{"schema":"ctxaudit.artifact/2","event":"removed","filename":"f"}',),
        (b"[" * 200_000,),
        (b'{"a":' * 200_000,),
        (b"\xff\xfe",),
        (b"",),
        (b"9" * 5000,),
    ],
    ids=lambda lines: ascii(b"|".join(lines)[:30]),
)
def test_any_other_ledger_says_nothing(tmp_path: Path, lines: tuple[bytes, ...]) -> None:
    _ledger(tmp_path, *lines)
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)


def test_a_last_line_counts_if_it_is_whole(tmp_path: Path) -> None:
    _ledger(tmp_path)
    path = tmp_path / "s1" / "tool-results.jsonl"
    path.write_bytes(_event("removed"))
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.REMOVED_BY_RETENTION)
    path.write_bytes(_event("removed")[:-1])
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)


@pytest.mark.parametrize("kind", ["fifo", "directory", "link"])
def test_a_ledger_that_is_no_file_says_nothing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "s1" / "tool-results").mkdir(parents=True)
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(_event("removed") + b"\n")
    place = tmp_path / "s1" / "tool-results.jsonl"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to(outside)
    assert _check(tmp_path, "0" * 64) == Outcome(Reason.ARTIFACT_MISSING)


def test_what_is_there_is_verified_whatever_the_ledger_says(tmp_path: Path) -> None:
    digest = _put(tmp_path, b"x")
    _ledger(tmp_path, _event("removed"))
    assert _check(tmp_path, digest).sha256 == digest


# -- changes while it is read --------------------------------------------------------------------


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"+")


def _shorten(path: Path) -> None:
    os.truncate(path, 5)


def _rewrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"X")


def _rewrite_and_put_the_time_back(path: Path) -> None:
    before = path.stat()
    _rewrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"another file")
    other.replace(path)


class _Meddler:
    """Does something to a file each time it is read, so many times."""

    def __init__(
        self, patch: pytest.MonkeyPatch, path: Path, act: Callable[[Path], None], times: int
    ) -> None:
        self.left = times
        self.threads: list[threading.Thread] = []
        self._path = path
        self._act = act
        pread, read_into = os.pread, OpenFile.read_into

        def small(fd: int, size: int, offset: int) -> bytes:
            data = pread(fd, size, offset)
            self._meddle()
            return data

        def large(file: OpenFile, buffer: memoryview, offset: int) -> int:
            count = read_into(file, buffer, offset)
            self._meddle()
            return count

        patch.setattr("provenance.fs.directory._pread", small)
        patch.setattr(OpenFile, "read_into", large)

    def _meddle(self) -> None:
        if self.left > 0 and self._path.exists():
            self.left -= 1
            _until_the_clock_ticks(self._path)
            # Not on our own thread: a lease that we hold would hold us up for ever.
            meddler = threading.Thread(target=self._act, args=(self._path,), daemon=True)
            self.threads.append(meddler)
            meddler.start()


@pytest.fixture(params=[100, _LARGE], ids=["small", "large"])
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def _no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that grants none: what is read is compared by `stat` alone."""
    monkeypatch.setattr("provenance.fs.lease._may_route_signal", lambda: False)


class _StepByStep(_Meddler):
    def _meddle(self) -> None:
        if self.left > 0 and self._path.exists():
            self.left -= 1
            _until_the_clock_ticks(self._path)
            self._act(self._path)


@pytest.mark.usefixtures("_no_lease")
@pytest.mark.parametrize("act", [_grow, _rewrite, _rewrite_and_put_the_time_back])
def test_a_change_is_read_again(
    tmp_path: Path,
    size: int,
    threads: bool,
    act: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = b"x" * size
    before = _put(tmp_path, data)
    after = sha256_of(data + b"+" if act is _grow else b"X" + data[1:])
    path = tmp_path / "s1" / "tool-results" / "f"
    with monkeypatch.context() as patch:
        meddler = _StepByStep(patch, path, act, times=1)
        # What was read first is gone: only what is there now may be said to be available.
        outcome = _check(tmp_path, before, threads=threads)
        assert meddler.left == 0
    assert outcome == Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)
    path.write_bytes(data)
    with monkeypatch.context() as patch:
        _StepByStep(patch, path, act, times=1)
        outcome = _check(tmp_path, after, threads=threads)
    assert outcome.sha256 == after
    assert outcome.quiescence is Quiescence.STAT


@pytest.mark.usefixtures("_no_lease")
@pytest.mark.parametrize("act", [_shorten, _replace])
def test_what_was_read_from_a_file_that_is_gone_is_never_available(
    tmp_path: Path,
    size: int,
    threads: bool,
    act: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digest = _put(tmp_path, b"x" * size)
    path = tmp_path / "s1" / "tool-results" / "f"
    with monkeypatch.context() as patch:
        _StepByStep(patch, path, act, times=1)
        outcome = _check(tmp_path, digest, threads=threads)
    assert outcome == Outcome(Reason.ARTIFACT_DIGEST_MISMATCH)


@pytest.mark.usefixtures("_no_lease")
def test_a_file_that_never_rests_is_inconclusive(
    tmp_path: Path, size: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * size)
    path = tmp_path / "s1" / "tool-results" / "f"
    with monkeypatch.context() as patch:
        meddler = _StepByStep(patch, path, _grow, times=1000)
        outcome = _check(tmp_path, digest, threads=threads)
    assert outcome == Outcome(Reason.SOURCE_CHANGED_DURING_READ)
    assert meddler.left > 900  # it gave up soon


@pytest.mark.usefixtures("_no_lease")
def test_a_file_that_is_deleted_meanwhile_has_disappeared(
    tmp_path: Path, size: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * size)
    path = tmp_path / "s1" / "tool-results" / "f"
    with monkeypatch.context() as patch:
        _StepByStep(patch, path, Path.unlink, times=1)
        outcome = _check(tmp_path, digest, threads=threads)
    assert outcome == Outcome(Reason.SOURCE_DISAPPEARED)


@pytest.mark.usefixtures("_no_lease")
def test_a_link_that_takes_the_files_place_meanwhile_is_the_boundary(
    tmp_path: Path, size: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * size)
    (tmp_path / "outside").write_bytes(b"x" * size)
    path = tmp_path / "s1" / "tool-results" / "f"

    def swap(file: Path) -> None:
        file.unlink()
        file.symlink_to(tmp_path / "outside")

    with monkeypatch.context() as patch:
        _StepByStep(patch, path, swap, times=1)
        outcome = _check(tmp_path, digest, threads=threads)
    assert outcome == Outcome(Reason.OWNERSHIP_BOUNDARY)


# -- which guard held ----------------------------------------------------------------------------


def _leases_work(path: Path) -> bool:
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


@pytest.fixture
def large(tmp_path: Path) -> str:
    digest = _put(tmp_path, b"x" * _LARGE)
    if sys.platform != "linux" or not _leases_work(tmp_path / "s1" / "tool-results" / "f"):
        pytest.skip("no leases here: only `stat` was tested")
    return digest


def test_a_large_file_at_rest_is_leased(tmp_path: Path, large: str, threads: bool) -> None:
    assert _check(tmp_path, large, threads=threads).quiescence is Quiescence.LEASED
    at_border = _put(tmp_path, b"x" * (1 << 20), "border")
    assert _check(tmp_path, at_border, "border").quiescence is Quiescence.LEASED
    below = _put(tmp_path, b"x" * ((1 << 20) - 1), "below")
    assert _check(tmp_path, below, "below").quiescence is Quiescence.STAT


def test_a_large_file_with_a_writer_is_compared_by_stat(
    tmp_path: Path, large: str, threads: bool
) -> None:
    with (tmp_path / "s1" / "tool-results" / "f").open("r+b"):
        outcome = _check(tmp_path, large, threads=threads)
    assert outcome.sha256 == large
    assert outcome.quiescence is Quiescence.STAT


def test_a_shared_mapping_is_a_writer_although_its_handle_is_closed(
    tmp_path: Path, large: str
) -> None:
    with (tmp_path / "s1" / "tool-results" / "f").open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE)
    with mapping:
        assert _check(tmp_path, large).quiescence is Quiescence.STAT
        mapping[0:1] = b"y"
        assert _check(tmp_path, large).reason is Reason.ARTIFACT_DIGEST_MISMATCH
    assert _check(tmp_path, large).reason is Reason.ARTIFACT_DIGEST_MISMATCH


def test_a_signal_handler_of_the_program_means_stat(tmp_path: Path, large: str) -> None:
    before = signal.signal(signal.SIGURG, lambda number, frame: None)
    try:
        assert _check(tmp_path, large).quiescence is Quiescence.STAT
    finally:
        signal.signal(signal.SIGURG, before)
    assert _check(tmp_path, large).quiescence is Quiescence.LEASED


def test_in_another_thread_it_is_leased_too(tmp_path: Path, large: str) -> None:
    got: list[Outcome] = []
    thread = threading.Thread(target=lambda: got.append(_check(tmp_path, large)))
    thread.start()
    thread.join()
    assert got[0].quiescence is Quiescence.LEASED


def test_a_writer_that_comes_meanwhile_gets_in_and_is_noticed(
    tmp_path: Path, large: str, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s1" / "tool-results" / "f"

    def open_and_write(file: Path) -> None:
        with file.open("r+b") as out:  # waits for the lease to go
            out.write(b"X")

    with monkeypatch.context() as patch:
        meddler = _Meddler(patch, path, open_and_write, times=1)
        outcome = _check(tmp_path, large, threads=threads)
        assert meddler.left == 0
    meddler.threads[0].join()  # a hang here is a writer that was kept out
    assert outcome.reason in (Reason.ARTIFACT_DIGEST_MISMATCH, Reason.VERIFIED_ARTIFACT)
    if outcome.reason is Reason.VERIFIED_ARTIFACT:
        # It asked only after the last byte was read: the answer was true when it was given.
        assert outcome.sha256 == large


def test_a_lease_that_breaks_after_the_last_byte_was_read_counts_as_broken(
    tmp_path: Path, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s1" / "tool-results" / "f"
    real = verify_module.stream
    reads = []

    def stream_and_break(*arguments: object, **options: object) -> bool:
        whole = real(*arguments, **options)  # type: ignore[arg-type]
        reads.append(whole)
        if len(reads) == 1:
            with pytest.raises(BlockingIOError):
                os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        return whole

    with monkeypatch.context() as patch:
        patch.setattr(verify_module, "stream", stream_and_break)
        outcome = _check(tmp_path, large)
    assert reads == [True, True]
    assert outcome.sha256 == large
    assert outcome.quiescence is Quiescence.LEASED


def test_no_lease_is_left_behind(tmp_path: Path, large: str, threads: bool) -> None:
    path = tmp_path / "s1" / "tool-results" / "f"
    for digest in (large, "0" * 64):
        _check(tmp_path, digest, threads=threads)
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # refused while a lease stands
    not_text = _put(tmp_path, b"\xff" * _LARGE, "bytes")
    _check(tmp_path, not_text, "bytes", threads=threads)
    place = path.with_name("bytes")
    os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))


# -- machines that fail --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOMEM])
def test_a_read_that_fails_is_inconclusive(
    tmp_path: Path, size: int, threads: bool, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * size)

    def refuse(*_: object) -> bytes:
        raise OSError(number, "no")

    with monkeypatch.context() as patch:
        patch.setattr("provenance.fs.directory._pread", refuse)
        patch.setattr(os, "preadv", refuse)
        outcome = _check(tmp_path, digest, threads=threads)
    assert outcome == Outcome(Reason.SOURCE_READ_FAILED)


def test_without_a_thread_it_is_verified_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _put(tmp_path, b"x" * _LARGE)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert _check(tmp_path, digest).sha256 == digest


_EXHAUSTED = """
import os, resource, sys
from provenance.artifacts.verify import ArtifactSession
from provenance.fs import TrustedRoot
root, large, small = sys.argv[1:]
with TrustedRoot(root) as trusted:
    trusted.open_directory().close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    hoard = []
    try:
        while True:
            hoard.append(os.dup(0))
    except OSError:
        pass
    said = []
    while True:
        with ArtifactSession(trusted, "s1") as session:
            said.append([str(session.verify(*item.split("=")).reason) for item in (large, small)])
        if not hoard:
            break
        os.close(hoard.pop())
        if len(said) > 12:
            break
print(said[0], said[-1])
assert all(reason in ("source_read_failed", "verified_artifact") for row in said for reason in row)
"""


def test_a_process_without_free_handles_says_so(tmp_path: Path) -> None:
    large = _put(tmp_path, b"x" * _LARGE, "large")
    small = _put(tmp_path, b"x", "small")
    done = run_python(_EXHAUSTED, tmp_path, f"large={large}", f"small={small}")
    assert done.stdout == (
        "['source_read_failed', 'source_read_failed'] ['verified_artifact', 'verified_artifact']\n"
    )


# -- facts, batches ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, _LARGE])
def test_facts_are_told(tmp_path: Path, size: int) -> None:
    facts: list[tuple[str, str]] = []
    digest = _put(tmp_path, b"x" * size)
    plain = _put(tmp_path, b"y" * size, "plain")
    path = tmp_path / "s1" / "tool-results" / "f"
    os.link(path, tmp_path / "second")
    expected = [("hard_link", "f")]
    if is_root():
        os.chown(path, 12345, 12345)
        expected.append(("foreign_owner", "f"))
    with (
        TrustedRoot(tmp_path) as trusted,
        ArtifactSession(
            trusted, "s1", on_fact=lambda code, name: facts.append((code, name))
        ) as session,
    ):
        assert session.verify("f", digest).sha256 == digest
        assert session.verify("plain", plain).sha256 == plain
    assert facts == expected


def test_a_session_folder_that_is_replaced_between_two_checks(tmp_path: Path) -> None:
    first = _put(tmp_path, b"first")
    with TrustedRoot(tmp_path) as trusted, ArtifactSession(trusted, "s1") as session:
        assert session.verify("f", first).sha256 == first
        (tmp_path / "s1").rename(tmp_path / "moved")
        second = _put(tmp_path, b"second", "g")
        # Before it is called missing it is looked for once more, from the root.
        assert session.verify("g", second).sha256 == second
        assert session.verify("f", first) == Outcome(Reason.ARTIFACT_MISSING)


def test_no_answer_is_kept(tmp_path: Path) -> None:
    digest = _put(tmp_path, b"first")
    with TrustedRoot(tmp_path) as trusted, ArtifactSession(trusted, "s1") as session:
        assert session.verify("f", digest).sha256 == digest
        _put(tmp_path, b"other")
        assert session.verify("f", digest).reason is Reason.ARTIFACT_DIGEST_MISMATCH
        (tmp_path / "s1" / "tool-results" / "f").unlink()
        assert session.verify("f", digest).reason is Reason.ARTIFACT_MISSING
        _put(tmp_path, b"first")
        assert session.verify("f", digest).sha256 == digest
