"""`gc` on real homes: what cites keeps, what cannot be read stops, what goes has its line first."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.artifacts import ArtifactStore
from provenance.audit import AuditRequest, run_audit
from provenance.clock import ClockError
from provenance.compaction import Receipt
from provenance.compaction.changes import ChangedBlock
from provenance.fs import FolderGuard, TrustedRoot
from provenance.locks import LockFile, Pin, encode_lock
from provenance.resolution import Reason
from provenance.resolver import SourcePointerResolver
from provenance.retention import CiterKind, GcOrder, collect_garbage
from provenance.retention.citers import Citers
from provenance.retention.mentions import StoredNames
from tests.retention.homes import LONG_AGO, NOW, OldHome, later
from tests.trees import is_root, run_python, without_privileges

_PINNED_AT, _RUN = "2026-01-01T00:00:00Z", "20260101T000000Z-0123456789abcdef"
_RECEIPT = Receipt(
    original_messages=9,
    result_messages=9,
    tokens_before=9,
    tokens_after=1,
    applied_layers=("tool_result_truncation",),
    removed=(
        ChangedBlock(1, 0, "tool_result", "c1", "x", "0" * 64, 5, "artifact:s:a.txt:0123456789ab"),
    ),
    inserted=(),
).to_json()


def _kinds(home: OldHome, name: str = "a.txt") -> set[str]:
    (kept,) = [one for one in home.gc().kept if one.artifact.filename == name]
    return {str(kind) for kind in kept.cited_by} or {str(kept.reason)}


def test_without_delete_nothing_is_written(home: OldHome) -> None:
    before = home.snapshot()
    report = home.gc()
    assert [one.artifact.filename for one in report.removable] == ["a.txt", "b.txt", "c.txt"]
    assert report.is_dry_run
    assert home.snapshot() == before


def test_what_nothing_cites_goes_and_is_answered_for(home: OldHome) -> None:
    home.state("s.json", home.pointers["b.txt"])
    report = home.gc(delete=True)
    assert [one.artifact.filename for one in report.removable] == ["a.txt", "c.txt"]
    assert home.files() == {"b.txt"}
    assert home.events("a.txt") == ["stored", "removed"]
    with SourcePointerResolver(home.path / "transcripts", home.path) as resolver:
        gone, kept = resolver.resolve_many([home.pointers["a.txt"], home.pointers["b.txt"]])
    assert (str(gone.status), gone.reason) == ("missing", Reason.REMOVED_BY_RETENTION)
    assert kept.evidence_sha256
    assert home.gc(delete=True).removable == ()


# Each is the only one that cites a.txt.
@pytest.mark.parametrize(
    ("kind", "cite"),
    [
        ("state", lambda home, pointer: home.state("s.json", pointer)),
        # In its text alone, by a short digest, by another digest.
        (
            "state",
            lambda home, pointer: home.state("s.json", "transcript:s1:1", content=f"see {pointer}"),
        ),
        ("state", lambda home, pointer: home.state("s.json", pointer[: -(64 - 12)])),
        ("state", lambda home, pointer: home.state("s.json", pointer[:-64] + "f" * 64)),
        (
            "transcript",
            lambda home, pointer: home.transcript("s1", "hello", f"stored as {pointer}"),
        ),
        (
            "transcript",
            lambda home, pointer: home.transcript("s9", json.dumps({"x": [f"{pointer}."]})),
        ),
        (
            "transcript",
            lambda home, pointer: home.write(
                "logs/rollout.jsonl", json.dumps({"type": "note", "text": pointer})
            ),
        ),
        (
            "receipt",
            lambda home, pointer: home.write(
                "receipts/r.json", _RECEIPT.replace("artifact:s:a.txt:0123456789ab", pointer)
            ),
        ),
        ("artifact", lambda home, pointer: home.spill("notice.txt", f"cut; whole: {pointer}")),
        (
            "lock",
            lambda home, pointer: home.write(
                "ctxaudit.lock",
                encode_lock(LockFile((Pin(pointer, "0" * 64, 1, _PINNED_AT, _RUN),))),
            ),
        ),
        ("seal", lambda home, pointer: home.write("seals/checkpoint", "any")),
        ("file", lambda home, pointer: home.write("notes/a/b.md", f"- {pointer}")),
        ("file", lambda home, pointer: home.write("snapshots/1.json", f'["{pointer}"]')),
    ],
)
def test_each_kind_that_cites_keeps(home: OldHome, kind: str, cite: object) -> None:
    assert "a.txt" in {one.artifact.filename for one in home.gc().removable}
    cite(home, home.pointers["a.txt"])  # type: ignore[operator]
    report = home.gc(delete=True)
    assert report.unreadable == ()
    assert "a.txt" in home.files()
    assert ("b.txt" in home.files()) == (kind == "seal")
    (kept,) = [one for one in report.kept if one.artifact.filename == "a.txt"]
    assert set(map(str, kept.cited_by)) == {kind}


def test_an_artifact_that_names_itself_is_not_cited(home: OldHome) -> None:
    home.spill("self.txt", "written to s1/tool-results/self.txt")
    assert "self.txt" in {one.artifact.filename for one in home.gc().removable}


def test_a_chain_of_artifacts_goes_link_by_link(home: OldHome) -> None:
    home.spill("z.txt", f"see {home.pointers['a.txt']}")
    home.gc(delete=True)
    assert home.files() == {"a.txt"}
    home.gc(delete=True)
    assert home.files() == set()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("states/broken.json", b"{"),
        ("states/newer.json", b'{"schema":"ctxaudit.state/9"}'),
        ("states/states.sqlite3", b""),
        ("receipts/broken.json", b"{}"),
        ("transcripts/torn.jsonl", b'{"sequence":1,"content":"x"}\n{"sequ'),
        ("transcripts/gap.jsonl", b'{"sequence":2,"content":"x"}\n'),
        ("ctxaudit.lock", b"<<<<<<< ours\n"),
        ("s1/tool-results.jsonl", b"rubbish\n"),
        ("logs/session.jsonl.zst", b"\x28\xb5\x2f\xfd rubbish"),
        ("notes.gz", b"\x1f\x8b\x08 rubbish"),
    ],
)
def test_what_may_cite_and_cannot_be_read_stops_everything(
    home: OldHome, name: str, data: bytes
) -> None:
    home.write(name, data)
    before = home.snapshot()
    report = home.gc(delete=True)
    assert [one.target for one in report.unreadable] == [
        "states" if name.endswith("sqlite3") else name
    ]
    assert report.removable == ()
    assert report.undecided == (0 if name.startswith("s1") else 3)
    assert home.snapshot() == before


def test_a_version_in_the_store_keeps_what_it_cites(home: OldHome) -> None:
    by_name = {one.artifact.filename: one.artifact for one in home.gc().removable}
    pointer = f"artifact:s1:a.txt:{by_name['a.txt'].sha256}"
    cited = DurableContextState([DurableFact("f", "x", pointer, "2026-01-01T00:00:00Z")])
    with DurableStateStore(home.path) as store:
        store.put("run-1", cited, replaces=None, author="me")
        store.put("run-1", DurableContextState([]), replaces=1, author="me")
    report = home.gc(delete=True)
    # An earlier version can be read again, with its evidence.
    assert report.unreadable == ()
    assert home.files() == {"a.txt"}


def _put(home: OldHome, pointer: str, **words: Any) -> None:
    fact = DurableFact("f", "x", pointer, "2026-01-01T00:00:00Z")
    with DurableStateStore(home.path) as store:
        given: dict[str, Any] = {"author": "me"} | words
        store.put("run-1", DurableContextState([fact]), replaces=None, **given)


@pytest.mark.parametrize("place", ["author", "note", "confirmed_by", "conflict_keys"])
def test_whatever_the_store_says_of_a_version_keeps_what_it_names(
    home: OldHome, place: str
) -> None:
    by_name = {one.artifact.filename: one.artifact for one in home.gc().removable}
    pointer = f"artifact:s1:a.txt:{by_name['a.txt'].sha256}"
    told: object = {"confirmed_by": f"tool:{pointer}", "conflict_keys": {"f": pointer}}.get(
        place, f"see {pointer}"
    )
    _put(home, "transcript:s1:1", **{place: told})
    report = home.gc(delete=True)
    assert report.unreadable == ()
    assert home.files() == {"a.txt"}


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM versions WHERE version = 1",
        "DELETE FROM versions",
        "UPDATE versions SET version = 7 WHERE version = 2",
        "UPDATE versions SET author = x'ff00' WHERE version = 1",
        "UPDATE changes SET source_pointer = 'transcript:s1:9'",
        "DELETE FROM changes WHERE version = 1",
        "INSERT INTO conflict_keys VALUES ('run-1', 1, 'fact', 'k', 'unknown')",
        "INSERT INTO selections VALUES (1, 'run-1', 1, 'x', 'x', x'00')",
    ],
)
def test_a_store_whose_history_is_not_whole_stops_everything(home: OldHome, harm: str) -> None:
    by_name = {one.artifact.filename: one.artifact for one in home.gc().removable}
    _put(home, f"artifact:s1:a.txt:{by_name['a.txt'].sha256}")
    with DurableStateStore(home.path) as store:
        store.put("run-1", DurableContextState([]), replaces=1, author="me")
    with contextlib.closing(sqlite3.connect(home.path / "states/states.sqlite3")) as database:
        database.execute(harm)
        database.commit()
    before = home.files()
    report = home.gc(delete=True)
    assert [one.target for one in report.unreadable] == ["states"]
    assert home.files() == before


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("states/.half-written.json", b"{"),
        ("states/readme.txt", b"{"),
        ("receipts/sub/x.json", b"{"),
        ("notes/broken.json", b"{"),
        ("s1/tool-results.torn", b"rubbish\n"),
    ],
)
def test_the_nearest_that_stops_nothing(home: OldHome, name: str, data: bytes) -> None:
    home.write(name, data)
    report = home.gc(delete=True)
    assert (report.unreadable, len(report.removable)) == ((), 3)


def test_a_database_of_versions_says_why_it_stops(home: OldHome) -> None:
    home.write("states/states.sqlite3-wal", b"")
    assert [one.message for one in home.gc().unreadable] == [
        "states.sqlite3: expected the store, got only its journal"
    ]


def test_a_link_where_something_cites_stops_everything(home: OldHome, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    home.state("s.json", "transcript:s1:1")
    (home.path / "states/link.json").symlink_to(tmp_path / "elsewhere.json")
    assert [one.target for one in home.gc().unreadable] == ["states/link.json"]
    # Any file of the home may cite.
    (home.path / "states/link.json").rename(home.path / "link.txt")
    assert [one.target for one in home.gc().unreadable] == ["link.txt"]
    (home.path / "link.txt").unlink()
    (home.path / "states").rename(tmp_path / "states")
    (home.path / "states").symlink_to(tmp_path / "states")
    assert [one.target for one in home.gc().unreadable] == ["states"]


def test_a_device_where_something_cites_stops_everything(home: OldHome) -> None:
    (home.path / "transcripts").mkdir()
    os.mkfifo(home.path / "transcripts/s1.jsonl")
    assert [one.target for one in home.gc().unreadable] == ["transcripts/s1.jsonl"]


def test_a_folder_that_may_not_be_read_stops_everything(open_folder: Path) -> None:
    if not is_root():
        pytest.skip("not root: the owner could read it; NOT tested")
    home = OldHome(open_folder / "home")
    home.spill("a.txt", "text")
    home.write("notes/x.md", "text")
    for path in [home.path, *home.path.rglob("*")]:
        os.chown(path, 65534, 65534)
    os.chown(home.path / "notes", 0, 0)
    (home.path / "notes").chmod(0o700)
    done = run_python(
        "import sys\n"
        "from datetime import *\n"
        "from provenance.fs import TrustedRoot\n"
        "from provenance.retention import *\n"
        "clock = lambda: datetime(2026, 6, 1, tzinfo=UTC)\n"
        "root = TrustedRoot(sys.argv[1])\n"
        "report = collect_garbage(root, GcOrder(delete=True), clock=clock)\n"
        "print(report.unreadable[0].target, len(report.removable))",
        home.path,
        prefix=without_privileges(),
    )
    assert done.stdout == "notes 0\n"
    assert home.files() == {"a.txt"}


def test_a_compressed_transcript_and_an_archive_are_read_by_their_adapters(home: OldHome) -> None:
    zstd = pytest.importorskip("backports.zstd")
    record = {"type": "user", "uuid": "u1", "sessionId": "x", "message": {"content": "hello"}}
    record["message"] = {"role": "user", "content": f"see {home.pointers['a.txt']}"}
    meta = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "x"}}
    item = {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": record}
    text = f"{json.dumps(meta)}\n{json.dumps(item)}\n".encode()
    home.write("logs/rollout-2026.jsonl.zst", zstd.compress(text))
    assert _kinds(home) == {"transcript"}
    # An archive that no format knows may cite anything.
    with zipfile.ZipFile(home.path / "notes.zip", "w") as archive:
        archive.writestr("x", home.pointers["b.txt"])
    assert [one.target for one in home.gc().unreadable] == ["notes.zip"]


def test_an_artifact_is_bytes_and_no_container(home: OldHome) -> None:
    home.spill("packed.txt", "PK\x03\x04 no archive")
    assert home.gc().unreadable == ()


def test_what_lies_among_artifacts_and_has_no_line_is_read_as_any_file(home: OldHome) -> None:
    home.write("s1/tool-results/by-hand.txt", b"PK\x03\x04 no archive")
    home.write("notes/tool-results/x.zip", b"PK\x03\x04 no archive")
    assert [one.target for one in home.gc(delete=True).unreadable] == [
        "notes/tool-results/x.zip",
        "s1/tool-results/by-hand.txt",
    ]


def test_links_hard_links_and_foreign_things_stay(home: OldHome, tmp_path: Path) -> None:
    folder = home.path / "s1/tool-results"
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    (folder / "link.txt").symlink_to(outside)
    (folder / "dangling").symlink_to("nothing")
    os.link(folder / "a.txt", tmp_path / "second name")
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    (folder / "by-hand.txt").write_text("no line in the ledger")
    home.age("s1", "by-hand.txt")
    (folder / "not a name").write_text("x")
    (home.path / "s2").mkdir()
    (home.path / "s2/tool-results").symlink_to(folder)
    report = home.gc(delete=True)
    assert report.unreadable == ()
    assert {one.artifact.filename for one in report.removable} == {"b.txt", "c.txt"}
    assert outside.read_text() == "outside"
    reasons = {one.artifact.filename: str(one.reason) for one in report.kept}
    assert reasons.pop("by-hand.txt") == "not_in_ledger"
    assert set(reasons.values()) == {"foreign"}
    assert home.files() == {*reasons, "by-hand.txt"}


def test_another_owners_file_stays(home: OldHome) -> None:
    if not is_root():
        pytest.skip("not root: no file can be given away; NOT tested")
    os.chown(home.path / "s1/tool-results/a.txt", 65534, 65534)
    home.age("s1", "a.txt")
    assert _kinds(home) == {"foreign"}
    # What another user's agent stored is that user's, whoever collects.
    for path in home.path.rglob("*"):
        os.chown(path, 65534, 65534)
    assert len(home.gc(delete=True).removable) == 3


def test_what_is_young_stays_by_its_file_and_by_its_ledger(home: OldHome) -> None:
    edge = later(1)
    assert len(home.gc(now=edge).removable) == 0
    assert len(home.gc(now=edge + timedelta(seconds=1)).removable) == 3
    home.age("s1", "a.txt", later(30))
    with ArtifactStore(home.path, clock=lambda: later(30)) as store:
        assert store.spill("s1", "the text of b.txt\n").pointer == home.pointers["b.txt"]
    found = home.gc(now=later(30), cutoff=later(29))
    assert {one.artifact.filename for one in found.removable} == {"c.txt"}


def test_what_is_spilled_again_says_so_once_an_hour(home: OldHome) -> None:
    for minutes, lines in ((30, 1), (61, 2), (100, 2), (130, 3)):
        at = LONG_AGO + timedelta(minutes=minutes)
        with ArtifactStore(home.path, clock=lambda at=at: at) as store:
            assert store.spill("s1", "the text of a.txt\n").filename == "a.txt"
        assert len(home.events("a.txt")) == lines


def test_bytes_that_were_removed_are_stored_anew_under_another_name(home: OldHome) -> None:
    with ArtifactStore(home.path, clock=lambda: LONG_AGO) as store:
        assert store.spill("s1", "the text of a.txt\n").filename == "a.txt"
        home.gc(delete=True)
        again = store.spill("s1", "the text of a.txt\n", name="a.txt")
        assert again.filename == "x-_n2-a.txt"
        assert store.read(again.pointer).text == "the text of a.txt\n"


def _say_removed(home: OldHome, at: datetime | None) -> None:
    told = {} if at is None else {"recorded_at": f"{at:%Y-%m-%dT%H:%M:%S}Z"}
    line = {"event": "removed", "filename": "a.txt", "schema": "ctxaudit.artifact/1", **told}
    ledger = home.path / "s1/tool-results.jsonl"
    ledger.write_bytes(ledger.read_bytes() + json.dumps(line).encode() + b"\n")


@pytest.mark.parametrize("at", [None, LONG_AGO])
def test_what_was_put_back_is_stored_again(home: OldHome, at: datetime | None) -> None:
    # As `cp --preserve` and `tar` do: the old time of change, and an inode of today.
    _say_removed(home, at)
    today = datetime.now(UTC)
    report = home.gc(delete=True, now=today)
    assert home.files() == {"a.txt"}
    (kept,) = report.kept
    assert str(kept.reason) == "young"
    (gone,) = home.gc(delete=True, now=today + timedelta(days=2)).removable
    assert (gone.artifact.filename, gone.is_finished) == ("a.txt", False)
    assert home.events("a.txt") == ["stored", "removed", "removed"]


def test_what_is_put_back_at_once_is_no_removal_that_was_cut_off(
    home: OldHome, tmp_path: Path
) -> None:
    path = home.path / "s1/tool-results/a.txt"
    shutil.copy2(path, tmp_path)
    home.gc(delete=True, now=datetime.now(UTC) + timedelta(microseconds=1))
    shutil.copy2(tmp_path / "a.txt", path)
    assert home.gc(delete=True, now=datetime.now(UTC)).removable == ()
    assert home.files() == {"a.txt"}


def test_a_removal_that_was_cut_off_is_finished(home: OldHome) -> None:
    _say_removed(home, datetime.now(UTC) + timedelta(hours=1))
    # The evidence is there and whole, whatever the ledger says of it.
    with SourcePointerResolver(home.path, home.path) as resolver:
        assert resolver.resolve(home.pointers["a.txt"]).reason == Reason.VERIFIED_ARTIFACT
    report = home.gc(delete=True, now=LONG_AGO)
    assert [(one.artifact.filename, one.is_finished) for one in report.removable] == [
        ("a.txt", True)
    ]
    assert home.events("a.txt") == ["stored", "removed"]
    with SourcePointerResolver(home.path, home.path) as resolver:
        assert resolver.resolve(home.pointers["a.txt"]).reason == Reason.REMOVED_BY_RETENTION


def test_a_removal_that_was_cut_off_is_not_finished_where_something_cites_it_now(
    home: OldHome,
) -> None:
    _say_removed(home, datetime.now(UTC) + timedelta(hours=1))
    home.state("s.json", home.pointers["a.txt"])
    home.gc(delete=True)
    assert home.files() == {"a.txt"}


def test_temporary_files_of_dead_writers_go_when_they_are_a_day_old(home: OldHome) -> None:
    folder = home.path / "s1/tool-results"
    old, young, other = (f".ctxaudit-{n:016x}.tmp" for n in range(3))
    for name in (old, young):
        (folder / name).write_bytes(b"12345")
    (folder / other).symlink_to("a.txt")
    home.age("s1", old)
    home.age("s1", young, NOW - timedelta(hours=23))
    assert [one.bytes for one in home.gc(cutoff=NOW).leftovers] == [5]
    home.gc(delete=True, cutoff=NOW)
    assert {old, young, other} & home.files() == {young, other}


@pytest.mark.parametrize("place", [".", "seals", "receipts", "states"])
def test_temporary_files_of_a_killed_command_go_too(home: OldHome, place: str) -> None:
    names = [f".ctxaudit-{n:016x}.tmp" for n in range(3)]
    for name in names:
        home.write(f"{place}/{name}", b"12345")
    (home.path / place / names[2]).unlink()
    (home.path / place / names[2]).symlink_to(home.path / "s1")
    os.utime(home.path / place / names[0], (LONG_AGO.timestamp(),) * 2)
    os.utime(home.path / place / names[1], ((NOW - timedelta(hours=23)).timestamp(),) * 2)
    if place != "seals":  # a link there stops everything
        (home.path / place / names[2]).unlink()
    report = home.gc(cutoff=NOW)
    assert [("/".join(one.folder) or ".", one.bytes) for one in report.leftovers] == [(place, 5)]
    home.gc(delete=True, cutoff=NOW)
    left = {path.name for path in (home.path / place).iterdir()} & set(names)
    assert left == ({*names} if place == "seals" else {names[1]})


def test_an_audit_keeps_it_out_and_it_keeps_an_audit_out(home: OldHome) -> None:
    with TrustedRoot(home.path) as root, root.open_directory() as folder:
        with FolderGuard.among_readers(folder, timeout_seconds=0):
            report = home.gc(delete=True)
            assert "an audit or a gc is at work" in report.stopped_by
            assert (report.removable, home.files()) == ((), {"a.txt", "b.txt", "c.txt"})
            assert len(home.gc().removable) == 3  # to look is allowed
        with FolderGuard.alone(folder, timeout_seconds=0):
            assert home.gc(delete=True).stopped_by


def test_an_audit_holds_the_lock_while_it_verifies(
    home: OldHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.state("s.json", home.pointers["b.txt"])
    seen = []

    def collect(*_: object, **__: object) -> None:
        seen.append(home.gc(delete=True).stopped_by)
        raise KeyboardInterrupt

    monkeypatch.setattr("provenance.audit.verifying.PartVerifier.verify", collect)
    for request in (
        AuditRequest(targets=(str(home.path),)),
        AuditRequest(
            pointers=(home.pointers["a.txt"],),
            artifact_root=str(home.path),
            transcript_root=str(home.path),
        ),
    ):
        run_audit(request, clock=lambda: NOW, stopwatch=lambda: 0.0)
    assert all("an audit" in why for why in seen)
    assert len(seen) == 2
    # It is gone with the audit, also where that was interrupted.
    assert len(home.gc(delete=True).removable) == 2


def test_what_begins_to_cite_between_look_and_removal_is_seen(
    home: OldHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = FolderGuard.alone

    def cite_first(*arguments: object, **names: object) -> FolderGuard:
        home.state("new.json", home.pointers["a.txt"])
        return alone(*arguments, **names)  # type: ignore[arg-type]

    monkeypatch.setattr("provenance.retention.collecting.FolderGuard.alone", cite_first)
    report = home.gc(delete=True)
    assert home.files() == {"a.txt"}
    assert {str(kind) for one in report.kept for kind in one.cited_by} == {"state"}


@pytest.mark.parametrize("change", ["alter", "replace", "link", "use", "remove", "folder"])
def test_what_changes_between_look_and_removal_stays(
    home: OldHome, change: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = home.path / "s1/tool-results"
    alone = FolderGuard.alone

    def act(*arguments: object, **names: object) -> FolderGuard:
        match change:
            case "alter":
                (folder / "a.txt").write_text("other")
            case "replace":
                (folder / "a.txt").unlink()
                (folder / "a.txt").write_text("the text of a.txt\n")
            case "link":
                (folder / "a.txt").rename(tmp_path / "moved")
                (folder / "a.txt").symlink_to(tmp_path / "moved")
            case "use":
                with ArtifactStore(home.path, clock=lambda: NOW) as store:
                    store.spill("s1", "the text of a.txt\n")
            case "remove":
                (folder / "a.txt").unlink()
            case _:
                (home.path / "s1").rename(tmp_path / "moved")
        return alone(*arguments, **names)  # type: ignore[arg-type]

    monkeypatch.setattr("provenance.retention.collecting.FolderGuard.alone", act)
    report = home.gc(delete=True)
    if change == "folder":
        assert report.removable == ()
        assert len(report.failed) == 3
        assert len(list((tmp_path / "moved/tool-results").iterdir())) == 3
        return
    assert {one.artifact.filename for one in report.removable} == {"b.txt", "c.txt"}
    assert home.events("a.txt")[-1] != "removed"
    assert ("a.txt" in home.files()) == (change != "remove")
    assert {str(one.reason) for one in report.kept} == (
        set() if change == "remove" else {"changed"}
    )


def test_files_elsewhere_can_be_named_that_cite(home: OldHome, tmp_path: Path) -> None:
    other = OldHome(tmp_path / "other")
    other.spill("a.txt", f"artifact:s1:a.txt:{home.pointers['a.txt'][-64:]}")
    note = tmp_path / "note.md"
    note.write_text(home.pointers["b.txt"])
    report = home.gc(delete=True, cited_by=(str(other.path), str(note)))
    assert home.files() == {"a.txt", "b.txt"}
    assert sorted(file for one in report.kept for file in one.cited_by.values()) == [
        "note.md",
        "other/s1/tool-results/a.txt",
    ]
    lost = home.gc(delete=True, cited_by=(str(tmp_path / "nothing"),))
    assert [one.target for one in lost.unreadable] == ["nothing"]


def test_a_container_that_is_named_is_read_as_one(home: OldHome, tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    entry = {"type": "user", "uuid": "u1", "sessionId": "x", "message": {"role": "user"}}
    entry["message"]["content"] = home.pointers["a.txt"]  # type: ignore[index]
    packed = tmp_path / "session.jsonl.zst"
    packed.write_bytes(zstd.compress(json.dumps(entry).encode() + b"\n"))
    (tmp_path / "link").symlink_to(packed)
    for name in ("session.jsonl.zst", "link"):
        report = home.gc(cited_by=(str(tmp_path / name),))
        assert report.unreadable == ()
        assert "a.txt" not in {one.artifact.filename for one in report.removable}
    packed.write_bytes(b"\x1f\x8b\x08 rubbish")
    lost = home.gc(delete=True, cited_by=(str(packed),))
    assert [one.target for one in lost.unreadable] == ["session.jsonl.zst"]


@pytest.mark.parametrize("folder", ["x", "x/tool-results"])
def test_a_link_below_what_cites_stops(home: OldHome, tmp_path: Path, folder: str) -> None:
    (tmp_path / "notes" / folder).mkdir(parents=True)
    (tmp_path / "notes" / folder / "link.txt").symlink_to(tmp_path / "nothing")
    report = home.gc(delete=True, cited_by=(str(tmp_path / "notes"),))
    assert [one.target for one in report.unreadable] == [f"notes/{folder}/link.txt"]


@pytest.mark.parametrize(
    "name", ["s1/tool-results.jsonl", "s1/tool-results.torn", "s1/tool-results/b.txt"]
)
def test_below_what_cites_nothing_is_the_homes_own(
    home: OldHome, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "notes" / name
    path.parent.mkdir(parents=True)
    path.write_text(home.pointers["b.txt"])
    notes = (str(tmp_path / "notes"),)
    path.with_name("x").write_bytes(b"\x1f\x8b\x08 rubbish")
    assert len(home.gc(delete=True, cited_by=notes).unreadable) == 1
    path.with_name("x").unlink()
    assert home.gc(delete=True, cited_by=notes).unreadable == ()
    assert home.files() == {"b.txt"}


def test_a_receipt_called_like_a_ledger_cites(home: OldHome) -> None:
    home.write("receipts/tool-results.jsonl", home.pointers["a.txt"])
    home.write("snapshots/tool-results.torn", home.pointers["b.txt"])
    home.gc(delete=True)
    assert home.files() == {"a.txt", "b.txt"}


def test_a_home_that_is_not_there_or_empty(tmp_path: Path) -> None:
    assert OldHome(tmp_path / "nothing").gc(delete=True).removable == ()
    assert OldHome(tmp_path).gc(delete=True).stopped_by == ""


def test_a_file_is_read_again_only_where_it_changed(home: OldHome) -> None:
    home.write("notes.md", "nothing")
    with TrustedRoot(home.path) as root:
        citers = Citers(root, _names(home))
        citers.read()
        assert citers.cited == {}
        path = home.write("notes.md", home.pointers["a.txt"])
        citers.read()
        assert citers.cited == {("s1", "a.txt"): {CiterKind.FILE: "notes.md"}}
        path.unlink()  # what was cited stays cited
        citers.read()
        assert citers.cited == {("s1", "a.txt"): {CiterKind.FILE: "notes.md"}}


def _names(home: OldHome) -> StoredNames:
    return StoredNames([("s1", name) for name in home.pointers])


def test_one_that_is_stopped_says_what_went(home: OldHome) -> None:
    home.spill("d.txt", "d", session="s2")
    told = []
    with TrustedRoot(home.path) as root:
        report = collect_garbage(
            root,
            GcOrder(delete=True),
            clock=lambda: NOW,
            on_removal=lambda: told.append(len(home.files())),
            is_stopped=lambda: True,
        )
    assert told == [3]
    assert [one.artifact.filename for one in report.removable] == ["a.txt", "b.txt", "c.txt"]
    assert (report.stopped_by, home.files("s2")) == ("interrupted", {"d.txt"})


def test_a_clock_without_a_zone_is_refused(home: OldHome) -> None:
    with TrustedRoot(home.path) as root, pytest.raises(ClockError):
        collect_garbage(root, GcOrder(), clock=lambda: datetime(2026, 1, 1))  # noqa: DTZ001
    assert datetime(2026, 1, 1, tzinfo=UTC) == LONG_AGO
