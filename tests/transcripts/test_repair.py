"""A repair writes a new file of whole records, loses no byte, and never touches the original."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from provenance.fs import (
    NameTaken,
    NotARegularFile,
    SourceAbsent,
    SourceChanged,
    TrustedRoot,
    is_temporary_name,
)
from provenance.limits import Limits
from provenance.transcripts.formats import FormatError, format_named
from provenance.transcripts.reader import verify_events
from provenance.transcripts.records import Fault
from provenance.transcripts.repair import Repair, RepairRefused, repair_transcript
from tests.transcripts.changing import Changes, append, overwrite

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"


def _record(number: int, **more: object) -> bytes:
    value = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": {"content": "hi"}}
    return json.dumps(value | more, separators=(",", ":")).encode()


def _event(number: int, session: str = "s1") -> bytes:
    value = {
        "content": f"event {number}",
        "event_id": f"transcript:{session}:{number}",
        "recorded_at": "2026-01-01T00:00:00Z",
        "schema_version": 1,
        "sequence": number,
        "session_id": session,
        "type": "message",
    }
    return json.dumps(value, separators=(",", ":")).encode()


def _repair(tmp_path: Path, data: bytes, **options: Any) -> tuple[Repair, Path]:
    path, new = tmp_path / "a.jsonl", tmp_path / "new.jsonl"
    path.write_bytes(data)
    before = path.stat()
    done = repair_transcript(path, new, **options)
    assert path.read_bytes() == data
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    return done, new


def _rows(new: Path) -> list[dict[str, Any]]:
    text = new.with_name(new.name + ".changes").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def _restored(new: Path) -> bytes:
    """Put the original together again from the two new files alone."""
    data, place, parts = new.read_bytes(), 0, b""
    out = b""
    for row in _rows(new):
        if row["type"] == "bytes":
            part = base64.b64decode(row["base64"], validate=True)
            assert len(part) == row["length"]
            parts += part
        if row["type"] != "change":
            continue
        size = row["offset"] - len(out)
        assert size >= 0
        out += data[place : place + size]
        place += size
        assert data[:place].count(b"\n") + 1 == row["new_line"]
        if row["action"] == "set_aside":
            assert (len(parts), hashlib.sha256(parts).hexdigest()) == (row["length"], row["sha256"])
            assert out.count(b"\n") + 1 == row["line"]
            out, parts = out + parts, b""
        else:
            assert data[place : place + 1] == b"\n"
            place += 1
    assert parts == b""
    return out + data[place:]


def _check_all(done: Repair, new: Path, data: bytes) -> None:
    rows = _rows(new)
    assert _restored(new) == data
    assert rows[0] == {"type": "repair", "schema": "ctxaudit.repair/1"}
    assert rows[-1]["source_sha256"] == done.source_sha256 == hashlib.sha256(data).hexdigest()
    assert rows[-1]["repaired_sha256"] == done.sha256
    assert done.sha256 == hashlib.sha256(new.read_bytes()).hexdigest()
    changes = [row for row in rows if row["type"] == "change"]
    assert [{"type": "change", **one._asdict()} for one in done.changes] == changes
    assert sum(done.counts.values()) == len(changes)
    assert len(data) - done.aside_bytes + done.added_bytes == new.stat().st_size
    assert done.lines == new.read_bytes().count(b"\n")
    for path in (new, new.with_name(new.name + ".changes")):
        assert path.stat().st_mode & 0o777 == 0o600


_A, _B, _C = _record(1), _record(2), _record(3)


@pytest.mark.parametrize(
    ("data", "repaired", "kinds"),
    [
        (_A + _B + b"\n", [_A, _B], ["welded_records"]),
        (_A + b" " + _B + b"\r\n" + _C + b"\n", [_A, _B + b"\r", _C], ["welded_records"] * 2),
        (_A + b"\n" + _B, [_A, _B], ["no_final_newline"]),
        (_A + b"\n" + _B[:30], [_A], ["torn_line"]),
        (_A + b"\n" + _B[:30] + b"\n" + _C + b"\n", [_A, _C], ["torn_line"]),
        (_A + b"\n" + _B[:60] + _C + b"\n", [_A, _C], ["spliced_line"]),
        (_A + b"\n" + b"\0" * 9 + _C + b"\n", [_A, _C], ["nul_line"]),
        (_A + b"\n" + b"\0" * 9, [_A], ["nul_line"]),
        (_A + b"\n\n \r\n" + _C + b"\n", [_A, _C], ["invalid_line"] * 2),
        (b"\xef\xbb\xbf" + _A + b"\n", [_A], ["invalid_line"]),
        (_A + b"\nno JSON\n" + _B + _C[:40] + b"\n", [_A, _B], ["invalid_line", "torn_line"]),
        (_A + _B, [_A, _B], ["welded_records", "no_final_newline"]),
        (_A + b"\n" + _B + b"\r", [_A, _B + b"\r"], ["no_final_newline"]),
        (_A + b"\r" + _B + b"\n", [_A + b"\r", _B], ["welded_records"]),
    ],
)
def test_each_kind_of_damage(
    tmp_path: Path, data: bytes, repaired: list[bytes], kinds: list[str]
) -> None:
    done, new = _repair(tmp_path, data, as_format="claude-code")
    assert new.read_bytes() == b"".join(line + b"\n" for line in repaired)
    assert [change.kind for change in done.changes] == kinds
    assert done.records == len(repaired)
    assert (done.format, done.first_misnumbered) == ("claude-code", None)
    _check_all(done, new, data)
    # Nothing is left to find, and nothing to change.
    again = repair_transcript(new, tmp_path / "again.jsonl")
    assert not again.is_written
    assert again.source_sha256 == done.sha256
    assert not (tmp_path / "again.jsonl").exists()


@pytest.mark.parametrize("data", [b"", _A + b"\n", _A + b"\r\n" + _B + b"\n", b" " + _A + b" \n"])
def test_what_is_sound_is_left_alone(tmp_path: Path, data: bytes) -> None:
    done, _ = _repair(tmp_path, data)
    assert not done.is_written
    assert (done.changes, done.counts, done.sha256) == ((), {}, None)
    assert done.source_sha256 == hashlib.sha256(data).hexdigest()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


_WHOLE = st.integers(0, 99).map(_record)
_PIECES = st.one_of(
    _WHOLE,
    st.tuples(_WHOLE, _WHOLE).map(b"".join),
    st.tuples(_WHOLE, st.sampled_from([b" ", b"\t ", b"\0\0", b"x", b"\r"]), _WHOLE).map(b"".join),
    st.tuples(_WHOLE, st.integers(0, 80)).map(lambda cut: cut[0][: cut[1]]),
    st.tuples(_WHOLE, st.integers(1, 80), _WHOLE).map(lambda cut: cut[0][: cut[1]] + cut[2]),
    st.integers(1, 30).map(lambda count: b"\0" * count),
    st.sampled_from([b"", b" ", b"{}", b"[]", b"null", b'{"a":NaN}', b'{"a":1,"a":2}', b"\xff"]),
    st.binary(max_size=20),
)
_LINES = st.lists(st.tuples(_PIECES, st.sampled_from([b"\n", b"\n", b"\r\n"])), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_LINES, _PIECES, st.sampled_from([b"", b"", b"\r"]))
def test_any_mixture_of_damaged_and_whole_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[bytes, bytes]],
    tail: bytes,
    cut_end: bytes,
) -> None:
    data = b"".join(line + end for line, end in lines) + tail + cut_end
    folder = tmp_path_factory.mktemp("any")
    try:
        done, new = _repair(folder, data, as_format="claude-code")
    except RepairRefused as refused:
        _is_about_no_record(refused)
        assert [path.name for path in folder.iterdir()] == ["a.jsonl"]
        return
    if not done.is_written:
        assert data.endswith(b"\n") or not data
        return
    _check_all(done, new, data)
    again = repair_transcript(new, folder / "again.jsonl", as_format="claude-code")
    assert not again.is_written
    assert (again.records, again.lines) == (done.records, done.lines)


def _is_about_no_record(refused: RepairRefused) -> None:
    assert "whole record" in str(refused)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["whole", "weld", "torn", "nul"]), min_size=1, max_size=8))
def test_a_check_finds_the_same_records_before_and_after(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    number, data = 0, b""
    for kind in kinds:
        number += 2
        one, two = _record(number), _record(number + 1)
        data += {
            "whole": one,
            "weld": one + two,
            "torn": one[:40],
            "nul": b"\0\0" + one,
        }[kind] + b"\n"
    folder = tmp_path_factory.mktemp("same")
    assume(kinds != ["torn"] * len(kinds))
    done, new = _repair(folder, data, as_format="claude-code")
    assert _digests(folder / "a.jsonl") == _digests(new if done.is_written else folder / "a.jsonl")


def _digests(path: Path) -> list[str]:
    from provenance.transcripts.discovery import Candidate, open_candidate

    with TrustedRoot(path.parent) as root:
        candidate = Candidate((path.name,))
        with open_candidate(root, candidate, limits=Limits(), as_format="claude-code") as opened:
            records = format_named("claude-code").records(opened.source)
            return [item.sha256 for item in records if not isinstance(item, Fault)]


def test_native_sequence_numbers_stay_and_what_that_means_is_said(tmp_path: Path) -> None:
    events = [_event(number) for number in range(1, 6)]
    whole = b"".join(event + b"\n" for event in events)
    # A weld alone: all pointers lead somewhere again.
    path, new = tmp_path / "s1.jsonl", tmp_path / "new" / "s1.jsonl"
    new.parent.mkdir()
    path.write_bytes(whole.replace(b"}\n", b"}", 1))
    done = repair_transcript(path, new)
    assert (done.format, done.first_misnumbered) == ("native", None)
    assert new.read_bytes() == whole
    assert _reasons(new.parent) == ["verified_transcript_event"] * 5
    # A lost line: what follows keeps its number, which is no longer its place.
    shutil.rmtree(new.parent)
    new.parent.mkdir()
    path.write_bytes(whole.replace(events[2], events[2][:50]))
    done = repair_transcript(path, new)
    assert done.first_misnumbered == 3
    assert _reasons(new.parent)[1:3] == [
        "verified_transcript_event",
        "transcript_sequence_mismatch",
    ]


def test_a_native_event_beside_damage_is_kept(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + _event(1) + b"\n" + b"\0" * 5 + _event(2) + b"\n"
    done, new = _repair(tmp_path, data)
    assert new.read_bytes() == _event(1) + b"\n" + _event(2) + b"\n"
    assert done.first_misnumbered is None
    _check_all(done, new, data)


def _reasons(folder: Path) -> list[str]:
    with TrustedRoot(folder) as root:
        verdict = verify_events(root, "s1", range(1, 6), limits=Limits(), excerpt_chars=0)
    return [str(verdict.outcomes[number].reason) for number in range(1, 6)]


@pytest.mark.parametrize(
    ("sample", "name", "damage"),
    [
        ("codex", "clean.jsonl", "weld"),
        ("codex", "clean.jsonl", "torn"),
        ("gemini-cli", "update-and-rewind.jsonl", "weld"),
        ("gemini-cli", "update-and-rewind.jsonl", "torn"),
        ("openhands", "events.jsonl", "weld"),
        ("openhands", "events.jsonl", "torn"),
        ("dsh", "fresh-round-trip/session.jsonl", "weld"),
        ("dsh", "fresh-round-trip/session.jsonl", "torn"),
    ],
)
def test_every_format_of_lines(tmp_path: Path, sample: str, name: str, damage: str) -> None:
    data = (_DATA / sample / name).read_bytes()
    done, _ = _repair(tmp_path, data)
    assert (done.format, done.is_written) == (sample, False)
    lines = data.split(b"\n")
    if damage == "weld":
        lines[1:3] = [lines[1] + lines[2]]
    else:
        lines[-2:] = [lines[-2][:-5]]
    broken = b"\n".join(lines)
    done, new = _repair(tmp_path, broken)
    assert done.counts == {"welded_records" if damage == "weld" else "torn_line": 1}
    assert new.read_bytes() == (
        data if damage == "weld" else b"".join(line + b"\n" for line in lines[:-1])
    )
    _check_all(done, new, broken)


def test_a_record_over_our_limit_is_kept_as_it_is(tmp_path: Path) -> None:
    large, deep = _record(2, text="x" * 3_000), b'{"a":' + b"[" * 600 + b"]" * 600 + b"}"
    data = _A + b"\n" + large + b"\n" + deep + b"\n" + _B[:40] + b"\n" + large
    done, new = _repair(tmp_path, data, limits=Limits(max_foreign_record_bytes=2_000))
    assert new.read_bytes() == _A + b"\n" + large + b"\n" + deep + b"\n" + large + b"\n"
    assert done.counts == {"torn_line": 1, "no_final_newline": 1}
    _check_all(done, new, data)


def test_a_long_hole_is_set_aside_in_parts(tmp_path: Path) -> None:
    data = _A + b"\n" + b"\0" * 3_000_000 + b"\n" + _B + b"\n"
    done, new = _repair(tmp_path, data, limits=Limits(max_foreign_record_bytes=1_000_000))
    assert done.counts == {"nul_line": 1}
    assert done.aside_bytes == 3_000_001
    assert max(row["length"] for row in _rows(new) if row["type"] == "bytes") <= 192 << 10
    _check_all(done, new, data)


def test_many_damaged_lines(tmp_path: Path) -> None:
    data = _A + b"\n" + b"{\n" * 5_000 + b"\n" * 5_000 + _B + b"\n"
    done, new = _repair(tmp_path, data)
    assert new.read_bytes() == _A + b"\n" + _B + b"\n"
    assert done.counts == {"torn_line": 5_000, "invalid_line": 5_000}
    assert len(done.changes) == 1_000
    assert _restored(new) == data


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("openai-agents/sessions.db", "got openai-agents"),
        ("inspect/log_message_deduplication.eval", "got inspect"),
        ("gemini-cli/session-whole-json/full.jsonl", "another container"),
        ("openhands/conversation", "regular file"),
    ],
)
def test_what_is_no_file_of_lines_is_refused(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises((RepairRefused, NotARegularFile), match=message):
        repair_transcript(_DATA / source, tmp_path / "new.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [_A[:20], b"\0" * 9, b"\n", b"{\n}\n", b"no transcript at all"])
def test_where_no_record_is_whole_nothing_is_written(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RepairRefused, match="at least one whole record"):
        _repair(tmp_path, data)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_other_refusals(tmp_path: Path) -> None:
    path, new = tmp_path / "a.txt", tmp_path / "new.jsonl"
    path.write_bytes(b"text\n")
    with pytest.raises(RepairRefused, match="known format"):
        repair_transcript(path, new)
    with pytest.raises(FormatError):
        repair_transcript(path, new, as_format="nonsense")
    with pytest.raises(SourceAbsent):
        repair_transcript(tmp_path / "nowhere.jsonl", new)
    path.write_bytes(_A + _B)
    with pytest.raises(SourceAbsent):
        repair_transcript(path, tmp_path / "nowhere" / "new.jsonl")
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_compressed_transcript_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"no frame")
    with pytest.raises(RepairRefused):
        repair_transcript(path, tmp_path / "new.jsonl", as_format="codex")
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl.zst"]


@pytest.mark.parametrize("taken", ["new.jsonl", "new.jsonl.changes", "a.jsonl"])
def test_nothing_is_ever_overwritten(tmp_path: Path, taken: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_A + _B)
    new = tmp_path / ("a.jsonl" if taken == "a.jsonl" else "new.jsonl")
    if taken != "a.jsonl":
        (tmp_path / taken).write_bytes(b"mine")
    with pytest.raises(NameTaken):
        repair_transcript(path, new)
    assert {one.name for one in tmp_path.iterdir()} == {"a.jsonl", taken}
    assert path.read_bytes() == _A + _B
    if taken != "a.jsonl":
        assert (tmp_path / taken).read_bytes() == b"mine"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: append(path, _C + b"\n"), id="grown"),
        pytest.param(lambda path: overwrite(path, 3, b"x"), id="overwritten"),
        pytest.param(lambda path: os.truncate(path, 5), id="cut"),
    ],
)
def test_an_original_that_changes_leaves_nothing_behind(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "a.jsonl"
    for at in range(1, 9):
        path.write_bytes(_A + _B + b"\n" + _C[:20] + b"\n" + _C + b"\n")
        with Changes({at: lambda: change(path)}) as changes:
            try:
                repair_transcript(path, tmp_path / "new.jsonl")
            except (SourceChanged, RepairRefused):
                pass
            else:
                assert changes.reads < at, "the change was not seen"
                break
        assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]
    assert at > 2


_CALLS = ("write", "fsync", "link")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_any_step_there_is_a_whole_file_or_none(tmp_path: Path, moment: str) -> None:
    data = _A + _B + b"\n" + _C[:20]
    copy = b"".join(line + b"\n" for line in (_A, _B))
    seen = set()
    for at in range(1, 100):
        folder = tmp_path / str(at)
        folder.mkdir()
        path, new = folder / "a.jsonl", folder / "new.jsonl"
        path.write_bytes(data)
        child = os.fork()
        if child == 0:
            _die(at, moment)
            repair_transcript(path, new)
            os._exit(0)
        lived = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        names = {one.name for one in folder.iterdir() if not is_temporary_name(one.name)}
        seen.add(frozenset(names))
        assert path.read_bytes() == data
        if "new.jsonl" in names:
            assert new.read_bytes() == copy
            assert _restored(new) == data
        else:
            # A second run finishes the work.
            repair_transcript(path, new)
            assert _restored(new) == data
        if lived:
            break
    else:
        pytest.fail("the repair never lived to its end")
    assert frozenset({"a.jsonl"}) in seen
    assert frozenset({"a.jsonl", "new.jsonl", "new.jsonl.changes"}) in seen
    assert not any("new.jsonl" in names and len(names) < 3 for names in seen)


def _die(at: int, moment: str) -> None:
    left = iter(range(at - 1, -10_000, -1))

    def wrapped(call: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*arguments: object, **names: object) -> object:
            if next(left) != 0:
                return call(*arguments, **names)
            if moment == "after":
                call(*arguments, **names)
            os._exit(9)

        return wrapper

    for name in _CALLS:
        setattr(os, name, wrapped(getattr(os, name)))
