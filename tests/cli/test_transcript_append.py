"""`ctxaudit transcript append`: a pointer for each event, and nothing torn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_GOOD = b'{"type":"message","content":"one"}\n'


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_events_from_standard_input_and_from_a_file(
    home: Any, run: Callable[..., Any], call: Callable[..., Any]
) -> None:
    append = ("transcript", "append", "run-1")
    done = run(*append, "--home", home.path, stdin=_GOOD + '{"content":"zwö"}'.encode())
    assert (done.code, done.err) == (0, "")
    assert done.out == "transcript:run-1:1\ntranscript:run-1:2\n"
    path = home.path / "transcripts" / "run-1.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    more = home.path.parent / "events.jsonl"
    more.write_bytes(_GOOD.replace(b"\n", b"\r\n"))
    done = call(*append, more, "--transcript-root", path.parent, "--format", "json")
    line = path.read_bytes().split(b"\n")[2]
    assert done.lines == [
        {
            "pointer": "transcript:run-1:3",
            "sequence": 3,
            "sha256": hashlib.sha256(line).hexdigest(),
        }
    ]
    assert [event["content"] for event in _events(path)] == ["one", "zwö", "one"]
    pointers = [f"--pointer=transcript:run-1:{number}" for number in (1, 2, 3)]
    assert call("verify", home.path, *pointers).code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"sequence":9}', "event.sequence: expected no such field, got one"),
        (b"{", "event: JSON: expected"),
        (b"", "event: expected a JSON object, got an empty line"),
        (b"[1]", "event: expected a JSON object, got an array"),
        (b'"text"', "event: expected a JSON object, got a string"),
        (b"7", "event: expected a JSON object, got a number"),
        (b"null", "event: expected a JSON object, got null"),
        (b'{"a":1,"a":2}', "event: JSON: expected"),
        (b'{"a":NaN}', "event: JSON: expected"),
        (b'{"a":"\xff"}', "event: expected UTF-8"),
        (b'{"a":"\\ud800"}', "event.a: expected Unicode text, got a lone surrogate"),
        (b'{"a":' + b"[" * 600 + b"]" * 600 + b"}", "levels"),
        (
            b'{"a":{"n":1e400}}',
            "event.a.n: expected a number that a 64-bit float holds, got a larger",
        ),
        (b'{"n":' + b"9" * 5000 + b"}", "event.n: expected an integer that prints, got too many"),
        (b'{"a":"' + b"x" * (1 << 20) + b'"}', "event: expected at most 1048576 bytes"),
        (b'{"a":"' + b"x" * (7 << 20) + b'"}', "event: expected at most 6291456 bytes"),
        (b'{"a":"' + b"x" * (7 << 20), "event: expected at most 6291456 bytes"),
    ],
)
def test_the_first_bad_event_ends_it(
    home: Any, call: Callable[..., Any], line: bytes, said: str
) -> None:
    append = ("transcript", "append", "run-1", "--home", home.path)
    done = call(*append, stdin=_GOOD * 2 + line + b"\n" + _GOOD)
    assert done.code == 2
    assert done.out == "transcript:run-1:1\ntranscript:run-1:2\n"
    (told,) = done.err.splitlines()
    assert "line 3: " in told
    assert said in told
    assert "2 events before it were appended" in told
    path = home.path / "transcripts" / "run-1.jsonl"
    assert len(_events(path)) == 2
    assert path.read_bytes().endswith(b"\n")


def test_where_the_first_is_bad_nothing_is_made(home: Any, call: Callable[..., Any]) -> None:
    done = call("transcript", "append", "run-1", "--home", home.path, stdin=b"{\n")
    assert (done.code, done.out) == (2, "")
    assert "appended" not in done.err
    assert not (home.path / "transcripts" / "run-1.jsonl").exists()


@pytest.mark.parametrize("tail", [b'{"torn', b"no record\n"])
def test_a_damaged_end_is_left_alone(home: Any, call: Callable[..., Any], tail: bytes) -> None:
    home.transcript("s1", 2)
    path = home.path / "transcripts" / "s1.jsonl"
    before = path.read_bytes() + tail
    path.write_bytes(before)
    done = call("transcript", "append", "s1", "--home", home.path, stdin=_GOOD)
    assert (done.code, done.out) == (14, "")
    (told,) = done.err.splitlines()
    assert "ctxaudit transcript repair" in told
    assert str(home.path) not in told
    assert path.read_bytes() == before
    # As it says: a sound copy can be appended to.
    sound = home.path.parent / "sound"
    sound.mkdir()
    assert call("transcript", "repair", path, "--output", sound / "s1.jsonl").code == 0
    done = call("transcript", "append", "s1", "--transcript-root", sound, stdin=_GOOD)
    assert done.out == "transcript:s1:3\n"


_CLAUDE = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"content": "hi"}}


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(_CLAUDE).encode() + b"\n",
        json.dumps(_CLAUDE).encode(),
        b'{"torn\n' + json.dumps(_CLAUDE).encode() + b"\n",
    ],
)
def test_another_agents_log_is_left_alone(home: Any, call: Callable[..., Any], data: bytes) -> None:
    path = home.path / "transcripts" / "s1.jsonl"
    path.parent.mkdir()
    path.write_bytes(data)
    for root in (["--home", home.path], ["--transcript-root", path.parent]):
        done = call("transcript", "append", "s1", *root, stdin=_GOOD)
        assert (done.code, done.out) == (14, "")
        (told,) = done.err.splitlines()
        assert told == (
            "ctxaudit transcript append: s1.jsonl: expected a transcript of ctxaudit's own or "
            "none, got another agent's; nothing was written"
        )
        assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == ["s1.jsonl"]
    # Beside it there is room for another session.
    done = call("transcript", "append", "s2", "--home", home.path, stdin=_GOOD)
    assert (done.code, done.out) == (0, "transcript:s2:1\n")


def test_what_older_writers_left_is_added_to(home: Any, call: Callable[..., Any]) -> None:
    path = home.path / "transcripts" / "s1.jsonl"
    path.parent.mkdir()
    path.write_bytes(b'{"type":"message","role":"user","content":"no envelope"}\n')
    done = call("transcript", "append", "s1", "--home", home.path, stdin=_GOOD)
    assert (done.code, done.out) == (0, "transcript:s1:2\n")


def test_a_long_integer_is_kept(home: Any, call: Callable[..., Any]) -> None:
    line = b'{"at":1790000000123456789,"big":-' + b"9" * 4000 + b"}\n"
    assert call("transcript", "append", "s1", "--home", home.path, stdin=line).code == 0
    (event,) = _events(home.path / "transcripts" / "s1.jsonl")
    assert event["at"] == 1790000000123456789
    assert event["big"] == -int("9" * 4000)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["run-1"], "--home"),
        (["../x", "--home", "home"], "session_id"),
        (["run-1", "nowhere.jsonl", "--home", "home"], "nowhere.jsonl"),
        (["run-1", "home", "--home", "home"], "home"),
        (["--home", "home"], "SESSION"),
    ],
)
def test_usage(
    home: Any,
    call: Callable[..., Any],
    args: list[str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home.path.parent)
    done = call("transcript", "append", *args)
    assert (done.code, done.out) == (2, "")
    assert named in done.err
    assert len(done.err.splitlines()) == 1
    assert list(home.path.iterdir()) == []


def test_an_empty_input_is_no_success(home: Any, call: Callable[..., Any]) -> None:
    done = call("transcript", "append", "run-1", "--home", home.path, stdin=b"")
    assert (done.code, done.out) == (3, "")


def test_a_file_where_the_folder_belongs(home: Any, call: Callable[..., Any]) -> None:
    (home.path / "transcripts").write_text("a file")
    done = call("transcript", "append", "run-1", "--home", home.path, stdin=_GOOD)
    assert done.code in (1, 2)
    assert len(done.err.splitlines()) == 1
