"""An SQLite file below a trusted root: what is read of it, and what is refused."""

from __future__ import annotations

import os
import sqlite3
import struct
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from provenance.fs import BackendName, BoundaryRefused, OpenFile
from provenance.fs import private_copy as copying
from provenance.limits import Limits
from provenance.transcripts.containers import database as module
from provenance.transcripts.containers.database import (
    Cell,
    Column,
    TablesAbsent,
    TooLong,
    has_tables,
    open_database,
)
from provenance.transcripts.sources import SourceUnreadable
from tests.transcripts.containers.databases import make, opened, snapshot

_TABLES = {"runs": (Column("id", is_row_id=True), Column("words"))}
_RUNS = "CREATE TABLE runs (id INTEGER PRIMARY KEY, words TEXT)"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound database of 200 rows on several pages, in a folder of its own."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    path = make(folder / "runs.db", _RUNS)
    with closing(sqlite3.connect(path)) as made:
        made.executemany(
            "INSERT INTO runs (words) VALUES (?)", [(f"{n:0200}",) for n in range(200)]
        )
        made.commit()
    return path


def _rows(
    path: Path, *, columns: Sequence[str] = ("words",), limits: Limits | None = None
) -> list[tuple[Cell, ...] | TooLong]:
    with (
        opened(path, limits=limits or Limits()) as source,
        open_database(source, tables=_TABLES) as database,
    ):
        return list(database.rows("runs", row_id="id", columns=columns))


def _refusal(path: Path) -> SourceUnreadable:
    with pytest.raises(SourceUnreadable) as caught:
        _rows(path)
    assert "\n" not in str(caught.value)
    assert str(path.parent) not in str(caught.value)
    return caught.value


def test_rows_come_in_order_and_nothing_is_written(
    path: Path, temporary: Path, backend: BackendName
) -> None:
    make(path, "INSERT INTO runs VALUES (-5, 'first')", "DELETE FROM runs WHERE id = 7")
    before = snapshot(path.parent)
    with opened(path, backend=backend) as source, open_database(source, tables=_TABLES) as database:
        assert database.has("runs")
        assert not database.has("other")
        rows = list(database.rows("runs", row_id="id", columns=["words"]))
        assert len(os.listdir(temporary)) == 1
    assert rows[0] == (-5, b"first")
    assert [row[0] for row in rows if isinstance(row, tuple)] == [
        -5, *range(1, 7), *range(8, 201)
    ]  # fmt: skip
    assert snapshot(path.parent) == before
    assert os.listdir(temporary) == []


def test_rows_in_the_log_are_seen(path: Path) -> None:
    make(path, "PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("INSERT INTO runs VALUES (900, 'in the log')")
        before = snapshot(path.parent)
        assert set(before) == {"runs.db", "runs.db-wal", "runs.db-shm"}
        assert b"in the log" not in before["runs.db"]
        assert _rows(path)[-1] == (900, b"in the log")
        assert snapshot(path.parent) == before
        # What is not committed is not seen.
        writer.execute("BEGIN")
        writer.execute("INSERT INTO runs VALUES (901, 'not yet')")
        assert _rows(path)[-1] == (900, b"in the log")
        assert snapshot(path.parent)["runs.db"] == before["runs.db"]


def test_a_log_that_is_gone_is_no_error(path: Path) -> None:
    make(path, "PRAGMA journal_mode=WAL", "INSERT INTO runs VALUES (900, 'x')")
    assert set(snapshot(path.parent)) == {"runs.db"}
    assert len(_rows(path)) == 201
    assert set(snapshot(path.parent)) == {"runs.db"}


def test_a_cut_log_shows_what_was_committed_before(path: Path) -> None:
    make(path, "PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("INSERT INTO runs VALUES (900, 'one')")
        size = (path.parent / "runs.db-wal").stat().st_size
        writer.execute("INSERT INTO runs VALUES (901, 'two')")
        files = snapshot(path.parent)
    (path.parent / "runs.db").write_bytes(files["runs.db"])
    log = path.parent / "runs.db-wal"
    log.write_bytes(files["runs.db-wal"])
    assert len(_rows(path)) == 202
    for cut, rows in [(1, 201), (len(files["runs.db-wal"]) - size, 201), (10**9, 200)]:
        log.write_bytes(files["runs.db-wal"][: max(len(files["runs.db-wal"]) - cut, 0)])
        assert len(_rows(path)) == rows


def test_a_database_that_is_locked_is_read_from_its_copy(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("UPDATE runs SET words = 'changed' WHERE id = 1")
        with (
            closing(sqlite3.connect(path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("SELECT * FROM runs")
        before = snapshot(path.parent)
        assert _rows(path)[0] == (1, b"0" * 200)
        assert snapshot(path.parent) == before
        writer.execute("ROLLBACK")


def _with_hot_journal(path: Path) -> dict[str, bytes]:
    """Give a database as a crash leaves it: half of a change in it, the rest in its journal."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size=3")
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("UPDATE runs SET words = 'changed'")
        return snapshot(path.parent)


def test_what_a_crash_left_is_rolled_back_in_the_copy(path: Path) -> None:
    sound = path.read_bytes()
    files = _with_hot_journal(path)
    assert set(files) == {"runs.db", "runs.db-journal"}
    assert files["runs.db"] != sound
    for name, data in files.items():
        (path.parent / name).write_bytes(data)
    rows = _rows(path)
    assert len(rows) == 200
    assert (1, b"0" * 200) in rows
    assert all(isinstance(row, tuple) and row[1] != b"changed" for row in rows)
    assert snapshot(path.parent) == files


def test_an_empty_journal_is_none(path: Path) -> None:
    (path.parent / "runs.db-journal").write_bytes(b"")
    assert len(_rows(path)) == 200


def test_a_journal_that_names_another_file_removes_nothing(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "precious.txt"
    victim.write_text("keep me")
    name = str(victim).encode()
    tail = struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name))
    files = _with_hot_journal(path)
    files["runs.db-journal"] += tail + bytes.fromhex("d9d505f920a163d7")
    for file_name, data in files.items():
        (path.parent / file_name).write_bytes(data)
    error = _refusal(path)
    assert error.fault == "container_invalid"
    assert victim.read_text() == "keep me"
    # So much for what SQLite does with it.
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("SELECT * FROM runs").fetchall()
    assert not victim.exists()


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_log_that_is_a_link_is_refused(
    path: Path, tmp_path: Path, ending: str, backend: BackendName
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"")
    (path.parent / f"runs.db{ending}").symlink_to(outside)
    with (
        opened(path, backend=backend) as source,
        pytest.raises(BoundaryRefused),
        open_database(source, tables=_TABLES),
    ):
        pass


@pytest.mark.parametrize("data", [b"", b"SQLite format 3", b"SQLite format 3\0", b"\0" * 4096])
def test_what_is_no_database(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    error = _refusal(path)
    assert (error.fault, str(error)) == (
        "container_invalid",
        "database: expected an SQLite header, got other bytes",
    )


def test_garbage_after_the_header(path: Path) -> None:
    data = path.read_bytes()
    for filler in (b"\0", b"\xff", b"\x0d"):
        path.write_bytes(data[:100] + filler * (len(data) - 100))
        assert _refusal(path).fault == "container_invalid"


def test_a_database_that_is_cut_anywhere(path: Path) -> None:
    data = path.read_bytes()
    whole = _rows(path)
    # At each page and inside of each; the schema alone needs the first.
    for size in sorted({*range(0, len(data), 1024), *range(0, len(data), 4096), len(data) - 1}):
        path.write_bytes(data[:size])
        assert _refusal(path).fault == "container_invalid"
    path.write_bytes(data)
    assert _rows(path) == whole


@pytest.mark.parametrize("seed", range(60))
def test_a_database_with_wrong_bytes_never_crashes(path: Path, seed: int) -> None:
    data = bytearray(path.read_bytes())
    for step in range(1, 9):
        place = (seed * 7919 + step * 104729) % len(data)
        data[place] = (seed * 31 + step * 17) % 256
    path.write_bytes(data)
    try:
        found = str(len(_rows(path)))
    except SourceUnreadable as error:
        found = error.fault
    assert found in ("container_invalid", "container_over_limit") or int(found) <= 200 * 4096


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE VIEW runs AS SELECT 1 AS id, 'x' AS words"],
        ["CREATE TABLE t (a)", "CREATE TRIGGER runs AFTER INSERT ON t BEGIN SELECT 1; END"],
        ["CREATE VIRTUAL TABLE runs USING fts4(id, words)"],
        ["CREATE TABLE runs (id INTEGER PRIMARY KEY)"],
        ["CREATE TABLE runs (id TEXT PRIMARY KEY, words TEXT)"],
        ["CREATE TABLE runs (id INTEGER, words TEXT)"],
        ["CREATE TABLE runs (id INTEGER PRIMARY KEY, words AS (zeroblob(9)))"],
        ["CREATE TABLE runs (id INTEGER PRIMARY KEY, words TEXT, rowid TEXT)"],
    ],
)
def test_what_only_has_the_name_of_the_table(path: Path, statements: list[str]) -> None:
    path.unlink()
    make(path, *statements)
    error = _refusal(path)
    assert error.fault == "container_invalid"
    assert not isinstance(error, TablesAbsent)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sqlite_master SET sql = 'CREATE VIEW runs AS SELECT 1 AS id, 2 AS words'",
        "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE runs USING fts4(id, words)'",
        "UPDATE sqlite_master SET rootpage = 0",
        "UPDATE sqlite_master SET rootpage = 999999",
        "UPDATE sqlite_master SET type = 'view'",
        "UPDATE sqlite_master SET sql = NULL",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE ' || hex(zeroblob(3000000))",
        "INSERT INTO sqlite_master SELECT * FROM sqlite_master",
        "INSERT INTO sqlite_master SELECT type, 'RUNS', 'runs', rootpage, sql FROM sqlite_master",
    ],
)
def test_a_schema_that_was_tampered_with(path: Path, change: str) -> None:
    make(path, "PRAGMA writable_schema=ON", change)
    assert _refusal(path).fault in ("container_invalid", "container_over_limit")


def test_names_are_told_apart_without_case(path: Path) -> None:
    path.unlink()
    make(
        path, "create table RUNS (ID integer primary key, Words)", "INSERT INTO runs VALUES (1, 2)"
    )
    assert _rows(path) == [(1, 2)]


def test_another_schema(path: Path) -> None:
    path.unlink()
    make(path, "CREATE TABLE walks (id INTEGER PRIMARY KEY)")
    error = _refusal(path)
    assert isinstance(error, TablesAbsent)
    assert error.fault == "container_invalid"
    assert str(error) == "database: expected a table runs, got a schema without it"


def test_some_tables_but_not_all(path: Path) -> None:
    tables = {**_TABLES, "walks": (Column("id"),)}
    with opened(path) as source:
        with (
            pytest.raises(SourceUnreadable, match="expected a table walks") as caught,
            open_database(source, tables=tables),
        ):
            pass
        assert not isinstance(caught.value, TablesAbsent)
        with open_database(source, tables=_TABLES, optional={"walks": ()}) as database:
            assert not database.has("walks")


def test_another_encoding(path: Path) -> None:
    path.unlink()
    make(path, "PRAGMA encoding='UTF-16'", _RUNS)
    assert str(_refusal(path)) == "database: expected text in UTF-8, got another encoding"


def test_an_index_of_other_words_is_not_read(path: Path) -> None:
    make(
        path,
        "DELETE FROM runs",
        "INSERT INTO runs VALUES (1, 'told')",
        "CREATE INDEX i ON runs (id, words)",
        "PRAGMA writable_schema=ON",
    )
    data = path.read_bytes()
    # The index' own copy of the words lies on another page than the table's.
    assert data.count(b"told") >= 2
    place = data.rindex(b"told")
    path.write_bytes(data[:place] + b"lied" + data[place + 4 :])
    first = _rows(path)
    path.write_bytes(data[: data.index(b"told")] + b"lied" + data[data.index(b"told") + 4 :])
    assert {tuple(first), tuple(_rows(path))} == {((1, b"told"),), ((1, b"lied"),)}


def test_a_row_over_the_limit_is_named_and_reading_goes_on(path: Path) -> None:
    long = (1 << 20) + 1
    make(
        path,
        "ALTER TABLE runs ADD COLUMN more TEXT",
        "DELETE FROM runs WHERE id > 2",
        f"INSERT INTO runs VALUES (5, hex(zeroblob({long})), 'kept')",
        f"INSERT INTO runs VALUES (6, 'w', hex(zeroblob({long})))",
        "INSERT INTO runs VALUES (7, 'last', NULL)",
        f"INSERT INTO runs VALUES ({2**63 - 1}, hex(zeroblob({long})), 'end')",
    )
    rows = _rows(path, columns=("words", "more"), limits=Limits(max_foreign_record_bytes=100))
    assert rows == [
        (1, b"0" * 200, None),
        (2, b"0" * 199 + b"1", None),
        TooLong(5, (None, b"kept")),
        TooLong(6, (b"w", None)),
        (7, b"last", None),
        TooLong(2**63 - 1, (None, b"end")),
    ]
    assert not any(isinstance(row, TooLong) for row in _rows(path, columns=("words", "more")))


def test_work_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(path, *["INSERT INTO runs (words) SELECT words FROM runs"] * 4)
    monkeypatch.setattr(module, "_BASE_STEPS", 1000)
    monkeypatch.setattr(module, "_STEPS_A_BYTE", 0)
    error = _refusal(path)
    assert error.fault == "container_over_limit"


def test_pages_that_go_round_in_circles_end(path: Path) -> None:
    data = bytearray(path.read_bytes())
    root = data.index(b"\x05", 4096) if data[4096] != 5 else 4096
    assert data[root] == 5  # the inner page of the table
    cells = struct.unpack(">H", data[root + 3 : root + 5])[0]
    first = struct.unpack(">H", data[root + 12 : root + 14])[0]
    # Each of its cells leads to the page of the first one.
    for cell in range(cells):
        at = struct.unpack(">H", data[root + 12 + 2 * cell : root + 14 + 2 * cell])[0]
        data[root + at : root + at + 4] = data[root + first : root + first + 4]
    path.write_bytes(data)
    error = _refusal(path)
    assert error.fault == "container_invalid"
    assert "row ids that ascend" in str(error)


def test_a_database_over_the_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from provenance.transcripts.containers import database_files

    monkeypatch.setattr(database_files, "MAX_DATABASE_BYTES", path.stat().st_size - 1)
    assert _refusal(path).fault == "container_over_limit"
    monkeypatch.setattr(database_files, "MAX_DATABASE_BYTES", path.stat().st_size)
    assert len(_rows(path)) == 200


def test_no_room_for_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    assert _refusal(path).fault == "container_over_limit"


def test_a_failure_of_the_reader_leaves_nothing(path: Path, temporary: Path) -> None:
    with (
        opened(path) as source,
        pytest.raises(KeyboardInterrupt),
        open_database(source, tables=_TABLES) as database,
    ):
        next(database.rows("runs", row_id="id"))
        raise KeyboardInterrupt
    assert os.listdir(temporary) == []


def test_a_database_that_grows_while_it_is_copied(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, left = copying._copy, [901, 902]

    def copy_then_add(file: OpenFile, target: Path) -> bool:
        done = copy(file, target)
        if left:
            make(path, f"INSERT INTO runs VALUES ({left.pop(0)}, 'new')")
        return done

    monkeypatch.setattr(copying, "_copy", copy_then_add)
    rows = _rows(path)
    assert [row[0] for row in rows if isinstance(row, tuple)][-2:] == [901, 902]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"CREATE TABLE runs (id)", True),
        (b'CREATE TABLE "runs" (id)', True),
        (b"CREATE TABLE [runs] (id)", True),
        (b"CREATE TABLE runsaway (id)", False),
        (b"CREATE VIEW runs AS", False),
        (b"he said: the runs table", False),
        (b"", False),
    ],
)
def test_tables_in_the_first_bytes(source: bytes, expected: bool) -> None:
    head = b"SQLite format 3\0" + bytes(84)
    assert has_tables(head + source, ["runs"]) is expected
    assert has_tables(b"SQLite format 2\0" + bytes(84) + source, ["runs"]) is False
    assert has_tables(head + source, ["runs", "walks"]) is False


def test_a_schema_that_is_still_in_the_log(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute(_RUNS)
        writer.execute("INSERT INTO runs VALUES (1, 'x')")
        assert has_tables(path.read_bytes(), ["runs"]) is None
        assert _rows(path) == [(1, b"x")]
    # Once the log is merged, the file says so itself.
    assert has_tables(path.read_bytes(), ["runs"]) is True
    assert has_tables(path.read_bytes(), ["walks"]) is False
