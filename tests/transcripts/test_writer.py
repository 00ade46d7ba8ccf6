"""Appending: what stands in the file afterwards, and when nothing is appended."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.clock import ClockError
from provenance.fs import (
    AppendFile,
    BackendName,
    BoundaryRefused,
    LockTimeout,
    NotARegularFile,
    TrustedRoot,
    WriteFailed,
)
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts import (
    DamagedTailError,
    EventError,
    SessionIdError,
    TornTailError,
    TranscriptEvent,
    TranscriptWriter,
    WriterClosedError,
    verify_events,
)
from tests.transcripts.lines import SESSION, compact, json_values, record
from tests.trees import CHECKOUT

_VERIFIED = Reason.VERIFIED_TRANSCRIPT_EVENT
_MOMENT = datetime(2026, 3, 2, 10, 1, 0, 123456, tzinfo=timezone(timedelta(hours=1)))


def _clock() -> datetime:
    return _MOMENT


def _append(folder: Path, *events: Any, **options: Any) -> list[TranscriptEvent]:
    with TranscriptWriter(folder, SESSION, clock=_clock, **options) as writer:
        return [writer.append(event) for event in events]


def _path(folder: Path) -> Path:
    return folder / f"{SESSION}.jsonl"


def _reasons(folder: Path, *sequences: int) -> list[Reason]:
    with TrustedRoot(folder) as root:
        outcomes = verify_events(
            root, SESSION, sequences, limits=DEFAULT_LIMITS, excerpt_chars=0
        ).outcomes
    return [outcomes[number].reason for number in sequences]


def test_the_bytes_of_a_line(tmp_path: Path) -> None:
    event = {"type": "message", "content": "h\u00e9llo\n\u2028", "Z": [1.5, None, True]}
    (appended,) = _append(tmp_path, event)
    line = (
        '{"Z":[1.5,null,true],"content":"h\u00e9llo\\n\u2028","event_id":"transcript:s1:1",'
        '"recorded_at":"2026-03-02T09:01:00.123456+00:00","schema_version":1,"sequence":1,'
        '"session_id":"s1","type":"message"}'
    ).encode()
    assert _path(tmp_path).read_bytes() == line + b"\n"
    assert appended == TranscriptEvent("transcript:s1:1", 1, hashlib.sha256(line).hexdigest())


@given(events=st.lists(st.dictionaries(st.text(max_size=8), json_values()), max_size=4))
def test_what_is_appended_is_verified_and_what_is_refused_left_no_byte(
    events: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("writer")
    appended = []
    with TranscriptWriter(folder, SESSION) as writer:
        for event in events:
            before = _path(folder).read_bytes() if _path(folder).exists() else None
            try:
                appended.append((event, writer.append(event)))
            except EventError:
                assert (_path(folder).read_bytes() if _path(folder).exists() else None) == before
    assert [said.sequence for _, said in appended] == list(range(1, len(appended) + 1))
    with TrustedRoot(folder) as root:
        outcomes = verify_events(
            root,
            SESSION,
            range(1, len(appended) + 1),
            limits=DEFAULT_LIMITS,
            excerpt_chars=0,
        )
    assert outcomes.findings == ()
    lines = _path(folder).read_bytes().split(b"\n") if appended else []
    for (event, said), line in zip(appended, lines, strict=False):
        assert outcomes.outcomes[said.sequence].sha256 == said.sha256
        assert line == compact(json.loads(line))
        assert event.items() <= json.loads(line).items()


def test_modes_and_folders_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        _append(tmp_path / "new" / "root", {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(_path(tmp_path / "new" / "root").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new" / "root").stat().st_mode) == 0o700


def test_one_write_of_the_whole_line_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, object]] = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda fd, data: calls.append(("w", data)) or write(fd, data))
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append(("s", fd)) or fsync(fd))
    with TranscriptWriter(tmp_path, SESSION) as writer:
        writer.append({"content": "x" * 100_000})
        calls.clear()
        writer.append({"content": "x" * 100_000})
    data = _path(tmp_path).read_bytes()
    assert [name for name, _ in calls] == ["w", "s"]
    assert calls[0][1] == data[data.index(b"\n") + 1 :]


def test_nothing_is_opened_before_the_first_append_or_for_a_bad_event(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    with TranscriptWriter(folder, SESSION) as writer:
        # The last fits until it is printed, with two characters for each line end.
        for event in (
            {"sequence": 1},
            {"a": "x" * (1 << 20)},
            {"a": float("nan")},
            {"a": "\n" * 600_000},
        ):
            with pytest.raises(EventError):
                writer.append(event)
    assert not folder.exists()


@pytest.mark.parametrize("session", ["", "..", "a/b", ".hidden", "é"])
def test_a_session_id_outside_the_grammar_is_refused(tmp_path: Path, session: str) -> None:
    with pytest.raises(SessionIdError):
        TranscriptWriter(tmp_path, session)


def test_the_record_limit_is_the_verifiers_to_the_byte(tmp_path: Path) -> None:
    _append(tmp_path, *({"content": ""} for _ in range(9)))
    room = DEFAULT_LIMITS.max_record_bytes - len(_path(tmp_path).read_bytes().split(b"\n")[8])
    (ninth,) = _append(tmp_path, {"content": "x" * (room - 2)})  # 10 has a digit more, twice
    assert ninth.sequence == 10
    with pytest.raises(EventError, match="at most 1048576 bytes as one line, got 1048577"):
        _append(tmp_path, {"content": "x" * (room - 1)})
    assert _reasons(tmp_path, 10, 11) == [_VERIFIED, Reason.TRANSCRIPT_EVENT_MISSING]


def test_limits_are_the_callers(tmp_path: Path) -> None:
    limits = Limits(max_nesting=2, max_record_bytes=300)
    _append(tmp_path, {"a": []}, limits=limits)
    with pytest.raises(EventError, match="at most 2 levels"):
        _append(tmp_path, {"a": [[]]}, limits=limits)
    with pytest.raises(EventError, match="at most 300 bytes"):
        _append(tmp_path, {"a": "x" * 200}, limits=limits)


@pytest.mark.parametrize("moment", [datetime(2026, 3, 2), None, 3])  # noqa: DTZ001
def test_a_clock_without_a_zone_is_refused(tmp_path: Path, moment: Any) -> None:
    with (
        TranscriptWriter(tmp_path, SESSION, clock=lambda: moment) as writer,
        pytest.raises(ClockError),
    ):
        writer.append({})
    assert _path(tmp_path).read_bytes() == b""


def test_times_are_utc_with_microseconds(tmp_path: Path) -> None:
    def clock() -> datetime:
        return datetime(2026, 3, 2, tzinfo=UTC)

    with TranscriptWriter(tmp_path, SESSION, clock=clock) as writer:
        writer.append({})
    assert b'"recorded_at":"2026-03-02T00:00:00.000000+00:00"' in _path(tmp_path).read_bytes()


@pytest.mark.parametrize("tail", [b"{", b"x", b"\xff", compact(record(2)), b"\x00" * 9, b"\r"])
def test_a_tail_without_an_end_is_not_appended_to(tmp_path: Path, tail: bytes) -> None:
    _path(tmp_path).write_bytes(compact(record(1)) + b"\n" + tail)
    before = _path(tmp_path).read_bytes()
    with pytest.raises(TornTailError, match=f"got {len(tail)} bytes without one"):
        _append(tmp_path, {})
    assert _path(tmp_path).read_bytes() == before


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (b"", Reason.TRANSCRIPT_INVALID_JSON),
        (b"{}{}", Reason.TRANSCRIPT_INVALID_JSON),
        (b"[]", Reason.TRANSCRIPT_RECORD_NOT_OBJECT),
        (b"\xff", Reason.SOURCE_NOT_UTF8),
        (compact(record(3)), Reason.TRANSCRIPT_SEQUENCE_MISMATCH),
        (compact(record(2, session="s2")), Reason.TRANSCRIPT_SESSION_MISMATCH),
        (b"x" * (2 << 20), Reason.TRANSCRIPT_RECORD_TOO_LARGE),
        (compact(record(2, content="x" * (1 << 20))), Reason.TRANSCRIPT_RECORD_TOO_LARGE),
    ],
)
def test_a_last_line_that_is_no_record_is_not_appended_to(
    tmp_path: Path, last: bytes, reason: Reason
) -> None:
    _path(tmp_path).write_bytes(compact(record(1)) + b"\n" + last + b"\n")
    before = _path(tmp_path).read_bytes()
    with pytest.raises(DamagedTailError, match=str(reason)) as caught:
        _append(tmp_path, {})
    assert caught.value.reason is reason
    assert _path(tmp_path).read_bytes() == before


def test_older_records_and_other_line_ends_are_appended_to(tmp_path: Path) -> None:
    _path(tmp_path).write_bytes(b'{"content":"old"}\n' + compact(record(2)) + b"\r\n")
    (appended,) = _append(tmp_path, {})
    assert appended.sequence == 3
    assert _reasons(tmp_path, 3) == [_VERIFIED]


def test_damage_before_the_last_line_does_not_stop_the_log(tmp_path: Path) -> None:
    """Evidence is better kept behind a fault than not at all; the verifier says what it is."""
    _path(tmp_path).write_bytes(b"damage\n" + compact(record(2)) + b"\n")
    (appended,) = _append(tmp_path, {})
    assert appended.sequence == 3
    assert _reasons(tmp_path, 3) == [Reason.TRANSCRIPT_INVALID_JSON]


def test_two_writers_take_turns(tmp_path: Path) -> None:
    with TranscriptWriter(tmp_path, SESSION) as one, TranscriptWriter(tmp_path, SESSION) as two:
        sequences = [writer.append({}).sequence for writer in (one, two, two, one, two, one, one)]
    assert sequences == list(range(1, 8))
    assert _reasons(tmp_path, 7) == [_VERIFIED]


def test_what_others_append_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = AppendFile.read_at
    got: list[int] = []

    def read_at(self: AppendFile, offset: int, size: int) -> bytes:
        data = read(self, offset, size)
        got.append(len(data))
        return data

    monkeypatch.setattr(AppendFile, "read_at", read_at)
    with TranscriptWriter(tmp_path, SESSION) as one, TranscriptWriter(tmp_path, SESSION) as two:
        for _ in range(50):
            one.append({"content": "x" * 1_000})
        assert sum(got) == 0  # its own appends a writer knows
        two.append({})
        assert sum(got) > 50_000
        got.clear()
        two.append({})
        assert sum(got) == 0
        one.append({})
        # The two new lines, and a step back from the end to find the last one.
        assert sum(got) < 400 + 5_000


@pytest.mark.parametrize("how", ["removed", "replaced", "cut", "emptied"])
def test_a_transcript_that_is_another_now(tmp_path: Path, how: str) -> None:
    path = _path(tmp_path)
    with TranscriptWriter(tmp_path, SESSION) as writer:
        for _ in range(3):
            writer.append({})
        whole = path.read_bytes()
        one_line = whole[: whole.index(b"\n") + 1]
        if how == "removed":
            path.unlink()
        elif how == "replaced":
            (tmp_path / "other").write_bytes(one_line)
            (tmp_path / "other").rename(path)
        else:
            os.truncate(path, len(one_line) if how == "cut" else 0)
        expected = 1 if how in ("removed", "emptied") else 2
        assert writer.append({}).sequence == expected
    assert _reasons(tmp_path, expected) == [_VERIFIED]


def test_a_transcript_that_is_replaced_between_opening_and_locking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of a file that no name leads to any more protects nobody."""
    path = _path(tmp_path)
    lock = AppendFile.lock
    turns = []

    def replace_then_lock(self: AppendFile, timeout_seconds: float = 30.0) -> Any:
        turns.append(self.inode())
        if len(turns) < 3:
            path.rename(tmp_path / f"old{len(turns)}")
            if len(turns) == 2:
                path.write_bytes(compact(record(1)) + b"\n")
        return lock(self, timeout_seconds)

    monkeypatch.setattr(AppendFile, "lock", replace_then_lock)
    (appended,) = _append(tmp_path, {})
    assert appended.sequence == 2
    assert len(turns) == 3
    assert (tmp_path / "old1").read_bytes() == (tmp_path / "old2").read_bytes() == b""


@pytest.mark.parametrize(
    ("make", "failure"),
    [
        (lambda path: path.symlink_to("elsewhere"), BoundaryRefused),
        (lambda path: path.symlink_to("real"), BoundaryRefused),
        (lambda path: os.link(path.with_name("real"), path), BoundaryRefused),
        (lambda path: path.mkdir(), NotARegularFile),
        (os.mkfifo, NotARegularFile),
    ],
)
def test_what_is_no_file_of_ours_is_left_alone(
    tmp_path: Path,
    backend: BackendName,
    make: Callable[[Path], object],
    failure: type[Exception],
) -> None:
    (tmp_path / "real").write_bytes(b"")
    make(_path(tmp_path))
    with TrustedRoot(tmp_path, backend=backend) as root, pytest.raises(failure):
        TranscriptWriter(root, SESSION).append({})
    assert (tmp_path / "real").read_bytes() == b""
    assert not (tmp_path / "elsewhere").exists()


def test_a_root_that_is_handed_in_stays_open(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root:
        for expected in (1, 2):
            with TranscriptWriter(root, SESSION) as writer:
                assert writer.append({}).sequence == expected
        assert root.backend in ("openat2", "walk")


def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    writer = TranscriptWriter(tmp_path, SESSION)
    writer.append({})
    writer.close()
    writer.close()
    with pytest.raises(WriterClosedError):
        writer.append({})


def test_a_lock_that_is_held_times_out(tmp_path: Path) -> None:
    _append(tmp_path, {})
    with (
        TrustedRoot(tmp_path) as root,
        root.open_directory() as folder,
        folder.open_append(f"{SESSION}.jsonl") as file,
        file.lock(),
        TranscriptWriter(root, SESSION, lock_seconds=0.01) as writer,
        pytest.raises(LockTimeout),
    ):
        writer.append({})
    assert _reasons(tmp_path, 1, 2) == [_VERIFIED, Reason.TRANSCRIPT_EVENT_MISSING]


@pytest.mark.parametrize("part", ["nothing", "half", "all"])
def test_a_failed_write_leaves_nothing_and_the_writer_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    with TranscriptWriter(tmp_path, SESSION) as writer:
        writer.append({})
        before = _path(tmp_path).read_bytes()
        write, fsync = os.write, os.fsync

        def short_write(fd: int, data: bytes) -> int:
            if part == "nothing":
                raise OSError(errno.ENOSPC, "no space")
            return write(fd, data[: len(data) // 2] if part == "half" else data)

        def failing_fsync(fd: int) -> None:
            if part == "all":
                raise OSError(errno.EIO, "input/output error")
            fsync(fd)

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", short_write)
            patch.setattr(os, "fsync", failing_fsync)
            with pytest.raises(WriteFailed):
                writer.append({"content": "lost"})
        assert _path(tmp_path).read_bytes() == before
        assert writer.append({}).sequence == 2
    assert _reasons(tmp_path, 2) == [_VERIFIED]


def test_threads_share_a_writer(tmp_path: Path) -> None:
    sequences: list[int] = []
    with TranscriptWriter(tmp_path, SESSION) as writer:

        def work() -> None:
            for _ in range(10):
                sequences.append(writer.append({}).sequence)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(sequences) == list(range(1, 41))
    assert _reasons(tmp_path, 40) == [_VERIFIED]


_APPEND_MANY = """
import sys
from provenance.transcripts import TranscriptWriter

folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with TranscriptWriter(folder, "s1", lock_seconds=250) as writer:
    for number in range(count):
        said = writer.append({"content": f"{name} {number}" + "x" * (number * 97 % 9000)})
        print(said.sequence, said.sha256, name, number)
"""


def test_eight_processes_never_give_one_sequence_twice(tmp_path: Path) -> None:
    count = 25
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _APPEND_MANY, str(tmp_path), f"p{number}", str(count)],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    said: dict[int, tuple[str, str]] = {}
    for child in children:
        printed, _ = child.communicate(timeout=300)
        assert child.returncode == 0
        for line in printed.split("\n")[:-1]:
            sequence, digest, name, number = line.split(" ")
            assert int(sequence) not in said
            said[int(sequence)] = (digest, f"{name} {number}")
    assert sorted(said) == list(range(1, 8 * count + 1))
    with TrustedRoot(tmp_path) as root:
        outcomes = verify_events(
            root, SESSION, said, limits=DEFAULT_LIMITS, excerpt_chars=2_000
        ).outcomes
    for sequence, (digest, content) in said.items():
        assert outcomes[sequence].sha256 == digest
        assert (outcomes[sequence].excerpt or "").rstrip("x") == content


_FORKED = """
import json, os, sys
from provenance.transcripts import TranscriptWriter

with TranscriptWriter(sys.argv[1], "s1") as writer:
    writer.append({})
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            for _ in range(10):
                writer.append({})
            os._exit(0)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    print(json.dumps([statuses, writer.append({}).sequence]))
"""


def test_a_writer_lives_on_in_forked_processes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORKED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert json.loads(done.stdout) == [[0, 0, 0, 0], 42]
    assert _reasons(tmp_path, 42) == [_VERIFIED]
