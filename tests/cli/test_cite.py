"""`ctxaudit cite`: pointers to what holds a text, and to nothing that is not available."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.changing import Changes, overwrite

_DATA = Path(__file__).resolve().parent.parent / "data" / "transcripts"


def _claude(number: int, text: str) -> bytes:
    value = {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": "0b6c",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(value, ensure_ascii=False).encode()


def test_native_pointers_resolve(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 12)
    for target in (home.path, home.path / "transcripts", home.path / "transcripts" / "s1.jsonl"):
        done = call("cite", target, "--grep", "event 1")
        assert (done.code, done.err) == (0, "")
        rows = [line.split("\t") for line in done.out.splitlines()]
        assert [row[0] for row in rows] == [f"transcript:s1:{n}" for n in (1, 10, 11, 12)]
    pointers = "\n".join(row[0] for row in rows).encode()
    done = call("verify", "-", home.path, "--format", "json", stdin=pointers)
    assert done.code == 0
    found = {one["pointer"]: one["evidence_sha256"] for one in done.report["results"]}
    assert found == {row[0]: row[1] for row in rows}


def test_what_stands_behind_damage_is_not_cited(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 5)
    path = home.path / "transcripts" / "s1.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], b"torn", *lines[3:]]))
    done = call("cite", path, "--grep", "event")
    assert done.code == 0
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [
        "transcript:s1:1",
        "transcript:s1:2",
    ]
    (told,) = done.err.splitlines()
    assert "transcript:s1:4: not available (transcript_invalid_json), and 1 more" in told
    done = call("cite", path, "--grep", "event 5")
    assert (done.code, done.out) == (3, "")
    # A key that stands twice in the cited event.
    path.write_bytes(lines[0].replace(b'"type"', b'"content": "x", "type"') + b"\n")
    assert call("cite", path, "--grep", "event 1").code == 3


def test_a_foreign_transcript(tmp_path: Path, call: Callable[..., Any]) -> None:
    path = tmp_path / "full.jsonl"
    records = [_claude(1, "hello"), _claude(2, "Deploy\x1b[31m\tGRÜN now"), _claude(3, "deploy")]
    path.write_bytes(records[0] + b"\n" + records[1] + records[2] + b"\n")
    cite = ("cite", path, "--grep")
    done = call(*cite, "eploy")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"transcript:0b6c:{number}\t{hashlib.sha256(records[number - 1]).hexdigest()}\tu{number}"
        for number in (2, 3)
    ]
    assert call(*cite, "deploy").out.count("\n") == 1
    assert call(*cite, "dEPLOY", "--ignore-case").out.count("\n") == 2
    assert call(*cite, "grün", "--ignore-case").out.count("\n") == 1
    assert call(*cite, "eploy", "--limit", "1").out.count("\n") == 1
    assert call(*cite, "eploy", "--kind", "user").out == done.out
    assert call(*cite, "eploy", "--kind", "assistant").code == 3
    # Only what is said is searched, and as it stands.
    assert call(*cite, "0b6c").code == 3
    assert call(*cite, "dep.oy").code == 3
    shown = call(*cite, "GRÜN", "--show").out
    assert shown.endswith("\tDeploy\\x1b[31m\\tGRÜN now\n")
    (row,) = call(*cite, "GRÜN", "--format", "json").lines
    assert row == {
        "pointer": "transcript:0b6c:2",
        "sha256": hashlib.sha256(records[1]).hexdigest(),
        "native_id": "u2",
        "kind": "user",
        "target": "full.jsonl",
        "line": 2,
    }
    (row,) = call(*cite, "GRÜN", "--format", "json", "--show").lines
    assert row["excerpt"] == "Deploy\\x1b[31m\\tGRÜN now"


def test_a_foreign_pointer_resolves(tmp_path: Path, call: Callable[..., Any]) -> None:
    (tmp_path / "full.jsonl").write_bytes(_claude(1, "a") + b"\n" + _claude(2, "b") + b"\n")
    pointer, digest, _ = call("cite", tmp_path, "--grep", "b").out.split("\t")
    done = call(
        *("verify", "--pointer", pointer, "--transcript-root", tmp_path, "--format", "json")
    )
    assert done.code == 0
    assert done.report["results"][0]["evidence_sha256"] == digest


def test_a_long_text_is_shown_in_part(tmp_path: Path, call: Callable[..., Any]) -> None:
    (tmp_path / "a.jsonl").write_bytes(_claude(1, "x" * 500 + "NEEDLE" + "y" * 500))
    excerpt = call("cite", tmp_path, "--grep", "NEEDLE", "--show").out.split("\t")[3]
    assert excerpt == "..." + "x" * 40 + "NEEDLE" + "y" * 120 + "...\n"


def test_a_tree_of_many_formats(call: Callable[..., Any]) -> None:
    done = call("cite", _DATA, "--grep", "e", "--format", "json")
    assert done.code == 0
    targets = {row["target"].split("/")[0] for row in done.lines}
    # The logs of dsh are one session in many states: no two of them agree.
    assert targets >= {"codex", "gemini-cli", "inspect", "openai-agents", "openhands"}
    assert "transcript_session_mismatch" in done.err
    assert "dsh" not in targets


def test_records_of_a_database_are_numbered_in_their_session(call: Callable[..., Any]) -> None:
    done = call("cite", _DATA / "openai-agents" / "sessions.db", "--grep", "", "--format", "json")
    assert done.code == 2  # an empty text is a mistake
    done = call("cite", _DATA / "openai-agents" / "sessions.db", "--grep", "e", "--format", "json")
    assert done.code == 0
    pointers = [row["pointer"] for row in done.lines]
    assert len(set(pointers)) == len(pointers)


def test_a_large_transcript_comes_in_batches(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 2_500)
    done = call("cite", home.path, "--grep", "event")
    assert done.out.count("\n") == 2_500
    done = call("cite", home.path, "--grep", "event", "--limit", "1234")
    assert done.out.count("\n") == 1_234


def test_a_file_that_changes_meanwhile_is_not_cited(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_claude(1, "text") + b"\n")
    ends = itertools.cycle([b" ", b"\n"])
    last = path.stat().st_size - 1
    with Changes(lambda: overwrite(path, last, next(ends))):
        done = call("cite", path, "--grep", "text")
    assert (done.code, done.out) == (4, "")
    assert "source_changed_during_read" in done.err


def test_what_a_home_denies_is_not_read(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 1)
    home.transcript("s2", 1)
    home.config('[[rule]]\neffect = "deny"\nkind = "transcript"\nsession = "s1"\nwhy = "no"\n')
    done = call("cite", home.path, "--grep", "event")
    assert done.out.startswith("transcript:s2:1\t")
    assert done.out.count("\n") == 1
    assert "policy_denied" in done.err


def test_what_is_no_transcript_in_a_tree(
    tmp_path: Path, home: Any, call: Callable[..., Any]
) -> None:
    home.transcript("s1", 1)
    home.artifact("s1", "a.jsonl", "event 1")
    folder = home.path / "transcripts"
    (folder / "notes.md").write_text("event 1")
    (folder / "link.jsonl").symlink_to(folder / "s1.jsonl")
    (folder / "bad name.jsonl").write_bytes((folder / "s1.jsonl").read_bytes())
    done = call("cite", home.path, "--grep", "event 1")
    assert done.code == 0
    assert done.out.count("\n") == 1
    assert "link.jsonl: a link" in done.err
    assert "bad name.jsonl: not available (unaddressable_file)" in done.err


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["nowhere", "--grep", "x"], 2, "nothing of that name"),
        (["notes.md", "--grep", "x"], 2, "known format"),
        (["home"], 2, "--grep"),
        (["--grep", "x"], 2, "TRANSCRIPT"),
        (["home", "--grep", "x", "--limit", "0"], 2, "--limit"),
        (["home", "--grep", "x", "--as", "nonsense"], 2, "--as"),
        (["home", "--grep", "x"], 3, "no record"),
    ],
)
def test_usage(
    home: Any,
    call: Callable[..., Any],
    args: list[str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home.path.parent)
    Path("notes.md").write_text("text x")
    done = call("cite", *args)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_two_folders_of_events_are_two_sessions(tmp_path: Path, call: Callable[..., Any]) -> None:
    pointers = []
    for name in ("conv-1", "conv-2"):
        folder = tmp_path / name / "events"
        shutil.copytree(_DATA / "openhands" / "conversation" / "events", folder)
        pointer = call("cite", folder, "--grep", "README").out.partition("\t")[0]
        assert pointer == call("cite", folder.parent, "--grep", "README").out.partition("\t")[0]
        assert call("verify", "--pointer", pointer, folder).code == 0
        pointers.append(pointer)
    assert [one.split(":")[1] for one in pointers] == ["conv-1", "conv-2"]
    assert call("verify", "--pointer", pointers[0], tmp_path / "conv-2" / "events").code == 12
