"""The digest beside a transcript: what is one, what is not, and marks of redaction."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.transcripts.content_hash import (
    CONTENT_HASH_FILE,
    _count_marks,
    compare_content_hash,
    parse_content_hash,
    read_content_hash,
)
from provenance.transcripts.records import Fault
from tests.transcripts.breaking import audit, open_source

DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "data",
    [
        f"sha256:{DIGEST}", DIGEST, f"sha256:{DIGEST}\n", f" \tsha256:{DIGEST}\r\n\n",
        f"sha256:{DIGEST.upper()}",
    ],
)  # fmt: skip
def test_what_is_a_digest(data: str) -> None:
    assert parse_content_hash(data.encode()) == DIGEST


@pytest.mark.parametrize(
    "data",
    [
        "", "sha256:", DIGEST[1:], DIGEST + "0", f"sha256:{DIGEST[1:]}", f"sha1:{DIGEST}",
        f"sha256: {DIGEST}", f"SHA256:{DIGEST}", f"{DIGEST} full.jsonl", f"{DIGEST}\0",
        f"\ufeff{DIGEST}", f"{DIGEST}\n{DIGEST}", "g" + DIGEST[1:], "٣" * 64,
    ],
)  # fmt: skip
def test_what_is_none(data: str) -> None:
    assert parse_content_hash(data.encode()) is None


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    found = parse_content_hash(data)
    assert found is None or len(found) == 64


def _read(folder: Path) -> str | Fault:
    with open_source(folder, "full.jsonl") as (source, _):
        return read_content_hash(source)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "full.jsonl").write_bytes(b"{}\n")
    return tmp_path


def test_the_file_is_read_beside_the_transcript(folder: Path) -> None:
    (folder / CONTENT_HASH_FILE).write_text(f"sha256:{DIGEST}")
    assert _read(folder) == DIGEST


def test_each_way_in_which_there_is_no_digest(folder: Path) -> None:
    file = folder / CONTENT_HASH_FILE

    def said() -> tuple[str, str]:
        found = _read(folder)
        assert isinstance(found, Fault)
        assert str(folder) not in found.message
        assert "\n" not in found.message
        return found.code, str(found.severity)

    assert said() == ("content_hash_invalid", "warning")
    file.write_bytes(b"x" * 4_097)
    assert said() == ("content_hash_invalid", "warning")
    file.write_bytes(DIGEST.encode() + b" " * (4_096 - 64))
    assert _read(folder) == DIGEST
    file.unlink()
    os.mkfifo(file)
    assert said()[1] == "error"
    file.unlink()
    (folder / "real").write_text(DIGEST)
    file.symlink_to("real")
    assert said() == ("ownership_boundary", "error")
    file.unlink()
    file.mkdir()
    assert said()[1] == "error"


def _compare(folder: Path, data: bytes, expected: str) -> Fault | None:
    (folder / "full.jsonl").write_bytes(data)
    with open_source(folder, "full.jsonl") as (source, _):
        return compare_content_hash(source, hashlib.sha256(data).hexdigest(), expected)


def test_a_mismatch_says_whether_something_was_blacked_out(folder: Path) -> None:
    data = b'{"a":"x"}\n{"b":"REDACTED and REDACTED"}\n'
    assert _compare(folder, data, hashlib.sha256(data).hexdigest()) is None
    redacted = _compare(folder, data, DIGEST)
    assert redacted is not None
    assert (redacted.code, redacted.severity, redacted.line) == (
        "content_hash_mismatch_redacted", Severity.WARNING, 2,
    )  # fmt: skip
    assert "2 marks" in redacted.message
    for other in (b"{}\n", b"", b'{"a":"redacted"}', b"REDACTE\nD"):
        plain = _compare(folder, other, DIGEST)
        assert plain is not None
        assert (plain.code, plain.severity) == ("content_hash_mismatch", Severity.ERROR)


@given(
    st.lists(st.sampled_from([b"REDACTED", b"RED", b"ACTED", b"\n", b"x", b"D"]), max_size=12),
    st.lists(st.integers(0, 100), max_size=5),
)
def test_marks_are_counted_wherever_the_pieces_are_cut(
    parts: list[bytes], places: list[int]
) -> None:
    data = b"".join(parts)
    marks = sorted(place % (len(data) + 1) for place in places)
    chunks = [data[a:b] for a, b in zip([0, *marks], [*marks, len(data)], strict=True)]
    first = data.find(b"REDACTED")
    line = data.count(b"\n", 0, first) + 1 if first >= 0 else 0
    assert _count_marks(chunks) == (data.count(b"REDACTED"), line)
    assert _count_marks([data[n : n + 1] for n in range(len(data))]) == (
        data.count(b"REDACTED"), line,
    )  # fmt: skip


# --- which transcript a digest speaks of --------------------------------------------------------

_RECORD = b'{"type":"user","uuid":"u","sessionId":"s","message":{}}\n'


def _mismatches(folder: Path) -> list[str]:
    findings = audit(folder).findings
    return sorted(one.target for one in findings if one.code == "content_hash_mismatch")


def test_a_digest_speaks_of_the_only_transcript_or_of_the_full_one(tmp_path: Path) -> None:
    (tmp_path / CONTENT_HASH_FILE).write_text(DIGEST)
    (tmp_path / "other.jsonl").write_bytes(_RECORD)
    assert _mismatches(tmp_path) == ["other.jsonl"]
    (tmp_path / "full.jsonl").write_bytes(_RECORD.replace(b'"s"', b'"t"'))
    assert _mismatches(tmp_path) == ["full.jsonl"]
    (tmp_path / "full.jsonl").rename(tmp_path / "more.jsonl")
    assert _mismatches(tmp_path) == []
    (tmp_path / "below").mkdir()
    (tmp_path / "below/full.jsonl").write_bytes(_RECORD)
    assert _mismatches(tmp_path) == []


def test_a_digest_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    (tmp_path / CONTENT_HASH_FILE).write_text(DIGEST)
    file = tmp_path / "full.jsonl"
    file.write_bytes(_RECORD)
    right = hashlib.sha256(_RECORD).hexdigest()
    assert "content_hash_mismatch" in audit(file).finding_counts
    assert "content_hash_mismatch" not in audit(file, expected_hash=right).finding_counts
    (tmp_path / CONTENT_HASH_FILE).write_text(right)
    assert "content_hash_mismatch" in audit(file, expected_hash=DIGEST).finding_counts
