"""What a confined process may say: every value of a report, and nothing else."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit import sandbox_wire as wire
from provenance.audit.listener import Listener
from provenance.audit.sandbox_child import Said
from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    CheckedReference,
    CheckedTranscript,
    Citation,
)
from provenance.findings import Finding, Location, Severity
from provenance.resolution import Reason, SourceResolutionStatus, resolution_for
from provenance.waivers import Waiver

_TEXT = st.text(st.characters() | st.just("\udc80"), max_size=20)
_REASONS = [reason for reason in Reason if not reason.startswith("verified")]
_COUNTS = st.dictionaries(_TEXT, st.integers(0, 1 << 50), max_size=3)
_WAIVERS = st.none() | st.builds(
    Waiver, reason=_TEXT, owner=_TEXT, expires=st.dates(min_value=date(1, 1, 1))
)
_LOCATIONS = st.builds(
    Location, ordinal=st.none() | st.integers(1, 99), native_id=st.none() | _TEXT
)
_REPORTS = st.builds(
    AuditReport,
    targets=st.lists(_TEXT, max_size=2).map(tuple),
    sources=st.lists(
        st.builds(
            AuditedSource,
            st.builds(resolution_for, _TEXT, st.sampled_from(_REASONS)),
            st.lists(st.builds(Citation, _TEXT, _TEXT, st.none(), _TEXT), max_size=2).map(tuple),
            _WAIVERS,
        ),
        max_size=3,
    ).map(tuple),
    findings=st.lists(
        st.builds(Finding, _TEXT, st.sampled_from(Severity), _TEXT, _LOCATIONS, waiver=_WAIVERS),
        max_size=3,
    ).map(tuple),
    finding_counts=_COUNTS,
    transcripts=st.lists(
        st.builds(
            CheckedTranscript,
            _TEXT,
            _TEXT,
            st.lists(_TEXT, max_size=2).map(tuple),
            *[st.integers(0, 9)] * 3,
            unknown_types=_COUNTS,
        ),
        max_size=2,
    ).map(tuple),
    references=st.lists(
        st.builds(
            CheckedReference,
            *(_TEXT, _LOCATIONS, _TEXT),
            st.sampled_from(SourceResolutionStatus),
            st.booleans(),
            _TEXT,
        ),
        max_size=2,
    ).map(tuple),
    not_checked=st.integers(0, 9),
    is_interrupted=st.booleans(),
)


@given(_REPORTS)
def test_every_report_arrives_as_it_was(report: AuditReport) -> None:
    buffer = bytearray(b"".join(wire.frames_of_report(report)))
    parts: dict[str, list[object]] = {}
    while True:
        found = wire.take_frame(buffer)
        assert found is not None
        kind, payload = found
        if kind == wire.REPORT:
            break
        name, values = wire.part_of_report(payload)
        parts.setdefault(name, []).extend(values)
    assert not buffer
    rest = wire.decode(payload, AuditReport)
    for field in fields(AuditReport):
        got = getattr(rest, field.name)
        if field.name in parts:
            got = tuple(parts[field.name])
        assert got == getattr(report, field.name), field.name


@given(st.binary(max_size=300))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    for kind in (int, str, AuditReport, wire.Sources):
        try:
            wire.decode(data, kind)  # type: ignore[type-var]
        except wire.WireError:
            continue
    try:
        wire.take_frame(bytearray(data))
        wire.part_of_report(data)
    except wire.WireError:
        pass


@pytest.mark.parametrize(
    "payload",
    [
        b'{"targets":[1]}',
        b'{"findings":[{"code":"x","severity":"fatal","target":""}]}',
        b'{"not_checked":"3"}',
        b'{"not_checked":3.5}',
        b'{"is_interrupted":1}',
        b"[]",
        b"null",
        b"[" * 100_000,
        b"1" * 5_000,
        b'"\\ud800',
    ],
)
def test_what_is_no_report_is_refused(payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(payload, AuditReport)


@pytest.mark.parametrize(
    "payload", [b'["started_at",["x"]]', b'["__class__",[]]', b'["sources",[1]]', b'[["sources"]]']
)
def test_a_piece_belongs_to_a_long_field(payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.part_of_report(payload)


def test_a_frame_is_bounded() -> None:
    too_large = (wire.LARGEST_FRAME + 1).to_bytes(4, "big")
    with pytest.raises(wire.WireError):
        wire.take_frame(bytearray(b"R" + too_large))
    assert wire.take_frame(bytearray(b"R" + wire.LARGEST_FRAME.to_bytes(4, "big"))) is None


def test_all_that_a_listener_hears_is_passed_on() -> None:
    def heard(kind: Any) -> set[str]:
        return {name for name in vars(kind) if name.startswith("on_")}

    assert heard(Said) == heard(Listener)
