"""Reading ledgers that anybody may have written."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.ledger import (
    LedgerFault,
    LedgerFaultKind,
    LedgerLines,
    find_removed,
    read_entries,
    read_ledger,
)
from provenance.artifacts.ledger_entry import LedgerEntry, LedgerEvent, encode_entry
from provenance.fs import BackendName, BoundaryRefused, NotARegularFile, TrustedRoot
from provenance.limits import Limits
from tests.artifacts.strategies import ledger_entries
from tests.artifacts.trees import ledger_of
from tests.trees import run_python

_REMOVED = b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"%s"}'


def _lines(data: bytes, *, start: int = 0, max_bytes: int = 1 << 20) -> LedgerLines:
    def read_at(offset: int, size: int) -> bytes:
        # Short reads in the middle of nothing in particular.
        return data[offset : offset + min(size, 7)]

    return LedgerLines(read_at, start=start, end=len(data), max_bytes=max_bytes)


@given(
    st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=8),
    st.binary(max_size=10).map(lambda b: b.replace(b"\n", b"")),
    st.integers(1, 20),
)
def test_lines_are_split_at_newlines_and_bounded(
    whole: list[bytes], tail: bytes, bound: int
) -> None:
    lines = _lines(b"".join(line + b"\n" for line in whole) + tail, max_bytes=bound)
    assert list(lines) == [line if len(line) <= bound else None for line in whole]
    assert lines.consumed == sum(len(line) + 1 for line in whole)
    assert lines.tail == (tail if len(tail) <= bound else None)


@given(st.lists(ledger_entries(), max_size=5), st.integers(0, 5))
def test_entries_come_back_and_what_is_between_is_reported(
    entries: list[LedgerEntry], place: int
) -> None:
    written = [encode_entry(entry) for entry in entries]
    place = min(place, len(written))
    data = b"".join([*written[:place], b"rubbish\n", *written[place:]])
    found = list(read_entries(_lines(data)))
    fault = found.pop(place)
    assert isinstance(fault, LedgerFault)
    assert (fault.kind, fault.line) == (LedgerFaultKind.INVALID, place + 1)
    assert found == entries


def test_a_torn_tail_is_a_fault_and_no_entry() -> None:
    whole = _REMOVED % b"a.txt"
    found = list(read_entries(_lines(whole + b"\n" + whole)))
    assert isinstance(found[0], LedgerEntry)
    assert found[1] == LedgerFault(LedgerFaultKind.TORN, 2, "line: expected a line end")
    assert len(found) == 2


def test_a_long_line_is_passed_over() -> None:
    data = b"x" * 5000 + b"\n" + _REMOVED % b"a.txt" + b"\n"
    found = list(read_entries(_lines(data, max_bytes=100)))
    assert isinstance(found[0], LedgerFault)
    assert found[0].kind is LedgerFaultKind.TOO_LONG
    assert isinstance(found[1], LedgerEntry)


def test_no_ledger_has_no_entries(home: Path, backend: BackendName) -> None:
    with TrustedRoot(home, backend=backend) as root:
        assert list(read_ledger(root, "s1")) == []
        assert find_removed(root, "s1") == frozenset()


def _write(home: Path, data: bytes) -> None:
    ledger_of(home).parent.mkdir(parents=True)
    ledger_of(home).write_bytes(data)


def test_the_last_event_decides_what_is_removed(home: Path, backend: BackendName) -> None:
    stored = encode_entry(
        LedgerEntry(
            event=LedgerEvent.STORED, filename="b.txt", sha256="0" * 64, blake3="0" * 64, bytes=0,
            segment_bytes=1, recorded_at="2026-01-02T03:04:05Z",
        )
    )  # fmt: skip
    lines = [_REMOVED % b"a.txt" + b"\n", _REMOVED % b"b.txt" + b"\n", stored, b"rubbish\n",
             _REMOVED % b"c.txt"]  # fmt: skip
    _write(home, b"".join(lines))
    with TrustedRoot(home, backend=backend) as root:
        assert find_removed(root, "s1") == {"a.txt", "c.txt"}
        assert find_removed(root, "s2") == frozenset()


def test_a_ledger_that_is_no_file_of_ours_says_nothing(
    home: Path, tmp_path: Path, backend: BackendName
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(_REMOVED % b"a.txt" + b"\n")
    ledger_of(home).parent.mkdir(parents=True)
    ledger_of(home).symlink_to(outside)
    with TrustedRoot(home, backend=backend) as root:
        assert find_removed(root, "s1") == frozenset()
        with pytest.raises(BoundaryRefused):
            list(read_ledger(root, "s1"))
        ledger_of(home).unlink()
        os.mkfifo(ledger_of(home))
        assert find_removed(root, "s1") == frozenset()
        with pytest.raises(NotARegularFile):
            list(read_ledger(root, "s1"))


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b"\x00" * 4096, b"\xff\xfe" * 100, b"\r"],
    ids=["arrays", "objects", "digits", "nul", "no utf-8", "cr"],
)
def test_hostile_lines_are_reported_and_passed_over(home: Path, line: bytes) -> None:
    _write(home, line + b"\n" + _REMOVED % b"a.txt" + b"\n")
    with TrustedRoot(home) as root:
        fault, entry = read_ledger(root, "s1")
        assert isinstance(fault, LedgerFault)
        assert isinstance(entry, LedgerEntry)
        assert find_removed(root, "s1", limits=Limits(max_ledger_line_bytes=1000)) == {"a.txt"}


_READ_HUGE = """
import resource, sys
from provenance.artifacts.ledger import find_removed, read_ledger
from provenance.fs import TrustedRoot
from provenance.limits import Limits

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with TrustedRoot(sys.argv[1]) as root:
    limits = Limits(max_ledger_line_bytes=1 << 20)
    faults = [str(fault.kind) for fault in read_ledger(root, "s1", limits=limits)]
    assert faults == ["ledger_line_too_long", "ledger_line_torn"], faults
    assert find_removed(root, "s1", limits=limits) == frozenset()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts KiB on Linux alone")
def test_a_line_of_half_a_gigabyte_is_not_kept(home: Path) -> None:
    ledger_of(home).parent.mkdir(parents=True)
    with ledger_of(home).open("wb") as file:
        file.truncate(256 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
        file.truncate(512 << 20)
    grown = int(run_python(_READ_HUGE, home).stdout)
    assert grown < 32 << 10


def test_a_line_as_this_store_writes_it_is_json_for_everybody() -> None:
    line = encode_entry(
        LedgerEntry(event=LedgerEvent.REMOVED, filename="a.txt", reason="é\u2028\n")
    )
    assert json.loads(line)["reason"] == "é\u2028\n"
    assert line.count(b"\n") == 1
