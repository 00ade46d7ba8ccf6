"""Versions in the state store of a home, as the audit sees them."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.audit import AuditRequest, run_audit
from provenance.audit.state_versions import STATE_STORE
from provenance.audit_report import AuditReport
from provenance.stores.own_files import FILE_NAME
from provenance.transcripts import TranscriptWriter
from tests.fixtures import no_handle_is_left
from tests.stores.stores import T0, a_state, alter, file_of, filled

__all__ = ["no_handle_is_left"]

_MOMENT = datetime(2026, 1, 5, 12, tzinfo=UTC)
_STORE = "states/states.sqlite3"


def _audit(home: Path, *, check_all: bool = False) -> AuditReport:
    request = AuditRequest(targets=(str(home),), check_all=check_all)
    return run_audit(request, clock=lambda: _MOMENT, stopwatch=lambda: 0.0)


def _found(report: AuditReport) -> list[tuple[str, str]]:
    return [(one.code, one.target) for one in report.findings]


def _look(home: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in (home / "states").iterdir()
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose state had two versions; the first one cites an event that never was."""
    folder = tmp_path / "home"
    with TranscriptWriter(folder / "transcripts", "s1") as log:
        pointer = log.append({"type": "message", "content": "The port is 8443."}).pointer
    store = DurableStateStore(folder)
    lost = DurableFact("f0", "Made up.", "transcript:s1:9", T0)
    sound = DurableFact("f1", "The port is 8443.", pointer, T0)
    store.put("run-1", DurableContextState([lost, sound]), replaces=None, author="h")
    store.put("run-1", DurableContextState([sound], session="s1"), replaces=1, author="h")
    store.record_selection("run-1", query="q", candidates=["m1"], winners=["m1"])
    return folder


def test_both_modules_mean_the_same_file() -> None:
    assert STATE_STORE == FILE_NAME


def test_current_versions_are_cited(home: Path) -> None:
    before = _look(home)
    report = _audit(home)
    (source,) = report.sources
    assert source.resolution.status == "available"
    (cited,) = source.cited_by
    assert (cited.file, cited.item, cited.session) == (f"{_STORE}:run-1@2", "f1", "s1")
    assert cited.text == "The port is 8443."
    assert _found(report) == []
    assert _look(home) == before


def test_earlier_versions_are_cited_with_all(home: Path) -> None:
    report = _audit(home, check_all=True)
    assert {
        source.resolution.pointer: [cited.file for cited in source.cited_by]
        for source in report.sources
    } == {
        "transcript:s1:1": [f"{_STORE}:run-1@1", f"{_STORE}:run-1@2"],
        "transcript:s1:9": [f"{_STORE}:run-1@1"],
    }


def test_states_in_files_and_in_the_store_are_both_read(home: Path) -> None:
    (home / "states/lone.json").write_text(a_state("In a file.").to_json())
    (source,) = _audit(home).sources
    assert [cited.file for cited in source.cited_by] == [
        "states/lone.json", f"{_STORE}:run-1@2",
    ]  # fmt: skip


def _replace_by_link(home: Path) -> None:
    os.rename(file_of(home), home.parent / "elsewhere")
    file_of(home).symlink_to(home.parent / "elsewhere")


def _cut(home: Path) -> None:
    os.truncate(file_of(home), 5_000)


def _shared_journal(home: Path) -> None:
    (home / f"{_STORE}-journal").write_bytes(
        b"\0" * 600 + b"/etc/victim" + b"\0" * 8 + bytes.fromhex("d9d505f920a163d7")
    )


@pytest.mark.parametrize(
    "plant",
    [
        _replace_by_link,
        _cut,
        _shared_journal,
        lambda home: file_of(home).write_bytes(b"words"),
        lambda home: alter(home, "PRAGMA user_version=7"),
        lambda home: alter(home, "PRAGMA application_id=7"),
        lambda home: alter(home, "DROP TABLE changes"),
        lambda home: alter(home, "CREATE VIEW v AS SELECT 1"),
        lambda home: alter(home, "UPDATE versions SET name = char(27) || '[2J'"),
    ],
    ids=["link", "cut", "journal", "text", "newer", "foreign", "table", "view", "names"],
)
def test_a_store_that_cannot_be_read_is_one_finding(
    home: Path, plant: Callable[[Path], object]
) -> None:
    (home / "states/lone.json").write_text(a_state("In a file.").to_json())
    plant(home)
    report = _audit(home)
    assert set(_found(report)) == {("state_unreadable", _STORE)}
    (finding,) = report.findings
    assert finding.message.isprintable()
    assert str(home) not in finding.message
    assert [one.cited_by[0].file for one in report.sources] == ["states/lone.json"]


def test_a_version_that_cannot_be_read_is_told_and_the_others_are_read(home: Path) -> None:
    DurableStateStore(home).put("run-2", a_state("Sound."), replaces=None, author="h")
    alter(home, "UPDATE versions SET document = x'7b7d' WHERE name = 'run-1' AND version = 2")
    report = _audit(home)
    assert _found(report) == [("state_unreadable", f"{_STORE}:run-1@2")]
    assert [one.cited_by[0].file for one in report.sources] == [f"{_STORE}:run-2@1"]


def test_an_earlier_version_that_was_altered_is_found_with_all(home: Path) -> None:
    alter(home, "UPDATE versions SET document = x'7b7d' WHERE version = 1")
    assert _found(_audit(home)) == []
    assert _found(_audit(home, check_all=True)) == [("state_unreadable", f"{_STORE}:run-1@1")]


def test_a_trace_that_was_altered_is_found_with_all(home: Path) -> None:
    alter(home, "UPDATE selections SET document = x'7b7d'")
    assert _found(_audit(home)) == []
    assert _found(_audit(home, check_all=True)) == [("state_unreadable", _STORE)]


def test_state_history_broken_is_shown_by_a_version_that_was_removed(tmp_path: Path) -> None:
    filled(tmp_path, versions=4)
    alter(tmp_path, "DELETE FROM versions WHERE version = 2")
    report = _audit(tmp_path)
    assert _found(report) == [("state_history_broken", f"{_STORE}:run-1")]
    assert report.findings[0].message == "versions: expected version 2, got none"


def test_state_history_broken_is_not_shown_by_whole_histories(tmp_path: Path) -> None:
    filled(tmp_path, versions=4)
    DurableStateStore(tmp_path).put("run-2", a_state(), replaces=None, author="h")
    assert _found(_audit(tmp_path)) == []


def test_a_store_alone_makes_a_home(tmp_path: Path) -> None:
    filled(tmp_path / "home", versions=1)
    (source,) = _audit(tmp_path / "home").sources
    assert source.resolution.status == "missing"
