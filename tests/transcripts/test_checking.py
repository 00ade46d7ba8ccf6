"""Checking a whole transcript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Quiescence, Reason
from provenance.transcripts import SessionIdError, TranscriptCheck, check_transcript
from tests.transcripts.lines import SESSION, compact, record
from tests.trees import sha256_of


def _check(
    folder: Path, data: bytes | None = None, limits: Limits = DEFAULT_LIMITS
) -> TranscriptCheck:
    if data is not None:
        (folder / f"{SESSION}.jsonl").write_bytes(data)
    with TrustedRoot(folder) as root:
        return check_transcript(root, SESSION, limits=limits)


def _typed(number: int, kind: object) -> bytes:
    made = record(number)
    made["type"] = kind
    made["recorded_at"] = f"2026-03-02T09:01:{number:02d}Z"
    return json.dumps(made).encode() + b"\n"


def test_a_sound_transcript(tmp_path: Path) -> None:
    kinds = ["message", "function_call", "function_call_result", "function_call", "reasoning"]
    data = b"".join(_typed(n, kind) for n, kind in enumerate(kinds, 1))
    assert _check(tmp_path, data) == TranscriptCheck(
        SESSION,
        records=5,
        first_bad=None,
        last_sequence=5,
        calls=2,
        call_results=1,
        unknown_types={},
        first_time="2026-03-02T09:01:01Z",
        last_time="2026-03-02T09:01:05Z",
        sha256=sha256_of(data),
        quiescence=Quiescence.STAT,
    )


def test_an_empty_transcript(tmp_path: Path) -> None:
    check = _check(tmp_path, b"")
    assert (check.records, check.first_bad, check.first_time) == (0, None, None)
    assert check.sha256 == sha256_of(b"")


@pytest.mark.parametrize("end", [b"", b"\n", b"\n" + b"y" * 200_000])
def test_damage_is_named_and_the_rest_is_in_the_digest(tmp_path: Path, end: bytes) -> None:
    data = _typed(1, "message") + b"{}{}" + end
    check = _check(tmp_path, data)
    assert (check.records, check.last_sequence) == (1, 1)
    assert check.first_bad == (2, Reason.TRANSCRIPT_INVALID_JSON)
    assert check.sha256 == sha256_of(data)


def test_a_line_over_the_limit(tmp_path: Path) -> None:
    data = _typed(1, "message") + b"x" * 500 + b"\n" + _typed(3, "message")
    check = _check(tmp_path, data, Limits(max_record_bytes=400))
    assert check.first_bad == (2, Reason.TRANSCRIPT_RECORD_TOO_LARGE)
    assert check.sha256 == sha256_of(data)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert _check(tmp_path) == TranscriptCheck(SESSION, first_bad=(None, Reason.TRANSCRIPT_MISSING))


def test_types_that_nobody_knows_are_counted_within_bounds(tmp_path: Path) -> None:
    kinds: list[object] = ["weather", "weather", None, 3, {"a": 1}, "x" * 500, "\ud83d", ""]
    data = b"".join(_typed(n, kind) for n, kind in enumerate(kinds, 1))
    made = record(9)
    del made["type"]
    check = _check(tmp_path, data + compact(made) + b"\n")
    assert check.records == 9
    assert check.unknown_types == {
        "weather": 2,
        "(none)": 4,
        "x" * 64: 1,
        "\ufffd": 1,
        "": 1,
    }


def test_a_file_that_invents_types_fills_no_report(tmp_path: Path) -> None:
    data = b"".join(_typed(n, f"type {n}") for n in range(1, 1_001))
    found = _check(tmp_path, data).unknown_types
    assert len(found) < 120
    assert sum(found.values()) == 1_000
    assert found["(further types)"] > 800


def test_times_that_are_none_do_not_count(tmp_path: Path) -> None:
    lines = [record(n) | {"recorded_at": value} for n, value in enumerate(["x", 1, None], 1)]
    lines.insert(1, record(2) | {"recorded_at": "2026-03-02T09:01Z"})
    lines = [
        line | {"sequence": n, "event_id": f"transcript:s1:{n}"} for n, line in enumerate(lines, 1)
    ]
    check = _check(tmp_path, b"".join(compact(line) + b"\n" for line in lines))
    assert check.records == 4
    assert check.first_time == check.last_time == "2026-03-02T09:01Z"
    assert check.finding_counts == {"recorded_at_invalid": 3}
    assert len(check.findings) == 3


def test_a_session_id_outside_the_grammar_is_the_callers_fault(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root, pytest.raises(SessionIdError):
        check_transcript(root, "../x", limits=DEFAULT_LIMITS)
