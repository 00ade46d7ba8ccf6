"""Opening the file: what is refused, and that refusing changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from provenance import CtxauditError, DurableStateStore, StoreDamaged, StoreTooNew, TrustedRoot
from provenance.stores import NoStateStore, StoreBusy, StoreUnsafe, layout
from provenance.stores import database as module
from provenance.stores.database import open_for_writing
from provenance.stores.layout import APPLICATION_ID, empty_database
from tests.fixtures import no_handle_is_left
from tests.stores.stores import a_state, alter, file_of, filled, tables_of
from tests.trees import is_root

__all__ = ["no_handle_is_left"]


def _refused(home: Path, kind: type[Exception]) -> str:
    """Say how a write is refused; nothing in the folder has changed."""
    before = _look(home)
    with pytest.raises(kind) as caught:
        DurableStateStore(home).put("run-1", a_state("new"), replaces=1, author="h")
    assert _look(home) == before
    assert str(home) not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _look(home: Path) -> dict[str, object]:
    folder = home / "states"
    if not folder.is_dir() or folder.is_symlink():
        return {}
    return {
        name: (folder / name).read_bytes()
        for name in sorted(os.listdir(folder))
        if (folder / name).is_file() and not name.endswith("-shm")
    }


def test_a_newer_schema_is_refused_by_name_and_not_touched(tmp_path: Path) -> None:
    filled(tmp_path, versions=1)
    alter(tmp_path, "PRAGMA user_version=2")
    data = file_of(tmp_path).read_bytes()
    said = _refused(tmp_path, StoreTooNew)
    assert "version 1 or older, got 2" in said
    store = DurableStateStore(tmp_path)
    for act in (store.names, lambda: store.get("run-1"), lambda: store.history("run-1")):
        with pytest.raises(StoreTooNew):
            act()
    assert file_of(tmp_path).read_bytes() == data
    assert os.listdir(tmp_path / "states") == ["states.sqlite3"]


@pytest.mark.parametrize(
    "content",
    [b"", b"no database at all", b"SQLite format 3\0", b"\0" * 4096],
    ids=["empty", "text", "cut", "zeros"],
)
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "states").mkdir(mode=0o700)
    file_of(tmp_path).write_bytes(content)
    file_of(tmp_path).chmod(0o600)
    _refused(tmp_path, NoStateStore)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir(mode=0o700)
    with closing(sqlite3.connect(file_of(tmp_path))) as base:
        base.execute("CREATE TABLE bookmarks (url)")
    file_of(tmp_path).chmod(0o600)
    assert "another SQLite file" in _refused(tmp_path, NoStateStore)


def test_one_in_another_mode_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, versions=1)
    alter(tmp_path, "PRAGMA journal_mode=DELETE")
    assert "write-ahead" in _refused(tmp_path, StoreDamaged)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON versions BEGIN DELETE FROM versions; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more (a)",
        "CREATE INDEX i ON versions (author)",
        "ALTER TABLE versions ADD COLUMN more",
        "DROP TABLE resolutions",
        "DROP INDEX selections_of_a_state",
    ],
)
def test_another_schema_is_refused(tmp_path: Path, statement: str) -> None:
    filled(tmp_path, versions=1)
    alter(tmp_path, statement)
    with pytest.raises(StoreDamaged, match="schema"):
        DurableStateStore(tmp_path).put("run-1", a_state(), replaces=1, author="h")
    with pytest.raises(StoreDamaged):
        DurableStateStore(tmp_path).get("run-1")


def _move_and_link(home: Path) -> None:
    os.rename(file_of(home), home / "elsewhere")
    file_of(home).symlink_to(home / "elsewhere")


def _hard_link(home: Path) -> None:
    os.link(file_of(home), home / "second-name")


def _link_the_folder(home: Path) -> None:
    os.rename(home / "states", home / "elsewhere")
    (home / "states").symlink_to(home / "elsewhere")


def _folder_for_file(home: Path) -> None:
    file_of(home).unlink()
    file_of(home).mkdir()


def _pipe(home: Path) -> None:
    file_of(home).unlink()
    os.mkfifo(file_of(home), 0o600)


def _link_beside(ending: str) -> Callable[[Path], None]:
    def plant(home: Path) -> None:
        victim = home / "victim"
        victim.write_bytes(b"words of somebody else")
        (home / f"states/states.sqlite3{ending}").symlink_to(victim)

    return plant


def _journal(home: Path) -> None:
    (home / "states/states.sqlite3-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 64)


def _log_alone(home: Path) -> None:
    file_of(home).unlink()
    (home / "states/states.sqlite3-wal").write_bytes(b"left over")


@pytest.mark.parametrize(
    "plant",
    [
        _move_and_link,
        _hard_link,
        _link_the_folder,
        _folder_for_file,
        _pipe,
        _link_beside("-wal"),
        _link_beside("-shm"),
        _link_beside("-journal"),
        _journal,
        _log_alone,
        lambda home: file_of(home).chmod(0o640),
        lambda home: file_of(home).chmod(0o602),
        lambda home: (home / "states").chmod(0o770),
    ],
    ids=[
        "link", "hard_link", "folder_link", "folder", "pipe", "wal_link", "shm_link",
        "journal_link", "journal", "log_alone", "group_reads", "others_write", "folder_mode",
    ],
)  # fmt: skip
def test_what_is_not_ours_alone_is_not_opened(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    filled(tmp_path, versions=1)
    plant(tmp_path)
    _refused_new(tmp_path)
    if (tmp_path / "victim").exists():
        assert (tmp_path / "victim").read_bytes() == b"words of somebody else"


def _refused_new(home: Path) -> None:
    before = _look(home)
    for replaces in (1, None):
        with pytest.raises(CtxauditError) as caught:
            DurableStateStore(home).put("run-1", a_state("new"), replaces=replaces, author="h")
        assert "\n" not in str(caught.value)
    assert _look(home) == before


def test_one_that_others_may_read_is_read_from_a_copy(tmp_path: Path) -> None:
    filled(tmp_path)
    file_of(tmp_path).chmod(0o644)
    assert DurableStateStore(tmp_path).get("run-1").version == 3
    assert os.listdir(tmp_path / "states") == ["states.sqlite3"]


@pytest.mark.skipif(not is_root(), reason="only root gives files away: NOT tested")
def test_another_users_file_is_read_and_not_written(tmp_path: Path) -> None:
    filled(tmp_path)
    os.chown(file_of(tmp_path), 12345, 12345)
    assert "another user's" in _refused(tmp_path, StoreUnsafe)
    assert DurableStateStore(tmp_path).get("run-1").version == 3


def test_a_file_that_is_replaced_meanwhile_is_told(tmp_path: Path) -> None:
    filled(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(empty_database())
    other.chmod(0o600)
    with (
        pytest.raises(StoreUnsafe, match="same file"),
        TrustedRoot(tmp_path) as root,
        open_for_writing(root) as database,
        database.transaction(),
    ):
        os.replace(other, file_of(tmp_path))


def test_nothing_but_reading_and_adding_is_permitted(tmp_path: Path) -> None:
    filled(tmp_path)
    before = tables_of(tmp_path)
    with TrustedRoot(tmp_path) as root, open_for_writing(root) as database:
        for sql in (
            "DELETE FROM versions",
            "UPDATE versions SET author = 'me'",
            "DROP TABLE versions",
            "CREATE TABLE t (a)",
            "CREATE TEMP TABLE t (a)",
            "CREATE TRIGGER t AFTER INSERT ON versions BEGIN SELECT 1; END",
            "ATTACH ':memory:' AS other",
            "PRAGMA writable_schema=ON",
            "PRAGMA journal_mode=DELETE",
            "SELECT load_extension('x')",
            "SELECT sqlite_version()",
            "VACUUM",
            "REINDEX",
            "INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
        ):
            with pytest.raises((StoreDamaged, StoreBusy)):
                list(database.rows(sql, ()))
    assert tables_of(tmp_path) == before


def test_another_writer_is_waited_for_and_then_told(tmp_path: Path) -> None:
    filled(tmp_path)
    with closing(sqlite3.connect(file_of(tmp_path), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store = DurableStateStore(tmp_path, busy_timeout_seconds=0.01)
        with pytest.raises(StoreBusy):
            store.put("run-1", a_state(), replaces=3, author="h")
        assert store.get("run-1").version == 3  # readers do not wait
        other.execute("ROLLBACK")
    assert store.put("run-1", a_state(), replaces=3, author="h").version == 4


def test_a_name_that_a_dead_maker_left_is_taken_away(tmp_path: Path) -> None:
    filled(tmp_path, versions=1)
    twin = tmp_path / "states/.ctxaudit-0123456789abcdef.tmp"
    from provenance.fs import is_temporary_name

    assert is_temporary_name(twin.name)
    os.link(file_of(tmp_path), twin)
    assert DurableStateStore(tmp_path).put("run-1", a_state(), replaces=1, author="h").version == 2
    assert not twin.exists()


def test_a_new_file_without_unnamed_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)
    filled(tmp_path, versions=2)
    assert os.listdir(tmp_path / "states") == ["states.sqlite3"]


def test_two_makers_make_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_by_another() -> bytes:
        monkeypatch.undo()
        filled(tmp_path, versions=2)
        return empty_database()

    monkeypatch.setattr(module, "empty_database", made_by_another)
    assert DurableStateStore(tmp_path).put("x", a_state(), replaces=None, author="h").version == 1
    assert DurableStateStore(tmp_path).names() == ("run-1", "x")


def test_a_home_with_a_name_that_a_uri_would_read(tmp_path: Path) -> None:
    home = tmp_path / "a?mode=memory&x=%41#b \udcff"
    filled(home, versions=2)
    assert file_of(home).stat().st_size > 4096
    assert DurableStateStore(home).get("run-1").version == 2


def test_a_log_that_is_left_behind_is_read_and_written_on(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    filled(home, versions=1)
    with closing(sqlite3.connect(file_of(home), isolation_level=None)) as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT count(*) FROM versions").fetchone()
        DurableStateStore(home).put("run-1", a_state("in the log"), replaces=1, author="h")
        assert (home / "states/states.sqlite3-wal").stat().st_size > 0
        shutil.copytree(home, copy)  # as a crash leaves it
    (copy / "states/states.sqlite3-shm").unlink()
    store = DurableStateStore(copy)
    assert store.get("run-1").state == a_state("in the log")
    assert store.put("run-1", a_state(), replaces=2, author="h").version == 3


# --- the schema's versions ------------------------------------------------------------------------


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ctxaudit of tomorrow, whose schema has one more table."""
    steps = (*layout._STEPS, ("CREATE TABLE more (a TEXT)",))
    monkeypatch.setattr(layout, "_STEPS", steps)
    monkeypatch.setattr(layout, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(module, "SCHEMA_VERSION", 2)
    layout._own_schema.cache_clear()
    layout.empty_database.cache_clear()


@pytest.fixture(autouse=True)
def no_cache_is_left() -> object:
    yield
    layout._own_schema.cache_clear()
    layout.empty_database.cache_clear()


def test_an_older_schema_is_brought_up_in_one_step(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    filled(tmp_path)
    old = tables_of(tmp_path)
    request.getfixturevalue("newer")
    store = DurableStateStore(tmp_path)
    assert store.put("run-1", a_state(), replaces=3, author="h").version == 4
    assert tables_of(tmp_path)["versions"][:3] == old["versions"]
    assert tables_of(tmp_path)["more"] == []


def test_a_step_that_fails_leaves_the_old_schema(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    old = tables_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(layout, "_STEPS", (*layout._STEPS, ("CREATE TABLE more (a)", "NONSENSE")))
        patch.setattr(module, "SCHEMA_VERSION", 2)
        patch.setattr(layout, "SCHEMA_VERSION", 2)
        with pytest.raises(StoreDamaged):
            DurableStateStore(tmp_path).put("run-1", a_state(), replaces=3, author="h")
    assert tables_of(tmp_path) == old
    layout._own_schema.cache_clear()
    assert DurableStateStore(tmp_path).get("run-1").version == 3


def test_a_new_file_is_whole_before_it_has_its_name() -> None:
    data = empty_database()
    assert data[:16] == b"SQLite format 3\0"
    assert data[18:20] == b"\2\2"
    assert int.from_bytes(data[68:72]) == APPLICATION_ID
    assert len(data) % int.from_bytes(data[16:18]) == 0
