"""`ctxaudit transcript repair`: what is said of a repair, and when there is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.changing import Changes, append

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"


def _record(number: int) -> bytes:
    value = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": {"content": "hi"}}
    return json.dumps(value).encode()


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(_record(1) + b"\n" + _record(2) + _record(3) + b"\nSECRET\n" + _record(4))
    return path


def test_a_table_of_what_was_changed(damaged: Path, run: Callable[..., Any]) -> None:
    before = damaged.read_bytes()
    new = damaged.parent / "sound.jsonl"
    done = run("transcript", "repair", damaged, "--output", new)
    assert (done.code, done.err) == (0, "")
    rows = done.out.split("\n")
    assert rows[0].split() == [
        "kind",
        "action",
        "line",
        "offset",
        "length",
        "new",
        "line",
        "sha256",
    ]
    assert [row.split()[:3] for row in rows[1:4]] == [
        ["welded_records", "line_end_added", "2"],
        ["invalid_line", "set_aside", "3"],
        ["no_final_newline", "line_end_added", "4"],
    ]
    assert hashlib.sha256(b"SECRET\n").hexdigest() in rows[2]
    assert "4 records kept, 7 bytes set aside, 2 line ends added" in done.out
    assert "SECRET" not in done.out
    assert str(damaged.parent) not in done.out
    assert damaged.read_bytes() == before
    assert new.read_bytes() == b"".join(_record(number) + b"\n" for number in (1, 2, 3, 4))
    # A second time there is nothing to do.
    done = run("transcript", "repair", new, "--output", damaged.parent / "again.jsonl")
    assert done.code == 0
    assert "nothing to repair: 4 records" in done.out
    assert {path.name for path in damaged.parent.iterdir()} == {
        "damaged.jsonl",
        "sound.jsonl",
        "sound.jsonl.changes",
    }
    assert run("transcript", "check", new).code == 0


def test_the_list_as_json(damaged: Path, call: Callable[..., Any]) -> None:
    new = damaged.parent / "sound.jsonl"
    report = call("transcript", "repair", damaged, "--output", new, "--format", "json").report
    assert report["schema"] == "ctxaudit.repair/1"
    assert report["output_sha256"] == hashlib.sha256(new.read_bytes()).hexdigest()
    changes = new.with_name("sound.jsonl.changes").read_bytes()
    assert report["changes_sha256"] == hashlib.sha256(changes).hexdigest()
    assert (report["output"], report["changes_file"]) == ("sound.jsonl", "sound.jsonl.changes")
    assert report["counts"] == {"invalid_line": 1, "no_final_newline": 1, "welded_records": 1}
    assert report["changes"][1]["sha256"] == hashlib.sha256(b"SECRET\n").hexdigest()
    again = call(
        *("transcript", "repair", new, "--output", damaged.parent / "x", "--format", "json")
    ).report
    assert (again["output"], again["changes"], again["counts"]) == (None, [], {})


def test_native_pointers_that_stay_corrupt_are_named(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 4)
    path = home.path / "transcripts" / "s1.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:9], *lines[2:]]))
    new = home.path.parent / "s1.jsonl"
    done = call("transcript", "repair", path, "--output", new)
    assert done.code == 0
    assert "line 2 has the sequence number of another line" in done.err
    assert call("transcript", "repair", path, "--output", home.path / "b", "--quiet").err == ""


def test_what_cannot_be_repaired(damaged: Path, call: Callable[..., Any]) -> None:
    folder = damaged.parent
    taken = folder / "taken.jsonl"
    taken.write_bytes(b"mine")
    text = folder / "notes.md"
    text.write_bytes(b"text\n")
    for file, output, said in (
        (_DATA / "openai-agents" / "sessions.db", "new", "openai-agents, which has none"),
        (_DATA / "inspect" / "log_message_deduplication.eval", "new", "inspect, which has none"),
        (_DATA / "gemini-cli/session-whole-json/full.jsonl", "new", "another container"),
        (_DATA / "openhands" / "conversation", "new", "regular file"),
        (text, "new", "known format"),
        (folder / "nowhere.jsonl", "new", "nothing of that name"),
        (damaged, "taken.jsonl", "expected a name that is free"),
        (damaged, "damaged.jsonl", "expected a name that is free"),
        (damaged, "nowhere/new", "folder that exists"),
        (damaged, "..", "component"),
    ):
        done = call("transcript", "repair", file, "--output", folder / output)
        assert (done.code, done.out) == (2, ""), said
        assert said in done.err
        assert len(done.err.splitlines()) == 1
        assert str(folder) not in done.err
    assert call("transcript", "repair", damaged).code == 2
    assert taken.read_bytes() == b"mine"
    assert {path.name for path in folder.iterdir()} == {
        "damaged.jsonl",
        "notes.md",
        "taken.jsonl",
    }


def test_a_file_that_changes_meanwhile(damaged: Path, call: Callable[..., Any]) -> None:
    with Changes({2: lambda: append(damaged, b"\n")}):
        done = call("transcript", "repair", damaged, "--output", damaged.parent / "new.jsonl")
    assert (done.code, done.out) == (4, "")
    assert "nothing was written" in done.err
    assert [path.name for path in damaged.parent.iterdir()] == ["damaged.jsonl"]
