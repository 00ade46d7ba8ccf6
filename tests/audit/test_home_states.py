"""Which files in a home's `states/` are states."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance import DurableContextState, DurableFact
from provenance.audit import AuditRequest, run_audit
from provenance.audit_report import AuditReport

STATE = DurableContextState(
    [DurableFact("f1", "It is so.", "transcript:s1:1", "2026-01-01T09:00:00Z")]
).to_json()


def _audit(home: Path) -> AuditReport:
    return run_audit(
        AuditRequest(targets=(str(home),)),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        stopwatch=lambda: 0.0,
    )


@pytest.mark.parametrize("name", ["turn-1.json", "my state.json", "Zustand-é.json", "-x.json"])
def test_a_state_may_have_any_file_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "states").mkdir()
    (tmp_path / "states" / name).write_text(STATE, encoding="utf-8")
    report = _audit(tmp_path)
    assert report.finding_counts == {}
    assert [source.cited_by[0].file for source in report.sources] == [f"states/{name}"]


@pytest.mark.parametrize("name", [".hidden.json", "._turn-1.json", "notes.txt", "turn-1.json~"])
def test_what_a_shell_would_not_find_is_no_state(tmp_path: Path, name: str) -> None:
    (tmp_path / "states").mkdir()
    (tmp_path / "states" / name).write_text("rubbish", encoding="utf-8")
    report = _audit(tmp_path)
    assert report.finding_counts == {}
    assert report.sources == ()
