"""Running an audit from a program: one report, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.audit import AuditRequest, Listener, TargetError, run_audit
from provenance.audit_report import AuditedSource, AuditReport
from provenance.policy import parse_policy

_CLOCK = datetime(2026, 1, 1, 12, 0, 0, 5_000, tzinfo=UTC)


class _StopsAfter(Listener):
    """Interrupts after a number of batches, as Ctrl-C does."""

    def __init__(self, batches: int) -> None:
        self.left = batches
        self.heard: list[AuditedSource] = []
        self.total = 0

    def on_plan(self, total: int) -> None:
        self.total = total

    def on_sources(self, sources: Sequence[AuditedSource]) -> None:
        self.heard += sources
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def _request(root: Path, count: int, **options: object) -> AuditRequest:
    pointers = tuple(f"transcript:s{number:04}:1" for number in range(count))
    return AuditRequest(
        pointers=pointers,
        transcript_root=str(root),
        artifact_root=str(root),
        **options,  # type: ignore[arg-type]
    )


def _run(request: AuditRequest, **options: object) -> AuditReport:
    return run_audit(
        request,
        clock=lambda: _CLOCK,
        stopwatch=lambda: 0.0,
        **options,  # type: ignore[arg-type]
    )


def test_a_whole_run(tmp_path: Path) -> None:
    listener = _StopsAfter(-1)
    report = _run(_request(tmp_path, 500), listener=listener)
    assert listener.total == report.summary.total == report.summary.missing == 500
    assert tuple(listener.heard) == report.sources
    assert report.started_at == report.finished_at == "2026-01-01T12:00:00.005Z"
    assert not report.is_interrupted


def test_an_interrupt_loses_nothing_that_was_verified(tmp_path: Path) -> None:
    listener = _StopsAfter(2)
    report = _run(_request(tmp_path, 500), listener=listener)
    assert report.is_interrupted
    assert tuple(listener.heard) == report.sources
    assert 0 < len(report.sources) < 500
    assert report.not_checked == 500 - len(report.sources)
    assert report.summary.total == 500


def test_an_interrupt_that_came_before(tmp_path: Path) -> None:
    report = _run(_request(tmp_path, 5), is_interrupted=True)
    assert (report.is_interrupted, report.not_checked, report.sources) == (True, 5, ())


def test_an_interrupt_while_targets_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "states").mkdir()
    monkeypatch.setattr("provenance.audit.home.HomeReader.fill", interrupt)
    request = AuditRequest(targets=(str(tmp_path),), pointers=("transcript:s:1",))
    report = _run(request)
    assert (report.is_interrupted, report.not_checked) == (True, 1)
    assert report.targets == (tmp_path.name,)


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    for number in range(0, 40, 2):
        line = f'{{"sequence":1,"session_id":"s{number:04}","content":"x"}}\n'
        (tmp_path / f"s{number:04}.jsonl").write_text(line)
    one = _run(_request(tmp_path, 40))
    several = _run(_request(tmp_path, 40, jobs=3))
    assert one == several
    assert one.summary.available == 20


def test_a_denied_source_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_nothing(*_: object) -> None:
        pytest.fail("a file was opened")

    monkeypatch.setattr("provenance.fs.TrustedRoot.open_file", open_nothing)
    monkeypatch.setattr("provenance.fs.TrustedRoot.open_directory", open_nothing)
    report = _run(_request(tmp_path, 5, policy=parse_policy('default = "deny"')))
    assert report.summary.denied == 5


@pytest.mark.parametrize(
    "request_",
    [
        AuditRequest(targets=("/nowhere/at/all",)),
        AuditRequest(pointers=("transcript:s:1",)),
        AuditRequest(pointers=("transcript:s:1",), artifact_root="/nowhere"),
        AuditRequest(targets=("/dev/null",)),
    ],
)
def test_what_cannot_be_audited_is_refused(request_: AuditRequest) -> None:
    with pytest.raises(TargetError) as refused:
        _run(request_)
    assert "/nowhere" not in str(refused.value)
