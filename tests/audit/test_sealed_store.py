"""States of a store under a seal: every version stays as it was sealed."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.audit import AuditRequest, run_audit
from provenance.audit_report import AuditReport
from provenance.findings import Severity
from provenance.sealing.sealed_log import SealTrust
from tests.cli.sealed_homes import SIGNER, SealedHome


def _put(home: Path, version: int) -> None:
    fact = DurableFact("f", f"claim {version}", "transcript:s1:2", "2026-01-01T00:00:00Z")
    with DurableStateStore(home) as store:
        store.put("run-1", DurableContextState([fact]), replaces=version - 1 or None, author="me")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = SealedHome.make(tmp_path)
    _put(made.path, 1)
    shutil.copytree(made.path / "states", tmp_path / "first")
    _put(made.path, 2)
    made.seal()
    return made.path


def _audit(home: Path) -> AuditReport:
    request = AuditRequest(targets=(str(home),), seal=SealTrust(SIGNER.verifier))
    return run_audit(request, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), stopwatch=lambda: 0.0)


def _told(report: AuditReport) -> list[tuple[str, str]]:
    found = [one for one in report.findings if one.severity is not Severity.INFO]
    return sorted((one.code, one.target) for one in found)


def test_as_it_was_sealed(home: Path) -> None:
    assert _told(_audit(home)) == []


def test_a_version_after_the_seal_is_told_and_no_fault(home: Path) -> None:
    _put(home, 3)
    report = _audit(home)
    assert _told(report) == [("not_sealed", "states/states.sqlite3:run-1")]
    assert report.findings[0].severity is Severity.WARNING


def _set_back(home: Path) -> None:
    shutil.rmtree(home / "states")
    shutil.copytree(home.parent / "first", home / "states")


def _remove(home: Path) -> None:
    for path in (home / "states").glob("states.sqlite3*"):
        path.unlink()


def _write_anew(home: Path) -> None:
    _remove(home)
    for version in (1, 2):
        fact = DurableFact("f", f"other {version}", "transcript:s1:2", "2026-01-01T00:00:00Z")
        with DurableStateStore(home) as store:
            state = DurableContextState([fact])
            store.put("run-1", state, replaces=version - 1 or None, author="me")


def _drop_a_row(home: Path) -> None:
    with sqlite3.connect(home / "states/states.sqlite3") as database:
        for table in ("versions", "changes", "conflict_keys"):
            database.execute(f"DELETE FROM {table} WHERE version = 2")
    database.close()


@pytest.mark.parametrize("alter", [_set_back, _remove, _write_anew, _drop_a_row])
def test_a_rewritten_store_is_found(home: Path, alter: Callable[[Path], None]) -> None:
    alter(home)
    expected = ("sealed_state_versions_rewritten", "states/states.sqlite3:run-1")
    assert expected in _told(_audit(home))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE versions SET author = 'cfo' WHERE version = 1",
        "UPDATE versions SET note = 'approved' WHERE version = 2",
        "UPDATE versions SET created_at = '2020-01-01T00:00:00.000000Z' WHERE version = 1",
        "UPDATE changes SET confirmed_by = 'tool:pytest' WHERE version = 2",
        "UPDATE changes SET confirmed_at = '2020-01-01T00:00:00.000000Z' WHERE version = 1",
        "DELETE FROM changes WHERE version = 2",
        "INSERT INTO conflict_keys VALUES ('run-1', 1, 'fact', 'root-cause', 'f')",
    ],
)
def test_who_wrote_and_confirmed_what_stays_as_it_was_sealed(home: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(home / "states/states.sqlite3")) as database:
        database.execute(statement)
        database.commit()
    expected = ("sealed_state_versions_rewritten", "states/states.sqlite3:run-1")
    assert expected in _told(_audit(home))
