"""Whatever single bit of a sealed home is altered: the audit under its seal does not pass."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.exit_codes import ExitCode
from cli.verdict import verdict_of
from provenance.audit import AuditRequest, run_audit
from provenance.sealing.sealed_log import SealTrust
from tests.cli.sealed_homes import SIGNER, SealedHome


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    home = SealedHome.make(tmp_path_factory.mktemp("bits"), seals=2)
    (home.path / "ctxaudit.lock").unlink()  # white space and unknown keys are free there
    home.seal()
    return home


def _verdict(home: Path) -> ExitCode:
    request = AuditRequest(targets=(str(home),), seal=SealTrust(SIGNER.verifier))
    report = run_audit(
        request, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), stopwatch=lambda: 0.0
    )
    return verdict_of(report)


def test_unaltered_it_passes(sealed: SealedHome) -> None:
    assert _verdict(sealed.path) is ExitCode.OK


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(st.data())
def test_any_bit(sealed: SealedHome, data: st.DataObject) -> None:
    files = sorted(path for path in sealed.path.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    content = path.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    bit = data.draw(st.integers(0, 7))
    altered = bytearray(content)
    altered[at] ^= 1 << bit
    path.write_bytes(altered)
    try:
        assert _verdict(sealed.path) is not ExitCode.OK, (path.name, at, bit)
    finally:
        path.write_bytes(content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_any_cut(sealed: SealedHome, data: st.DataObject) -> None:
    files = sorted(path for path in sealed.path.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    content = path.read_bytes()
    left = data.draw(st.integers(0, len(content) - 2))
    path.write_bytes(content[:left])
    try:
        assert _verdict(sealed.path) is not ExitCode.OK, (path.name, left)
    finally:
        path.write_bytes(content)
