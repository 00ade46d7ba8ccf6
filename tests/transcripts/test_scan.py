"""One pass: what it judges, where it ends, and what its answer rests on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.fs import OpenFile
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Reason
from provenance.transcripts.blocks import BLOCK_BYTES
from provenance.transcripts.envelope import Note
from provenance.transcripts.fast import Record
from provenance.transcripts.scan import EVERY_LINE, Scan, hash_prefix, scan
from tests.transcripts.lines import SESSION, blocks, compact, record
from tests.transcripts.model import lines_of, outcomes

_VERIFIED = Reason.VERIFIED_TRANSCRIPT_EVENT


class _Heard:
    """Remembers what it hears, and checks that lines come in order, each once."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def take(
        self,
        first: int,
        lines: bytes,
        records: Sequence[Record],
        notes: Sequence[tuple[int, Note]],
    ) -> None:
        assert first == len(self.lines) + 1
        assert all(first <= number < first + len(records) for number, _ in notes)
        self.lines += lines_of(lines)[: len(records)]


def _scan(
    path: Path, *, last: int | None = None, hashed: bool = False, limits: Limits = DEFAULT_LIMITS
) -> tuple[Scan, _Heard]:
    heard = _Heard()
    with OpenFile(os.open(path, os.O_RDONLY)) as file:
        return scan(file, SESSION, heard, limits=limits, last=last, hashed=hashed), heard


def _lines(count: int) -> list[bytes]:
    return [compact(record(n, content="x" * 200)) for n in range(1, count + 1)]


@given(data=st.data())
def test_a_pass_says_what_the_rules_say(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "scan"
    written = data.draw(blocks())
    path.write_bytes(written)
    lines = lines_of(written)
    last = data.draw(st.one_of(st.none(), st.integers(1, len(lines) + 2)))
    found, heard = _scan(path, last=last, hashed=True)
    reasons = outcomes(written, range(1, len(lines) + 2))
    good = sum(reason is _VERIFIED for reason in reasons.values())
    assert found.good == min(good, last or good)
    assert heard.lines == lines[: found.good]
    is_short = last is not None and last <= good
    bad = reasons[good + 1]
    assert found.reason == (None if is_short or bad is Reason.TRANSCRIPT_EVENT_MISSING else bad)
    # What decided is a beginning of the file, and all of what was judged lies in it.
    assert found.prefix_sha256 == hashlib.sha256(written[: found.prefix_bytes]).digest()
    judged = b"\n".join(lines[: found.decided])
    assert found.prefix_bytes >= len(judged)
    # What is settled stays when bytes are appended.
    path.write_bytes(written + b'{"more": [\n')
    later = outcomes(written + b'{"more": [\n', range(1, len(lines) + 2))
    for number in range(1, min(found.settled, last or len(lines) + 1, len(lines) + 1) + 1):
        assert later[number] == reasons[number]


def test_the_last_line_without_an_end_is_not_settled(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(_lines(3)))
    found, _ = _scan(path)
    assert (found.good, found.reason, found.settled) == (3, None, 2)
    path.write_bytes(b"\n".join(_lines(3)) + b"\n")
    found, _ = _scan(path)
    assert (found.good, found.reason, found.settled) == (3, None, 3)


@pytest.mark.parametrize(
    ("tail", "reason", "settled"),
    [
        (b"{", Reason.TRANSCRIPT_INVALID_JSON, 2),
        (b"{\n", Reason.TRANSCRIPT_INVALID_JSON, EVERY_LINE),
        (b"{\n{", Reason.TRANSCRIPT_INVALID_JSON, EVERY_LINE),
        (b"x" * 400, Reason.TRANSCRIPT_RECORD_TOO_LARGE, EVERY_LINE),
        (b"x" * 400 + b"\n", Reason.TRANSCRIPT_RECORD_TOO_LARGE, EVERY_LINE),
        (b"x" * 399, Reason.TRANSCRIPT_INVALID_JSON, 2),
    ],
)
def test_a_fault_is_settled_once_its_line_can_only_stay_wrong(
    tmp_path: Path, tail: bytes, reason: Reason, settled: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(_lines(2)) + b"\n" + tail)
    found, _ = _scan(path, limits=Limits(max_record_bytes=399), hashed=True)
    assert (found.good, found.reason) == (2, reason)
    assert found.settled >= settled if settled == EVERY_LINE else found.settled == settled
    assert found.decided == 3
    assert found.prefix_bytes > len(b"\n".join(_lines(2))) + 1  # the fault lies in it
    with OpenFile(os.open(path, os.O_RDONLY)) as file:
        assert hash_prefix(file, found.prefix_bytes) == found.prefix_sha256


def test_one_line_more_than_the_limit_after_the_last_one_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(_lines(2)) + b"\n" + b"x" * 400)
    limits = Limits(max_record_bytes=399)
    found, _ = _scan(path, last=2, limits=limits)
    assert (found.good, found.reason, found.settled) == (2, None, 2)
    found, _ = _scan(path, last=3, limits=limits)
    assert found.reason is Reason.TRANSCRIPT_RECORD_TOO_LARGE


def test_a_pass_ends_at_the_last_line_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f"
    lines = _lines(900)
    path.write_bytes(b"\n".join(lines) + b"\n")
    for last in (1, 2, 400, 899, 900):
        found, heard = _scan(path, last=last, hashed=True)
        assert (found.good, found.settled) == (last, last)
        assert heard.lines == lines[:last]
        assert found.prefix_bytes == len(b"\n".join(lines[:last])) + 1
    found, _ = _scan(path, last=901)
    assert (found.good, found.reason) == (900, None)


def test_no_digest_where_none_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"")
    assert _scan(path)[0] == Scan(good=0, reason=None, settled=0, prefix_bytes=0)
    empty = hashlib.sha256().digest()
    assert _scan(path, hashed=True)[0].prefix_sha256 == empty


def test_the_digest_of_a_beginning(tmp_path: Path) -> None:
    path = tmp_path / "f"
    data = os.urandom(2 * BLOCK_BYTES + 5)
    path.write_bytes(data)
    with OpenFile(os.open(path, os.O_RDONLY)) as file:
        for size in (0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, len(data)):
            assert hash_prefix(file, size) == hashlib.sha256(data[:size]).digest()
        assert hash_prefix(file, len(data) + 1) is None
