"""Checking transcripts from their first record to their last."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit.whole import check_whole
from provenance.audit.whole_words import STRICT_REASONS, BadLine, strict_fault
from provenance.findings import Location, Severity
from provenance.fs import TrustedRoot
from provenance.limits import Limits
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


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (_line(1) + b'{"torn', "record: expected a whole JSON object, got one that is cut short"),
        (_line(1) + b'{"a":1,"a":2}\n', "record: expected strict JSON of at most 9 levels, got an"),
        (_line(1) + b"[" * 10 + b"]" * 10 + b"\n", "record: expected strict JSON of at most 9 lev"),
        (_line(1) + b"\n", "record: expected strict JSON of at most 9 levels, got another text"),
        (_line(1) + b"[]\n", "record: expected a JSON object, got another JSON value"),
        (_line(1) + b"\xff\n", "record: expected UTF-8, got other bytes"),
        (_line(1) + _line(2, a="x" * 400), "record: expected at most 400 bytes, got more"),
        (_line(1) + _line(3), "sequence: expected the number of its line, 2, got 3"),
        (_line(1) + _line(2, sequence="3"), "sequence: expected the number of its line, 2, got an"),
        (_line(1) + _line(2, sequence=True), "sequence: expected the number of its line, 2, got a"),
        (_line(1) + _line(2, sequence=10**50), "line, 2, got another value"),
        (_line(1) + _line(2, session_id="EVIL"), "session_id: expected the session that the file"),
        (_line(1) + _line(2, event_id="EVIL"), "event_id: expected the pointer of this very line"),
    ],
)
def test_each_reason_says_what_was_expected_and_what_was_got(
    tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "s1.jsonl").write_bytes(data)
    limits = Limits(max_record_bytes=400, max_nesting=9)
    whole = check_whole(AuditPart(transcripts=TrustedRoot(tmp_path), limits=limits), _ASKED)
    finding = whole.findings[-1]
    assert said in finding.message
    assert "EVIL" not in finding.message
    assert (finding.location.ordinal, finding.location.line) == (2, 2)


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    def said() -> str:
        whole = check_whole(AuditPart(transcripts=TrustedRoot(tmp_path)), _ASKED)
        (finding,) = whole.findings
        assert finding.location == Location()
        return f"{finding.code}: {finding.message}"

    assert said() == "transcript_missing: file: expected a transcript, got nothing of that name"
    path = tmp_path / "s1.jsonl"
    path.symlink_to("elsewhere")
    assert said() == (
        "ownership_boundary: file: expected one that lies below the root, got a link, a mount or "
        "another spelling"
    )
    path.unlink()
    os.mkfifo(path)
    assert said() == "transcript_not_a_file: file: expected a regular file, got something else"


def test_every_reason_of_the_native_verifier_has_a_message_of_its_own(checkout: Path) -> None:
    # Whatever the modules that judge a native transcript can answer.
    named: set[str] = set()
    for name in ("scan", "envelope", "steady", "checking", "fast", "reader"):
        named |= _reasons(checkout / "provenance" / "transcripts" / f"{name}.py")
    named |= _reasons(checkout / "provenance" / "fs" / "reasons.py")
    named |= _reasons(checkout / "provenance" / "audit" / "whole.py")
    never = {"VERIFIED_TRANSCRIPT_EVENT", "TRANSCRIPT_EVENT_MISSING"}  # of a pointer alone
    never.add("ARTIFACT_NOT_A_FILE")  # in an example
    assert {reason.name for reason in STRICT_REASONS} >= named - never
    assert len(named) > 10
    messages = []
    for reason in STRICT_REASONS:
        fault = strict_fault(reason, BadLine(7, None, is_torn=False))
        assert re.fullmatch(r"[a-z_]+: expected .+, got .+", fault.message), fault
        assert (fault.code, fault.severity) == (str(reason), Severity.ERROR)
        messages.append(fault.message)
    assert len(set(messages)) == len(messages)


def _reasons(path: Path) -> set[str]:
    return set(re.findall(r"\bReason\.([A-Z0-9_]+)", path.read_text(encoding="utf-8")))


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
