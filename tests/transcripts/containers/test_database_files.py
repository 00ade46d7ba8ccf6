"""The files of a database are copied as they were at one time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from provenance.fs import OpenFile, ReadFailed
from provenance.fs import private_copy as copying
from provenance.limits import Limits
from provenance.transcripts.containers.database_files import copied_database, is_database
from tests.transcripts.containers.databases import make, opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")


def _after_each_copy(monkeypatch: pytest.MonkeyPatch, *changes: Callable[[], object]) -> None:
    copy, left = copying._copy, list(changes)

    def copy_then_change(file: OpenFile, target: Path) -> bool:
        done = copy(file, target)
        if left:
            left.pop(0)()
        return done

    monkeypatch.setattr(copying, "_copy", copy_then_change)


def test_the_log_and_the_journal_come_along(path: Path) -> None:
    make(path, "PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("INSERT INTO t VALUES (2)")
        with opened(path) as source, copied_database(source) as (copy, has_journal):
            assert not has_journal
            assert sorted(copy.sizes) == ["database", "database-wal"]
            assert copy.path("database-wal").read_bytes() == (
                path.with_name("a.db-wal").read_bytes()
            )
    path.with_name("a.db-journal").write_bytes(b"x")
    with opened(path) as source, copied_database(source) as (copy, has_journal):
        assert has_journal
        assert copy.sizes["database-journal"] == 1


def test_a_log_that_appears_meanwhile_is_copied(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = path.with_name("a.db-wal")
    _after_each_copy(monkeypatch, lambda: log.write_bytes(b"new"))
    with opened(path) as source, copied_database(source) as (copy, _):
        assert copy.path("database-wal").read_bytes() == b"new"


def test_a_log_that_goes_meanwhile_is_not_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = path.with_name("a.db-wal")
    log.write_bytes(b"old")
    _after_each_copy(monkeypatch, log.unlink)
    with opened(path) as source, copied_database(source) as (copy, _):
        assert sorted(copy.sizes) == ["database"]


def test_a_log_that_is_made_anew_is_read_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = path.with_name("a.db-wal")
    log.write_bytes(b"old")
    other = path.with_name("other")
    other.write_bytes(b"new")
    _after_each_copy(monkeypatch, lambda: os.replace(other, log))
    with opened(path) as source, copied_database(source) as (copy, _):
        assert copy.path("database-wal").read_bytes() == b"new"


@pytest.mark.parametrize("length", [247, 248, 252, 255])
def test_a_name_so_long_that_no_log_can_lie_beside_it(path: Path, length: int) -> None:
    long = path.rename(path.with_name("x" * length))
    with opened(long) as source, copied_database(source) as (copy, _):
        assert sorted(copy.sizes) == ["database"]


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_database_that_never_holds_still(
    path: Path, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    times = iter(range(1, 100))
    _after_each_copy(monkeypatch, *[lambda: os.utime(path, (0, next(times)))] * 50)
    limits = Limits(read_attempts=attempts)
    with (
        opened(path, limits=limits) as source,
        pytest.raises(ReadFailed, match="no change"),
        copied_database(source),
    ):
        pass
    assert next(times) == attempts + 1


def test_a_database_that_was_replaced_is_not_read(path: Path) -> None:
    other = make(path.with_name("other.db"), "CREATE TABLE t (a)")
    with opened(path) as source:
        os.replace(other, path)
        with pytest.raises(ReadFailed), copied_database(source):
            pass


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"SQLite format 3\0" + bytes(84), True),
        (b"SQLite format 3\0" + bytes(83), False),
        (b"SQLite format 3\x01" + bytes(84), False),
        (b" SQLite format 3\0" + bytes(84), False),
        (b"", False),
    ],
)
def test_is_it_a_database(head: bytes, expected: bool) -> None:
    assert is_database(head) is expected
