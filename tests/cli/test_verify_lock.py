"""`verify` with lock files: the home's own, the operator's, hostile ones; none softens."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance.locks import LockFile, Pin, encode_lock, parse_lock
from tests.cli.conftest import Done, Home

Call = Callable[..., Done]


@pytest.fixture
def pinned(home: Home, call: Call) -> Home:
    events = home.transcript("s1", 3)
    full = home.artifact("s1", "log.txt", "one\n")
    home.state("a.json", [events[0], events[2], full])
    assert call("pin", home.path, "--quiet").code == 0
    return home


def _edit(home: Home, change: Callable[[dict[str, Any]], None]) -> None:
    path = home.path / "ctxaudit.lock"
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def _rewrite(home: Home, old: str, new: str) -> None:
    path = home.path / "transcripts/s1.jsonl"
    path.write_text(path.read_text().replace(old, new))


def _states(done: Done) -> dict[str, tuple[str, str, str | None]]:
    return {
        one["pointer"]: (one["status"], one["reason"], one["strength"])
        for one in done.report["results"]
    }


def _json(call: Call, *args: object) -> Done:
    return call("verify", *args, "--format", "json")


def test_a_match_is_pinned(pinned: Home, call: Call) -> None:
    done = _json(call, pinned.path, "--min-strength", "pinned")
    assert done.code == 0
    assert {strength for _, _, strength in _states(done).values()} == {"pinned"}
    cited = done.report["results"][0]["cited_by"]
    assert [one["file"] for one in cited] == ["states/a.json", "ctxaudit.lock"]
    assert done.report["summary"]["total"] == 3
    assert call("verify", pinned.path, "--min-strength", "sealed").code == 14


def test_without_the_lock_an_event_is_a_position(pinned: Home, call: Call) -> None:
    (pinned.path / "ctxaudit.lock").unlink()
    assert call("verify", pinned.path, "--min-strength", "pinned").code == 14
    _rewrite(pinned, "event 3", "event E")
    assert call("verify", pinned.path).code == 0  # what the lock is there for


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_other_words_in_an_event_are_found(pinned: Home, call: Call, run: Call, jobs: str) -> None:
    _rewrite(pinned, "event 3", "event E")
    verify = call if jobs == "1" else run
    done = verify("verify", pinned.path, "--format", "json", "--jobs", jobs)
    assert done.code == 14
    states = _states(done)
    assert states["transcript:s1:3"] == ("corrupt", "pinned_digest_mismatch", None)
    assert states["transcript:s1:1"] == ("available", "verified_transcript_event", "pinned")


def test_an_appended_event_is_no_other_event(pinned: Home, call: Call) -> None:
    pinned.transcript("s1", 7)
    assert call("verify", pinned.path).code == 0


def test_an_artifact_that_was_swapped_with_its_pointer(pinned: Home, call: Call) -> None:
    # A short digest is forged in minutes: here the pin's is another one of the same first digits.
    short = pinned.artifact("s1", "short.txt", "two\n", digits=12)
    pinned.state("b.json", [short])
    assert call("pin", pinned.path).code == 0

    def forge(document: dict[str, Any]) -> None:
        (entry,) = (one for one in document["entries"] if one["pointer"] == short)
        entry["sha256"] = entry["sha256"][:12] + "0" * 52

    _edit(pinned, forge)
    done = _json(call, pinned.path)
    assert done.code == 14
    assert _states(done)[short] == ("corrupt", "pinned_digest_mismatch", None)


def test_a_pinned_pointer_that_nothing_else_cites_is_checked(pinned: Home, call: Call) -> None:
    (pinned.path / "states/a.json").unlink()
    (pinned.path / "s1/tool-results/log.txt").unlink()
    done = _json(call, pinned.path)
    assert done.code == 12
    assert done.report["summary"]["total"] == 3
    (missing,) = (one for one in done.report["results"] if one["status"] == "missing")
    assert missing["cited_by"] == [
        {"file": "ctxaudit.lock", "item": "pin", "session": None, "text": None}
    ]


def test_a_home_may_hold_a_lock_and_nothing_else(pinned: Home, call: Call, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(pinned.path / "ctxaudit.lock", bare)
    assert call("verify", bare).code == 12


def test_what_is_pinned_is_no_longer_uncited(pinned: Home, call: Call) -> None:
    assert _json(call, pinned.path).report["summary"]["uncited"] == 0
    (pinned.path / "states/a.json").unlink()
    assert _json(call, pinned.path).report["summary"]["uncited"] == 0


def test_a_lone_state_of_the_home_is_held_against_its_lock(pinned: Home, call: Call) -> None:
    state = pinned.state("b.json", ["transcript:s1:3"])
    assert _json(call, state).report["results"][0]["strength"] == "pinned"
    _rewrite(pinned, "event 3", "event E")
    done = _json(call, state)
    assert done.code == 14
    assert done.report["summary"]["total"] == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\n<<<<<<< ours\n", 1)),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: (path.rename(path.with_name("other")), path.symlink_to("other")),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: path.write_bytes(b"[" * 100_000),
        lambda path: os.truncate(path, 1 << 40),  # sparse
    ],
    ids=["conflict", "empty", "cut", "link", "fifo", "folder", "deep", "huge"],
)
def test_a_lock_that_cannot_be_read_fails_the_run_and_the_rest_is_checked(
    pinned: Home, call: Call, spoil: Callable[[Path], object]
) -> None:
    spoil(pinned.path / "ctxaudit.lock")
    done = _json(call, pinned.path)
    assert done.code == 14
    (finding,) = (one for one in done.report["findings"] if one["code"] == "lock_unreadable")
    assert finding["severity"] == "error"
    assert finding["target"] == "ctxaudit.lock"
    assert done.report["summary"]["available"] == 3
    assert {strength for _, _, strength in _states(done).values()} == {"position", "full"}
    assert call("show", "transcript:s1:1", "--home", pinned.path).code == 2


def _pins(*entries: tuple[str, str]) -> bytes:
    run = "20260302T110000Z-0123456789abcdef"
    pins = [Pin(pointer, sha, 4, "2026-03-02T11:00:00Z", run) for pointer, sha in entries]
    return encode_lock(LockFile(tuple(sorted(pins, key=lambda pin: pin.pointer))))


def test_a_hostile_lock_makes_nothing_available(home: Home, call: Call) -> None:
    gone, secret = "transcript:gone:1", "transcript:secret:1"
    home.transcript("secret", 1)
    home.config('[[rule]]\neffect = "deny"\nsession = "secret"\n')
    altered = home.artifact("s1", "log.txt", "one\n")
    (home.path / "s1/tool-results/log.txt").write_text("two\n")
    home.state("a.json", [gone, secret, altered])
    before = _states(_json(call, home.path))
    sha = "3f" * 32
    (home.path / "ctxaudit.lock").write_bytes(_pins((gone, sha), (secret, sha), (altered, sha)))
    done = _json(call, home.path)
    assert done.code == 14
    assert _states(done) == before
    assert {status for status, _, _ in before.values()} == {"missing", "denied", "corrupt"}


def test_a_lock_does_not_look_behind_a_policy(home: Home, call: Call, tmp_path: Path) -> None:
    home.transcript("secret", 1)
    home.state("a.json", home.transcript("s1", 1))
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "secret"\n')
    (home.path / "ctxaudit.lock").write_bytes(
        _pins(("transcript:secret:1", "ab" * 32), ("transcript:secret:99", "ab" * 32))
    )
    done = _json(call, home.path, "--policy", policy)
    assert done.code == 13
    states = _states(done)
    # Whether there is such an event is not for the lock's owner to learn.
    assert states["transcript:secret:1"] == states["transcript:secret:99"]


def test_the_operators_lock(pinned: Home, call: Call, tmp_path: Path) -> None:
    place = tmp_path / "reviewed.lock"
    shutil.move(pinned.path / "ctxaudit.lock", place)
    done = _json(call, pinned.path, "--lock", place, "--min-strength", "pinned")
    assert done.code == 0
    assert done.report["results"][0]["cited_by"][1]["file"] == "reviewed.lock"
    _rewrite(pinned, "event 3", "event E")
    # Whoever can write the home pins anew; the copy elsewhere does not move.
    assert call("pin", pinned.path, "--update").code == 0
    assert call("verify", pinned.path, "--min-strength", "pinned").code == 0
    both = _json(call, pinned.path, "--lock", place)
    assert both.code == 14
    assert _states(both)["transcript:s1:3"][1] == "pinned_digest_mismatch"


def test_with_the_operators_lock_a_homes_own_raises_nothing(
    pinned: Home, call: Call, tmp_path: Path
) -> None:
    place = tmp_path / "reviewed.lock"
    pins = parse_lock((pinned.path / "ctxaudit.lock").read_bytes()).pins
    place.write_bytes(encode_lock(LockFile(pins[:1])))
    done = _json(call, pinned.path, "--lock", place)
    assert done.code == 0
    assert [one["strength"] for one in done.report["results"]] == ["pinned", "position", "position"]
    assert call("verify", pinned.path, "--lock", place, "--min-strength", "full").code == 14


def test_the_homes_own_lock_may_be_named(pinned: Home, call: Call) -> None:
    done = _json(call, pinned.path, "--lock", pinned.path / "ctxaudit.lock")
    assert done.code == 0
    assert len(done.report["results"][0]["cited_by"]) == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "expected a file, got nothing of that name"),
        (b"<<<<<<< ours\n", "merge conflict markers in line 1"),
        (b"[]", "expected an object"),
    ],
)
def test_an_operators_lock_that_cannot_be_read_is_a_usage_error(
    pinned: Home, call: Call, tmp_path: Path, data: bytes | None, said: str
) -> None:
    place = tmp_path / "reviewed.lock"
    if data is not None:
        place.write_bytes(data)
    done = call("verify", pinned.path, "--lock", place)
    assert done.code == 2
    assert done.err.startswith("ctxaudit verify: --lock: reviewed.lock: ")
    assert said in done.err
    assert str(tmp_path) not in done.err


def test_the_operators_lock_for_pointers_below_roots(
    pinned: Home, call: Call, tmp_path: Path
) -> None:
    place = tmp_path / "reviewed.lock"
    shutil.move(pinned.path / "ctxaudit.lock", place)
    roots = ("--transcript-root", pinned.path / "transcripts", "--artifact-root", pinned.path)
    done = _json(call, "--pointer", "transcript:s1:3", "--lock", place, *roots)
    assert done.code == 0
    assert {strength for _, _, strength in _states(done).values()} == {"pinned"}
    assert done.report["summary"]["total"] == 3
    alone = call("verify", "--pointer", "transcript:s1:3", "--lock", place, *roots[:2])
    assert alone.code == 2
    assert "--artifact-root" in alone.err
    assert call("verify", "--lock", place).code == 2


def test_a_folder_of_transcripts_with_the_operators_lock(
    pinned: Home, call: Call, tmp_path: Path
) -> None:
    place = tmp_path / "events.lock"
    pins = parse_lock((pinned.path / "ctxaudit.lock").read_bytes()).pins
    place.write_bytes(encode_lock(LockFile(pins[1:])))
    folder = pinned.path / "transcripts"
    assert call("verify", folder, "--lock", place).code == 0
    _rewrite(pinned, "event 3", "event E")
    assert call("verify", folder).code == 0
    assert call("verify", folder, "--lock", place).code == 14


def test_two_homes_are_each_held_against_their_own(
    pinned: Home, call: Call, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(pinned.path, other)
    # The same pointers, other bytes, a lock of its own.
    path = other / "transcripts/s1.jsonl"
    path.write_text(path.read_text().replace("event 3", "event E"))
    assert call("pin", other, "--update").code == 0
    assert call("verify", pinned.path, other).code == 0
    shutil.copy(pinned.path / "ctxaudit.lock", other)
    done = _json(call, pinned.path, other)
    assert done.code == 14
    corrupt = [one for one in done.report["results"] if one["status"] == "corrupt"]
    assert [one["cited_by"][1]["file"] for one in corrupt] == ["other/ctxaudit.lock"]
    named = call("verify", pinned.path, other, "--lock", pinned.path / "ctxaudit.lock")
    assert named.code == 2
    assert "expected one state home, got several" in named.err


def test_two_states_of_one_home_are_one_home(pinned: Home, call: Call) -> None:
    one, two = (pinned.state(f"{name}.json", ["transcript:s1:3"]) for name in "bc")
    lock = pinned.path / "ctxaudit.lock"
    assert call("verify", one, two, "--lock", lock).code == 0


def test_a_lock_from_the_environment_is_listed(pinned: Home, call: Call, tmp_path: Path) -> None:
    place = tmp_path / "reviewed.lock"
    shutil.copy(pinned.path / "ctxaudit.lock", place)
    done = call("verify", pinned.path, "--format", "json", CTXAUDIT_LOCK=str(place))
    assert "CTXAUDIT_LOCK" in done.out


def test_fast_needs_a_seal(pinned: Home, call: Call) -> None:
    done = call("verify", pinned.path, "--fast")
    assert done.code == 2
    assert done.out == ""
    assert "--fast: expected --seal too, got none" in done.err


def test_a_configuration_in_the_home_chooses_no_lock(pinned: Home, call: Call) -> None:
    (pinned.path / "ctxaudit.lock").rename(pinned.path / "other.lock")
    pinned.config('lock = "other.lock"\n')
    done = _json(call, pinned.path)
    assert done.code == 0
    assert done.report["summary"]["findings"]["untrusted_config_ignored"] == 1
    assert "pinned" not in {strength for _, _, strength in _states(done).values()}
