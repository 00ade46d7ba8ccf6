"""Sealed homes that were altered: each alteration has its code, each look-alike has none."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint
from provenance.sealing.keys import generate_signer, sign_note
from tests.cli.sealed_homes import SIGNER, SealedHome

Alter = Callable[[SealedHome], None]
Call = Callable[..., Any]


@pytest.fixture(scope="session")
def _once(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    return SealedHome.make(tmp_path_factory.mktemp("once"))


@pytest.fixture(scope="session")
def _three_times(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    return SealedHome.make(tmp_path_factory.mktemp("thrice"), seals=3)


@pytest.fixture
def sealed(_once: SealedHome, tmp_path: Path) -> SealedHome:
    return _once.copy_into(tmp_path)


@pytest.fixture
def thrice(_three_times: SealedHome, tmp_path: Path) -> SealedHome:
    return _three_times.copy_into(tmp_path)


def _verify(call: Call, home: SealedHome, *options: str | Path, **environment: str) -> Any:
    done = call(
        "verify", home.path, "--seal", home.public, "--format", "json", *options, **environment
    )
    assert done.out, done.err
    return done


def _codes(done: Any, severity: str = "error") -> set[str]:
    return {one["code"] for one in done.report["findings"] if one["severity"] == severity}


# --- what holds ---------------------------------------------------------------------------------


def test_what_is_as_it_was_sealed_is_sealed(call: Call, sealed: SealedHome) -> None:
    done = _verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 0, done.out
    assert {one["strength"] for one in done.report["results"]} == {"sealed"}
    assert not _codes(done) | _codes(done, "warning")
    (seal,) = done.report["seals"]
    assert seal["is_sound"]
    assert seal["size"] == 7 + 2 + 1 + 2
    assert seal["key"] == SIGNER.verifier.label


def test_without_a_key_nothing_is_sealed(call: Call, sealed: SealedHome) -> None:
    done = call("verify", sealed.path, "--format", "json")
    assert {one["strength"] for one in done.report["results"]} == {"position", "full", "pinned"}
    assert done.report["seals"] == []
    done = call("verify", sealed.path, "--min-strength", "sealed", "--format", "json")
    assert done.code == 14


def test_a_key_inside_the_target_counts_for_nothing(call: Call, sealed: SealedHome) -> None:
    """The target's own word: a log sealed by its own key, and a configuration that names it."""
    other = generate_signer("ctxaudit.example/tests")
    shutil.rmtree(sealed.path / "seals")
    sealed.seal(other)
    (sealed.path / "seals/key.pub").write_text(other.verifier.text)
    (sealed.path / "ctxaudit.toml").write_text('seal = "seals/key.pub"\n')
    done = _verify(call, sealed)
    assert done.code == 14
    assert "seal_key_unknown" in _codes(done)
    assert "sealed" not in {one["strength"] for one in done.report["results"]}


# --- look-alikes --------------------------------------------------------------------------------


def _append_event(home: SealedHome) -> None:
    home.append("s1", 2)


def _new_session(home: SealedHome) -> None:
    home.append("s3", 1)


def _add_artifact(home: SealedHome) -> None:
    from provenance.artifacts import ArtifactStore

    with ArtifactStore(home.path) as store:
        store.spill("s1", "one more", tool="bash")


def _add_state(home: SealedHome) -> None:
    home.state(home.cited, name="b.json")


def _touch_everything(home: SealedHome) -> None:
    for path in home.path.rglob("*"):
        os.utime(path, (1, 1))


def _copy_everything(home: SealedHome) -> None:
    copy = home.copy("copy")
    shutil.rmtree(home.path)
    copy.path.rename(home.path)


def _leave_a_draft(home: SealedHome) -> None:
    (home.path / "seals/.ctxaudit-0123456789abcdef.tmp").write_bytes(b"half")


def _add_a_pin(home: SealedHome) -> None:
    home.pins("transcript:s1:1", "transcript:s1:3", "transcript:s1:4")


def _respell_the_lock(home: SealedHome) -> None:
    path = home.path / "ctxaudit.lock"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4, sort_keys=True))


@pytest.mark.parametrize(
    ("alter", "warnings"),
    [
        (_append_event, {"not_sealed"}),
        (_new_session, {"not_sealed"}),
        (_add_artifact, {"not_sealed"}),
        (_add_state, {"not_sealed"}),
        (_add_a_pin, {"not_sealed"}),
        (_respell_the_lock, set()),
        (_touch_everything, set()),
        (_copy_everything, set()),
        (_leave_a_draft, set()),
    ],
)
def test_what_only_looks_altered(
    call: Call, sealed: SealedHome, alter: Alter, warnings: set[str]
) -> None:
    alter(sealed)
    done = _verify(call, sealed)
    assert done.code == 0, done.out
    assert _codes(done) == set()
    assert _codes(done, "warning") == warnings
    assert {one["strength"] for one in done.report["results"]} == {"sealed"}
    # Sealed again, all of it is covered.
    assert call("seal", sealed.path, "--key", sealed.key).code == 0
    done = _verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 0
    assert not _codes(done, "warning")


def test_a_new_source_that_is_cited_is_a_warning_or_with_min_strength_an_error(
    call: Call, sealed: SealedHome
) -> None:
    sealed.append("s1", 1)
    sealed.state(["transcript:s1:6"])
    sealed.seal()
    sealed.append("s1", 1)
    sealed.state(["transcript:s1:7"], name="new.json")
    done = _verify(call, sealed)
    assert done.code == 0
    found = [one for one in done.report["findings"] if one["code"] == "not_sealed"]
    assert "transcript:s1:7" in {one["location"]["native_id"] for one in found}
    done = _verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 14
    assert {"not_sealed", "evidence_too_weak"} <= _codes(done)


def test_what_no_seal_would_cover_is_an_error(call: Call, sealed: SealedHome) -> None:
    """An artifact without a ledger line: the next seal would not have it either."""
    data = b"slipped in"
    (sealed.path / "s1/tool-results/slipped.txt").write_bytes(data)
    pointer = f"artifact:s1:slipped.txt:{hashlib.sha256(data).hexdigest()}"
    sealed.state([pointer], name="b.json")
    done = _verify(call, sealed)
    assert done.code == 14
    assert _codes(done) == {"not_sealed"}


# --- homes that were altered --------------------------------------------------------------------


def _edit_cited_event(home: SealedHome) -> None:
    lines = home.lines("transcripts/s1.jsonl")
    lines[1] = lines[1].replace(b"words", b"swords")
    home.write_lines("transcripts/s1.jsonl", lines)


def _edit_uncited_event(home: SealedHome) -> None:
    lines = home.lines("transcripts/s2.jsonl")
    lines[0] = lines[0].replace(b"words", b"swords")
    home.write_lines("transcripts/s2.jsonl", lines)


def _add_white_space(home: SealedHome) -> None:
    lines = home.lines("transcripts/s2.jsonl")
    lines[0] = lines[0].replace(b'{"', b'{ "', 1)
    home.write_lines("transcripts/s2.jsonl", lines)


def _cut_tail(home: SealedHome) -> None:
    home.write_lines("transcripts/s1.jsonl", home.lines("transcripts/s1.jsonl")[:-1])


def _cut_tail_and_append(home: SealedHome) -> None:
    _cut_tail(home)
    with (home.path / "transcripts/s1.jsonl").open("ab") as file:
        event = {"sequence": 5, "session_id": "s1", "event_id": "transcript:s1:5", "content": "x"}
        file.write(json.dumps(event).encode() + b"\n")


def _remove_transcript(home: SealedHome) -> None:
    (home.path / "transcripts/s2.jsonl").unlink()


def _link_transcript(home: SealedHome) -> None:
    path = home.path / "transcripts/s2.jsonl"
    path.rename(home.path.with_name("elsewhere.jsonl"))
    path.symlink_to(home.path.with_name("elsewhere.jsonl"))


def _swap_artifact_and_line(home: SealedHome) -> None:
    """The artifact, its ledger line and the state that cites it: all of one piece again."""
    ledger = "s1/tool-results.jsonl"
    lines = home.lines(ledger)
    entry = json.loads(lines[0])
    data = b"swapped"
    (home.path / "s1/tool-results" / entry["filename"]).write_bytes(data)
    old, new = entry["sha256"], hashlib.sha256(data).hexdigest()
    lines[0] = lines[0].replace(old.encode(), new.encode())
    home.write_lines(ledger, lines)
    home.state([pointer.replace(old, new) for pointer in home.cited])


def _swap_uncited_artifact(home: SealedHome) -> None:
    entry = json.loads(home.lines("s1/tool-results.jsonl")[1])
    (home.path / "s1/tool-results" / entry["filename"]).write_bytes(b"swapped")


def _remove_uncited_artifact(home: SealedHome) -> None:
    entry = json.loads(home.lines("s1/tool-results.jsonl")[1])
    (home.path / "s1/tool-results" / entry["filename"]).unlink()


def _cut_ledger(home: SealedHome) -> None:
    home.write_lines("s1/tool-results.jsonl", home.lines("s1/tool-results.jsonl")[:-1])


def _remove_ledger(home: SealedHome) -> None:
    (home.path / "s1/tool-results.jsonl").unlink()


def _edit_state(home: SealedHome) -> None:
    home.state(home.cited, claim="Another claim.")


def _remove_state(home: SealedHome) -> None:
    home.state(home.cited, name="b.json")
    (home.path / "states/a.json").unlink()


def _edit_pin(home: SealedHome) -> None:
    home.pins("transcript:s1:1", "transcript:s1:4", day="2026-01-02")


def _remove_pin(home: SealedHome) -> None:
    home.pins("transcript:s1:4")


def _remove_lock_file(home: SealedHome) -> None:
    (home.path / "ctxaudit.lock").unlink()


ALTERATIONS = [
    (_edit_cited_event, {"sealed_event_edited"}),
    (_edit_uncited_event, {"sealed_event_edited"}),
    (_add_white_space, {"sealed_event_edited"}),
    (_cut_tail, {"sealed_events_removed"}),
    (_cut_tail_and_append, {"sealed_event_edited"}),
    (_remove_transcript, {"sealed_events_removed"}),
    (_link_transcript, {"sealed_events_removed"}),
    (_swap_artifact_and_line, {"sealed_ledger_line_edited", "sealed_state_changed"}),
    (_swap_uncited_artifact, {"sealed_artifact_altered"}),
    (_remove_uncited_artifact, {"sealed_artifact_missing"}),
    (_cut_ledger, {"sealed_ledger_lines_removed"}),
    (_remove_ledger, {"sealed_ledger_lines_removed"}),
    (_edit_state, {"sealed_state_changed"}),
    (_remove_state, {"sealed_state_removed"}),
    (_edit_pin, {"sealed_lock_entry_changed"}),
    (_remove_pin, {"sealed_lock_entry_removed"}),
    (_remove_lock_file, {"sealed_lock_entry_removed"}),
]


@pytest.mark.parametrize(("alter", "codes"), ALTERATIONS)
def test_an_altered_home_has_the_right_code(
    call: Call, sealed: SealedHome, alter: Alter, codes: set[str]
) -> None:
    alter(sealed)
    done = _verify(call, sealed)
    assert done.code == 14
    assert codes <= _codes(done)
    # Beside it only what follows from it: more lines that moved, the artifacts of a lost ledger.
    assert _codes(done) - codes <= {"sealed_artifact_altered", "sealed_events_removed"}
    reasons = {one["reason"] for one in done.report["results"]}
    if alter in (_edit_cited_event, _swap_artifact_and_line):
        assert "seal_mismatch" in reasons
    else:
        assert "seal_mismatch" not in reasons


@pytest.mark.parametrize(("alter", "codes"), ALTERATIONS)
def test_a_rewritten_history_is_never_signed(
    call: Call, sealed: SealedHome, alter: Alter, codes: set[str]
) -> None:
    alter(sealed)
    before = sorted(path.name for path in (sealed.path / "seals").iterdir())
    done = call("seal", sealed.path, "--key", sealed.key)
    rewritten = {code for code in codes if "event" in code or "ledger" in code}
    if not rewritten:
        return  # a further version, or bytes that the ledger describes
    assert done.code == 14
    assert any(code in done.err for code in rewritten)
    assert done.out == ""
    assert sorted(path.name for path in (sealed.path / "seals").iterdir()) == before


# --- logs that were altered ---------------------------------------------------------------------


def _remove_seals(home: SealedHome) -> None:
    shutil.rmtree(home.path / "seals")


def _empty_seals(home: SealedHome) -> None:
    for path in (home.path / "seals").iterdir():
        path.unlink()


def _link_seals(home: SealedHome) -> None:
    (home.path / "seals").rename(home.path.with_name("seals-elsewhere"))
    (home.path / "seals").symlink_to(home.path.with_name("seals-elsewhere"))


def _file_for_seals(home: SealedHome) -> None:
    shutil.rmtree(home.path / "seals")
    (home.path / "seals").write_text("none")


def _roll_checkpoint_back(home: SealedHome) -> None:
    shutil.copy(home.checkpoint(1), home.checkpoint(3))


def _swap_checkpoints(home: SealedHome) -> None:
    second, third = home.checkpoint(2).read_bytes(), home.checkpoint(3).read_bytes()
    home.checkpoint(2).write_bytes(third)
    home.checkpoint(3).write_bytes(second)


def _remove_leaves_and_sign_with_other_key(home: SealedHome) -> None:
    """Alter an earlier seal's entries and a later checkpoint: checkpoints are looked at first."""
    home.leaves(1).unlink()
    checkpoint, _ = parse_checkpoint(home.checkpoint(3).read_bytes())
    home.checkpoint(3).write_bytes(
        sign_note(checkpoint.text, generate_signer("ctxaudit.example/x"))
    )


def _cut_and_spoil_leaves(home: SealedHome) -> None:
    home.leaves(1).write_bytes(b"x" * 40 + b"\n")


def _remove_middle(home: SealedHome) -> None:
    home.checkpoint(2).unlink()


def _damage_checkpoint(home: SealedHome) -> None:
    home.checkpoint(2).write_bytes(home.checkpoint(2).read_bytes()[:-3])


def _edit_checkpoint(home: SealedHome) -> None:
    data = home.checkpoint(2).read_bytes()
    home.checkpoint(2).write_bytes(data.replace(b"\n13\n", b"\n14\n"))


def _fifo_checkpoint(home: SealedHome) -> None:
    home.checkpoint(2).unlink()
    os.mkfifo(home.checkpoint(2))


def _sign_with_other_key(home: SealedHome) -> None:
    other = generate_signer(SIGNER.name)
    text = home.checkpoint(3).read_text(encoding="utf-8").partition("\n\n")[0] + "\n"
    home.checkpoint(3).write_bytes(sign_note(text, other))


def _other_origin(home: SealedHome) -> None:
    lines = home.checkpoint(3).read_text(encoding="utf-8").partition("\n\n")[0].split("\n")
    text = "\n".join(["another.example/log", *lines[1:]]) + "\n"
    home.checkpoint(3).write_bytes(sign_note(text, SIGNER))


def _fork_at_one_size(home: SealedHome) -> None:
    size = int(home.checkpoint(2).read_text(encoding="utf-8").split("\n")[1])
    text = Checkpoint(SIGNER.name, size, bytes(32)).text
    home.checkpoint(3).write_bytes(sign_note(text, SIGNER))


def _edit_leaf(home: SealedHome) -> None:
    path = home.leaves(2)
    data = path.read_bytes()
    path.write_bytes(data[:-2] + (b"0" if data[-2:-1] != b"0" else b"1") + b"\n")


def _spoil_leaf(home: SealedHome) -> None:
    path = home.leaves(2)
    path.write_bytes(b"x" * (path.stat().st_size - 1) + b"\n")


def _remove_leaves(home: SealedHome) -> None:
    home.leaves(2).unlink()


def _cut_leaves(home: SealedHome) -> None:
    home.leaves(1).write_bytes(home.leaves(1).read_bytes()[:-70])


def _extend_leaves(home: SealedHome) -> None:
    path = home.leaves(1)
    path.write_bytes(path.read_bytes() * 2)


@pytest.mark.parametrize(
    ("alter", "code"),
    [
        (_remove_seals, "seals_missing"),
        (_empty_seals, "seals_missing"),
        (_link_seals, "seals_unreadable"),
        (_file_for_seals, "seals_unreadable"),
        (_roll_checkpoint_back, "seal_rolled_back"),
        (_swap_checkpoints, "seal_rolled_back"),
        (_remove_leaves_and_sign_with_other_key, "seal_key_unknown"),
        (_cut_and_spoil_leaves, "seal_leaves_missing"),
        (_remove_middle, "seal_checkpoint_missing"),
        (_damage_checkpoint, "seal_checkpoint_invalid"),
        (_edit_checkpoint, "seal_signature_invalid"),
        (_fifo_checkpoint, "seal_checkpoint_invalid"),
        (_sign_with_other_key, "seal_key_unknown"),
        (_other_origin, "seal_other_log"),
        (_fork_at_one_size, "seal_fork"),
        (_edit_leaf, "seal_inconsistent"),
        (_spoil_leaf, "seal_leaves_invalid"),
        (_remove_leaves, "seal_leaves_missing"),
        (_cut_leaves, "seal_leaves_missing"),
        (_extend_leaves, "seal_leaves_missing"),
    ],
)
def test_an_altered_log_has_the_right_code(
    call: Call, thrice: SealedHome, alter: Alter, code: str
) -> None:
    alter(thrice)
    done = _verify(call, thrice)
    assert done.code == 14
    assert _codes(done) == {code}
    assert "sealed" not in {one["strength"] for one in done.report["results"]}
    # And it is not signed again.
    if code not in ("seals_missing", "seals_unreadable"):
        again = call("seal", thrice.path, "--key", thrice.key)
        assert again.code == 14
        assert code in again.err


def test_a_log_set_back_with_its_home_is_found_by_the_checkpoint_that_is_held(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    old = sealed.copy("old")
    sealed.append("s1", 1)
    held = tmp_path / "held"
    held.write_bytes(sealed.seal().note)
    assert _verify(call, old).code == 0  # nothing in it tells
    done = _verify(call, old, "--seal-checkpoint", held)
    assert done.code == 14
    assert _codes(done) == {"seal_older_than_held"}
    assert _verify(call, sealed, "--seal-checkpoint", held).code == 0
    # One from before is contained in what came after.
    held.write_bytes(old.checkpoint(1).read_bytes())
    assert _verify(call, sealed, "--seal-checkpoint", held).code == 0


@pytest.mark.parametrize("longer", [0, 1])
def test_a_fork_is_found_by_the_checkpoint_that_is_held(
    call: Call, tmp_path: Path, sealed: SealedHome, longer: int
) -> None:
    """Two histories from one point on, both signed; the other one may have grown further."""
    other = sealed.copy("other")
    sealed.append("s1", 1)
    held = tmp_path / "held"
    held.write_bytes(sealed.seal().note)
    for _ in range(1 + longer):
        other.append("s2", 1)
        other.seal()
    done = _verify(call, other, "--seal-checkpoint", held)
    assert done.code == 14
    assert _codes(done) == {"seal_fork"}


def test_a_removed_newest_checkpoint_leaves_a_trace(call: Call, thrice: SealedHome) -> None:
    thrice.checkpoint(3).unlink()
    done = _verify(call, thrice)
    assert _codes(done, "warning") == {"seal_unfinished", "not_sealed"}
    assert done.code == 0


def test_another_log_than_the_one_that_is_held(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    held = tmp_path / "held"
    held.write_bytes(sign_note(Checkpoint("another.example", 3, bytes(32)).text, SIGNER))
    done = _verify(call, sealed, "--seal-checkpoint", held)
    assert _codes(done) == {"seal_other_log"}


def test_a_stranger_in_the_log_is_told(call: Call, sealed: SealedHome) -> None:
    (sealed.path / "seals/notes.txt").write_text("hello")
    done = _verify(call, sealed)
    assert done.code == 0
    assert _codes(done, "warning") == {"seal_file_unknown"}
    (note,) = done.report["findings"]
    assert note["target"] == "seals/notes.txt"
    assert note["message"].endswith("alone, got 'notes.txt'")


@pytest.mark.parametrize("name", ["000000.checkpoint", "0000001.checkpoint", "000002.checkpoint~"])
def test_a_stranger_that_looks_like_a_checkpoint_is_named(
    call: Call, sealed: SealedHome, name: str
) -> None:
    (sealed.path / "seals" / name).write_text("hello")
    (note,) = _verify(call, sealed).report["findings"]
    assert (note["code"], note["target"]) == ("seal_file_unknown", f"seals/{name}")
    done = call("verify", sealed.path, "--seal", sealed.public)
    assert name in done.out


def test_strangers_with_hostile_names_are_named_on_one_bounded_line(
    call: Call, sealed: SealedHome
) -> None:
    names = [b"\x1b[2J\n::error::x", b"\xff\xe2\x80\xae", b"x" * 250, b"y", b"z"]
    for name in names:
        (sealed.path / "seals" / os.fsdecode(name)).write_text("")
    (note,) = _verify(call, sealed).report["findings"]
    assert note["target"] == "seals"
    message = note["message"]
    assert message.isascii()
    assert message.isprintable()
    assert message.endswith("and 2 more")
    assert len(message) < 400
    for name in names[1:]:
        (sealed.path / "seals" / os.fsdecode(name)).unlink()
    for form in ("github", "markdown", "html", "console", "junit", "sarif", "ndjson"):
        done = call("verify", sealed.path, "--seal", sealed.public, "--format", form)
        assert done.code == 0
        assert "\x1b[2J" not in done.out
        assert "\n::error::x" not in done.out


def test_what_is_no_home_has_no_seals(call: Call, sealed: SealedHome) -> None:
    done = call("verify", sealed.path / "transcripts", "--seal", sealed.public, "--format", "json")
    assert done.code == 14
    assert "seals_missing" in _codes(done)
    done = call(
        "verify",
        "--pointer",
        "transcript:s1:1",
        "--transcript-root",
        sealed.path / "transcripts",
        "--seal",
        sealed.public,
        "--format",
        "json",
    )
    assert done.code == 14
    assert "seals_missing" in _codes(done)


# --- policies -----------------------------------------------------------------------------------


def test_a_home_does_not_get_around_its_seals_by_denying(call: Call, sealed: SealedHome) -> None:
    _edit_uncited_event(sealed)
    rule = '[[policy.rule]]\neffect = "deny"\nsession = "s2"\nwhy = "private"\n'
    text = '[policy]\ndefault = "allow"\n\n' + rule
    (sealed.path / "ctxaudit.toml").write_text(text)
    done = _verify(call, sealed)
    assert "config_invalid" not in _codes(done)
    assert done.code == 14, done.out
    assert {code for code in _codes(done) if "seal" in code} == {"sealed_event_edited"}


def test_what_the_operator_denies_is_not_opened_and_no_fault(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    _edit_uncited_event(sealed)
    policy = tmp_path / "policy.toml"
    rule = '[[rule]]\neffect = "deny"\nsession = "s2"\nwhy = "private"\n'
    policy.write_text(f'default = "allow"\n\n{rule}')
    done = _verify(call, sealed, "--policy", policy)
    assert done.code == 0, done.out
    assert "seal_not_asked" in _codes(done, "info")
    # Whoever reads any of the reports sees it beside the verdict on the log.
    said = "1 not compared: the operator's policy denies them"
    for form in ("console", "html", "markdown", "github", "junit"):
        args = (sealed.path, "--seal", sealed.public, "--format", form)
        out = call("verify", *args, "--policy", policy).out
        assert said in " ".join(unescape(out).split()), form
        assert "not compared:" not in call("verify", *args).out, form


# --- keygen and seal as commands ----------------------------------------------------------------


def test_keygen_makes_a_pair_once(call: Call, tmp_path: Path) -> None:
    key = tmp_path / "k"
    old = os.umask(0)
    try:
        done = call("keygen", key, "--name", "ctxaudit.example/k")
    finally:
        os.umask(old)
    assert done.code == 0
    assert key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "k.pub").read_text() == done.out
    assert done.out.startswith("ctxaudit.example/k+")
    before = key.read_bytes()
    assert call("keygen", key).code == 2
    assert key.read_bytes() == before
    # One of the two names in use is enough, by a link too.
    (tmp_path / "other.pub").symlink_to(tmp_path / "nowhere")
    assert call("keygen", tmp_path / "other").code == 2
    assert not (tmp_path / "other").exists()
    (tmp_path / "third").symlink_to(tmp_path / "nowhere")
    assert call("keygen", tmp_path / "third").code == 2
    assert not (tmp_path / "third.pub").exists()
    assert call("keygen", tmp_path / "fourth", "--name", "a b").code == 2
    assert sorted(path.name for path in tmp_path.glob("fourth*")) == []
    assert call("keygen", tmp_path / "none/k").code == 1


def test_two_generated_names_differ(call: Call, tmp_path: Path) -> None:
    assert (
        call("keygen", tmp_path / "a").out.split("+")[0]
        != call("keygen", tmp_path / "b").out.split("+")[0]
    )


def test_nothing_new_is_said_and_nothing_is_written(call: Call, sealed: SealedHome) -> None:
    before = {path.name: path.read_bytes() for path in (sealed.path / "seals").iterdir()}
    done = call("seal", sealed.path, "--key", sealed.key)
    assert done.code == 0
    assert "nothing new" in done.err
    assert done.out.encode() == sealed.checkpoint(1).read_bytes()
    assert {path.name: path.read_bytes() for path in (sealed.path / "seals").iterdir()} == before


def test_the_key_may_stand_in_the_environment(call: Call, sealed: SealedHome) -> None:
    sealed.append("s1", 1)
    done = call("seal", sealed.path, CTXAUDIT_SEAL_KEY=SIGNER.text + "\n")
    assert done.code == 0
    assert "seal 2" in done.err
    done = call("seal", sealed.path, CTXAUDIT_SEAL_KEY="PRIVATE+KEY+nonsense")
    assert done.code == 2
    assert "nonsense" not in done.err
    assert call("seal", sealed.path).code == 2


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_may_read_is_refused(call: Call, sealed: SealedHome, mode: int) -> None:
    sealed.key.chmod(mode)
    done = call("seal", sealed.path, "--key", sealed.key)
    assert done.code == 2
    assert "0600" in done.err
    assert SIGNER.text not in done.err
    assert str(sealed.key.parent) not in done.err


def test_what_is_no_key_file(call: Call, tmp_path: Path, sealed: SealedHome) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    empty = tmp_path / "empty"
    empty.touch(mode=0o600)
    for path in (pipe, empty, tmp_path, tmp_path / "none", sealed.public):
        assert call("seal", sealed.path, "--key", path).code == 2
    for option in ("--seal", "--seal-checkpoint"):
        done = call("verify", sealed.path, option, tmp_path / "none")
        assert done.code == 2
    assert call("verify", sealed.path, "--seal", sealed.key).code == 2
    assert call("verify", sealed.path, "--seal-checkpoint", sealed.checkpoint(1)).code == 2
    # A link in the operator's own path is the operator's business.
    link = tmp_path / "link"
    link.symlink_to(sealed.key)
    assert call("seal", sealed.path, "--key", link).code == 0


def test_a_key_chosen_by_the_environment_is_told(call: Call, sealed: SealedHome) -> None:
    done = call("verify", sealed.path, "--format", "json", CTXAUDIT_SEAL=str(sealed.public))
    assert done.report["weakened_by_environment"] == ["CTXAUDIT_SEAL"]


def test_another_key_or_origin_does_not_go_on_with_a_log(
    call: Call, tmp_path: Path, sealed: SealedHome
) -> None:
    call("keygen", tmp_path / "k2")
    done = call("seal", sealed.path, "--key", tmp_path / "k2")
    assert done.code == 14
    assert "seal_key_unknown" in done.err
    assert call("seal", sealed.path, "--key", sealed.key, "--origin", "other").code == 2
    assert call("seal", sealed.path, "--key", sealed.key, "--origin", "a\nb").code == 2


def test_an_empty_home_and_no_home(call: Call, tmp_path: Path, sealed: SealedHome) -> None:
    (tmp_path / "empty").mkdir()
    assert call("seal", tmp_path / "empty", "--key", sealed.key).code == 3
    assert list((tmp_path / "empty").iterdir()) == []
    assert call("seal", tmp_path / "none", "--key", sealed.key).code == 2
    assert not (tmp_path / "none").exists()


def test_a_seal_goes_into_no_linked_folder(call: Call, sealed: SealedHome) -> None:
    _link_seals(sealed)
    elsewhere = sealed.path.with_name("seals-elsewhere")
    before = sorted(elsewhere.iterdir())
    sealed.append("s1", 1)
    assert call("seal", sealed.path, "--key", sealed.key).code == 14
    assert sorted(elsewhere.iterdir()) == before


def test_a_home_that_takes_no_byte(
    sealed: SealedHome, checkout: Path, environment: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    sealed.append("s1", 1)
    before = sorted((sealed.path / "seals").iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "cli", "seal", sealed.path, "--key", sealed.key],
        cwd=checkout,
        env=environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"expected to write" in done.stderr
    assert sorted((sealed.path / "seals").iterdir()) == before


def test_a_torn_line_is_not_sealed_and_its_repair_is_no_rewriting(
    call: Call, sealed: SealedHome
) -> None:
    path = sealed.path / "transcripts/s2.jsonl"
    with path.open("ab") as file:
        file.write(b'{"sequence":3,"cont')
    done = call("seal", sealed.path, "--key", sealed.key)
    assert "nothing new" in done.err
    path.write_bytes(path.read_bytes().rpartition(b"\n")[0] + b"\n")
    sealed.append("s2", 1)
    assert call("seal", sealed.path, "--key", sealed.key).code == 0
    assert _verify(call, sealed).code == 0


# --- several writers, and dead ones -------------------------------------------------------------

_SEAL = """
import sys
from provenance.audit.seal_writing import seal_home
from provenance.fs import TrustedRoot
from provenance.sealing.keys import parse_signer
print(seal_home(TrustedRoot(sys.argv[1]), parse_signer(open(sys.argv[2]).read())).number)
"""

# Forks for each step: the child dies at its n-th call, halfway where that is a write.
_DIE = """
import os, sys
from provenance.audit.seal_writing import seal_home
from provenance.fs import TrustedRoot
from provenance.sealing.keys import parse_signer

signer = parse_signer(open(sys.argv[1]).read())
signer.verifier

def watched(name, left):
    call = getattr(os, name)
    def wrapper(*arguments, **names):
        left[0] -= 1
        if left[0] == 0:
            if name == "write":
                call(arguments[0], bytes(arguments[1])[: len(bytes(arguments[1])) // 2])
            os._exit(9)
        return call(*arguments, **names)
    return wrapper

for step, home in enumerate(sys.argv[2:], 1):
    child = os.fork()
    if child == 0:
        left = [step]
        for name in ("mkdir", "write", "fsync", "link", "unlink"):
            setattr(os, name, watched(name, left))
        seal_home(TrustedRoot(home), signer)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.attack
def test_two_seals_at_once_leave_one_history(
    call: Call, checkout: Path, sealed: SealedHome
) -> None:
    sealed.append("s1", 30)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _SEAL, str(sealed.path), str(sealed.key)],
            cwd=checkout,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    assert {writer.communicate()[0] for writer in writers} == {b"2\n"}
    assert {writer.returncode for writer in writers} == {0}
    done = _verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 0
    assert not _codes(done, "warning")


@pytest.mark.attack
def test_a_seal_killed_at_any_step_leaves_a_log_that_holds(
    call: Call, checkout: Path, sealed: SealedHome
) -> None:
    sealed.append("s1", 1)
    copies = [sealed.copy(f"copy-{step}") for step in range(16)]
    done = subprocess.run(
        [sys.executable, "-c", _DIE, sealed.key, *(copy.path for copy in copies)],
        cwd=checkout,
        capture_output=True,
        check=True,
    )
    codes = done.stdout.decode().split()
    assert set(codes) == {"9", "0"}
    deaths = codes.index("0")
    assert deaths >= 6
    assert codes[:deaths] == ["9"] * deaths
    for copy in copies[: deaths + 1]:
        found = _verify(call, copy)
        assert found.code == 0, found.out
        assert call("seal", copy.path, "--key", copy.key).code == 0
        found = _verify(call, copy, "--min-strength", "sealed")
        assert found.code == 0
        assert not _codes(found, "warning")


@pytest.mark.parametrize("jobs", [1, 2])
def test_several_homes_each_with_its_log(
    call: Call, sealed: SealedHome, thrice_path: Path, jobs: int
) -> None:
    """The second one is altered; its findings carry its name."""
    other = SealedHome(thrice_path, sealed.key, sealed.public, [])
    _cut_tail(other)
    done = _verify(call, sealed, other.path, "--jobs", str(jobs))
    assert done.code == 14
    targets = {seal["target"]: seal["seals"] for seal in done.report["seals"]}
    assert targets == {"home": 1, "second": 3}
    errors = [one for one in done.report["findings"] if one["severity"] == "error"]
    assert [one["target"] for one in errors] == ["second/transcripts/s1.jsonl"]


@pytest.fixture
def thrice_path(_three_times: SealedHome, tmp_path: Path) -> Path:
    shutil.copytree(_three_times.path, tmp_path / "second")
    return tmp_path / "second"


def test_a_state_file_that_is_named_is_held_against_the_seals_of_its_home(
    call: Call, sealed: SealedHome
) -> None:
    state = sealed.path / "states/a.json"
    options = ("--seal", sealed.public, "--format", "json")
    done = call("verify", state, *options, "--min-strength", "sealed")
    assert done.code == 0, done.out
    _edit_uncited_event(sealed)
    assert call("verify", state, *options).code == 14


def test_the_console_says_whose_seals_and_whether_they_hold(call: Call, sealed: SealedHome) -> None:
    done = call("verify", sealed.path, "--seal", sealed.public)
    assert f"Seals of .: 1 by {SIGNER.verifier.label}, 12 entries, log sound\n" in done.out
    _cut_tail(sealed)
    done = call("verify", sealed.path, "--seal", sealed.public)
    assert "the home or its log is not what was sealed" in done.out
    done = call("verify", sealed.path, "--seal", sealed.public, "--format", "ndjson")
    assert any('"seal"' in line for line in done.out.splitlines())
