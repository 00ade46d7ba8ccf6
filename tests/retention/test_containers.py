"""All that a container holds is searched; what is neither text nor a known container stops."""

from __future__ import annotations

import io
import json
import lzma
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.retention.homes import OldHome
from tests.transcripts.adapters.test_inspect_log import log_of, sample

MEMBER = "samples/7_epoch_2.json"


def _cited(home: OldHome) -> set[str]:
    report = home.gc()
    assert report.unreadable == ()
    return {one.artifact.filename for one in report.kept if one.cited_by}


def _log(**changed: object) -> bytes:
    return log_of({MEMBER: sample(**changed)})


def _with(data: bytes, name: str, text: str | bytes, *, comment: str = "") -> bytes:
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        if name:
            archive.writestr(name, text)
        archive.comment = comment.encode()
    return file.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda pointer: _log(metadata={"x": pointer}),
        lambda pointer: _log(attachments={"0" * 32: f"see {pointer}"}),
        lambda pointer: _log(output={"completion": pointer}),
        lambda pointer: _log(scores={"s": {"value": 1, "explanation": pointer}}),
        lambda pointer: log_of(
            {MEMBER: sample(), "header.json": {"eval": {"metadata": pointer}}}, header=False
        ),
        lambda pointer: _with(_log(), "extra/notes.txt", "x" * 999 + pointer),
        lambda pointer: _with(_log(), "", "", comment=pointer),
    ],
)
def test_a_citation_anywhere_in_an_evaluation_log_keeps(
    home: OldHome, make: Callable[[str], bytes]
) -> None:
    home.write("logs/a.eval", make(home.pointers["a.txt"]))
    assert _cited(home) == {"a.txt"}


@pytest.mark.parametrize("inner", [zlib.compress(b"x" * 99), b"PK\x03\x04 any", b"%PDF-1.7\n"])
def test_a_member_that_is_no_text_stops(home: OldHome, inner: bytes) -> None:
    home.write("logs/a.eval", _with(_log(), "extra/inner", inner))
    assert [one.target for one in home.gc(delete=True).unreadable] == ["logs/a.eval"]


def _database(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    path.parent.mkdir(exist_ok=True)
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP,"
        " updated_at TIMESTAMP);"
        "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT"
        " NULL, message_data TEXT NOT NULL, created_at TIMESTAMP);"
        'CREATE TABLE "an \'other" (x, y);'
        "CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
        "INSERT INTO agent_sessions (session_id) VALUES ('s')"
    )
    for statement, values in statements:
        database.execute(statement, values)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        'INSERT INTO "an \'other" VALUES (1, ?)',
        'INSERT INTO "an \'other" VALUES (CAST(? AS BLOB), NULL)',
        "INSERT INTO keyed VALUES ('k', ?)",
        "INSERT INTO agent_sessions (session_id) VALUES (?)",
    ],
)
def test_a_citation_in_any_table_keeps(home: OldHome, statement: str) -> None:
    # So long that the cell goes on in other pages.
    text = "x" * 5_000 + home.pointers["a.txt"] + "y" * 5_000
    _database(home.path / "logs/sessions.db", (statement, (text,)))
    assert _cited(home) == {"a.txt"}


@pytest.mark.parametrize(
    "statement",
    [
        ("INSERT INTO keyed VALUES ('k', ?)", (zlib.compress(b"x"),)),
        ("CREATE VIRTUAL TABLE found USING fts5 (words)", ()),
    ],
)
def test_a_table_that_cannot_be_read_stops(
    home: OldHome, statement: tuple[str, tuple[object, ...]]
) -> None:
    _database(home.path / "logs/sessions.db", statement)
    assert [one.target for one in home.gc().unreadable] == ["logs/sessions.db"]


def test_a_database_is_read_with_its_log_and_the_log_alone_is_no_text(home: OldHome) -> None:
    path = home.path / "logs/sessions.db"
    _database(path)
    writer = sqlite3.connect(path)
    try:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO keyed VALUES ('k', ?)", (home.pointers["a.txt"],))
        writer.commit()
        assert _cited(home) == {"a.txt"}
    finally:
        writer.close()
    home.write("logs/none.db-wal", b"\x37\x7f\x06\x82" + bytes(28))
    assert [one.target for one in home.gc().unreadable] == ["logs/none.db-wal"]


@pytest.mark.parametrize(
    "data",
    [
        b"7z\xbc\xaf\x27\x1c\x00\x04",
        b"\x04\x22\x4d\x18\x64\x40\xa7\x05\x00\x00\x00",
        lzma.compress(b"x" * 99, format=lzma.FORMAT_ALONE),
        zlib.compress(b"see " * 99),
        b"%PDF-1.7\n1 0 obj << /Filter [/ASCII85Decode /FlateDecode] >>",
        b"text \0 and more",
        b"caf\xe9 au lait",
        "no mark".encode("utf-16-le"),
        b"\xff",
    ],
)
def test_what_is_no_text_and_no_known_container_stops(home: OldHome, data: bytes) -> None:
    home.write("notes/x", data)
    assert [one.target for one in home.gc().unreadable] == ["notes/x"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_nearest_that_is_text(home: OldHome, encoding: str) -> None:
    home.write("notes/x", f"é\x1b[0m {home.pointers['a.txt']} 中".encode(encoding)[:-1])
    home.spill("binary.txt", "\0 \x01")
    home.write("notes/empty", b"")
    home.write("notes/short", "é".encode()[:1])
    assert _cited(home) == {"a.txt"}


@pytest.mark.parametrize("name", ["states.sqlite3.json", "states.sqlite3-old.json"])
def test_a_state_called_after_the_store_is_a_state(home: OldHome, name: str) -> None:
    home.state(name, home.pointers["a.txt"])
    assert _cited(home) == {"a.txt"}
    home.write(f"states/{name}", "{")
    assert [one.target for one in home.gc().unreadable] == [f"states/{name}"]


def test_the_document_of_a_log_is_text(home: OldHome) -> None:
    home.write("logs/a.json", json.dumps({"version": 2, "x": home.pointers["a.txt"]}))
    assert _cited(home) == {"a.txt"}
