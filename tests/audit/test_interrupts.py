"""An interrupt at any instruction of the audit: what is told, counted and reported still agrees."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.audit import AuditRequest, run_audit
from provenance.audit import sandbox_wire as wire
from provenance.audit.sandbox_child import Said
from provenance.audit.sandbox_sense import Sense
from provenance.audit_report import AuditReport
from provenance.sealing.sealed_log import SealTrust
from tests.cli.sealed_homes import SIGNER, SealedHome
from tests.transcripts.agents import claude

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WATCHED = ("run.py", "trees.py", "notes.py", "sandbox_child.py", "sealed.py")


@pytest.fixture(scope="module")
def request_of_all(tmp_path_factory: pytest.TempPathFactory) -> AuditRequest:
    """A home with a sound seal and what is against it, and sessions that say different things."""
    folder = tmp_path_factory.mktemp("interrupted")
    home = SealedHome.make(folder, seals=2).path
    for number, path in enumerate(sorted(home.glob("*/tool-results/*"))):
        if number == 0:
            path.write_bytes(b"altered")
    shutil.copytree(home, folder / "lost", ignore=shutil.ignore_patterns("tool-results", "seals"))
    sessions = folder / "sessions"
    sessions.mkdir()
    for number, session in enumerate(("s1", "s1", "s2")):
        data = claude(3, session=session).replace(b"text 2", b"text %d" % number)
        (sessions / f"{number}.jsonl").write_bytes(data + b"no record\n")
    return AuditRequest(
        targets=(str(home), str(folder / "lost"), str(sessions)),
        seal=SealTrust(SIGNER.verifier),
        check_all=True,
    )


class _Heard:
    """The parent's side of a confined process."""

    def __init__(self, request: AuditRequest) -> None:
        self._request = request
        self._take, self.give = os.pipe()
        self._data = bytearray()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while block := os.read(self._take, 1 << 16):
            self._data += block

    def require(self, report: AuditReport) -> None:
        """Hold the report against what was told before it."""
        os.close(self.give)
        self._thread.join()
        os.close(self._take)
        sense = Sense(self._request, today=_NOW.date())
        transcripts = 0
        while (found := wire.take_frame(self._data)) is not None:
            kind, payload = found
            if kind == wire.PLAN:
                sense.take_plan(wire.decode(payload, int))
            elif kind == wire.SOURCES:
                sense.take_sources(wire.decode(payload, wire.Sources))
            elif kind == wire.TRANSCRIPT:
                transcripts += wire.decode(payload, wire.Transcript) is not None  # type: ignore[arg-type]
        assert not self._data
        sense.require_report(report)
        assert transcripts == len(report.transcripts)
        said = Counter[str]()
        for transcript in report.transcripts:
            said.update(transcript.findings)
        for code, number in said.items():
            assert report.finding_counts[code] >= number
        for code in ("id_in_two_sessions", "conflicting_id", "session_in_several_files"):
            assert report.finding_counts.get(code, 0) == said[code]


def _run(request: AuditRequest, at: int | None = None) -> tuple[AuditReport, int]:
    """Audit, and interrupt at one instruction; gives the report and how many there were."""
    heard = _Heard(request)
    said = Said(heard.give)
    seen = 0

    def trace(frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        nonlocal seen
        if os.path.basename(frame.f_code.co_filename) not in _WATCHED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_name not in ("stop", "_check"):
            seen += 1
            if seen == at:
                said.stop(0, None)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        report = run_audit(request, clock=lambda: _NOW, stopwatch=lambda: 0.0, listener=said)
    finally:
        sys.settrace(before)
    heard.require(report)
    return report, seen


@pytest.fixture(scope="module")
def whole(request_of_all: AuditRequest) -> tuple[AuditReport, int]:
    return _run(request_of_all)


def test_the_example_has_what_can_be_cut_in_two(whole: tuple[AuditReport, int]) -> None:
    report, seen = whole
    assert report.sources
    assert report.seals
    assert len(report.transcripts) > 3
    assert {"conflicting_id", "id_in_two_sessions", "session_in_several_files"} <= {
        *report.finding_counts
    }
    assert seen > 1_000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_an_interrupt_at_any_instruction(
    request_of_all: AuditRequest, whole: tuple[AuditReport, int], data: st.DataObject
) -> None:
    complete, seen = whole
    report, _ = _run(request_of_all, data.draw(st.integers(1, seen)))
    assert {*report.sources} <= {*complete.sources}
    assert report.summary.total == complete.summary.total
