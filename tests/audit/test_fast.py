"""`--fast` in a run: only where somebody proved a seal, and every report says for how many."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from provenance.artifacts import ArtifactStore
from provenance.audit import AuditRequest, Listener, TargetError, run_audit
from provenance.audit.seal_writing import seal_home
from provenance.audit_report import AuditReport
from provenance.durable import DurableContextState, DurableFact
from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.sealing.keys import generate_signer
from provenance.sealing.sealed_log import SealTrust

SIGNER = generate_signer("ctxaudit.example/fast")
TRUST = SealTrust(SIGNER.verifier)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    _build(path, "one")
    return path


def _build(home: Path, text: str, *, is_sealed: bool = True) -> None:
    """Make a home of three artifacts; the third was stored after the seal."""
    (home / "states").mkdir(parents=True)
    pointers = []
    with ArtifactStore(home) as store:
        for n in range(3):
            if n == 2 and is_sealed:
                with TrustedRoot(home) as root:
                    seal_home(root, SIGNER)
            pointers.append(store.spill("s1", f"{text} {n}\n", name=f"f{n}").pointer)
    facts = [
        DurableFact(f"f{n}", "x", pointer, "2026-01-01T00:00:00Z")
        for n, pointer in enumerate(pointers)
    ]
    (home / "states/a.json").write_text(DurableContextState(facts).to_json())


def _audit(*targets: Path, listener: Listener | None = None, **options: Any) -> AuditReport:
    request = AuditRequest(targets=tuple(map(str, targets)), **options)
    return run_audit(
        request,
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        stopwatch=lambda: 0.0,
        listener=listener,
    )


def _by(report: AuditReport) -> list[str | None]:
    return [source.resolution.checked_by for source in report.sources]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_report_says_for_how_many(home: Path, jobs: int) -> None:
    report = _audit(home, fast=True, seal=TRUST, jobs=jobs)
    assert _by(report) == ["blake3", "blake3", None]
    assert report.summary.available == 3
    (finding,) = (one for one in report.findings if one.code == "checked_by_blake3")
    assert finding.severity is Severity.WARNING  # information alone would not be in every report
    assert finding.message.startswith("artifacts: 2 held against the BLAKE3 of sealed ledger lines")
    assert finding.target == "."


def test_without_fast_a_seal_changes_nothing(home: Path) -> None:
    report = _audit(home, seal=TRUST)
    assert _by(report) == [None] * 3
    assert "checked_by_blake3" not in report.finding_counts


def test_fast_without_a_seal_is_refused(home: Path) -> None:
    with pytest.raises(TargetError, match=r"^--fast: expected --seal too, got none: "):
        _audit(home, fast=True)


def test_a_home_without_a_seal_is_checked_by_sha256(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _build(home, "one", is_sealed=False)
    report = _audit(home, fast=True, seal=TRUST)
    assert _by(report) == [None] * 3
    assert "checked_by_blake3" not in report.finding_counts


def test_each_home_has_its_own_ledger(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    _build(other, "two")
    report = _audit(home, other, fast=True, seal=TRUST)
    assert report.summary.available == 6
    told = [one.target for one in report.findings if one.code == "checked_by_blake3"]
    assert told == ["home", "other"]


@pytest.mark.parametrize("data", [b"one 9\n", b"one", b""])
def test_an_altered_artifact_is_corrupt(home: Path, data: bytes) -> None:
    (home / "s1/tool-results/f0").write_bytes(data)
    report = _audit(home, fast=True, seal=TRUST)
    assert report.summary.corrupt == 1
    assert report.summary.available == 2


def test_an_artifact_swapped_with_its_ledger_line_is_found(home: Path) -> None:
    # Whoever swaps artifact and line gets the line out of what the seal covers.
    (home / "s1/tool-results/f0").write_bytes(b"two 0\n")
    ledger = home / "s1/tool-results.jsonl"
    old, new = (blake3(data).hexdigest().encode() for data in (b"one 0\n", b"two 0\n"))
    assert old in ledger.read_bytes()
    ledger.write_bytes(ledger.read_bytes().replace(old, new))
    report = _audit(home, fast=True, seal=TRUST)
    assert report.summary.corrupt == 1
    assert report.finding_counts["sealed_ledger_line_edited"] == 1


def test_an_interrupted_run_says_it_too(home: Path) -> None:
    class Stops(Listener):
        def on_sources(self, sources: object) -> None:
            raise KeyboardInterrupt

    report = _audit(home, fast=True, seal=TRUST, listener=Stops())
    assert report.is_interrupted
    assert report.finding_counts["checked_by_blake3"] == 1
