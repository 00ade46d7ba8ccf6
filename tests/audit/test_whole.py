"""Checking transcripts from their first record to their last."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit.whole import check_whole
from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.policy import parse_policy

_ASKED = WholeTranscript("s1", "transcripts/s1.jsonl")


def _line(number: int, **more: object) -> bytes:
    event = {
        "schema_version": 1,
        "sequence": number,
        "recorded_at": f"2026-01-01T00:00:0{number}Z",
        "session_id": "s1",
        "event_id": f"transcript:s1:{number}",
        "type": "message",
    }
    return json.dumps(event | more).encode() + b"\n"


def test_a_sound_transcript(tmp_path: Path) -> None:
    data = b"".join(
        [
            _line(1),
            _line(2, type="function_call", name="ls", call_id="c1"),
            _line(3, type="function_call_result", call_id="c1"),
            _line(4, type="new-thing"),
        ]
    )
    (tmp_path / "s1.jsonl").write_bytes(data)
    whole = check_whole(AuditPart(transcripts=TrustedRoot(tmp_path)), _ASKED)
    checked, findings = whole.checked, whole.findings
    assert checked is not None
    assert [finding.code for finding in findings] == ["unknown_record_type"]
    assert checked.to_dict() == {
        "target": "transcripts/s1.jsonl",
        "format": "native",
        "sessions": ["s1"],
        "records": 4,
        "calls": 1,
        "call_results": 1,
        "unknown_types": {"new-thing": 1},
        "first_time": "2026-01-01T00:00:01Z",
        "last_time": "2026-01-01T00:00:04Z",
        "sha256": hashlib.sha256(data).hexdigest(),
        "findings": {"unknown_record_type": 1},
        "references": {},
    }


@pytest.mark.parametrize(
    ("data", "reason", "line", "codes"),
    [
        (_line(1) + b'{"torn', "transcript_invalid_json", 2, ["torn_line"]),
        (_line(1) + b"torn", "transcript_invalid_json", 2, ["invalid_line"]),
        (_line(1) + _line(3), "transcript_sequence_mismatch", 2, []),
        (_line(1) + b"[]\n", "transcript_record_not_object", 2, ["invalid_line"]),
        (_line(1) + b"\xff\n", "source_not_utf8", 2, ["invalid_line"]),
        (b"\n", "transcript_invalid_json", 1, ["invalid_line"]),
    ],
)
def test_the_first_fault_is_an_error_with_its_place(
    tmp_path: Path, data: bytes, reason: str, line: int, codes: list[str]
) -> None:
    (tmp_path / "s1.jsonl").write_bytes(data)
    whole = check_whole(AuditPart(transcripts=TrustedRoot(tmp_path)), _ASKED)
    checked, findings = whole.checked, whole.findings
    assert checked is not None
    *others, finding = findings
    assert [other.code for other in others] == codes
    assert (finding.code, finding.severity, finding.target, finding.location.line) == (
        reason,
        Severity.ERROR,
        "transcripts/s1.jsonl",
        line,
    )
    assert checked.findings == {reason: 1} | dict.fromkeys(codes, 1)
    assert checked.records == (line if not codes else line - 1)


def test_what_is_tolerated_is_told_under_the_name_of_the_target(tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_bytes(b'{"content":"x"}\n')
    whole = check_whole(AuditPart(transcripts=TrustedRoot(tmp_path)), _ASKED)
    checked, findings = whole.checked, whole.findings
    assert checked is not None
    assert {finding.target for finding in findings} == {"transcripts/s1.jsonl"}
    assert not any(finding.severity is Severity.ERROR for finding in findings)
    assert sum(checked.findings.values()) == len(findings) > 0


def test_a_policy_is_asked_before_the_file_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "provenance.fs.TrustedRoot.open_file", lambda *_: pytest.fail("a file was opened")
    )
    part = AuditPart(
        transcripts=TrustedRoot(tmp_path), policies=(parse_policy('default = "deny"'),)
    )
    whole = check_whole(part, _ASKED)
    checked, findings = whole.checked, whole.findings
    assert checked is not None
    assert [finding.code for finding in findings] == ["policy_denied"]
    assert checked.records == 0
