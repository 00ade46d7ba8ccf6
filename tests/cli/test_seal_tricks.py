"""What somebody with a hand in a home tries against its seals: none of it is judged more softly."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.sealing.checkpoint import Checkpoint
from provenance.sealing.keys import sign_note
from tests.cli.sealed_homes import SIGNER, SealedHome

Alter = Callable[[SealedHome], None]
Call = Callable[..., Any]


def put(home: Path, name: str, version: int) -> None:
    fact = DurableFact("f", f"claim {version}", "transcript:s1:2", "2026-01-01T00:00:00Z")
    with DurableStateStore(home) as store:
        state = DurableContextState([fact])
        store.put(name, state, replaces=version - 1 or None, author="me")


@pytest.fixture(scope="session")
def _once(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    home = SealedHome.make(tmp_path_factory.mktemp("tricks"))
    for name, versions in (("kept", 2), ("other", 1)):
        for version in range(1, versions + 1):
            put(home.path, name, version)
    (home.path / "receipts").mkdir()
    home.seal()
    return home


@pytest.fixture
def sealed(_once: SealedHome, tmp_path: Path) -> SealedHome:
    return _once.copy_into(tmp_path)


def verify(call: Call, home: SealedHome, *options: str | Path) -> Any:
    done = call("verify", home.path, "--seal", home.public, "--format", "json", *options)
    assert done.out, done.err
    return done


def told(done: Any, severity: str = "error") -> set[tuple[str, str]]:
    found = done.report["findings"]
    return {(one["code"], one["target"]) for one in found if one["severity"] == severity}


def codes(done: Any, severity: str = "error") -> set[str]:
    return {code for code, _ in told(done, severity)}


def seal(call: Call, home: SealedHome, *options: str | Path) -> Any:
    return call("seal", home.path, "--key", home.key, *options)


def artifact(home: SealedHome, number: int) -> Path:
    """Give the file of an artifact: 0 is cited, 1 is not."""
    entry = json.loads(home.lines("s1/tool-results.jsonl")[number])
    return home.path / "s1/tool-results" / str(entry["filename"])


def append_removed(home: SealedHome, number: int, event: str = "removed") -> None:
    line = json.loads(home.lines("s1/tool-results.jsonl")[number]) | {"event": event}
    with (home.path / "s1/tool-results.jsonl").open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")


# --- the log ------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("content", [b"", None])
def test_a_checkpoint_numbered_zero_is_none(
    call: Call, sealed: SealedHome, content: bytes | None, leaves: bool
) -> None:
    first = sealed.checkpoint(1).read_bytes()
    for path in (sealed.path / "seals").iterdir():
        if path.suffix == ".checkpoint" or not leaves:
            path.unlink()
    zero = sealed.path / "seals/000000.checkpoint"
    zero.write_bytes(first if content is None else content)
    lines = sealed.lines("transcripts/s2.jsonl")
    sealed.write_lines("transcripts/s2.jsonl", [lines[0].replace(b"words", b"x"), *lines[1:]])
    done = verify(call, sealed)
    assert done.code == 14
    assert codes(done) == {"seals_missing"}
    assert "seal_file_unknown" in codes(done, "warning")
    done = call("log", "prove", "transcript:s1:2", "--home", sealed.path)
    assert (done.code, "seals_missing" in done.err) == (14, True)
    # No new history begins where one was.
    done = seal(call, sealed)
    assert (done.code, done.out) == (14, "")
    assert "seals/000000.checkpoint" in done.err
    assert "seals_missing" in done.err
    assert not sealed.checkpoint(1).exists()


def test_a_checkpoint_numbered_zero_beside_a_log_is_a_stranger(
    call: Call, sealed: SealedHome
) -> None:
    (sealed.path / "seals/000000.checkpoint").touch()
    done = verify(call, sealed)
    assert done.code == 0
    assert codes(done, "warning") == {"seal_file_unknown"}
    done = seal(call, sealed)
    assert (done.code, "seal_file_unknown" in done.err) == (0, True)


def test_entries_of_later_seals_without_checkpoints_are_the_rest_of_a_log(
    call: Call, sealed: SealedHome
) -> None:
    for number in (1, 2):
        sealed.checkpoint(number).unlink()
    done = seal(call, sealed)
    assert (done.code, "seals/000002-" in done.err) == (14, True)


def test_entries_of_a_first_seal_that_was_killed_are_told_and_no_hindrance(
    call: Call, tmp_path: Path
) -> None:
    home = SealedHome.make(tmp_path)
    home.checkpoint(1).unlink()
    home.append("s1", 1)
    done = seal(call, home)
    assert (done.code, "seal_unfinished" in done.err) == (0, True)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("put_there", [_pipe, Path.touch])
def test_what_is_no_folder_is_no_log_and_not_nothing(
    call: Call, sealed: SealedHome, put_there: Callable[[Path], None]
) -> None:
    shutil.rmtree(sealed.path / "seals")
    put_there(sealed.path / "seals")
    assert codes(verify(call, sealed)) == {"seals_unreadable"}
    assert seal(call, sealed).code == 14


def test_seals_put_together_are_found_by_the_checkpoint_that_is_held(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    """Names are part of a log: the first seal is gone, its entries stand under the second."""
    held = tmp_path / "held"
    held.write_bytes(sealed.checkpoint(1).read_bytes())
    assert verify(call, sealed, "--seal-checkpoint", held).code == 0
    first, second = sealed.leaves(1), sealed.leaves(2)
    both = first.read_bytes() + second.read_bytes()
    first.unlink()
    second.unlink()
    second.with_name(second.name.replace("000002", "000001")).write_bytes(both)
    sealed.checkpoint(2).replace(sealed.checkpoint(1))
    done = verify(call, sealed, "--seal-checkpoint", held)
    assert (done.code, codes(done)) == (14, {"seal_checkpoint_missing"})
    assert "seal_checkpoint_missing" in seal(call, sealed, "--seal-checkpoint", held).err


def test_entries_planted_under_the_next_name_are_named_with_what_to_do(
    call: Call, sealed: SealedHome
) -> None:
    sealed.append("s2", 1)
    copy = sealed.copy("copy")
    copy.seal()
    planted = sealed.path / "seals" / copy.leaves(3).name
    for put_there in (lambda: planted.write_text("x"), planted.mkdir):
        put_there()
        done = seal(call, sealed)
        assert done.code == 14
        assert "seal_name_taken" in done.err
        assert planted.name in done.err
        assert "remove it" in done.err
        assert call("explain", "seal_name_taken").code == 0
        planted.rmdir() if planted.is_dir() else planted.unlink()
    # What a killed run left is the very same.
    shutil.copy(copy.leaves(3), planted)
    assert seal(call, sealed).code == 0


def test_seal_holds_the_log_against_the_checkpoint_that_is_held(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    old = sealed.copy("old")
    held = tmp_path / "held"
    sealed.append("s1", 1)
    done = seal(call, sealed, "--seal-checkpoint", sealed.checkpoint(1))
    assert done.code == 0
    held.write_text(done.out, encoding="utf-8")
    sealed.append("s1", 1)
    assert seal(call, sealed, "--seal-checkpoint", held).code == 0
    # Set back, of another history, and without a log at all.
    old.append("s1", 1)
    done = seal(call, old, "--seal-checkpoint", held)
    assert (done.code, "seal_older_than_held" in done.err) == (14, True)
    fork = old.copy("fork")
    fork.append("s2", 1)
    fork.seal()
    done = seal(call, fork, "--seal-checkpoint", held)
    assert (done.code, "seal_fork" in done.err) == (14, True)
    shutil.rmtree(old.path / "seals")
    done = seal(call, old, "--seal-checkpoint", held)
    assert (done.code, "seals_missing" in done.err) == (14, True)
    assert not (old.path / "seals").exists()
    held.write_bytes(sign_note(Checkpoint("another.example", 3, bytes(32)).text, SIGNER))
    done = seal(call, sealed, "--seal-checkpoint", held)
    assert (done.code, "seal_other_log" in done.err) == (14, True)
    held.write_text("nothing")
    assert seal(call, sealed, "--seal-checkpoint", held).code == 2


# --- artifacts ----------------------------------------------------------------------------------


def _alter(path: Path) -> None:
    path.write_bytes(b"swapped")


def _link(path: Path) -> None:
    path.rename(path.parent.parent / path.name)
    path.symlink_to(Path("..") / path.name)


def _link_altered(path: Path) -> None:
    _link(path)
    (path.parent.parent / path.name).write_bytes(b"swapped")


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


@pytest.mark.parametrize("number", [0, 1], ids=["cited", "uncited"])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_alter, "sealed_artifact_altered"),
        (Path.unlink, "sealed_artifact_missing"),
        (_link, "sealed_artifact_missing"),
        (_link_altered, "sealed_artifact_missing"),
        (_make_folder, "sealed_artifact_missing"),
        (_make_pipe, "sealed_artifact_missing"),
        (_link_folder, "sealed_artifact_missing"),
    ],
)
def test_a_sealed_artifact_is_there_as_it_was_cited_or_not(
    call: Call, sealed: SealedHome, number: int, change: Callable[[Path], None], code: str
) -> None:
    path = artifact(sealed, number)
    change(path)
    for options in ((), ("--fast",), ("--fail-on", "corrupt"), ("--jobs", "2")):
        done = verify(call, sealed, *options)
        assert done.code == 14, options
        assert (code, f"s1/tool-results/{path.name}") in told(done)
    done = seal(call, sealed)
    assert (done.code, done.out, code in done.err) == (14, "", True)


@pytest.mark.parametrize("number", [0, 1], ids=["cited", "uncited"])
@pytest.mark.parametrize("again", [False, True])
def test_a_line_that_says_removed_and_no_seal_covers_excuses_nothing(
    call: Call, sealed: SealedHome, number: int, again: bool
) -> None:
    path = artifact(sealed, number)
    path.write_bytes(b"swapped")
    append_removed(sealed, number)
    if again:
        append_removed(sealed, number, "stored")
    for options in ((), ("--all",), ("--fast",)):
        done = verify(call, sealed, *options)
        assert done.code == 14
        assert ("sealed_artifact_altered", f"s1/tool-results/{path.name}") in told(done)
    assert "sealed_artifact_altered" in seal(call, sealed).err
    path.unlink()
    path.symlink_to("/nowhere")
    assert "sealed_artifact_missing" in codes(verify(call, sealed))
    path.unlink()
    code = "sealed_artifact_missing" if again else "sealed_artifact_removed"
    done = verify(call, sealed)
    assert (done.code, code in codes(done)) == (14, True)
    done = seal(call, sealed)
    assert (done.code, done.out, code in done.err) == (14, "", True)
    done = seal(call, sealed, "--accept-removed")
    assert done.code == (14 if again else 0)
    if not again:
        done = verify(call, sealed)
        assert done.code == (12 if number == 0 else 0)
        assert ("sealed_artifact_removed", f"s1/tool-results/{path.name}") in told(done, "warning")


def test_a_waiver_for_a_pointer_does_not_cover_its_seal(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    _alter(artifact(sealed, 0))
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(
        f'[[waiver]]\npointer = "{sealed.cited[1]}"\nreason = "r"\nowner = "o"\n'
        "expires = 2099-01-01\n"
    )
    done = verify(call, sealed, "--waivers", waivers)
    assert done.code == 14
    assert "sealed_artifact_altered" in codes(done)


@pytest.mark.parametrize("digits", [12, 64])
def test_a_cited_artifact_is_read_once(
    call: Call, sealed: SealedHome, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from provenance.audit.verifying import PartVerifier

    pointer = sealed.cited[1]
    sealed.state([pointer[: len(pointer) - 64 + digits]])
    sealed.seal()
    asked: list[str] = []
    real = PartVerifier.verify

    def counted(self: PartVerifier, pointers: list[str], *, jobs: int = 1) -> Any:
        asked.extend(pointers)
        return real(self, pointers, jobs=jobs)

    monkeypatch.setattr(PartVerifier, "verify", counted)
    (sealed.path / "ctxaudit.lock").unlink()
    sealed.seal()
    asked.clear()
    assert verify(call, sealed).code == 0
    names = [one.split(":")[2] for one in asked if one.startswith("artifact:")]
    assert len(names) == len(set(names)) == 2


# --- states -------------------------------------------------------------------------------------

STORE = "states/states.sqlite3"


def _sql(home: SealedHome, *statements: str) -> None:
    with sqlite3.connect(home.path / STORE) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def _edit_document(home: SealedHome) -> None:
    _sql(home, "UPDATE versions SET document = x'7b7d' WHERE name = 'kept' AND version = 1")


def _edit_digest(home: SealedHome) -> None:
    _sql(home, f"UPDATE versions SET sha256 = '{'0' * 64}' WHERE name = 'kept' AND version = 2")


def _renumber(home: SealedHome) -> None:
    _sql(home, "UPDATE versions SET version = version + 5 WHERE name = 'kept'")


def _view(home: SealedHome) -> None:
    _sql(
        home,
        "ALTER TABLE versions RENAME TO v0",
        "CREATE VIEW versions AS SELECT * FROM v0",
    )


def _newer(home: SealedHome) -> None:
    _sql(home, "PRAGMA user_version = 99")


def _cut(home: SealedHome) -> None:
    os.truncate(home.path / STORE, 20_000)


def _no_database(home: SealedHome) -> None:
    (home.path / STORE).write_text("nothing")


def _link_store(home: SealedHome) -> None:
    (home.path / STORE).rename(home.path.with_name("store"))
    (home.path / STORE).symlink_to(home.path.with_name("store"))


ONE = {f"{STORE}:kept"}
ALL = {f"{STORE}:kept", f"{STORE}:other"}


@pytest.mark.parametrize(
    ("alter", "states"),
    [
        (_edit_document, ONE),
        (_edit_digest, ONE),
        (_renumber, ONE),
        (_view, ALL),
        (_newer, ALL),
        (_cut, ALL),
        (_no_database, ALL),
        (_link_store, ALL),
    ],
)
def test_a_store_whose_content_does_not_hold_is_proof_and_hides_no_other_state(
    call: Call, sealed: SealedHome, alter: Alter, states: set[str]
) -> None:
    alter(sealed)
    sealed.state(sealed.cited, claim="Edited.")
    done = verify(call, sealed)
    assert done.code == 14
    found = told(done)
    rewritten = {target for code, target in found if code == "sealed_state_versions_rewritten"}
    assert rewritten == states
    assert ("sealed_state_changed", "states/a.json") in found
    assert "seal_not_compared" not in codes(done)
    done = seal(call, sealed)
    assert (done.code, "sealed_state_versions_rewritten" in done.err) == (14, True)


def test_what_was_never_sealed_of_a_store_and_is_damaged_is_not_sealed(
    call: Call, sealed: SealedHome
) -> None:
    put(sealed.path, "kept", 3)
    _sql(sealed, "UPDATE versions SET document = x'7b7d' WHERE name = 'kept' AND version = 3")
    done = seal(call, sealed)
    assert (done.code, "seal_not_compared" in done.err) == (4, True)
    assert "sealed_state_versions_rewritten" not in codes(verify(call, sealed))


def test_a_state_too_long_to_be_the_sealed_one_is_another(call: Call, sealed: SealedHome) -> None:
    os.truncate(sealed.path / "states/a.json", 1 << 40)
    done = verify(call, sealed)
    assert ("sealed_state_changed", "states/a.json") in told(done)
    assert done.code == 14
    assert seal(call, sealed).code == 4


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD\n", '{"schema":"x"}'])
def test_a_lock_file_that_is_none_any_more_is_not_the_sealed_one(
    call: Call, sealed: SealedHome, text: str
) -> None:
    (sealed.path / "ctxaudit.lock").write_text(text)
    done = verify(call, sealed)
    assert done.code == 14
    assert codes(done) & {"sealed_lock_entry_changed", "sealed_lock_entry_removed"}
    assert "seal_not_compared" not in codes(done)


def test_a_ledger_line_too_long_to_be_read_is_not_the_sealed_one(
    call: Call, sealed: SealedHome
) -> None:
    lines = sealed.lines("s1/tool-results.jsonl")
    with (sealed.path / "s1/tool-results.jsonl").open("wb") as file:
        file.write(b" " * (64 << 20) + lines[0])
        file.write(lines[1])
    done = verify(call, sealed)
    assert ("sealed_ledger_line_edited", "s1/tool-results.jsonl") in told(done)
    assert done.code == 14


@pytest.mark.parametrize(("folder", "name"), [("states", "b.json"), ("receipts", "r.json")])
def test_what_is_sealed_as_gone_does_not_come_back(
    call: Call, sealed: SealedHome, folder: str, name: str
) -> None:
    path = sealed.path / folder / name
    if folder == "states":
        sealed.state(sealed.cited, name=name)
    else:
        path.write_text("{}")
    data = path.read_bytes()
    sealed.seal()
    path.unlink()
    assert ("sealed_state_removed", f"{folder}/{name}") in told(verify(call, sealed))
    sealed.seal()
    assert verify(call, sealed).code == 0
    path.write_bytes(data)
    done = verify(call, sealed)
    assert ("sealed_state_changed", f"{folder}/{name}") in told(done)
    assert ("not_sealed", f"{folder}/{name}") not in told(done, "warning")
    # Bytes that never were sealed under that name are a new one.
    path.write_bytes(data + b" ")
    done = verify(call, sealed)
    assert "sealed_state_changed" not in codes(done)
    assert ("not_sealed", f"{folder}/{name}") in told(done, "warning")


def test_a_receipt_is_sealed(call: Call, sealed: SealedHome) -> None:
    path = sealed.path / "receipts/r.json"
    path.write_text("{}")
    assert ("not_sealed", "receipts/r.json") in told(verify(call, sealed), "warning")
    assert b"ctxaudit.leaf/1 state receipts%2Fr.json 1 " in _sealed_now(sealed)
    assert ("not_sealed", "receipts/r.json") not in told(verify(call, sealed), "warning")
    path.write_text("{ }")
    assert ("sealed_state_changed", "receipts/r.json") in told(verify(call, sealed))


def _sealed_now(home: SealedHome) -> bytes:
    return home.leaves(home.seal().number).read_bytes()


# --- policies and limits ------------------------------------------------------------------------


def _edit_event(home: SealedHome) -> None:
    lines = home.lines("transcripts/s1.jsonl")
    lines[4] = lines[4].replace(b"words", b"swords")
    home.write_lines("transcripts/s1.jsonl", lines)


def _edit_ledger(home: SealedHome) -> None:
    lines = home.lines("s1/tool-results.jsonl")
    home.write_lines("s1/tool-results.jsonl", [lines[0], lines[0], lines[1]])


def _alter_uncited(home: SealedHome) -> None:
    path = artifact(home, 1)
    path.write_bytes(b"swapped")
    os.link(path, home.path / "hard-link")


def _alter_state(home: SealedHome) -> None:
    home.state(home.cited, claim="Edited.")


RULE = '[[policy.rule]]\neffect = "deny"\nwhy = "w"\n'
TOP = '[policy]\ndefault = "allow"\n\n'


@pytest.mark.parametrize(
    ("text", "alter", "code"),
    [
        (f'{TOP}{RULE}session = "s1"\n', _edit_event, "sealed_event_edited"),
        (f'{TOP}{RULE}session = "s1"\n', _alter_uncited, "sealed_artifact_altered"),
        (f'{TOP}{RULE}kind = "artifact"\n', _alter_uncited, "sealed_artifact_altered"),
        (f'{TOP}{RULE}name = "any"\n', _edit_ledger, "sealed_ledger_line_edited"),
        (f'{TOP}{RULE}name = "*.txt"\n', _alter_uncited, "sealed_artifact_altered"),
        (f'{TOP}{RULE}tenant = "acme"\n', _edit_event, "sealed_event_edited"),
        ('[policy]\ndefault = "deny"\n', _edit_event, "sealed_event_edited"),
        ('refuse = ["hard-links"]\n', _alter_uncited, "sealed_artifact_altered"),
        ('refuse = ["world-writable"]\n', _alter_state, "sealed_state_changed"),
        ("[limits]\nmax_artifact_bytes = 3\n", _alter_uncited, "sealed_artifact_altered"),
        ("[limits]\nmax_record_bytes = 3\n", _edit_event, "sealed_event_edited"),
        ("[limits]\nmax_nesting = 1\n", _alter_state, "sealed_state_changed"),
    ],
)
def test_a_home_does_not_soften_its_seals_by_its_own_settings(
    call: Call, sealed: SealedHome, text: str, alter: Alter, code: str
) -> None:
    (sealed.path / "ctxaudit.toml").write_text(text)
    before = verify(call, sealed, "--as-tenant", "acme")
    assert not {one for one in codes(before) if "seal" in one}
    alter(sealed)
    done = verify(call, sealed, "--as-tenant", "acme", "--fail-on", "corrupt")
    assert done.code == 14
    assert code in codes(done)
    assert {one for one in codes(done) if "seal" in one} <= {code, "sealed_events_removed"}


def _codex(path: Path, session: str, count: int) -> None:
    meta = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": session}}
    lines = [json.dumps(meta)]
    for number in range(count):
        content = [{"type": "input_text", "text": f"event {number}"}]
        payload = {"type": "message", "role": "user", "content": content}
        record = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("rule", ['session = "private"', 'session = "*"', 'kind = "transcript"'])
def test_what_the_home_denies_is_sealed_all_the_same(
    call: Call, sealed: SealedHome, tmp_path: Path, rule: str
) -> None:
    """A configuration that is there while it is sealed, and gone when somebody looks."""
    sealed.append("private", 2)
    config = sealed.path / "ctxaudit.toml"
    config.write_text(f"{TOP}{RULE}{rule}\n")
    done = seal(call, sealed)
    assert (done.code, "private" in done.err) == (0, False)
    held = tmp_path / "held"
    held.write_text(done.out, encoding="utf-8")
    config.unlink()
    file = sealed.path / "transcripts/private.jsonl"
    file.write_bytes(file.read_bytes().replace(b"words", b"swords", 1))
    done = verify(call, sealed, "--seal-checkpoint", held)
    assert (done.code, codes(done)) == (14, {"sealed_event_edited"})


def test_what_the_home_denies_and_no_seal_covers_yet_is_not_told(
    call: Call, sealed: SealedHome
) -> None:
    """A session that only the content of a foreign log names is asked for by its own name."""
    (sealed.path / "ctxaudit.toml").write_text(f'{TOP}{RULE}session = "private"\n')
    _codex(sealed.path / "transcripts/rollout-x.jsonl", "private", 3)
    for count in (3, 4):
        done = verify(call, sealed)
        assert done.code == 0, done.out
        assert "private" not in done.out
        assert not [one for one in codes(done) | codes(done, "warning") if "seal" in one]
        done = seal(call, sealed)
        assert (done.code, "private" in done.err) == (0, False)
        _codex(sealed.path / "transcripts/rollout-x.jsonl", "private", count + 1)
    assert len(sealed.leaves(3).read_bytes().splitlines()) == 4
    assert len(sealed.leaves(4).read_bytes().splitlines()) == 1


def test_a_second_log_of_a_sealed_foreign_session_is_named(call: Call, sealed: SealedHome) -> None:
    _codex(sealed.path / "transcripts/rollout-x.jsonl", "s9", 3)
    sealed.seal()
    _codex(sealed.path / "transcripts/aaa.jsonl", "s9", 2)
    done = verify(call, sealed)
    assert not [one for one in codes(done) if "seal" in one], done.out
    (told,) = (one for one in done.report["findings"] if one["code"] == "not_sealed")
    assert (told["severity"], told["target"]) == ("warning", "transcripts/aaa.jsonl")
    # Where the sealed one is changed beside it, that is told of the file that it is.
    path = sealed.path / "transcripts/rollout-x.jsonl"
    path.write_text(path.read_text().replace("event 2", "event X"))
    done = verify(call, sealed)
    (told,) = (one for one in done.report["findings"] if one["code"] == "sealed_event_edited")
    assert (done.code, told["target"]) == (14, "transcripts/rollout-x.jsonl")


def test_a_home_does_not_hide_a_sealed_session_by_denying_the_name_of_its_file(
    call: Call, sealed: SealedHome
) -> None:
    path = sealed.path / "transcripts/rollout-x.jsonl"
    _codex(path, "s9", 3)
    sealed.seal()
    (sealed.path / "ctxaudit.toml").write_text(f'{TOP}{RULE}session = "rollout-x"\n')
    assert verify(call, sealed).code == 0
    _codex(path, "s9", 4)
    assert seal(call, sealed).code == 0
    assert "not_sealed" not in codes(verify(call, sealed), "warning")
    path.write_text(path.read_text().replace("event 1", "event X"))
    done = verify(call, sealed)
    assert (done.code, "sealed_event_edited" in codes(done)) == (14, True)


def test_what_the_operator_denies_is_counted_and_not_named(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    _codex(sealed.path / "transcripts/rollout-x.jsonl", "private", 3)
    sealed.append("hidden", 1)
    sealed.seal()
    _codex(sealed.path / "transcripts/rollout-x.jsonl", "private", 2)
    (sealed.path / "transcripts/hidden.jsonl").write_text("{}\n")
    policy = tmp_path / "policy.toml"
    rules = "".join(
        f'[[rule]]\neffect = "deny"\nsession = "{name}"\n' for name in ("private", "hidden")
    )
    policy.write_text(f'default = "allow"\n{rules}')
    done = verify(call, sealed, "--policy", policy)
    assert done.code == 0, done.out
    assert "private" not in done.out
    assert "hidden" not in done.out
    (note,) = (one for one in done.report["findings"] if one["code"] == "seal_not_asked")
    assert (note["severity"], note["target"]) == ("info", ".")
    assert "got 2 sessions" in note["message"]
    assert done.report["summary"]["findings"]["seal_not_asked"] == 1
    assert codes(verify(call, sealed)) >= {"sealed_event_edited", "sealed_events_removed"}


def test_what_is_not_sealed_is_told_once(call: Call, sealed: SealedHome) -> None:
    sealed.append("s1", 1)
    sealed.state(["transcript:s1:6"])
    done = verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 14
    found = [one for one in done.report["findings"] if one["code"] == "not_sealed"]
    assert [one["severity"] for one in found] == ["error"]
    done = verify(call, sealed)
    found = [one for one in done.report["findings"] if one["code"] == "not_sealed"]
    assert [one["severity"] for one in found] == ["warning"]


@pytest.mark.parametrize("code", ["nothing_to_seal", "seal_refused", "seal_name_taken"])
def test_what_seal_says_has_a_page(call: Call, code: str) -> None:
    assert call("explain", code).code == 0


def test_what_seal_refuses_is_said_with_its_code(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = call("seal", tmp_path / "empty", "--key", sealed.key)
    assert "(nothing_to_seal)" in done.err
    _edit_event(sealed)
    assert "(seal_refused)" in seal(call, sealed).err


_LOGS = ["transcripts/s1.jsonl", "s1/tool-results.jsonl"]


@pytest.mark.parametrize("name", _LOGS)
@pytest.mark.parametrize("tail", [b"x", b'{"a":', b"\xff", b" "])
def test_a_line_that_is_not_whole_is_told_once(
    call: Call, sealed: SealedHome, name: str, tail: bytes
) -> None:
    with (sealed.path / name).open("ab") as file:
        file.write(tail)
    done = verify(call, sealed)
    assert done.code == 0
    (found,) = [one for one in done.report["findings"] if one["code"] == "not_sealed"]
    assert found["severity"] == "warning"
    assert found["target"] == name
    assert found["message"].endswith(f"got a line that is not whole ({len(tail)} bytes)")


@pytest.mark.parametrize("name", _LOGS)
def test_what_is_left_of_a_sealed_line_is_no_new_one(
    call: Call, sealed: SealedHome, name: str
) -> None:
    file = sealed.path / name
    file.write_bytes(file.read_bytes()[:-7])
    done = verify(call, sealed)
    assert done.code == 14
    assert ("not_sealed", name) not in told(done, "warning")


@pytest.mark.parametrize("name", _LOGS)
def test_a_line_that_is_not_whole_behind_new_ones_adds_no_second_warning(
    call: Call, sealed: SealedHome, name: str
) -> None:
    file = sealed.path / name
    file.write_bytes(file.read_bytes() + b"{}\n{")
    found = [one for one in verify(call, sealed).report["findings"] if one["code"] == "not_sealed"]
    assert [one["message"].rpartition(", ")[2] for one in found] == ["got 1 more"]


@pytest.mark.parametrize("name", _LOGS)
def test_a_last_line_that_lacks_its_end_alone_is_as_it_was_sealed(
    call: Call, sealed: SealedHome, name: str
) -> None:
    file = sealed.path / name
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    done = verify(call, sealed)
    assert (done.code, codes(done)) == (0, set()), done.out
    assert call("seal", sealed.path, "--key", sealed.key).code == 0


def test_another_log_that_claims_a_sealed_session_is_told(call: Call, sealed: SealedHome) -> None:
    line = {
        "type": "user", "uuid": "0b0e7a4e-0000-4000-8000-000000000001", "sessionId": "s1",
        "parentUuid": None, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "other words"},
    }  # fmt: skip
    (sealed.path / "transcripts/zz.jsonl").write_text(json.dumps(line) + "\n")
    done = verify(call, sealed)
    assert done.code == 0
    assert ("not_sealed", "transcripts/zz.jsonl") in told(done, "warning")
    assert call("seal", sealed.path, "--key", sealed.key).code == 0
    assert ("not_sealed", "transcripts/zz.jsonl") in told(verify(call, sealed), "warning")
    # A session of its own is covered by the next seal.
    line["sessionId"] = "other"
    (sealed.path / "transcripts/zz.jsonl").write_text(json.dumps(line) + "\n")
    assert call("seal", sealed.path, "--key", sealed.key).code == 0
    assert codes(verify(call, sealed), "warning") == set()
