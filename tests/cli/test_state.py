"""`ctxaudit state log`, `show`, `diff` and `put`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import app
from cli.state_views import difference_lines, log_lines, selections_lines, state_lines
from provenance import (
    DurableContextState,
    DurableFact,
    DurableStateStore,
    PendingItem,
    RetrievalEvidence,
    SelectionCandidate,
    SourceResolution,
    SourceResolutionStatus,
    diff_states,
    transition_pending,
)
from tests.durable.strategies import FRAGMENTS
from tests.stores.stores import T0, Ticking, a_state, alter, file_of, filled

_POINTER = "transcript:s1:3"


def _run(*args: object, **given: Any) -> Result:
    return CliRunner().invoke(app, ["state", *map(str, args)], **given)


def _code(*args: object, **given: Any) -> tuple[int, str]:
    """Run the whole program, so that the last word is its own."""
    from cli.application import run
    from cli.interrupts import Interrupts

    done = _Captured()
    with done:
        code = run(["state", *map(str, args)], Interrupts())
    assert "Traceback" not in done.err
    assert done.err.count("\n") <= 1
    return code, done.err


class _Captured:
    def __enter__(self) -> _Captured:
        import contextlib
        import io

        self._err, self._out = io.StringIO(), io.StringIO()
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(contextlib.redirect_stderr(self._err))
        self._stack.enter_context(contextlib.redirect_stdout(self._out))
        return self

    def __exit__(self, *error: object) -> None:
        self.err, self.out = self._err.getvalue(), self._out.getvalue()
        self._stack.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state of three versions, with a selection."""
    folder = tmp_path / "home"
    store = DurableStateStore(folder, clock=Ticking())
    port = DurableFact("port", "The port is 8443.", "transcript:s1:1", T0)
    ship = PendingItem("ship", "Ship it.", "transcript:s1:2", T0)
    memory = RetrievalEvidence("m1", "note:7", "note", "Ports", T0, 0.5, 1, "port")
    first = DurableContextState([port], [ship], [memory], session="s1", turn=4)
    store.put(
        "run-1", first, replaces=None, author="harness", note="after turn 4", confirmed_by="user",
        conflict_keys={"port": "port"},
    )  # fmt: skip
    second = transition_pending(
        first, "ship", "done", confirmed_at="2026-01-01T10:00:00Z", confirmed_by="tool:pytest",
        source_pointer="transcript:s1:8",
    )  # fmt: skip
    store.put("run-1", second, replaces=1, author="harness", confirmed_by="tool:pytest")
    third = replace(
        second,
        facts=[
            replace(port, content="The port is 9443."),
            DurableFact("os", "It is Linux.", _POINTER, T0),
        ],
        retrieval_evidence=(),
        turn=5,
    )
    store.put("run-1", third, replaces=2, author="harness")
    made = store.record_selection(
        "run-1",
        query="which port?",
        candidates=[SelectionCandidate("m1", 0.5, 1, "transcript:s1:1", "port"), "m2"],
        winners=["m1"],
        reasons={"m2": "older"},
    )
    store.link_resolution(
        made.selection_id,
        SourceResolution(
            "transcript:s1:1", SourceResolutionStatus.MISSING, "transcript",
            reason="transcript_missing",
        ),
    )  # fmt: skip
    return folder


_LOG = """\
run-1
  version 3  2026-03-02T09:00:03.000000Z  by harness, replaces 2: 1 fact changed, 1 fact added, \
1 piece of evidence removed
  version 2  2026-03-02T09:00:02.000000Z  by harness, replaces 1: 1 pending item completed
  version 1  2026-03-02T09:00:01.000000Z  by harness: 1 fact added, 1 pending item added, \
1 piece of evidence added
    note: after turn 4
"""


def test_log(home: Path) -> None:
    done = _run("log", home)
    assert done.exit_code == 0
    assert done.output == _LOG
    assert _run("log", home, "run-1").output == _LOG
    changes = _run("log", home, "run-1", "--changes").output
    assert (
        "    completed  pending item ship: confirmed 2026-01-01T10:00:00Z by tool:pytest "
        "from transcript:s1:8\n"
    ) in changes


def test_log_as_json(home: Path) -> None:
    DurableStateStore(home).put("other", a_state(), replaces=None, author="h")
    said = json.loads(_run("log", home, "--format", "json").output)
    assert said["schema"] == "ctxaudit.state-log/1"
    assert [one["name"] for one in said["states"]] == ["other", "run-1"]
    first, second, _ = said["states"][1]["versions"]
    assert (first["version"], first["replaces"], first["conflict_keys"]) == (
        1,
        None,
        {"port": "port"},
    )
    assert second["changes"] == [
        {
            "kind": "pending",
            "id": "ship",
            "change": "completed",
            "source_pointer": "transcript:s1:8",
            "confirmed_at": "2026-01-01T10:00:00Z",
            "confirmed_by": "tool:pytest",
        }
    ]


_SHOW = """\
state      run-1
version    1 (3 is current), replaces nothing
written    2026-03-02T09:00:01.000000Z by harness
note       after turn 4
sha256     {sha256} ({bytes} bytes)
belongs to session s1 turn 4

Changes in this version
  added      fact port: confirmed 2026-01-01T09:00:00Z by user from transcript:s1:1
  added      pending item ship: confirmed 2026-01-01T09:00:00Z by user from transcript:s1:2
  added      piece of evidence m1: confirmed 2026-01-01T09:00:00Z by user from note:7

Confirmed facts
  port: The port is 8443.
      confirmed 2026-01-01T09:00:00Z from transcript:s1:1, won conflict port

Pending work
  ship: Ship it. (open)
      confirmed 2026-01-01T09:00:00Z from transcript:s1:2

Retrieval evidence
  m1: Ports
      captured 2026-01-01T09:00:00Z from note note:7, score 0.5, rank 1, won conflict port
"""


def test_show(home: Path) -> None:
    info = DurableStateStore(home).get("run-1", 1).info
    done = _run("show", home, "run-1", "--version", 1)
    assert done.output == _SHOW.format(sha256=info.sha256, bytes=info.bytes)
    assert (
        "version    3 (the current one), replaces version 2" in _run("show", home, "run-1").output
    )


def test_show_as_json_is_what_was_stored(home: Path) -> None:
    store = DurableStateStore(home)
    for number in (1, 2, 3):
        done = _run("show", home, "run-1", "--version", number, "--format", "json")
        assert done.stdout_bytes == store.get("run-1", number).document
        assert DurableContextState.from_json(done.stdout) == store.get("run-1", number).state


_SELECTIONS = """\
Selection 1 (version 3, 2026-03-02T09:00:04.000000Z)
  query: which port?
  won   m1 (score 0.5, rank 1, conflict port, source transcript:s1:1)
  lost  m2: older
  verified 2026-03-02T09:00:05.000000Z: transcript:s1:1 missing (transcript_missing)
"""


def test_show_with_selections(home: Path) -> None:
    assert _run("show", home, "run-1", "--selections").output.endswith("\n\n" + _SELECTIONS)
    earlier = _run("show", home, "run-1", "--selections", "--version", 2).output
    assert earlier.endswith("\n\nNo selections were recorded.\n")
    said = json.loads(_run("show", home, "run-1", "--selections", "--format", "json").output)
    assert said["schema"] == "ctxaudit.state-selections/1"
    (one,) = said["selections"]
    assert (one["winners"], one["losers"], one["reasons"]) == (["m1"], ["m2"], {"m2": "older"})
    assert one["resolutions"][0]["resolution"]["status"] == "missing"


_DIFF = """\
run-1: version 1 to version 3
turn: 4 -> 5
changed    fact port
           - content: The port is 8443.
           + content: The port is 9443.
added      fact os
           + fact_id: os
           + content: It is Linux.
           + source_pointer: transcript:s1:3
           + last_confirmed_at: 2026-01-01T09:00:00Z
completed  pending item ship
           - source_pointer: transcript:s1:2
           + source_pointer: transcript:s1:8
           - last_confirmed_at: 2026-01-01T09:00:00Z
           + last_confirmed_at: 2026-01-01T10:00:00Z
           - status: open
           + status: done
removed    piece of evidence m1
           - memory_id: m1
           - source_id: note:7
           - source_type: note
           - source_title: Ports
           - captured_at: 2026-01-01T09:00:00Z
           - score: 0.5
           - source_rank: 1
           - conflict_key: port
"""


def test_diff(home: Path) -> None:
    assert _run("diff", home, "run-1", 1, 3).output == _DIFF
    assert _run("diff", home, "run-1", 1).output == _DIFF
    assert _run("diff", home, "run-1").output.startswith("run-1: version 2 to version 3\n")
    assert _run("diff", home, "run-1", 0, 1).output.startswith(
        "run-1: nothing to version 1\nsession"
    )
    assert (
        _run("diff", home, "run-1", 2, 2).output
        == "run-1: version 2 to version 2\nNo difference.\n"
    )
    said = json.loads(_run("diff", home, "run-1", 1, 3, "--format", "json").output)
    assert (said["schema"], said["before"], said["after"]) == ("ctxaudit.state-diff/1", 1, 3)
    assert said["turn"] == {"before": 4, "after": 5}
    assert [(one["kind"], one["id"], one["change"]) for one in said["changes"]] == [
        ("fact", "port", "changed"),
        ("fact", "os", "added"),
        ("pending", "ship", "completed"),
        ("evidence", "m1", "removed"),
    ]
    assert said["changes"][0]["before"]["content"] == "The port is 8443."
    assert said["changes"][3]["after"] is None


def test_diff_of_an_order(tmp_path: Path) -> None:
    store = filled(tmp_path, versions=2)
    state = store.get("run-1").state
    store.put("run-1", replace(state, facts=state.facts[::-1]), replaces=2, author="h")
    assert _run("diff", tmp_path, "run-1").output == (
        "run-1: version 2 to version 3\nreordered  facts: f2, f1\n"
    )


def test_put_and_its_conflict(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "a.json"
    home.mkdir()
    file.write_text(a_state("one").to_json())
    done = _run("put", home, "run-1", file, "--replaces", "none", "--author", "ops", "--note", "x")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("run-1 version 1 ")
    code, said = _code("put", home, "run-1", file, "--replaces", "none", "--author", "ops")
    assert code == 2
    assert "version 1, got none" in said
    done = _run(
        "put", home, "run-1", "-", "--replaces", 1, "--author", "ops", "--format", "json",
        "--conflict-key", "f1=port", "--confirmed-by", "user",
        input=a_state("two").to_json(),
    )  # fmt: skip
    assert json.loads(done.output) == {
        "name": "run-1",
        "version": 2,
        "sha256": DurableStateStore(home).get("run-1").sha256,
    }
    kept = DurableStateStore(home).get("run-1").info
    assert (kept.author, kept.conflict_keys) == ("ops", {"f1": "port"})
    assert kept.changes[0].confirmed_by == "user"
    done = _run(
        "put", home, "run-1", file, "--replaces", 2, "--author", "o", "--conflict-key", "f1="
    )
    assert DurableStateStore(home).get("run-1").info.conflict_keys == {}


@pytest.mark.parametrize(
    "args",
    [
        ["--replaces", "0"],
        ["--replaces", "01"],
        ["--replaces", "-1"],
        ["--replaces", "1" * 30],
        ["--replaces", "None"],
        ["--replaces", "none", "--author", " "],
        ["--replaces", "none", "--confirmed-by", "model"],
        ["--replaces", "none", "--conflict-key", "f1"],
        ["--replaces", "none", "--conflict-key", "f9=x"],
        [],
    ],
)
def test_put_refuses(tmp_path: Path, args: list[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text(a_state("one").to_json())
    args = args if "--author" in args else [*args, "--author", "ops"]
    code, said = _code("put", tmp_path / "home", "run-1", file, *args)
    assert code == 2, said
    assert (
        not file_of(tmp_path / "home").exists() or not DurableStateStore(tmp_path / "home").names()
    )


def test_put_refuses_what_is_no_state(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for content in (b"", b"\xff", b'{"schema": "ctxaudit.state/1", "fact": []}'):
        file.write_bytes(content)
        code, said = _code(
            "put", tmp_path / "home", "run-1", file, "--replaces", "none", "--author", "o"
        )
        assert (code, "a.json" in said) == (2, True)
    assert (
        _code("put", tmp_path, "run-1", tmp_path / "b", "--replaces", "none", "--author", "o")[0]
        == 2
    )
    assert not (tmp_path / "home").exists()


def test_put_into_what_is_not_safe(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(a_state("one").to_json())
    home = tmp_path / "home"
    filled(home, versions=1)
    file_of(home).chmod(0o644)
    code, said = _code("put", home, "run-1", file, "--replaces", 1, "--author", "o")
    assert (code, "chmod 600" in said) == (1, True)
    assert _code("log", home) == (0, "")


_READS = (("log",), ("log", "run-1"), ("show", "run-1"), ("diff", "run-1"))


@pytest.mark.parametrize("args", _READS, ids=" ".join)
@pytest.mark.parametrize(
    ("plant", "code"),
    [
        (shutil.rmtree, 2),
        (lambda home: shutil.rmtree(home / "states"), 12),
        (lambda home: file_of(home).unlink(), 12),
        (lambda home: alter(home, "PRAGMA user_version=3"), 11),
        (lambda home: file_of(home).write_bytes(b"words"), 14),
        (lambda home: alter(home, "PRAGMA application_id=3"), 14),
        (lambda home: alter(home, "UPDATE versions SET author = x'00'"), 14),
        (lambda home: os.truncate(file_of(home), 4096), 14),
        (lambda home: alter(home, "UPDATE versions SET created_at = char(27) || '[2J'"), 14),
    ],
    ids=["home", "folder", "file", "newer", "text", "foreign", "cell", "cut", "time"],
)
def test_exit_codes_of_reading(
    home: Path, args: tuple[str, ...], plant: Callable[[Path], object], code: int
) -> None:
    plant(home)
    got, said = _code(args[0], home, *args[1:])
    assert got == code, said
    assert said.startswith("ctxaudit")
    assert said.strip().isprintable()
    assert str(home.parent) not in said


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("log", "run-9"), 12),
        (("log", "\x1b[2J"), 2),
        (("show", "run-9"), 12),
        (("show", "run-1", "--version", "4"), 12),
        (("show", "run-1", "--version", "0"), 2),
        (("show", "run-1", "--version", "x"), 2),
        (("diff", "run-1", "1", "4"), 12),
        (("diff", "run-1", "9"), 12),
        (("diff", "run-1", "0", "0"), 2),
        (("diff", "run-9"), 12),
    ],
)
def test_what_is_not_there(home: Path, args: tuple[str, ...], code: int) -> None:
    got, said = _code(args[0], home, *args[1:])
    assert got == code, said
    assert "\x1b" not in said


def test_one_damaged_history_is_told_and_the_others_are_printed(home: Path) -> None:
    filled(home, name="sound")
    alter(home, "DELETE FROM versions WHERE name = 'run-1' AND version = 2")
    done = _run("log", home)
    assert done.exit_code == 14
    assert done.stdout.startswith("sound\n")
    assert "expected version 2 of run-1" in done.stderr


def test_reading_writes_nothing(home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for args in _READS:
        assert _code(args[0], home, *args[1:])[0] == 0
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_no_text_of_a_store_steers_the_terminal(tmp_path: Path) -> None:
    evil = [text for text in FRAGMENTS if text.split()]
    fact = [DurableFact(f"{n}{text}", text, text, T0) for n, text in enumerate(evil)]
    memory = [
        RetrievalEvidence(f"{n}{text}", text, text, text, T0, 0.5, 1, f"{n}{text}")
        for n, text in enumerate(evil)
    ]
    item = [
        PendingItem(f"{n}{text}", text, text, T0, "blocked", text) for n, text in enumerate(evil)
    ]
    state = DurableContextState(fact, item, memory, session=evil[0])
    store = DurableStateStore(tmp_path)
    name = "\x1b[31mme"
    store.put("run", state, replaces=None, author=name, note=name, confirmed_by=f"user:{name}")
    store.record_selection(
        "run", query=name, candidates=memory, winners=[memory[0].memory_id],
        reasons={memory[1].memory_id: name},
    )  # fmt: skip
    kept = store.get("run")
    lines = [
        *log_lines([store.history("run")], has_changes=True),
        *state_lines(kept, current=1),
        *selections_lines(store.selections()),
        *difference_lines("run", 0, 1, diff_states(DurableContextState(), state)),
    ]
    assert len(lines) > 4 * len(evil)
    for line in lines:
        assert line.isprintable(), ascii(line)
    for args in (("log", "--format", "json"), ("diff", "run", "--format", "json")):
        assert _run(args[0], tmp_path, *args[1:]).output.replace("\n", "").isascii()


def test_help_without_a_command() -> None:
    done = _run()
    assert done.exit_code == 2
    for name in ("log", "show", "diff", "put"):
        assert f"  {name} " in done.stderr


def test_the_release_that_is_installed_is_no_version_of_a_state(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXAUDIT_VERSION", "0.1.0")
    assert _run("show", home, "run-1").exit_code == 0


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM versions WHERE version = 2", "the history of a state is not whole"),
        ("UPDATE versions SET document = x'00' WHERE version = 3", "a state cannot be read"),
        ("PRAGMA user_version=9", "a state cannot be read"),
    ],
)
def test_verify_says_what_is_wrong_with_a_store(home: Path, statement: str, said: str) -> None:
    alter(home, statement)
    done = CliRunner().invoke(app, ["verify", str(home)])
    assert done.exit_code == 14
    assert said in done.output


def test_a_terminal_gets_the_json_that_this_program_writes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib
    import sqlite3
    from contextlib import closing

    data = a_state("QQ").to_json().replace("QQ", "\x9b31m").encode()
    with closing(sqlite3.connect(file_of(home), isolation_level=None)) as base:
        base.execute(
            "UPDATE versions SET document = ?, bytes = ?, sha256 = ? WHERE version = 3",
            (data, len(data), hashlib.sha256(data).hexdigest()),
        )
    assert _run("show", home, "run-1", "--format", "json").stdout_bytes == data
    monkeypatch.setattr("cli.states._is_terminal", lambda: True)
    shown = _run("show", home, "run-1", "--format", "json").stdout_bytes
    assert "\x9b".encode() not in shown
    assert DurableContextState.from_json(shown.decode()) == DurableContextState.from_json(
        data.decode()
    )


_REWRITES = {
    "document": "UPDATE versions SET document = x'7b7d' WHERE version = 2",
    "word": "UPDATE changes SET change = 'confirmed' WHERE version = 2",
    "pointer": "UPDATE changes SET source_pointer = 'transcript:s9:9' WHERE version = 2",
    "row": "DELETE FROM changes WHERE version = 2",
    "added row": (
        "INSERT INTO changes VALUES ('run-1', 2, 7, 'fact', 'x', 'added', 'p', "
        "'2026-01-01T09:00:00Z', 'user')"
    ),
    "key of nobody": "INSERT INTO conflict_keys VALUES ('run-1', 2, 'fact', 'k', 'nobody')",
    "key of evidence": "UPDATE conflict_keys SET conflict_key = 'x' WHERE kind = 'evidence'",
    "evidence without": "DELETE FROM conflict_keys WHERE kind = 'evidence'",
}


@pytest.mark.parametrize("name", _REWRITES)
def test_a_rewritten_history_is_told(home: Path, name: str) -> None:
    assert _run("log", home).exit_code == 0
    alter(home, _REWRITES[name])
    for args in (("log", home), ("log", home, "run-1", "--format", "json")):
        done = _run(*args)
        assert done.exit_code == 14, done.output
        assert "run-1" in done.stdout
    done = _run("show", home, "run-1", "--version", 2, "--format", "json")
    assert done.exit_code == 14
    # What has its digest is still to be had.
    assert ("ctxaudit.state/1" in done.stdout) == (name != "document")
    found = CliRunner().invoke(app, ["verify", str(home), "--all", "--format", "json"])
    codes = {one["code"] for one in json.loads(found.stdout)["findings"]}
    assert codes & {"state_history_broken", "state_unreadable"}


def test_who_confirmed_does_not_follow_from_a_document(home: Path) -> None:
    alter(home, "UPDATE changes SET confirmed_by = 'user'")
    assert _run("log", home).exit_code == 0


def test_rows_that_a_removed_version_left_are_told(home: Path) -> None:
    alter(home, "DELETE FROM versions WHERE version = 3")
    done = _run("log", home)
    assert done.exit_code == 14
    assert "run-1 version 3" in done.stderr
    found = CliRunner().invoke(app, ["verify", str(home), "--all"])
    assert "state_history_broken" in found.stdout


def test_selections_are_those_of_the_version_that_is_shown(home: Path) -> None:
    store = DurableStateStore(home)
    store.record_selection("run-1", query="an older one", candidates=["m"], winners=[], version=1)
    store.record_selection("new", query="before any", candidates=["m"], winners=[])

    def shown(*args: object) -> dict[str, Any]:
        done = _run("show", home, *args, "--selections", "--format", "json")
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    for args, version, queries in (
        (["run-1"], 3, ["which port?"]),
        (["run-1", "--version", 1], 1, ["an older one"]),
        (["run-1", "--all"], None, ["which port?", "an older one"]),
        (["new"], None, ["before any"]),
    ):
        said = shown(*args)
        assert said["version"] == version
        assert [one["query"] for one in said["selections"]] == queries
    assert "before any version" in _run("show", home, "new", "--selections").stdout
    assert _run("show", home, "new").exit_code == 12
    assert _run("show", home, "ghost", "--selections").exit_code == 12


def test_an_answer_without_a_reason_is_shown_without_one(home: Path) -> None:
    store = DurableStateStore(home)
    store.link_resolution(
        1, SourceResolution("transcript:s1:1", SourceResolutionStatus.MISSING, "transcript")
    )
    out = _run("show", home, "run-1", "--selections").stdout
    assert "None" not in out
    assert "transcript:s1:1 missing\n" in out


def test_the_log_tells_what_came_as_done(tmp_path: Path) -> None:
    item = PendingItem("ship", "Ship it.", "transcript:s1:2", T0)
    state = DurableContextState((), [item, replace(item, item_id="sold", status="done")])
    DurableStateStore(tmp_path).put("run-1", state, replaces=None, author="h", confirmed_by="user")
    out = _run("log", tmp_path, "--changes").stdout
    assert "added      pending item ship:" in out
    assert "added as done  pending item sold:" in out
    assert "1 pending item added, 1 pending item added as done" in out


def _put_order(home: Path, file: Path, *more: object) -> tuple[object, ...]:
    return ("put", home, "run-1", file, "--replaces", "none", "--author", "o", *more)


def test_put_makes_no_home(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(a_state("one").to_json())
    code, said = _code(*_put_order(tmp_path / "hoem", file))
    assert (code, "hoem" in said) == (2, True)
    assert not (tmp_path / "hoem").exists()
    (tmp_path / "home").mkdir()
    assert _code(*_put_order(tmp_path / "home", file))[0] == 0


def test_a_folder_that_others_may_write_is_not_damaged(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(a_state("one").to_json())
    (tmp_path / "home/states").mkdir(parents=True)
    (tmp_path / "home/states").chmod(0o775)
    code, said = _code(*_put_order(tmp_path / "home", file))
    assert (code, "chmod go-w" in said) == (1, True)
    (tmp_path / "home/states").chmod(0o755)
    assert _code(*_put_order(tmp_path / "home", file))[0] == 0


def test_a_failing_output_says_what_is_stored(tmp_path: Path, checkout: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    file = tmp_path / "a.json"
    file.write_text(a_state("one").to_json())
    (tmp_path / "home").mkdir()
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cli", "state", *map(str, _put_order(tmp_path / "home", file))],
            cwd=checkout,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "run-1 version 1 is stored" in done.stderr
    assert DurableStateStore(tmp_path / "home").names() == ("run-1",)


def test_a_fact_may_have_the_sign_in_its_id(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    fact = DurableFact("a=b", "x", _POINTER, T0)
    file.write_text(DurableContextState([fact]).to_json())
    (tmp_path / "home").mkdir()
    assert _code(*_put_order(tmp_path / "home", file, "--conflict-key", "a=b=port"))[0] == 0
    (version,) = DurableStateStore(tmp_path / "home").history("run-1")
    assert version.conflict_keys == {"a=b": "port"}
