"""A connection that can read the named tables and do nothing else."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from provenance.fs import ReadFailed
from provenance.fs import sqlite as module
from provenance.fs.sqlite import (
    CellTooLong,
    DatabaseDamaged,
    DatabaseOverLimit,
    ReadOnlyDatabase,
    TextCell,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a b#c?.db"
    _run(path, "CREATE TABLE t (a, b)", "INSERT INTO t VALUES ('x', 1), (x'ff', 2.5), (NULL, 3)")
    return path


def _run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        for statement in statements:
            made.execute(statement)


def _open(
    path: Path, *tables: str, max_cell_bytes: int = 1 << 20, max_steps: int = 100_000
) -> ReadOnlyDatabase:
    return ReadOnlyDatabase(
        path, tables=tables or ("t",), max_cell_bytes=max_cell_bytes, max_steps=max_steps
    )


def test_reading(path: Path) -> None:
    with _open(path) as database:
        rows = list(database.rows("SELECT a, b FROM main.t WHERE b < ?", (3,)))
        assert rows == [(b"x", 1), (b"\xff", 2.5)]
        assert [type(row[0]) for row in rows] == [TextCell, bytes]
        assert list(database.rows("SELECT a FROM t WHERE b = 3")) == [(None,)]
        assert [row[1] for row in database.rows("PRAGMA main.table_xinfo(t)")] == [b"a", b"b"]


def test_text_that_is_not_utf8_comes_as_it_is(path: Path) -> None:
    _run(path, "INSERT INTO t VALUES (CAST(x'c328' AS TEXT), 9)")
    with _open(path) as database:
        assert list(database.rows("SELECT a FROM t WHERE b = 9")) == [(TextCell(b"\xc3("),)]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (1, 2)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (a)",
        "CREATE TEMP TABLE u (a)",
        "ATTACH '/tmp/other.db' AS other",
        "DETACH main",
        "VACUUM INTO '/tmp/other.db'",
        "PRAGMA writable_schema=ON",
        "PRAGMA query_only=OFF",
        "PRAGMA trusted_schema=ON",
        "PRAGMA journal_mode=DELETE",
        "PRAGMA integrity_check",
        "SELECT load_extension('x')",
        "SELECT length(a) FROM t",
        "SELECT randomblob(1000000000)",
        "SELECT * FROM secret",
        "SELECT a FROM v",
        "SELECT * FROM pragma_table_info('t')",
        "SELECT * FROM dbstat",
        "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "ANALYZE",
        "REINDEX",
        "BEGIN",
        "SAVEPOINT s",
    ],
)
def test_everything_else_is_refused(path: Path, sql: str) -> None:
    _run(
        path,
        "CREATE TABLE secret (a)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE INDEX i ON t (a)",
    )
    before = path.read_bytes()
    with _open(path) as database, pytest.raises(DatabaseDamaged):
        list(database.rows(sql))
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_view_that_is_named_is_refused_all_the_same(path: Path) -> None:
    _run(path, "CREATE VIEW v AS SELECT a FROM t")
    with _open(path, "t", "v") as database, pytest.raises(DatabaseDamaged):
        list(database.rows("SELECT a FROM v"))


def test_a_cell_over_the_limit(path: Path) -> None:
    _run(path, f"INSERT INTO t VALUES (zeroblob({1 << 20}), 4), (zeroblob({(1 << 20) + 1}), 5)")
    with _open(path, max_cell_bytes=10) as database:
        # A limit below what a schema may need is raised to that.
        assert list(database.rows("SELECT a FROM t WHERE b = 4")) == [(bytes(1 << 20),)]
        with pytest.raises(CellTooLong):
            list(database.rows("SELECT a FROM t WHERE b = 5"))
        assert list(database.rows("SELECT b FROM t WHERE b > 4")) == [(5,)]
    with _open(path, max_cell_bytes=(1 << 20) + 1) as database:
        assert len(list(database.rows("SELECT a FROM t WHERE b = 5"))) == 1


def test_work_is_bounded(path: Path) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.executemany("INSERT INTO t VALUES (?, 1)", [(n,) for n in range(2000)])
        made.commit()
    with _open(path, max_steps=4_000) as database, pytest.raises(DatabaseOverLimit):
        list(database.rows("SELECT a, b FROM t"))
    with _open(path, max_steps=40_000) as database:
        assert len(list(database.rows("SELECT a, b FROM t"))) == 2003


def test_what_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    with pytest.raises(DatabaseDamaged, match="got SQLITE_NOTADB") as caught, _open(path):
        pass
    assert str(tmp_path) not in str(caught.value)


def test_a_schema_that_is_not_utf8_is_no_text_of_a_message(path: Path) -> None:
    _run(
        path,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = CAST(x'4352454154ff' AS TEXT)",
    )
    with pytest.raises(DatabaseDamaged) as caught, _open(path):
        pass
    assert str(caught.value).startswith("database: expected a sound SQLite file, got ")
    assert "CREAT" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (None, DatabaseDamaged),
        (1, DatabaseDamaged),
        (11, DatabaseDamaged),
        (11 | 1 << 8, DatabaseDamaged),
        (23, DatabaseDamaged),
        (26, DatabaseDamaged),
        (7, DatabaseOverLimit),
        (9, DatabaseOverLimit),
        (13, DatabaseOverLimit),
        (18, CellTooLong),
        (5, ReadFailed),
        (10 | 2 << 8, ReadFailed),
        (14, ReadFailed),
    ],
)
def test_each_answer_of_sqlite_has_a_meaning(code: int | None, kind: type[Exception]) -> None:
    assert type(module._failure(code)) is kind


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReadFailed) as caught:
        _open(tmp_path / "nowhere.db")
    assert caught.value.errno == errno.EIO
    assert list(tmp_path.iterdir()) == []
