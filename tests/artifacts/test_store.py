"""The store: whole, exclusive, idempotent, never overwriting, never reusing a name."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.artifacts import (
    ArtifactStore,
    ContentRefused,
    SpillArgumentError,
    StoreWriteError,
    read_ledger,
)
from provenance.artifacts.ledger_entry import LedgerEntry
from provenance.artifacts.store import SpilledArtifact
from provenance.errors import CtxauditError
from provenance.fs import BackendName, BoundaryRefused, LockTimeout, TrustedRoot
from provenance.limits import Limits
from provenance.pointers import parse_source_pointer
from tests.artifacts.trees import (
    artifacts_in,
    check_session_is_whole,
    ledger_lines,
    ledger_of,
)
from tests.trees import pointer_of, run_python, sha256_of


def _artifact(home: Path, spilled: SpilledArtifact) -> bytes:
    session = parse_source_pointer(spilled.pointer).session_id
    return (home / session / "tool-results" / spilled.filename).read_bytes()


def test_what_is_spilled_is_there_under_a_full_pointer(store: ArtifactStore, home: Path) -> None:
    spilled = store.spill("s1", "héllo\n", tool="bash", call_id="c1")
    data = "héllo\n".encode()
    assert spilled.filename == "tool_result_001.txt"
    assert spilled.pointer == pointer_of("s1", "tool_result_001.txt", data)
    assert (spilled.sha256, spilled.bytes) == (sha256_of(data), len(data))
    assert _artifact(home, spilled) == data
    assert store.read(spilled.pointer).text == "héllo\n"


def test_the_ledger_line_has_every_key(store: ArtifactStore, home: Path) -> None:
    spilled = store.spill("s1", "one\ntwo", tool="bash", call_id="c1")
    (line,) = ledger_lines(home)
    assert line == {
        "schema": "ctxaudit.artifact/1",
        "event": "stored",
        "filename": spilled.filename,
        "sha256": spilled.sha256,
        "blake3": spilled.blake3,
        "bytes": 7,
        "segment_bytes": 1 << 20,
        "segments": [spilled.blake3],
        "segment_lines": [2],
        "tool": "bash",
        "call_id": "c1",
        "recorded_at": "2026-01-02T03:04:05.000000Z",
        "reason": None,
    }


def test_folders_and_files_are_for_their_owner_alone(store: ArtifactStore, home: Path) -> None:
    before = os.umask(0)
    try:
        store.spill("s1", "text")
    finally:
        os.umask(before)
    modes = {
        path.relative_to(home.parent).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in [home, *home.rglob("*")]
    }
    assert modes == {
        "home": 0o700,
        "home/s1": 0o700,
        "home/s1/tool-results": 0o700,
        "home/s1/tool-results.jsonl": 0o600,
        "home/s1/tool-results/tool_result_001.txt": 0o600,
    }


def test_no_temporary_file_stays(store: ArtifactStore, home: Path) -> None:
    for number in range(5):
        store.spill("s1", f"text {number}")
    store.spill("s1", "text 0", name="other")
    assert sorted(artifacts_in(home)) == [f"tool_result_{n:03d}.txt" for n in range(1, 6)]
    assert sorted(path.name for path in (home / "s1").iterdir()) == [
        "tool-results",
        "tool-results.jsonl",
    ]


@pytest.mark.parametrize("backend_of_two", ["same store", "another store"])
def test_equal_bytes_give_the_same_pointer(home: Path, backend_of_two: str) -> None:
    with ArtifactStore(home) as first, ArtifactStore(home) as second:
        again = first if backend_of_two == "same store" else second
        spilled = first.spill("s1", "text", tool="a", name="log.txt")
        assert again.spill("s1", b"text", tool="b") == spilled
        assert again.spill("s1", "text", name="log.txt") == spilled
        assert len(ledger_lines(home)) == 1
        assert again.spill("s1", "text", name="other", call_id="c2") == spilled
        assert again.spill("s1", "text", name="other") == spilled
        assert first.spill("s2", "text").pointer != spilled.pointer
    _, renamed = ledger_lines(home)
    assert (renamed["event"], renamed["filename"]) == ("renamed", "log.txt")
    assert (renamed["reason"], renamed["call_id"]) == ("also suggested as other", "c2")
    assert artifacts_in(home) == {"log.txt": b"text"}


def test_other_bytes_under_one_suggestion_get_a_name_of_their_own(
    store: ArtifactStore, home: Path
) -> None:
    names = [store.spill("s1", text, name="log.txt").filename for text in ("a", "b", "c", "b")]
    assert names == ["log.txt", "x-_n2-log.txt", "x-_n3-log.txt", "x-_n2-log.txt"]
    # The repeat is no other suggestion, so the ledger has nothing to note.
    assert len(ledger_lines(home)) == 3
    assert artifacts_in(home) == {"log.txt": b"a", "x-_n2-log.txt": b"b", "x-_n3-log.txt": b"c"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.text(max_size=8) | st.sampled_from(["", "..", "CON", "con", "a/b", "é"]),
                max_size=8, unique=True))  # fmt: skip
def test_suggestions_never_meet(tmp_path: Path, suggestions: list[str]) -> None:
    with ArtifactStore(tmp_path) as store:
        session = f"s{len(list(tmp_path.iterdir()))}"
        names = [
            store.spill(session, f"bytes of {text!a}", name=text).filename for text in suggestions
        ]
        assert len({name.casefold() for name in names}) == len(suggestions)


@pytest.mark.parametrize("name", ["", "..", "CON", "a/b", "é", "c" * 1400, "\ud800", "a\x00b"])
def test_any_text_is_a_suggestion(store: ArtifactStore, home: Path, name: str) -> None:
    spilled = store.spill("s1", "text", name=name)
    assert store.read(spilled.pointer).text == "text"
    assert list(artifacts_in(home)) == [spilled.filename]


def test_numbers_are_never_used_again(store: ArtifactStore, home: Path) -> None:
    first = store.spill("s1", "1")
    store.spill("s1", "2")
    folder = home / "s1" / "tool-results"
    (folder / "tool_result_002.txt").unlink()
    (folder / "tool_result_007.txt").write_bytes(b"not from here")
    assert store.spill("s1", "3").filename == "tool_result_003.txt"
    with ArtifactStore(home) as another:
        assert another.spill("s1", "4").filename == "tool_result_008.txt"
        assert another.spill("s1", "not from here").filename == "tool_result_007.txt"
    removed = {"schema": "ctxaudit.artifact/1", "event": "removed", "filename": first.filename}
    (folder / first.filename).unlink()
    with ledger_of(home).open("a") as ledger:
        ledger.write(json.dumps(removed) + "\n")
    assert store.spill("s1", "1").filename == "tool_result_009.txt"


def test_numbers_grow_beyond_three_digits(store: ArtifactStore, home: Path) -> None:
    folder = home / "s1" / "tool-results"
    folder.mkdir(parents=True)
    (folder / "tool_result_998.txt").write_bytes(b"")
    names = [store.spill("s1", f"{number}").filename for number in range(2)]
    assert names == ["tool_result_999.txt", "tool_result_1000.txt"]


@pytest.mark.parametrize("damage", ["altered", "gone", "linked", "shorter"])
def test_an_artifact_that_is_not_what_it_was_is_stored_anew(
    store: ArtifactStore, home: Path, damage: str
) -> None:
    first = store.spill("s1", "evidence")
    path = home / "s1" / "tool-results" / first.filename
    if damage == "altered":
        path.write_bytes(b"EVIDENCE")
    else:
        path.unlink()
    if damage == "linked":
        (home / "copy").write_bytes(b"evidence")
        path.symlink_to(home / "copy")
    if damage == "shorter":
        path.write_bytes(b"evid")
    second = store.spill("s1", "evidence")
    assert second.filename == "tool_result_002.txt"
    assert store.read(second.pointer).text == "evidence"
    assert ledger_lines(home)[-1]["reason"] == "tool_result_001.txt is missing or altered"
    if damage == "altered":
        assert path.read_bytes() == b"EVIDENCE"
    assert store.spill("s1", "evidence") == second


def test_nothing_is_overwritten(store: ArtifactStore, home: Path) -> None:
    store.spill("s1", "first")
    folder = home / "s1" / "tool-results"
    (folder / "tool_result_002.txt").write_bytes(b"foreign")
    (folder / "log.txt").mkdir()
    (folder / "x-_n2-log.txt").symlink_to("nowhere")
    assert store.spill("s1", "second").filename == "tool_result_003.txt"
    assert store.spill("s1", "third", name="log.txt").filename == "x-_n3-log.txt"
    assert (folder / "tool_result_002.txt").read_bytes() == b"foreign"
    # What was found on the way has its line by now.
    assert store.spill("s1", "foreign").filename == "tool_result_002.txt"


def test_a_stream_is_stored_like_the_whole(store: ArtifactStore, home: Path) -> None:
    data = b"0123456789abcde\n" * 200_000
    streamed = store.spill_stream(
        "s1", (data[at : at + 70_001] for at in range(0, len(data), 70_001))
    )
    assert store.spill("s2", data).sha256 == streamed.sha256
    one, two = ledger_lines(home, "s1")[0], ledger_lines(home, "s2")[0]
    assert one == two
    assert one["segment_lines"] == [65536, 65536, 65536, 3392]
    assert store.spill_stream("s1", [data], name="again") == streamed
    assert store.spill_stream("s1", []).bytes == 0


def test_a_stream_that_fails_leaves_nothing(store: ArtifactStore, home: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"beginning"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.spill_stream("s1", broken())
    with pytest.raises(ContentRefused):
        store.spill_stream("s1", [b"caf\xe9"])
    with pytest.raises(ContentRefused):
        store.spill_stream("s1", [b"caf\xc3"])
    assert artifacts_in(home) == {}
    assert ledger_lines(home) == []
    assert store.spill_stream("s1", [b"caf\xc3", b"\xa9"]).filename == "tool_result_001.txt"


@pytest.mark.parametrize("content", ["lone \ud800", b"caf\xe9", b"\xff"])
def test_what_is_no_utf8_is_refused_in_a_text_store(
    store: ArtifactStore, home: Path, content: str | bytes
) -> None:
    with pytest.raises(ContentRefused):
        store.spill("s1", content)
    assert not home.exists()


def test_a_store_of_bytes_holds_any_bytes(home: Path) -> None:
    data = bytes(range(256))
    with ArtifactStore(home, text=False) as store:
        spilled = store.spill("s1", data)
        assert _artifact(home, spilled) == data
        assert b"".join(store.iterate(spilled.pointer)) == data
        with pytest.raises(ContentRefused):
            store.spill("s1", "\ud800")


@pytest.mark.parametrize("session", ["transcripts", "states", "seals", "../x", "", "é"])
def test_a_session_of_the_home_or_outside_the_grammar_is_refused(
    store: ArtifactStore, home: Path, session: str
) -> None:
    with pytest.raises(SpillArgumentError):
        store.spill(session, "text")
    with pytest.raises(SpillArgumentError):
        store.spill_stream(session, [b"text"])
    assert not home.exists()


def test_an_artifact_over_the_bound_is_refused(home: Path) -> None:
    with ArtifactStore(home, limits=Limits(max_artifact_bytes=4)) as store:
        assert store.spill("s1", "1234").bytes == 4
        with pytest.raises(ContentRefused):
            store.spill("s1", "12345")
        with pytest.raises(ContentRefused):
            store.spill_stream("s1", [b"123", b"45"])
    assert len(artifacts_in(home)) == 1


def test_wrong_types_are_the_callers_error(store: ArtifactStore, home: Path) -> None:
    with pytest.raises(TypeError):
        store.spill("s1", 7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        store.spill("s1", "a", name=7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        store.spill("s1", "a", tool=b"bash")  # type: ignore[arg-type]
    assert not home.exists()


def test_a_root_given_as_one_is_used_and_left_open(home: Path, backend: BackendName) -> None:
    with TrustedRoot(home, backend=backend, create=True) as root:
        with ArtifactStore(root) as store:
            assert store.root is root
            spilled = store.spill("s1", "text")
        root.open_file("s1", "tool-results", spilled.filename).close()
        with ArtifactStore(root) as store:
            assert store.spill("s1", "text") == spilled


def test_a_closed_store_opens_again(store: ArtifactStore) -> None:
    first = store.spill("s1", "text")
    store.close()
    assert store.spill("s1", "text") == first
    store.close()
    store.close()


def test_many_sessions_share_few_handles(store: ArtifactStore, home: Path) -> None:
    before = _open_files()
    for number in range(100):
        store.spill(f"s{number}", "text")
    assert _open_files() - before < 250
    assert store.spill("s0", "text").filename == "tool_result_001.txt"
    assert len(ledger_lines(home, "s0")) == 1


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc") else 0


def _soon() -> datetime:
    """A moment after the clock of `store` stands still."""
    return datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


def _refuses(store: ArtifactStore, error: type[CtxauditError]) -> None:
    with pytest.raises(error):
        store.spill("s1", "text")
    with pytest.raises(error):
        store.spill_stream("s1", [b"text"])


@pytest.mark.parametrize("place", ["s1", "s1/tool-results", "s1/tool-results.jsonl"])
@pytest.mark.parametrize("kind", ["link", "dangling", "file or folder", "fifo"])
def test_what_stands_in_the_way_is_refused_and_left_alone(
    home: Path, tmp_path: Path, backend: BackendName, place: str, kind: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "tool-results").mkdir(parents=True)
    (outside / "ledger").write_bytes(b"")
    path = home / place
    path.parent.mkdir(parents=True)
    is_ledger = place.endswith(".jsonl")
    match kind:
        case "link":
            path.symlink_to(outside / "ledger" if is_ledger else outside)
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "fifo":
            os.mkfifo(path)
        case _ if is_ledger:
            path.mkdir()
        case _:
            path.write_bytes(b"")
    with TrustedRoot(home, backend=backend) as root, ArtifactStore(root) as store:
        _refuses(store, BoundaryRefused if kind in ("link", "dangling") else CtxauditError)
    assert (outside / "ledger").read_bytes() == b""
    assert [path.name for path in outside.rglob("*.txt")] == []
    assert not (tmp_path / "nowhere").exists()


def test_a_ledger_with_two_names_is_refused(store: ArtifactStore, home: Path) -> None:
    (home / "s1").mkdir(parents=True)
    (home / "victim").write_bytes(b"precious")
    os.link(home / "victim", ledger_of(home))
    _refuses(store, BoundaryRefused)
    assert (home / "victim").read_bytes() == b"precious"


def test_a_folder_that_is_replaced_meanwhile_is_noticed(store: ArtifactStore, home: Path) -> None:
    store.spill("s1", "first")
    (home / "s1").rename(home / "old")
    second = store.spill("s1", "second")
    # The old number stays taken in this store: no pointer can come to mean two things.
    assert second.filename == "tool_result_002.txt"
    assert artifacts_in(home) == {"tool_result_002.txt": b"second"}
    assert list(artifacts_in(home, "old")) == ["tool_result_001.txt"]
    ledger_of(home).unlink()
    third = store.spill("s1", "third")
    assert [line["reason"] for line in ledger_lines(home)] == ["recovered", None]
    assert store.spill("s1", "second") == second
    assert store.spill("s1", "third") == third
    check_session_is_whole(home)


@pytest.mark.parametrize("place", ["s1", "s1/tool-results", "s1/tool-results.jsonl"])
@pytest.mark.parametrize("streamed", [False, True], ids=["bytes", "stream"])
def test_what_is_cleared_away_between_two_spills_is_made_again(
    store: ArtifactStore, home: Path, place: str, streamed: bool
) -> None:
    store.spill("s1", "text")
    path = home / place
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    again = store.spill_stream("s1", [b"other"]) if streamed else store.spill("s1", "other")
    assert store.read(again.pointer).text == "other"
    assert again.filename == "tool_result_002.txt"


def test_a_root_that_is_gone_is_an_error_of_the_store(store: ArtifactStore, home: Path) -> None:
    store.spill("s1", "text")
    shutil.rmtree(home)
    with pytest.raises(StoreWriteError):
        store.spill("s1", "text")
    # A root is opened once; who closes the store has it looked for again.
    store.close()
    assert store.spill("s1", "text").filename == "tool_result_001.txt"


def test_a_ledger_that_is_cut_is_read_again(store: ArtifactStore, home: Path) -> None:
    spilled = [store.spill("s1", f"{number}") for number in range(3)]
    lines = ledger_of(home).read_bytes().splitlines(keepends=True)
    ledger_of(home).write_bytes(lines[0])
    assert store.spill("s1", "3").filename == "tool_result_004.txt"
    assert [store.spill("s1", f"{number}") for number in range(3)] == spilled
    check_session_is_whole(home)


@pytest.mark.parametrize(
    "rubbish",
    [b"\n", b"{}\n", b"\x00" * 5000 + b"\n", b"[" * 100_000 + b"\n", b'{"schema":1}\n\xff\xfe\n'],
    ids=["blank", "empty", "nul", "deep", "bytes"],
)
def test_a_hostile_ledger_is_worked_around(
    store: ArtifactStore, home: Path, rubbish: bytes
) -> None:
    first = store.spill("s1", "first")
    with ledger_of(home).open("ab") as ledger:
        ledger.write(rubbish)
    second = store.spill("s1", "second")
    with ArtifactStore(home, clock=_soon) as another:
        assert another.spill("s1", "first") == first
        assert another.spill("s1", "second") == second
        assert another.spill("s1", "third").filename == "tool_result_003.txt"
    with TrustedRoot(home) as root:
        entries = [item for item in read_ledger(root, "s1") if isinstance(item, LedgerEntry)]
    assert [entry.filename for entry in entries] == [
        f"tool_result_{number:03d}.txt" for number in (1, 2, 3)
    ]


def test_a_ledger_that_lies_about_a_file_is_not_believed(store: ArtifactStore, home: Path) -> None:
    spilled = store.spill("s1", "truth")
    line = {**ledger_lines(home)[0], "sha256": sha256_of(b"lie"), "filename": spilled.filename}
    with ledger_of(home).open("a") as ledger:
        ledger.write(json.dumps(line) + "\n")
    lie = store.spill("s1", "lie")
    assert lie.filename == "tool_result_002.txt"
    assert store.read(lie.pointer).text == "lie"
    assert store.spill("s1", "truth") == spilled


def test_another_writer_that_keeps_the_lock_is_waited_for_and_reported(home: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with ArtifactStore(home, lock_timeout_seconds=0.05) as store:
        store.spill("s1", "first")
        with ledger_of(home).open("rb") as ledger:
            fcntl.flock(ledger, fcntl.LOCK_EX)
            with pytest.raises(LockTimeout):
                store.spill("s1", "second")
            assert store.spill("s2", "second").filename == "tool_result_001.txt"
        assert store.spill("s1", "second").filename == "tool_result_002.txt"


@pytest.mark.parametrize("call", ["write", "fsync", "link"])
@pytest.mark.parametrize("at", range(8))
def test_a_disk_that_fails_at_any_call_leaves_a_whole_store(
    home: Path, monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    true_call = getattr(os, call)
    calls = 0

    def failing(*arguments: object, **names: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return true_call(*arguments, **names)

    with ArtifactStore(home) as store:
        monkeypatch.setattr(os, call, failing)
        failure = None
        try:
            store.spill("s1", "text", tool="bash")
        except StoreWriteError as error:
            failure = error
        # It fails, unless there were fewer calls.
        assert (failure is None) == (calls <= at)
        if failure is not None:
            assert failure.errno == errno.ENOSPC
            assert str(home) not in str(failure)
        monkeypatch.setattr(os, call, true_call)
        spilled = store.spill("s1", "text", tool="bash")
        assert check_session_is_whole(home) == {spilled.filename: b"text"}


def test_the_clock_is_the_callers(home: Path) -> None:
    with ArtifactStore(home, clock=lambda: datetime(1999, 12, 31, 23, 59, 59, 1, UTC)) as store:
        store.spill("s1", "text")
    assert ledger_lines(home)[0]["recorded_at"] == "1999-12-31T23:59:59.000001Z"


def test_messages_hold_no_content_and_no_path(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "s1").symlink_to(tmp_path)
    with ArtifactStore(home) as store:
        for session, content in (("s1", "secret"), ("s2", "secret \ud800")):
            with pytest.raises(CtxauditError) as caught:
                store.spill(session, content, name="secret", tool="secret")
            assert "secret" not in str(caught.value)
            assert str(tmp_path) not in str(caught.value)


_IN_BOUNDED_MEMORY = """
import resource, sys
from provenance.artifacts import ArtifactStore

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

MEBIBYTE = b"0123456789abcde\\n" * 65536
with ArtifactStore(sys.argv[1]) as store:
    small = store.spill_stream("s1", [MEBIBYTE] * 8)
    store.read(small.pointer, offset=10**6)
    before = peak()
    spilled = store.spill_stream("s1", (MEBIBYTE for _ in range(96)))
    assert spilled.bytes == 96 << 20
    assert store.spill_stream("s1", (MEBIBYTE for _ in range(96))) == spilled
    window = store.read(spilled.pointer, offset=6_000_000)
    assert (window.total_lines, len(window.text)) == (96 * 65536, 2000 * 16)
    assert sum(map(len, store.iterate(spilled.pointer))) == 96 << 20
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts KiB on Linux alone")
def test_a_large_stream_goes_through_in_bounded_memory(home: Path) -> None:
    assert int(run_python(_IN_BOUNDED_MEMORY, home).stdout) < 24 << 10
