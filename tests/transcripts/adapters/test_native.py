"""ctxaudit's own transcripts, read like anybody else's: every sample, and what its fields hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit_report import AuditReport
from provenance.transcripts.adapters.native import Native
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.records import Record, Speaker
from provenance.transcripts.sources import Head
from tests.transcripts.breaking import NATIVE, audit, check_bytes, open_source
from tests.transcripts.lines import json_values

# The samples of the strict rules; their table stands beside them.
SAMPLES = Path(__file__).parents[2] / "data" / "native"
FORMAT = Native()

# Line 3 is the result of the call on line 2: what makes no such record of it has left it out.
_OPEN = {"interrupted_call": 1}
# For each sample: its records, and what is said of it beside the outcome of the strict rules.
_JSON, _SEQUENCE = "transcript_invalid_json", "transcript_sequence_mismatch"
FACTS: dict[str, tuple[int, dict[str, int]]] = {
    "blank-line": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "bom": (4, {"invalid_line": 1, _JSON: 1}),
    "clean": (6, {}),
    "crlf": (5, {}),
    "deep-nesting": (5, {_JSON: 1, **_OPEN}),
    "duplicate-keys": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "duplicate-keys-nested": (4, {"invalid_line": 1, "orphan_result": 1, _JSON: 1}),
    "empty": (0, {}),
    "event-id-leading-zero": (5, {"transcript_event_id_mismatch": 1}),
    "infinity": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "lone-cr-between-members": (5, {}),
    "lone-cr-in-string": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "lone-surrogate": (5, {}),
    "long-integer": (5, {}),
    "long-integer-sequence": (5, {_SEQUENCE: 1}),
    "nan": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "no-final-newline": (5, {"no_final_newline": 1}),
    "not-an-object": (4, {"invalid_line": 1, "transcript_record_not_object": 1, **_OPEN}),
    "not-utf8": (4, {"invalid_line": 1, "source_not_utf8": 1, **_OPEN}),
    "nul-escape": (5, {}),
    "nul-run": (4, {"nul_line": 1, _JSON: 1, **_OPEN}),
    "open-call": (4, {"interrupted_call": 1}),
    "orphan-result": (4, {"orphan_result": 1}),
    "overlong-utf8": (4, {"invalid_line": 1, "source_not_utf8": 1, **_OPEN}),
    "sequence-exponent": (5, {_SEQUENCE: 1}),
    "sequence-float": (5, {_SEQUENCE: 1}),
    "sequence-from-zero": (5, {_SEQUENCE: 1}),
    "sequence-gap": (5, {_SEQUENCE: 1}),
    "sequence-null": (5, {_SEQUENCE: 1}),
    "sequence-repeat": (5, {_SEQUENCE: 1}),
    "sequence-string": (5, {_SEQUENCE: 1}),
    "sequence-true": (5, {_SEQUENCE: 1}),
    "spliced-line": (4, {"spliced_line": 1, _JSON: 1, **_OPEN}),
    "spliced-prefix": (4, {"spliced_line": 1, _JSON: 1, **_OPEN}),
    "torn-inside-character": (4, {"torn_line": 1, "source_not_utf8": 1}),
    "torn-tail": (4, {"torn_line": 1, _JSON: 1}),
    "unicode-separators": (5, {}),
    "unknown-type": (5, {"unknown_record_type": 1, **_OPEN}),
    "welded-line": (5, {"welded_records": 1, _JSON: 1}),
    "whitespace-line": (4, {"invalid_line": 1, _JSON: 1, **_OPEN}),
    "wrong-event-id": (5, {"transcript_event_id_mismatch": 1}),
    "wrong-session-id": (5, {"transcript_session_mismatch": 1}),
}
# What older writers left out has codes of its own, a finding a line.
LEGACY = {"legacy-no-envelope": 5, "legacy-one-line": 1}


def test_every_sample_has_its_facts() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == FACTS.keys() | LEGACY.keys()


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audit(SAMPLES)


@pytest.mark.parametrize("name", FACTS)
def test_what_an_audit_says_of_a_sample(name: str, report: AuditReport) -> None:
    records, codes = FACTS[name]
    (checked,) = (one for one in report.transcripts if one.target == f"{name}.jsonl")
    assert (checked.format, checked.sessions) == ("native", (name,))
    assert checked.records == records
    assert dict(checked.findings) == codes
    listed = [one for one in report.findings if one.target == f"{name}.jsonl"]
    assert Counter(one.code for one in listed) == codes


@pytest.mark.parametrize("name", LEGACY)
def test_what_older_writers_left_out_is_tolerated(name: str, report: AuditReport) -> None:
    (checked,) = (one for one in report.transcripts if one.target == f"{name}.jsonl")
    assert checked.records == 5
    assert set(checked.findings.values()) == {LEGACY[name]}
    listed = [one for one in report.findings if one.target == f"{name}.jsonl"]
    assert {str(one.severity) for one in listed} == {"warning"}


@pytest.mark.parametrize(
    ("name", "code", "ordinal", "line"),
    [
        ("blank-line", "invalid_line", None, 3),
        ("nul-run", "nul_line", None, 3),
        ("torn-tail", "torn_line", None, 5),
        ("torn-inside-character", "torn_line", None, 5),
        ("spliced-line", "spliced_line", None, 3),
        ("welded-line", "welded_records", 2, 2),
        ("open-call", "interrupted_call", 2, 2),
        ("orphan-result", "orphan_result", 2, 2),
        ("unknown-type", "unknown_record_type", 3, 3),
        ("no-final-newline", "no_final_newline", 5, 5),
    ],
)
def test_where_each_fault_stands(
    name: str, code: str, ordinal: int | None, line: int, report: AuditReport
) -> None:
    (found,) = (
        one for one in report.findings if one.target == f"{name}.jsonl" and one.code == code
    )
    assert (found.location.ordinal, found.location.line) == (ordinal, line)
    assert found.location.native_id is None


def _read(tmp_path: Path, *values: dict[str, Any]) -> list[Record]:
    data = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    (tmp_path / "s1.jsonl").write_bytes(data)
    with open_source(tmp_path, "s1.jsonl") as (source, _):
        assert list(FORMAT.sessions(source)) == ["s1"]
        return [one for one in FORMAT.records(source) if isinstance(one, Record)]


def test_who_says_what(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": [{"text": "ho"}]},
        {"type": "message", "role": "system", "content": "x"},
        {"type": "message", "role": ["user"]},
        {"type": "reasoning", "content": "hm"},
        {"type": "function_call", "callId": "c", "name": "n", "arguments": {"a": ["b"]}},
        {"type": "function_call_result", "call_id": "c", "output": "out"},
        {"type": "ai-title"},
        {},
    )
    assert [one.speaker for one in found] == [
        Speaker.USER, Speaker.ASSISTANT, None, None, Speaker.ASSISTANT, Speaker.ASSISTANT,
        Speaker.USER, None, None,
    ]  # fmt: skip
    assert [one.text for one in found] == ["hi", "ho", "x", "", "hm", "b", "out", "", ""]
    assert [len(one.calls) + len(one.results) for one in found] == [0, 0, 0, 0, 0, 1, 1, 0, 0]
    assert [one.kind for one in found][-2:] == ["ai-title", "(none)"]
    assert found[-1].is_known is False
    assert {one.session for one in found} == {"s1"}
    assert list(FORMAT.references(found[0])) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"sequence": 1, "event_id": "x"}, True),
        ({"sequence": None, "session_id": 3}, True),
        ({"event_id": "transcript:s:1"}, True),
        ({"type": "message", "role": "user", "content": ""}, True),
        ({"type": "function_call", "name": "n", "callId": "c"}, True),
        ({"type": "function_call_result", "call_id": "c"}, True),
        ({"sequence": 1}, False),
        ({"event_id": "other:s:1"}, False),
        ({"type": "message", "role": "user", "content": "", "uuid": "u"}, False),
        ({"type": "message", "role": "user"}, False),
        ({"type": "function_call", "name": "n"}, False),
        ({"type": "reasoning"}, False),
        ({}, False),
    ],
)
def test_it_knows_its_own(value: dict[str, Any], said: bool) -> None:
    assert isinstance(FORMAT, TranscriptFormat)
    assert FORMAT.identify(Head("s1.jsonl", json.dumps(value).encode() + b"\n")) is said


_KEYS = st.sampled_from(
    ["type", "role", "content", "callId", "call_id", "name", "arguments", "output", "recorded_at"]
)
_KINDS = st.sampled_from(["message", "function_call", "function_call_result", "reasoning"])


@given(
    st.lists(
        st.dictionaries(_KEYS, st.one_of(_KINDS, json_values(4)), max_size=5), min_size=1,
        max_size=4,
    )
)  # fmt: skip
def test_no_field_of_any_type_breaks_anything(values: list[dict[str, Any]]) -> None:
    data = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    assert check_bytes(NATIVE, data).records == len(values)


@pytest.mark.parametrize("opened", [b"[", b'{"a":'])
def test_nesting_of_200_000_levels_is_a_fault_and_no_crash(opened: bytes) -> None:
    closed = b"]" if opened == b"[" else b"}"
    deep = opened * 200_000 + b"1" + closed * 200_000
    good = (SAMPLES / "clean.jsonl").read_bytes()
    check = check_bytes(NATIVE, good + b'{"type":"message","content":' + deep + b"}\n" + good)
    assert check.fault_counts["record_over_limit"] == 1
    assert check.records == 12
