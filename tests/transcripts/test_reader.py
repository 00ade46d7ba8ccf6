"""Verifying events: every state of the file, in one pass, the same alone and in company."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.evidence import EvidenceUnavailable
from provenance.findings import Severity
from provenance.fs import BackendName, OpenFile, ReadFailed, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Quiescence, Reason
from provenance.transcripts import (
    EventOutcome,
    SequenceError,
    SessionIdError,
    TranscriptVerdict,
    read_event_bytes,
    verify_events,
)
from provenance.transcripts.blocks import BLOCK_BYTES
from provenance.transcripts.noting import MAX_LISTED
from tests.transcripts.lines import SESSION, blocks, compact, record, spaced
from tests.transcripts.model import lines_of, outcomes, sha256_of_line

_VERIFIED = Reason.VERIFIED_TRANSCRIPT_EVENT
_MISSING = Reason.TRANSCRIPT_EVENT_MISSING


def _verify(
    folder: Path, *sequences: int, limits: Limits = DEFAULT_LIMITS, chars: int = 0
) -> TranscriptVerdict:
    with TrustedRoot(folder) as root:
        return verify_events(root, SESSION, sequences, limits=limits, excerpt_chars=chars)


def _reasons(folder: Path, *sequences: int, limits: Limits = DEFAULT_LIMITS) -> list[Reason]:
    verdict = _verify(folder, *sequences, limits=limits)
    return [verdict.outcomes[number].reason for number in sequences]


def _write(folder: Path, data: bytes) -> Path:
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(data)
    return path


def _sound(count: int) -> bytes:
    return b"".join(compact(record(n, content=f"event {n}")) + b"\n" for n in range(1, count + 1))


def test_an_available_event(tmp_path: Path) -> None:
    data = _sound(3)
    _write(tmp_path, data)
    verdict = _verify(tmp_path, 2, chars=7)
    assert verdict.outcomes == {
        2: EventOutcome(
            _VERIFIED,
            sha256_of_line(data, 2),
            "event 2",
            Quiescence.STAT,
            size=len(data.split(b"\n")[1]),
        )
    }
    assert verdict.findings == ()
    assert verdict.finding_counts == {}


def test_no_excerpt_where_none_is_wanted(tmp_path: Path) -> None:
    _write(tmp_path, _sound(1))
    assert _verify(tmp_path, 1).outcomes[1].excerpt is None


def test_past_the_end_is_missing_and_holds_nothing(tmp_path: Path) -> None:
    _write(tmp_path, _sound(3))
    verdict = _verify(tmp_path, 4, 10**18 - 1, 3, chars=9)
    assert verdict.outcomes[4] == verdict.outcomes[10**18 - 1] == EventOutcome(_MISSING)
    assert verdict.outcomes[3].reason is _VERIFIED


def test_nothing_asked_nothing_opened(tmp_path: Path) -> None:
    assert _verify(tmp_path / "nowhere").outcomes == {}


@given(data=st.data())
def test_every_file_and_every_question(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the slow and obvious way says, for all events at once and for each alone."""
    folder = tmp_path_factory.getbasetemp()
    written = data.draw(blocks())
    _write(folder, written)
    numbers = range(1, len(lines_of(written)) + 3)
    expected = outcomes(written, numbers)
    together = _verify(folder, *numbers, chars=20).outcomes
    assert {number: said.reason for number, said in together.items()} == expected
    alone = data.draw(st.sampled_from(numbers))
    assert _verify(folder, alone, chars=20).outcomes[alone] == together[alone]
    for number, said in together.items():
        is_verified = said.reason is _VERIFIED
        assert (said.sha256 is not None) == is_verified
        assert (said.excerpt is not None) == is_verified
        assert (said.quiescence is not None) == is_verified
        if is_verified:
            assert said.sha256 == sha256_of_line(written, number)


@pytest.mark.parametrize("count", [1, 199, 200, 201, 1_000])
@pytest.mark.parametrize("style", [compact, spaced])
def test_transcripts_of_several_blocks(tmp_path: Path, count: int, style: Any) -> None:
    data = b"".join(style(record(n, content="é" * 150)) + b"\n" for n in range(1, count + 1))
    _write(tmp_path, data)
    assert count < 1_000 or len(data) > 3 * BLOCK_BYTES
    asked = {1, count // 2 + 1, count, count + 1}
    verdict = _verify(tmp_path, *asked, chars=3)
    for number in asked - {count + 1}:
        assert verdict.outcomes[number].sha256 == sha256_of_line(data, number)
        assert verdict.outcomes[number].excerpt == "ééé"
    assert verdict.outcomes[count + 1].reason is _MISSING


@pytest.mark.parametrize("bad", [1, 2, 300, 650])
def test_damage_decides_from_its_line_on(tmp_path: Path, bad: int) -> None:
    lines = [compact(record(n, content="x" * 250)) for n in range(1, 701)]
    lines[bad - 1] = b'{"a":1,"a":2}'
    _write(tmp_path, b"\n".join(lines) + b"\n")
    asked = [n for n in (1, bad - 1, bad, bad + 1, 700, 701) if n]
    assert _reasons(tmp_path, *asked) == [
        _VERIFIED if n < bad else Reason.TRANSCRIPT_INVALID_JSON for n in asked
    ]
    # The same alone: what is said of an event does not depend on which others are asked for.
    for number in asked:
        assert _reasons(tmp_path, number) == [
            _VERIFIED if number < bad else Reason.TRANSCRIPT_INVALID_JSON
        ]


def test_nothing_after_the_last_one_asked_for_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, _sound(2) + b"\xff\x00 not a line at all\n" + b"x" * (4 * BLOCK_BYTES))
    read = OpenFile.read_at
    reached = []

    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        reached.append(offset + size)
        return read(self, offset, size)

    monkeypatch.setattr(OpenFile, "read_at", read_at)
    assert _reasons(tmp_path, 2, 1) == [_VERIFIED, _VERIFIED]
    assert max(reached) <= BLOCK_BYTES


def test_many_pointers_cost_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _sound(2_000)
    _write(tmp_path, data)
    read = OpenFile.read_at
    got = []

    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        piece = read(self, offset, size)
        got.append(len(piece))
        return piece

    monkeypatch.setattr(OpenFile, "read_at", read_at)
    assert set(_reasons(tmp_path, *range(1, 2_001))) == {_VERIFIED}
    assert sum(got) == len(data)


@pytest.mark.parametrize("over", [0, 1, 2, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_record_limit(tmp_path: Path, over: int, end: bytes) -> None:
    limit = DEFAULT_LIMITS.max_record_bytes
    empty = len(compact(record(2, content="")))
    long = compact(record(2, content="x" * (limit - empty + over)))
    assert len(long) == limit + over
    _write(tmp_path, _sound(1) + long + end)
    assert _reasons(tmp_path, 1, 2, 3) == (
        [_VERIFIED, _VERIFIED, _MISSING]
        if over == 0
        else [_VERIFIED] + [Reason.TRANSCRIPT_RECORD_TOO_LARGE] * 2
    )


def test_limits_are_the_callers(tmp_path: Path) -> None:
    _write(tmp_path, _sound(1) + compact(record(2, content=[[[1]]])) + b"\n")
    size = len(_sound(1)) - 1
    assert _reasons(tmp_path, 1, limits=Limits(max_record_bytes=size)) == [_VERIFIED]
    assert _reasons(tmp_path, 1, limits=Limits(max_record_bytes=size - 1)) == [
        Reason.TRANSCRIPT_RECORD_TOO_LARGE
    ]
    assert _reasons(tmp_path, 2, limits=Limits(max_nesting=4)) == [_VERIFIED]
    assert _reasons(tmp_path, 2, limits=Limits(max_nesting=3)) == [Reason.TRANSCRIPT_INVALID_JSON]


def test_an_excerpt_prints_numbers_as_they_stand(tmp_path: Path) -> None:
    digits = "9" * 5_000
    before = sys.get_int_max_str_digits()
    content = f'{{"z":1e999,"a":{digits[:700]},"b":1.50,"c":-0}}'
    _write(tmp_path, f'{{"content":{content},"sequence":1,"huge":{digits}}}\n'.encode())
    try:
        sys.set_int_max_str_digits(640)
        excerpt = _verify(tmp_path, 1, chars=2_000).outcomes[1].excerpt
    finally:
        sys.set_int_max_str_digits(before)
    assert excerpt == f'{{"a":{digits[:700]},"b":1.5,"c":0,"z":1e999}}'


def test_findings_up_to_the_last_one_asked_for(tmp_path: Path) -> None:
    lines = [
        compact(record(1)),
        b'{"recorded_at":"2026-03-02T09:01:00Z","schema_version":1,"sequence":2}',
        compact(record(3) | {"schema_version": 2, "recorded_at": "yesterday"}),
        b"{}",
    ]
    _write(tmp_path, b"\n".join(lines) + b"\n")
    verdict = _verify(tmp_path, 3, 1)
    assert [(found.code, found.location.line) for found in verdict.findings] == [
        ("envelope_field_absent", 2),
        ("schema_version_unknown", 3),
        ("recorded_at_invalid", 3),
    ]
    assert verdict.finding_counts == {
        "envelope_field_absent": 1,
        "schema_version_unknown": 1,
        "recorded_at_invalid": 1,
    }
    for found in verdict.findings:
        assert found.target == "s1.jsonl"
        assert found.severity is Severity.WARNING
        assert found.location.ordinal == found.location.line
    assert verdict.findings[0].message.startswith("session_id, event_id: expected")
    assert _verify(tmp_path, 1).findings == ()


def test_the_list_of_findings_is_bounded_and_the_count_exact(tmp_path: Path) -> None:
    count = MAX_LISTED + 500
    _write(tmp_path, b'{"content":"x"}\n' * count)
    verdict = _verify(tmp_path, count)
    assert verdict.outcomes[count].reason is _VERIFIED
    assert len(verdict.findings) == 3 * MAX_LISTED
    assert set(verdict.finding_counts.values()) == {count}


@pytest.mark.parametrize("sequence", [0, -1, True, 1.0, "1", None])
def test_a_sequence_that_no_pointer_holds_is_the_callers_fault(
    tmp_path: Path, sequence: Any
) -> None:
    with pytest.raises(SequenceError, match="sequence: expected"):
        _verify(tmp_path, sequence)


@pytest.mark.parametrize("session", ["", "..", "a/b", ".hidden", "é", "a" * 201, "s1\n"])
def test_a_session_id_outside_the_grammar_is_the_callers_fault(
    tmp_path: Path, session: str
) -> None:
    with TrustedRoot(tmp_path) as root:
        for sequences in ([1], []):
            with pytest.raises(SessionIdError, match="session_id: expected"):
                verify_events(root, session, sequences, limits=DEFAULT_LIMITS, excerpt_chars=0)


def _root(folder: Path, backend: BackendName) -> TrustedRoot:
    return TrustedRoot(folder, backend=backend)


def _reason_at(folder: Path, backend: BackendName) -> Reason:
    with _root(folder, backend) as root:
        verdict = verify_events(root, SESSION, [1, 2], limits=DEFAULT_LIMITS, excerpt_chars=9)
        with pytest.raises(EvidenceUnavailable) as caught:
            read_event_bytes(root, SESSION, 1, limits=DEFAULT_LIMITS)
    assert verdict.outcomes[1] == verdict.outcomes[2] == EventOutcome(verdict.outcomes[1].reason)
    assert caught.value.reason is verdict.outcomes[1].reason
    assert str(folder) not in str(caught.value)
    return caught.value.reason


def test_nothing_there(tmp_path: Path, backend: BackendName) -> None:
    assert _reason_at(tmp_path, backend) is Reason.TRANSCRIPT_MISSING
    assert _reason_at(tmp_path / "nowhere", backend) is Reason.TRANSCRIPT_MISSING
    (tmp_path / "file").write_bytes(b"")
    assert _reason_at(tmp_path / "file", backend) is Reason.TRANSCRIPT_MISSING


@pytest.mark.parametrize("target", ["real.jsonl", "nowhere", "s1.jsonl", "/etc/hostname"])
def test_a_link_in_its_place(tmp_path: Path, backend: BackendName, target: str) -> None:
    (tmp_path / "real.jsonl").write_bytes(_sound(2))
    (tmp_path / "s1.jsonl").symlink_to(target)
    assert _reason_at(tmp_path, backend) is Reason.OWNERSHIP_BOUNDARY


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket"])
def test_no_file_in_its_place(tmp_path: Path, backend: BackendName, kind: str) -> None:
    path = tmp_path / "s1.jsonl"
    if kind == "directory":
        path.mkdir()
        assert _reason_at(tmp_path, backend) is Reason.TRANSCRIPT_NOT_A_FILE
    elif kind == "fifo":
        os.mkfifo(path)
        assert _reason_at(tmp_path, backend) is Reason.TRANSCRIPT_NOT_A_FILE
    else:
        with socket.socket(socket.AF_UNIX) as unix:
            here = os.open(tmp_path, os.O_RDONLY)
            try:
                unix.bind(f"/proc/self/fd/{here}/s1.jsonl")
            finally:
                os.close(here)
            assert _reason_at(tmp_path, backend) is Reason.TRANSCRIPT_NOT_A_FILE


def test_a_failing_disk_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, _sound(2))

    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        raise ReadFailed("source: expected to read, got EIO", 5)

    monkeypatch.setattr(OpenFile, "read_at", read_at)
    assert _reasons(tmp_path, 1, 3) == [Reason.SOURCE_READ_FAILED] * 2


def test_the_bytes_of_an_event(tmp_path: Path) -> None:
    lines = [spaced(record(n, content="é")) for n in (1, 2)]
    _write(tmp_path, lines[0] + b"\r\n" + lines[1] + b"\n{torn")
    with TrustedRoot(tmp_path) as root:
        for number, line in enumerate(lines, 1):
            assert read_event_bytes(root, SESSION, number, limits=DEFAULT_LIMITS) == line
        with pytest.raises(EvidenceUnavailable) as caught:
            read_event_bytes(root, SESSION, 3, limits=DEFAULT_LIMITS)
        assert caught.value.reason is Reason.TRANSCRIPT_INVALID_JSON
        with pytest.raises(SequenceError):
            read_event_bytes(root, SESSION, 0, limits=DEFAULT_LIMITS)
