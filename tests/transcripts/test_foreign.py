"""Pointers into other agents' transcripts, through the resolver."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance import SourcePointerResolver
from provenance.findings import Finding
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.pointers import SourcePointer
from provenance.resolution import Reason, SourceResolution, SourceResolutionStatus
from provenance.transcripts import foreign, is_native, read_foreign_record
from provenance.transcripts.sessions import session_name
from tests.transcripts.agents import (
    SESSION,
    agents_database,
    claude,
    claude_record,
    line,
    uuid,
)

_AVAILABLE = SourceResolutionStatus.AVAILABLE


def _resolve(root: Path, pointer: str, **options: Any) -> SourceResolution:
    with SourcePointerResolver(root, root, **options) as resolver:
        return resolver.resolve(pointer)


def _reason(root: Path, pointer: str, **options: Any) -> str | None:
    return _resolve(root, pointer, **options).reason


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-user-project"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_bytes(claude(4))
    return tmp_path


def test_a_record_is_found_by_its_ordinal_and_told_by_its_own_id(root: Path) -> None:
    for number in range(1, 5):
        answer = _resolve(root, f"transcript:{SESSION}:{number}")
        assert answer.status is _AVAILABLE
        assert answer.reason == "verified_transcript_event"
        assert answer.native_id == uuid(number)
        raw = line(claude_record(number)).rstrip(b"\n")
        assert answer.evidence_sha256 == hashlib.sha256(raw).hexdigest()
        assert (answer.strength, answer.quiescence) == ("position", "stat")
        assert answer.excerpt == f"text {number}"
    assert _reason(root, f"transcript:{SESSION}:5") == "transcript_event_missing"
    assert _reason(root, "transcript:another:1") == "transcript_missing"


def test_a_file_of_that_very_name_at_the_root_is_no_native_one(tmp_path: Path) -> None:
    (tmp_path / f"{SESSION}.jsonl").write_bytes(claude(2))
    heard: list[Finding] = []
    answer = _resolve(tmp_path, f"transcript:{SESSION}:2", on_finding=heard.append)
    assert (answer.status, answer.native_id) == (_AVAILABLE, uuid(2))
    # What the strict reader of our own transcripts would note is not said of another agent's.
    assert [finding.code for finding in heard] == []
    with TrustedRoot(tmp_path) as root:
        assert not is_native(root, SESSION)


@pytest.mark.parametrize(
    "record",
    [
        {"content": "x", "role": "user", "type": "message"},
        {"content": "x", "session_id": "s1", "sequence": 1},
        {"type": "weather"},
    ],
)
def test_an_old_native_transcript_stays_one(tmp_path: Path, record: dict[str, object]) -> None:
    (tmp_path / "s1.jsonl").write_bytes(line(record))
    (tmp_path / "other.jsonl").write_bytes(claude(3, session="s1"))
    answer = _resolve(tmp_path, "transcript:s1:1")
    assert (answer.status, answer.native_id) == (_AVAILABLE, None)


def test_damage_that_may_have_swallowed_the_record_is_corrupt(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    whole = claude(4)
    lines = whole.split(b"\n")[:-1]
    # A torn line in the middle: the records around it are as sound as before.
    path.write_bytes(b"\n".join([lines[0], lines[1][:40], lines[2], lines[3]]) + b"\n")
    assert _resolve(root, f"transcript:{SESSION}:1").native_id == uuid(1)
    assert _resolve(root, f"transcript:{SESSION}:2").native_id == uuid(3)
    assert _resolve(root, f"transcript:{SESSION}:3").native_id == uuid(4)
    assert _reason(root, f"transcript:{SESSION}:4") == "transcript_invalid_json"
    # Welded records are two.
    path.write_bytes(b"\n".join([lines[0], lines[1] + lines[2], lines[3]]) + b"\n")
    assert [_resolve(root, f"transcript:{SESSION}:{n}").native_id for n in (2, 3, 4)] == [
        uuid(2),
        uuid(3),
        uuid(4),
    ]


def test_a_key_that_stands_twice_is_seen_where_it_is_cited(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    lines = claude(3).split(b"\n")[:-1]
    lines[1] = lines[1][:-1] + b',"type":"user"}'
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert _reason(root, f"transcript:{SESSION}:1") == "verified_transcript_event"
    assert _reason(root, f"transcript:{SESSION}:2") == "transcript_invalid_json"
    assert _reason(root, f"transcript:{SESSION}:3") == "verified_transcript_event"


def test_a_record_over_a_limit_of_ours_proves_nothing(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    long = line(claude_record(2, padding="x" * 5_000))
    deep = line(claude_record(4))[:-2] + b',"x":' + b"[" * 600 + b"]" * 600 + b"}\n"
    path.write_bytes(line(claude_record(1)) + long + line(claude_record(3)) + deep)
    limits = Limits(max_foreign_record_bytes=4_000)
    for number in (2, 4):
        answer = _resolve(root, f"transcript:{SESSION}:{number}", limits=limits)
        assert answer.status is SourceResolutionStatus.CORRUPT
        assert answer.reason == "transcript_record_too_large"
        assert answer.conclusive is False
    assert _resolve(root, f"transcript:{SESSION}:3", limits=limits).native_id == uuid(3)


def test_a_session_outside_the_grammar_has_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "full.jsonl").write_bytes(claude(2, session="my session/é"))
    name = session_name("my session/é")
    assert name.startswith("x-")
    assert _resolve(tmp_path, f"transcript:{name}:1").native_id == uuid(1)
    assert _reason(tmp_path, "transcript:full:1") == "transcript_missing"


def test_the_session_selects_in_a_database(tmp_path: Path) -> None:
    rows = [(session, json.dumps({"role": "user", "content": session * n}))
            for n in (1, 2) for session in ("a", "b")]  # fmt: skip
    agents_database(tmp_path / "chat.db", rows)
    answer = _resolve(tmp_path, "transcript:b:2")
    assert (answer.native_id, answer.excerpt) == ("4", "bb")
    assert answer.evidence_sha256 == hashlib.sha256(rows[3][1].encode()).hexdigest()
    assert _reason(tmp_path, "transcript:b:3") == "transcript_event_missing"
    assert _reason(tmp_path, "transcript:c:1") == "transcript_missing"


def test_a_sub_agent_is_a_session_of_its_own(root: Path) -> None:
    folder = root / "projects" / "-home-user-project" / SESSION / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1b2.jsonl").write_bytes(
        line(claude_record(1, uuid=uuid(77), isSidechain=True, agentId="a1b2"))
    )
    assert _resolve(root, f"transcript:{SESSION}.agent-a1b2:1").native_id == uuid(77)
    assert _resolve(root, f"transcript:{SESSION}:1").native_id == uuid(1)


def test_a_record_of_a_side_chain_in_the_same_file_is_not_the_sessions(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    with path.open("ab") as file:
        file.write(line(claude_record(5, isSidechain=True, agentId="a1")))
    assert _reason(root, f"transcript:{SESSION}:5") == "transcript_event_missing"
    answer = _resolve(root, f"transcript:{SESSION}.agent-a1:5")
    assert (answer.status, answer.native_id) == (_AVAILABLE, uuid(5))
    assert _reason(root, f"transcript:{SESSION}.agent-a1:1") == "transcript_event_missing"
    assert _reason(root, f"transcript:{SESSION}.agent-b2:5") == "transcript_event_missing"


def test_a_first_record_longer_than_a_head(root: Path) -> None:
    long = line(claude_record(1, message={"role": "user", "content": "x" * 300_000}))
    (root / "long.jsonl").write_bytes(long + line(claude_record(2, session="s9")))
    (root / "projects" / "-home-user-project" / f"{SESSION}.jsonl").unlink()
    assert _resolve(root, f"transcript:{SESSION}:1").native_id == uuid(1)


def test_copies_have_to_agree(root: Path) -> None:
    copy = root / "backup.jsonl"
    copy.write_bytes(claude(2))
    # One is the beginning of the other.
    assert _resolve(root, f"transcript:{SESSION}:2").native_id == uuid(2)
    assert _resolve(root, f"transcript:{SESSION}:4").native_id == uuid(4)
    copy.write_bytes(line(claude_record(1)) + line(claude_record(2, version="other")))
    assert _reason(root, f"transcript:{SESSION}:1") == "verified_transcript_event"
    assert _reason(root, f"transcript:{SESSION}:2") == "transcript_session_mismatch"


def test_links_are_not_followed(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_bytes(claude(2, session="outside"))
    os.symlink(outside / "x.jsonl", root / "x.jsonl")
    os.symlink(outside, root / "folder")
    assert _reason(root, "transcript:outside:1") == "transcript_missing"
    os.symlink(outside / "x.jsonl", root / "outside.jsonl")
    assert _reason(root, "transcript:outside:1") == "ownership_boundary"


def test_a_denied_pointer_is_not_looked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        pytest.fail("a folder was opened")

    monkeypatch.setattr(TrustedRoot, "_directory", fail)

    def deny(pointer: SourcePointer) -> bool:
        return False

    assert _reason(root, f"transcript:{SESSION}:1", authorize=deny) == "policy_denied"


def test_the_tree_is_read_anew_for_each_call(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    with SourcePointerResolver(root, root) as resolver:
        pointer = f"transcript:{SESSION}:4"
        assert resolver.resolve(pointer).status is _AVAILABLE
        path.write_bytes(claude(3))
        assert resolver.resolve(pointer).reason == "transcript_event_missing"
        path.unlink()
        assert resolver.resolve(pointer).reason == "transcript_missing"
        (root / "moved.jsonl").write_bytes(claude(4))
        assert resolver.resolve(pointer).status is _AVAILABLE


def test_many_pointers_cost_one_pass_of_each_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = []
    real = foreign._one_pass

    def note(*args: Any) -> Any:
        passes.append(args)
        return real(*args)

    monkeypatch.setattr(foreign, "_one_pass", note)
    with SourcePointerResolver(root, root) as resolver:
        found = resolver.resolve_many([f"transcript:{SESSION}:{n}" for n in (4, 1, 3, 2, 1, 4)])
    assert [answer.native_id for answer in found] == [uuid(n) for n in (4, 1, 3, 2, 1, 4)]
    assert len(passes) == 1


def test_several_processes_say_the_same(root: Path) -> None:
    for number in range(6):
        data = claude(3, session=f"s{number}")
        (root / f"log-{number}.jsonl").write_bytes(data)
    pointers = [f"transcript:s{n}:{m}" for n in range(7) for m in range(1, 5)]
    with SourcePointerResolver(root, root) as resolver:
        alone = resolver.resolve_many(pointers)
        assert resolver.resolve_many(pointers, jobs=2) == alone
    assert sum(answer.status is _AVAILABLE for answer in alone) == 18


def test_a_file_that_grows_meanwhile_holds_for_what_was_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    real = foreign.holds_still

    def grow(source: Any) -> bool:
        with path.open("ab") as file:
            file.write(line(claude_record(9)))
        return real(source)

    monkeypatch.setattr(foreign, "holds_still", grow)
    assert _resolve(root, f"transcript:{SESSION}:3").native_id == uuid(3)


def test_a_file_that_is_rewritten_each_time_is_inconclusive(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    real = foreign.holds_still
    turns = iter(range(100))

    def rewrite(source: Any) -> bool:
        path.write_bytes(claude(4).replace(b"text 1", b"TEXT %d" % (next(turns) % 10)))
        return real(source)

    monkeypatch.setattr(foreign, "holds_still", rewrite)
    answer = _resolve(root, f"transcript:{SESSION}:3")
    assert (answer.reason, answer.conclusive) == ("source_changed_during_read", False)


def test_the_bytes_of_a_record(root: Path) -> None:
    trusted = TrustedRoot(root)
    raw = read_foreign_record(trusted, SESSION, 2, limits=Limits())
    assert raw == line(claude_record(2)).rstrip(b"\n")
    with pytest.raises(Exception, match="missing") as caught:
        read_foreign_record(trusted, SESSION, 9, limits=Limits())
    assert getattr(caught.value, "reason", None) is Reason.TRANSCRIPT_EVENT_MISSING
    trusted.close()


@given(st.binary(max_size=300), st.integers(1, 4))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes, n: int) -> None:
    root = tmp_path_factory.mktemp("root")
    whole = claude(2)
    for place, name in ((0, "a"), (len(whole) // 2, "b"), (len(whole), "c")):
        (root / f"{name}.jsonl").write_bytes(whole[:place] + data + whole[place:])
    answer = _resolve(root, f"transcript:{SESSION}:{n}")
    assert (answer.evidence_sha256 is not None) == (answer.status is _AVAILABLE)


def test_an_answer_does_not_depend_on_the_callers_stack(root: Path) -> None:
    path = root / "projects" / "-home-user-project" / f"{SESSION}.jsonl"
    deep = line(claude_record(2))[:-2] + b',"x":' + b"[" * 400 + b"]" * 400 + b"}\n"
    path.write_bytes(line(claude_record(1)) + deep)
    answers: list[SourceResolution] = []

    def below(depth: int) -> None:
        if depth:
            below(depth - 1)
        else:
            answers.append(_resolve(root, f"transcript:{SESSION}:2"))

    thread = threading.Thread(target=below, args=(700,))
    thread.start()
    thread.join()
    assert [answer.native_id for answer in answers] == [uuid(2)]
