"""A whole source: what is counted, what is listed, and files that change while they are read."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from provenance.audit.request import AuditRequest
from provenance.audit.run import run_audit
from provenance.findings import Severity
from provenance.fs.failures import ReadFailed, SourceAbsent
from provenance.limits import Limits
from provenance.transcripts.records import Call, Fault, Record, Reference
from provenance.transcripts.source_check import FaultLog, SourceCheck, check_source
from provenance.transcripts.sources import Head, Source, SourceUnreadable
from tests.transcripts.breaking import CLAUDE, open_source
from tests.trees import open_handles

FORMAT = CLAUDE.format


def _line(number: int, **more: object) -> bytes:
    value = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": {}, **more}
    return json.dumps(value).encode() + b"\n"


LINES = b"".join(map(_line, range(1, 4)))


def _check(path: Path, limits: Limits | None = None, **how: Any) -> SourceCheck:
    with open_source(path.parent, path.name, limits=limits or Limits()) as (source, root):
        return check_source(source, how.pop("of", FORMAT), root=root, **how)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINES)
    return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- files that change --------------------------------------------------------------------------


class _Passes:
    """Does something at the first record of each pass."""

    def __init__(self, act: Callable[[int], object]) -> None:
        self.number = 0
        self._act = act

    def __call__(self, record: Record) -> None:
        if record.ordinal == 1:
            self.number += 1
            self._act(self.number)


def _append(file: Path, data: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(data)


def test_a_file_that_only_grew_is_told_as_it_was(file: Path) -> None:
    passes = _Passes(lambda number: _append(file, _line(9)))
    check = _check(file, on_record=passes)
    assert passes.number == 1
    assert (check.records, check.faults) == (3, [])
    assert check.sha256 == _sha256(LINES)
    assert _check(file).records == 4


def test_a_file_that_never_stops_growing_is_told_too(file: Path) -> None:
    check = _check(file, on_record=lambda record: _append(file, _line(9) * 50))
    assert (check.records, check.sha256) == (3, _sha256(LINES))


def test_a_file_that_another_thread_appends_to(file: Path) -> None:
    begun = threading.Event()

    def write() -> None:
        for number in range(100, 600):
            _append(file, _line(number))
            begun.set()

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait()
    checks = []
    while not checks or (thread.is_alive() and len(checks) < 200):
        checks.append(_check(file))
    thread.join()
    prefixes = _digests_of_prefixes(file.read_bytes())
    for check in checks:
        # What is told is true of a file that there was. A write may have been seen half done.
        if check.fault_counts["torn_line"]:
            assert [fault.line for fault in check.faults] == [check.records + 1]
            continue
        assert check.faults == []
        assert check.sha256 is not None
        assert prefixes[check.sha256] == check.records
    assert [check.records for check in checks] == sorted(check.records for check in checks)


def _digests_of_prefixes(data: bytes) -> dict[str, int]:
    """The digest after each line, with the number of lines."""
    digest = hashlib.sha256()
    found = {}
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        digest.update(line)
        found[digest.hexdigest()] = number
    return found


def test_a_file_that_was_written_anew_is_read_anew(file: Path) -> None:
    other = LINES.replace(b'"u2"', b'"u7"')

    def act(number: int) -> None:
        if number == 1:
            file.write_bytes(other)

    passes = _Passes(act)
    check = _check(file, on_record=passes)
    assert passes.number == 2
    assert (check.records, check.sha256, check.faults) == (3, _sha256(other), [])


def test_a_file_that_was_cut_is_read_anew(file: Path) -> None:
    shorter = LINES[: LINES.index(b"\n") + 1]

    def act(number: int) -> None:
        if number == 1:
            os.truncate(file, len(shorter))

    check = _check(file, on_record=_Passes(act))
    assert (check.records, check.sha256, check.faults) == (1, _sha256(shorter), [])


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_file_that_changes_each_time_is_not_conclusive(file: Path, attempts: int) -> None:
    def act(number: int) -> None:
        file.write_bytes(LINES.replace(b'"u2"', b'"u%d"' % (number + 2)))

    passes = _Passes(act)
    check = _check(file, Limits(read_attempts=attempts), on_record=passes)
    assert passes.number == attempts + 1
    assert check.fault_counts["source_changed_during_read"] == 1
    assert check.sha256 is None


def test_a_file_that_was_replaced_is_told_by_its_handle(file: Path) -> None:
    def act(number: int) -> None:
        other = file.with_name("other")
        other.write_bytes(b"{}\n")
        other.replace(file)

    check = _check(file, on_record=_Passes(act))
    assert (check.records, check.sha256, check.faults) == (3, _sha256(LINES), [])


def test_a_file_that_was_removed_is_told_by_its_handle(file: Path) -> None:
    check = _check(file, on_record=lambda record: file.unlink(missing_ok=True))
    assert (check.records, check.sha256, check.faults) == (3, _sha256(LINES), [])


def test_a_line_that_was_being_written_is_not_torn(file: Path) -> None:
    file.write_bytes(LINES[:-9])
    check = _check(
        file, on_record=_Passes(lambda number: number == 1 and _append(file, LINES[-9:]))
    )
    assert (check.records, check.faults) == (3, [])
    assert check.sha256 == _sha256(LINES)


def test_a_line_that_stays_torn_is_torn(file: Path) -> None:
    file.write_bytes(LINES[:-9])
    check = _check(file)
    assert dict(check.fault_counts) == {"torn_line": 1}
    assert check.sha256 == _sha256(LINES[:-9])


# --- what is counted, and what is listed --------------------------------------------------------


def test_the_first_thousand_are_listed_and_all_are_counted() -> None:
    log = FaultLog()
    log.extend(Fault("a", Severity.INFO, "", ordinal=n) for n in range(1, 2_501))
    log.add(Fault("b", Severity.ERROR, ""))
    assert dict(log.counts) == {"a": 2_500, "b": 1}
    assert [one.ordinal for one in log.listed if one.code == "a"] == list(range(1, 1_001))


def test_damage_by_the_thousand_is_bounded(file: Path) -> None:
    file.write_bytes(b"x\n" * 20_000 + LINES)
    check = _check(file)
    assert check.records == 3
    assert check.fault_counts["invalid_line"] == 20_000
    assert len(check.faults) == 1_000


def test_a_summary_stands_for_less_where_damage_hides_records(file: Path) -> None:
    boundary = _line(
        9, type="system", subtype="compact_boundary", logicalParentUuid="u2", message=None
    )

    def said(before: bytes) -> str:
        file.write_bytes(before + boundary)
        (reference,) = _check(file).references
        assert reference.status == "available"
        return reference.message

    assert said(LINES).endswith("stands for records 1 to 3, all present")
    assert "damage in 1 places" in said(LINES[:-1] + b"\n" + b'{"torn\n')
    assert said(LINES[:-1] + LINES.replace(b'"u', b'"v')).endswith("1 to 6, all present")


def test_records_and_sessions_of_an_empty_file(file: Path) -> None:
    file.write_bytes(b"")
    check = _check(file)
    assert (check.records, check.faults, check.sessions) == (0, [], ())
    assert (check.first_time, check.last_time, check.sha256) == (None, None, _sha256(b""))


# --- formats that do not go on ------------------------------------------------------------------


class _Odd:
    """A format whose records end in an error."""

    name = "odd"
    suffixes = (".jsonl",)
    has_separate_sessions = False

    def __init__(self, error: Exception | None = None, *, sessions: Iterable[str] = ()) -> None:
        self._error = error
        self._sessions = tuple(sessions)
        self.has_separate_sessions = bool(self._sessions)

    def identify(self, head: Head) -> bool:
        return False

    def records(self, source: Source) -> Iterator[Record | Fault]:
        for session in self._sessions or (None,):
            yield Record(
                ordinal=1, kind="k", raw=b"1", value=None, native_id="1", session=session,
                calls=(Call("c"),), time="2026-01-01T00:00:00Z",
            )  # fmt: skip
        if self._error is not None:
            raise self._error

    def references(self, record: Record) -> Iterable[Reference]:
        return (Reference(kind="r", records=("1", "2")),)

    def sessions(self, source: Source) -> Iterable[str]:
        return self._sessions


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SourceUnreadable("container_invalid", "x"), "container_invalid"),
        (SourceUnreadable("container_over_limit", "x"), "container_over_limit"),
        (SourceUnreadable("container_unsupported", "x"), "container_unsupported"),
        (ReadFailed("x", cause=errno.EIO), "source_read_failed")
        if "cause" in ReadFailed.__init__.__code__.co_varnames
        else (SourceAbsent("x"), "source_disappeared"),
    ],
)
def test_an_adapter_that_cannot_go_on_ends_with_a_fault(
    file: Path, error: Exception, code: str
) -> None:
    check = _check(file, of=_Odd(error))
    assert check.records == 1
    assert check.fault_counts[code] == 1
    assert check.sha256 == _sha256(LINES)


def test_sessions_that_a_source_keeps_apart_are_told_apart(file: Path) -> None:
    check = _check(file, of=_Odd(sessions=("a", "b")))
    assert check.sessions == ("a", "b")
    # One ordinal, one id and one call id in each: nothing of one meets the other.
    assert dict(check.fault_counts) == {"open_call": 2}
    assert {fault.session for fault in check.faults} == {"a", "b"}
    assert (check.records, check.calls) == (2, 2)
    only = _check(file, of=_Odd(sessions=("a", "b")), wanted=lambda session: session == "b")
    assert (only.sessions, only.records) == (("b",), 1)


# --- an audit -----------------------------------------------------------------------------------


def test_an_audit_leaves_nothing_open(file: Path) -> None:
    from datetime import UTC, datetime

    before = open_handles()
    run_audit(
        AuditRequest(targets=(str(file.parent),)),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        stopwatch=lambda: 0.0,
    )
    left = {number for number in open_handles() if number not in before}
    for number in left:
        os.close(int(number))
    assert not left
