"""A confined process that lies within the types: what no audit of the request would say."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date
from typing import Any

import msgspec
import pytest

from provenance.audit import sandbox_wire as wire
from provenance.audit.request import AuditRequest
from provenance.audit.sandbox_sense import Sense
from provenance.audit_report import AuditedSource, AuditReport, CheckedSeal, CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.resolution import (
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    resolution_for,
)
from provenance.waivers import Waiver, WaiverEntry, WaiverState

_TODAY = date(2026, 5, 5)
_POINTER = "transcript:s1:1"
_OF_SOURCE = Waiver("lost", "ops", date(2026, 5, 6), pointer=_POINTER)
_OF_FINDING = Waiver("old", "ops", _TODAY, code="noise", target="a.json")
_OVER = Waiver("over", "ops", date(2026, 5, 4), pointer="transcript:s1:2")
_REQUEST = AuditRequest(waivers=tuple(map(WaiverEntry, (_OF_SOURCE, _OF_FINDING, _OVER))))

_GOOD = SourceResolution(
    "transcript:s1:7",
    SourceResolutionStatus.AVAILABLE,
    "transcript",
    "0" * 64,
    reason="verified_transcript_event",
    strength="full",
    quiescence="stat",
    evidence_bytes=3,
)
_MISSING = resolution_for(_POINTER, Reason.TRANSCRIPT_MISSING, source_type="transcript")
_UNREAD = resolution_for(_POINTER, Reason.SOURCE_READ_FAILED)
_SOURCES = (AuditedSource(_MISSING, waiver=_OF_SOURCE), AuditedSource(_GOOD))
_REPORT = AuditReport(
    started_at="2026-05-05T00:00:00.000Z",
    finished_at="2026-05-05T00:00:00.000Z",
    sources=_SOURCES,
    findings=(Finding("noise", Severity.ERROR, "a.json", waiver=_OF_FINDING),),
    finding_counts={"noise": 2},
    waived_counts={"noise": 1},
    waivers=(_OF_SOURCE, _OF_FINDING, _OVER),
    waiver_states=(WaiverState.USED, WaiverState.USED, WaiverState.EXPIRED),
    not_checked=1,
)


def _hear(report: AuditReport, *, total: int = 3, request: AuditRequest = _REQUEST) -> None:
    sense = Sense(request, today=_TODAY)
    sense.take_plan(total)
    sense.take_sources(report.sources)
    sense.require_report(report)


def test_what_an_audit_says_passes() -> None:
    _hear(_REPORT)
    _hear(replace(_REPORT, sources=(AuditedSource(_UNREAD),)))


@pytest.mark.attack
@pytest.mark.parametrize(
    "source",
    [
        AuditedSource(replace(_GOOD, evidence_sha256=None)),
        AuditedSource(replace(_GOOD, evidence_sha256="0" * 63)),
        AuditedSource(replace(_GOOD, evidence_sha256="0" * 64 + "\n")),
        AuditedSource(replace(_GOOD, strength=None)),
        AuditedSource(replace(_GOOD, strength="absolute")),
        AuditedSource(replace(_GOOD, strength="sealed")),
        AuditedSource(replace(_GOOD, reason="transcript_missing")),
        AuditedSource(replace(_GOOD, reason="verified_artifact")),
        AuditedSource(replace(_GOOD, reason=None)),
        AuditedSource(replace(_GOOD, conclusive=False)),
        AuditedSource(replace(_GOOD, quiescence="trust")),
        AuditedSource(replace(_GOOD, checked_by="blake3")),
        AuditedSource(replace(_GOOD, excerpt="a secret")),
        AuditedSource(replace(_GOOD, evidence_bytes=-1)),
        AuditedSource(_GOOD, waiver=_OF_SOURCE),
        AuditedSource(_GOOD, consequences_left_out=-1),
        AuditedSource(_GOOD, denied_why="because"),
        AuditedSource(replace(_MISSING, evidence_sha256="0" * 64)),
        AuditedSource(replace(_MISSING, strength="full")),
        AuditedSource(replace(_MISSING, excerpt="a secret")),
        AuditedSource(replace(_MISSING, reason="policy_denied")),
        AuditedSource(replace(_MISSING, reason="no such reason")),
        AuditedSource(replace(_MISSING, source_type="memory")),
        AuditedSource(replace(_UNREAD, conclusive=True)),
        AuditedSource(_MISSING, waiver=replace(_OF_SOURCE, owner="mallory")),
        AuditedSource(_MISSING, waiver=_OF_FINDING),
        AuditedSource(replace(_MISSING, pointer="transcript:s1:2"), waiver=_OVER),
        AuditedSource(replace(_MISSING, pointer="transcript:s1:3"), waiver=_OF_SOURCE),
    ],
)
def test_an_answer_that_cannot_be_is_refused(source: AuditedSource) -> None:
    sense = Sense(_REQUEST, today=_TODAY)
    sense.take_plan(1)
    with pytest.raises(wire.WireError, match="report: expected"):
        sense.take_sources([source])
    with pytest.raises(wire.WireError, match="report: expected"):
        Sense(_REQUEST, today=_TODAY).require_report(replace(_REPORT, sources=(source,)))


_SEAL = CheckedSeal("h", "key", None, 1, 1, None, is_sound=True)
_TRANSCRIPT = CheckedTranscript("a", "claude", (), 1, 1, 1)


@pytest.mark.attack
@pytest.mark.parametrize(
    "changed",
    [
        {"started_at": ""},
        {"finished_at": "soon"},
        {"tenant": "another"},
        {"is_sandboxed": True},
        {"weakened_by_environment": ("CTXAUDIT_EXIT_ZERO",)},
        {"not_checked": -1},
        {"not_checked": 2},
        {"uncited": -1},
        {"finding_counts": {"noise": -1}},
        {"finding_counts": {}},
        {"finding_counts": {"noise": 2, "other": 1}, "waived_counts": {"noise": 1, "other": 1}},
        {"waived_counts": {}},
        {"waived_counts": {"noise": 3}},
        {"reference_counts": {"missing": -1}},
        {"waivers": ()},
        {"waivers": (_OF_SOURCE, _OF_FINDING, replace(_OVER, expires=_TODAY))},
        {"waiver_states": ()},
        {"waiver_states": (WaiverState.USED,) * 3},
        {"waiver_states": (WaiverState.EXPIRED,) * 3},
        {"findings": (Finding("noise", Severity.ERROR, "b.json", waiver=_OF_FINDING),)},
        {"findings": (Finding("noise", Severity.ERROR, "a.json", waiver=_OF_SOURCE),)},
        {"findings": (Finding("noise", Severity.ERROR, "a.json", Location(line=-1)),)},
        {"seals": (_SEAL,)},
        {"transcripts": (replace(_TRANSCRIPT, calls=-1),)},
        {"transcripts": (replace(_TRANSCRIPT, sha256="x"),)},
        {"transcripts": (replace(_TRANSCRIPT, findings={"x": -1}),)},
    ],
)
def test_a_report_that_cannot_be_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(wire.WireError, match="report: expected"):
        _hear(replace(_REPORT, **changed))


@pytest.mark.attack
def test_the_report_holds_what_was_told_and_what_was_announced() -> None:
    sense = Sense(_REQUEST, today=_TODAY)
    with pytest.raises(wire.WireError):
        sense.take_sources(_SOURCES)  # before the plan
    sense.take_plan(3)
    with pytest.raises(wire.WireError):
        sense.take_plan(3)
    sense.take_sources(_SOURCES[:1])
    for sources in (_SOURCES, (), _SOURCES[1:]):
        with pytest.raises(wire.WireError, match="told before"):
            sense.require_report(replace(_REPORT, sources=sources))
    with pytest.raises(wire.WireError, match="announced"):
        _hear(_REPORT, total=2)


@pytest.mark.attack
@pytest.mark.parametrize("name", [field.name for field in fields(AuditReport)])
def test_a_report_without_one_of_its_fields_is_refused(name: str) -> None:
    whole = msgspec.to_builtins(AuditReport())
    assert wire.rest_of_report(msgspec.json.encode(whole)) == AuditReport()
    del whole[name]
    with pytest.raises(wire.WireError):
        wire.rest_of_report(msgspec.json.encode(whole))
    with pytest.raises(wire.WireError):
        wire.rest_of_report(msgspec.json.encode(msgspec.to_builtins(AuditReport()) | {"new": 1}))
