"""Giving a transcript a sound end, without losing a byte."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.fs import (
    BoundaryRefused,
    LockTimeout,
    SourceAbsent,
    TrustedRoot,
    WriteFailed,
)
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts import (
    DamagedTailError,
    SessionIdError,
    TailAction,
    TailRepair,
    TranscriptWriter,
    repair_tail,
    verify_events,
)
from provenance.transcripts.blocks import BLOCK_BYTES
from provenance.transcripts.tail import Tail, inspect_tail, read_last_line
from tests.transcripts.lines import SESSION, compact, mutated, record
from tests.transcripts.model import lines_of
from tests.trees import run_python, sha256_of

_NAME = f"{SESSION}.jsonl"
_SOUND = compact(record(1)) + b"\n" + compact(record(2)) + b"\n"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _write(folder: Path, data: bytes) -> Path:
    path = folder / _NAME
    path.write_bytes(data)
    return path


def _append_one(folder: Path) -> int:
    with TranscriptWriter(folder, SESSION) as writer:
        return writer.append({}).sequence


@pytest.mark.parametrize("data", [b"", _SOUND, b"\n", b"{}{}\n"])
def test_an_end_that_is_whole_is_left_alone(tmp_path: Path, data: bytes) -> None:
    path = _write(tmp_path, data)
    facts = path.stat()
    said = repair_tail(tmp_path, SESSION)
    assert said == TailRepair(TailAction.NOTHING, data.count(b"\n"))
    assert (said.aside, said.aside_bytes, said.aside_sha256) == (None, 0, None)
    assert path.stat().st_mtime_ns == facts.st_mtime_ns
    assert _names(tmp_path) == [_NAME]


@pytest.mark.parametrize("more", [b"", b"\r", b" \t"])
def test_a_whole_record_gets_its_line_end_alone(tmp_path: Path, more: bytes) -> None:
    path = _write(tmp_path, _SOUND + compact(record(3)) + more)
    assert repair_tail(tmp_path, SESSION) == TailRepair(TailAction.ENDED, 3)
    assert path.read_bytes() == _SOUND + compact(record(3)) + more + b"\n"
    assert _names(tmp_path) == [_NAME]
    assert repair_tail(tmp_path, SESSION).action is TailAction.NOTHING
    assert _append_one(tmp_path) == 4


@pytest.mark.parametrize(
    "torn",
    [
        compact(record(3))[:-1],
        compact(record(3))[:7],
        compact(record(4)),
        compact(record(3, session="s2")),
        compact(record(3)) * 2,
        b"\xc3",
        b"\x00" * 300,
        b"\r",
        b" ",
        b"x" * (3 * BLOCK_BYTES + 1),
        b"x" * ((1 << 20) + 5),
    ],
)
def test_torn_bytes_are_set_aside(tmp_path: Path, torn: bytes) -> None:
    path = _write(tmp_path, _SOUND + torn)
    said = repair_tail(tmp_path, SESSION)
    aside = f"{SESSION}.torn-{len(_SOUND)}-{sha256_of(torn)[:16]}"
    assert said == TailRepair(TailAction.SET_ASIDE, 2, aside, len(torn), sha256_of(torn))
    assert path.read_bytes() == _SOUND
    assert (tmp_path / aside).read_bytes() == torn
    assert (tmp_path / aside).stat().st_mode & 0o777 == 0o600
    assert _names(tmp_path) == sorted([_NAME, aside])
    assert repair_tail(tmp_path, SESSION).action is TailAction.NOTHING
    assert _append_one(tmp_path) == 3


def test_a_transcript_of_torn_bytes_alone(tmp_path: Path) -> None:
    torn = b'{"half'
    path = _write(tmp_path, torn)
    assert repair_tail(tmp_path, SESSION).aside == f"{SESSION}.torn-0-{sha256_of(torn)[:16]}"
    assert path.read_bytes() == b""


def test_the_same_torn_bytes_again_need_no_second_file(tmp_path: Path) -> None:
    first = None
    for _ in range(3):
        _write(tmp_path, _SOUND + b"{torn")
        said = repair_tail(tmp_path, SESSION)
        first = first or said
        assert said == first
    assert len(_names(tmp_path)) == 2


@pytest.mark.parametrize("other", [b"", b"{tarn", b"{torn and more", b"{tor"])
def test_a_name_in_use_is_never_written_to(tmp_path: Path, other: bytes) -> None:
    name = f"{SESSION}.torn-{len(_SOUND)}-{sha256_of(b'{torn')[:16]}"
    (tmp_path / name).write_bytes(other)
    path = _write(tmp_path, _SOUND + b"{torn")
    assert repair_tail(tmp_path, SESSION).aside == f"{name}-2"
    assert (tmp_path / name).read_bytes() == other
    assert (tmp_path / f"{name}-2").read_bytes() == b"{torn"
    assert path.read_bytes() == _SOUND
    (tmp_path / f"{name}-2").write_bytes(b"another")
    path.write_bytes(_SOUND + b"{torn")
    assert repair_tail(tmp_path, SESSION).aside == f"{name}-3"
    assert (tmp_path / f"{name}-2").read_bytes() == b"another"


@pytest.mark.parametrize("session", [SESSION, "a" * 200, "x.jsonl", "y.torn-1"])
def test_the_file_next_to_it_is_no_transcript(tmp_path: Path, session: str) -> None:
    (tmp_path / f"{session}.jsonl").write_bytes(b"{torn")
    said = repair_tail(tmp_path, session)
    assert said.aside is not None
    assert not said.aside.endswith(".jsonl")
    assert len(said.aside) <= 255


@given(data=st.data())
def test_nothing_is_lost_and_what_was_verified_stays_verified(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tail")
    written = data.draw(mutated(_SOUND + compact(record(3, content="é"))))
    path = _write(folder, written)

    def verdict() -> list[str | None]:
        with TrustedRoot(folder) as root:
            said = verify_events(root, SESSION, range(1, 6), limits=DEFAULT_LIMITS, excerpt_chars=0)
        return [said.outcomes[number].sha256 for number in range(1, 6)]

    before = verdict()
    said = repair_tail(folder, SESSION)
    after = path.read_bytes()
    assert after == b"" or after.endswith(b"\n")
    assert said.records == len(lines_of(after))
    if said.aside is None:
        assert after in (written, written + b"\n")
    else:
        assert after + (folder / said.aside).read_bytes() == written
    assert verdict() == before
    assert repair_tail(folder, SESSION) == TailRepair(TailAction.NOTHING, said.records)


def test_limits_are_the_callers(tmp_path: Path) -> None:
    line = compact(record(3))
    path = _write(tmp_path, _SOUND + line)
    said = repair_tail(tmp_path, SESSION, limits=Limits(max_record_bytes=len(line) - 1))
    assert said.action is TailAction.SET_ASIDE
    for end in (b"", b"\r"):
        path.write_bytes(_SOUND + line + end)
        said = repair_tail(tmp_path, SESSION, limits=Limits(max_record_bytes=len(line)))
        assert said.action is TailAction.ENDED


def test_a_writer_at_work_is_waited_for(tmp_path: Path) -> None:
    path = _write(tmp_path, _SOUND + b"{")
    with (
        TrustedRoot(tmp_path) as root,
        root.open_directory() as folder,
        folder.open_append(_NAME) as file,
        file.lock(),
        pytest.raises(LockTimeout),
    ):
        repair_tail(root, SESSION, lock_seconds=0.01)
    assert path.read_bytes() == _SOUND + b"{"


def test_the_copy_is_on_the_disk_before_the_transcript_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, _SOUND + b"{torn")
    calls = []

    def noting(name: str) -> None:
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *one, **two: calls.append(name) or call(*one, **two))

    for name in ("write", "fsync", "link", "ftruncate"):
        noting(name)
    repair_tail(tmp_path, SESSION)
    assert calls == ["write", "fsync", "link", "fsync", "ftruncate", "fsync"]


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SourceAbsent):
        repair_tail(tmp_path, SESSION)
    with pytest.raises(SessionIdError):
        repair_tail(tmp_path, "../x")
    assert _names(tmp_path) == []


def test_a_link_in_its_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"{torn")
    (tmp_path / _NAME).symlink_to("real")
    with pytest.raises(BoundaryRefused):
        repair_tail(tmp_path, SESSION)
    assert (tmp_path / "real").read_bytes() == b"{torn"


def test_a_disk_that_takes_no_copy_keeps_the_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path, _SOUND + b"{torn")

    def fail(fd: int, data: object) -> int:
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(WriteFailed):
        repair_tail(tmp_path, SESSION)
    assert path.read_bytes() == _SOUND + b"{torn"


_DIE = """
import os, sys
from provenance.transcripts import repair_tail

folder, at, after = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "after"
left = at

def watched(call):
    def wrapper(*arguments, **names):
        global left
        left -= 1
        if left == 0 and not after:
            os._exit(9)
        done = call(*arguments, **names)
        if left == 0:
            os._exit(9)
        return done
    return wrapper

for name in ("write", "fsync", "link", "ftruncate", "unlink"):
    setattr(os, name, watched(getattr(os, name)))
repair_tail(folder, "s1")
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_any_call_a_second_run_finishes(tmp_path: Path, moment: str) -> None:
    torn = b"{torn" + b"x" * BLOCK_BYTES
    deaths = 0
    while True:
        folder = tmp_path / str(deaths)
        folder.mkdir()
        path = _write(folder, _SOUND + torn)
        done = run_python(_DIE, folder, str(deaths + 1), moment, check=False)
        # The torn bytes are in the transcript, or in a file next to it, or in both: never in none.
        asides = [name for name in _names(folder) if name.startswith(f"{SESSION}.torn-")]
        copies = [(folder / name).read_bytes() for name in asides]
        assert path.read_bytes() == _SOUND + torn or (path.read_bytes() == _SOUND and copies)
        assert all(copy == torn for copy in copies)
        repair_tail(folder, SESSION)
        assert path.read_bytes() == _SOUND
        left = [name for name in _names(folder) if name.startswith(f"{SESSION}.torn-")]
        assert [(folder / name).read_bytes() for name in left] == [torn]
        if done.returncode == 0:
            break
        assert done.returncode == 9
        deaths += 1
    assert deaths >= 5


def test_tails(tmp_path: Path) -> None:
    data = b"a\nbb\n" + b"c" * 10
    _write(tmp_path, data)
    with (
        TrustedRoot(tmp_path) as root,
        root.open_directory() as folder,
        folder.open_append(_NAME) as file,
    ):
        tail = inspect_tail(file)
        assert tail == Tail(records=2, size=15, begun=5)
        assert not tail.is_whole
        file.append(b"\ndd\n")
        whole = inspect_tail(file)
        assert whole == inspect_tail(file, known=Tail(2, 5, 5)) == Tail(4, 19, 19)
        assert read_last_line(file, whole, max_record_bytes=99) == b"dd\n"
        assert read_last_line(file, Tail(1, 2, 2), max_record_bytes=99) == b"a\n"
        # Of a line that is too long, enough to see that it is.
        cut = read_last_line(file, Tail(3, 16, 16), max_record_bytes=4)
        assert cut == b"c" * 6 + b"\n"


@pytest.mark.parametrize("size", [0, 1, 4_000, 4_095, 4_096, 4_097, 16_384, 70_000, (1 << 20) + 9])
def test_the_last_line_however_long(tmp_path: Path, size: int) -> None:
    limit = DEFAULT_LIMITS.max_record_bytes
    line = b"x" * size + b"\n"
    for before in (b"", b"\n", b"before\n"):
        _write(tmp_path, before + line)
        with (
            TrustedRoot(tmp_path) as root,
            root.open_directory() as folder,
            folder.open_append(_NAME) as file,
        ):
            tail = inspect_tail(file)
            found = read_last_line(file, tail, max_record_bytes=limit)
        assert found == (line if size <= limit else b"x" * (limit + 2) + b"\n")


def test_errors_survive_the_way_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(DamagedTailError(Reason.SOURCE_NOT_UTF8)))
    assert error.reason is Reason.SOURCE_NOT_UTF8
