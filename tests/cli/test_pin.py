"""`ctxaudit pin`: only what is available is pinned, and a pin changes only when told to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.audit.pinning import Gathered, PinRequest, gather
from provenance.locks import LockFile, encode_lock, parse_lock
from tests.cli.conftest import Done, Home
from tests.trees import is_root

Call = Callable[..., Done]
_TIME = "2026-01-01T00:00:00Z"


@pytest.fixture
def pinned(home: Home, call: Call) -> Home:
    """A home with two events and two artifacts in two states, pinned."""
    events = home.transcript("s1", 3)
    full = home.artifact("s1", "log.txt", "one\n")
    short = home.artifact("s1", "short.txt", "two\n", digits=12)
    home.state("a.json", [events[0], full])
    home.state("b.json", [events[2], short, full])
    assert call("pin", home.path).code == 0
    return home


def _lock(home: Home) -> LockFile:
    return parse_lock((home.path / "ctxaudit.lock").read_bytes())


def _rewrite(home: Home, old: str, new: str) -> None:
    path = home.path / "transcripts/s1.jsonl"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_everything_that_is_cited_is_pinned_once(pinned: Home) -> None:
    pins = _lock(pinned).pins
    assert [pin.pointer.rpartition(":")[0] for pin in pins] == [
        "artifact:s1:log.txt",
        "artifact:s1:short.txt",
        "transcript:s1",
        "transcript:s1",
    ]
    assert pins[0].bytes == 4
    line = (pinned.path / "transcripts/s1.jsonl").read_bytes().split(b"\n")[0]
    assert pins[2].bytes == len(line)
    assert len({pin.run for pin in pins}) == len({pin.pinned_at for pin in pins}) == 1


def test_the_output_has_a_line_for_each_change(home: Home, call: Call) -> None:
    (event,) = home.transcript("s1", 1)
    home.state("a.json", [event])
    done = call("pin", home.path)
    sha = _lock(home).pins[0].sha256
    assert done.out == f"added {event} - {sha[:12]}\n"
    assert done.err == (
        "ctxaudit pin: ctxaudit.lock: 1 added, 0 changed, 0 removed, 0 unchanged; written\n"
    )
    assert call("pin", home.path, "--quiet") == Done(0, "", "")


def test_a_second_run_leaves_the_file_as_it_is(pinned: Home, call: Call) -> None:
    path = pinned.path / "ctxaudit.lock"
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino
    done = call("pin", pinned.path)
    assert (done.code, done.out) == (0, "")
    assert "4 unchanged; nothing to write" in done.err
    assert call("pin", pinned.path, "--update").out == ""
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_line_ends_of_another_system_are_no_change(pinned: Home, call: Call) -> None:
    path = pinned.path / "ctxaudit.lock"
    data = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(data)
    assert call("pin", pinned.path).code == 0
    assert path.read_bytes() == data
    assert call("verify", pinned.path).code == 0


def test_what_is_new_is_added_and_the_rest_keeps_its_run(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    pinned.state("c.json", ["transcript:s1:2"])
    assert call("pin", pinned.path).out.startswith("added transcript:s1:2 - ")
    after = _lock(pinned)
    assert {pin for pin in after.pins if pin.pointer != "transcript:s1:2"} == set(before.pins)


def test_one_state_is_pinned_by_its_name_or_as_a_file(
    home: Home, call: Call, tmp_path: Path
) -> None:
    events = home.transcript("s1", 4)
    home.state("a.json", events[:1])
    home.state("b.json", events[1:2])
    outside = Path(shutil.move(home.state("c.json", events[2:3]), tmp_path / "c.json"))
    for named, event in (("a", 0), ("b.json", 1), (outside, 2)):
        assert call("pin", home.path, "--state", named).out.startswith(f"added {events[event]} ")
    assert [pin.pointer for pin in _lock(home).pins] == events[:3]
    # Only a run over the whole home knows what nothing rests on.
    assert "removed" not in call("pin", home.path, "--state", "a", "--update").out
    assert call("pin", home.path, "--update").out.startswith(f"removed {events[2]} ")


@pytest.mark.parametrize("name", ["absent", "absent.json", "../a", "./nowhere.json", "a\nb"])
def test_a_state_that_is_none_is_a_usage_error(pinned: Home, call: Call, name: str) -> None:
    done = call("pin", pinned.path, "--state", name)
    assert done.code == 2
    assert done.err.startswith("ctxaudit pin: --state: ")
    assert "expected a state of the home, or a file, got neither" in done.err


def test_a_broken_state_is_named(pinned: Home, call: Call) -> None:
    (pinned.path / "states/b.json").write_text("{}")
    one = call("pin", pinned.path, "--state", "b")
    assert one.code == 2
    assert "--state: b.json: " in one.err
    every = call("pin", pinned.path, "--available-only")
    assert every.code == 14
    assert "states/b.json: " in every.err
    assert "state_unreadable" in every.err
    assert "nothing written" in every.err


@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--available-only"]])
def test_other_bytes_are_refused_without_update(
    pinned: Home, call: Call, options: list[str]
) -> None:
    before = (pinned.path / "ctxaudit.lock").read_bytes()
    _rewrite(pinned, "event 3", "event E")
    pinned.state("c.json", ["transcript:s1:2"])
    done = call("pin", pinned.path, *options)
    assert (done.code, done.out) == (14, "")
    assert "transcript:s1:3: expected the pinned " in done.err
    assert "1 pinned otherwise, nothing written; --update replaces them" in done.err
    assert (pinned.path / "ctxaudit.lock").read_bytes() == before


def test_another_length_under_the_same_digest_is_named(pinned: Home, call: Call) -> None:
    path = pinned.path / "ctxaudit.lock"
    length = len((pinned.path / "transcripts/s1.jsonl").read_bytes().split(b"\n")[2])
    text = path.read_text()
    (line,) = (line for line in text.splitlines() if "transcript:s1:3" in line)
    path.write_text(text.replace(line, line.replace(f'"bytes":{length}', '"bytes":7')))
    done = call("pin", pinned.path)
    assert (done.code, done.out) == (14, "")
    expected = f"transcript:s1:3: expected the pinned 7 bytes, got {length} bytes\n"
    assert expected in done.err


def test_update_shows_what_it_changes(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    _rewrite(pinned, "event 3", "event E")
    (pinned.path / "states/a.json").unlink()
    dry = call("pin", pinned.path, "--update", "--dry-run")
    assert dry.code == 0
    assert "nothing written (--dry-run)" in dry.err
    assert _lock(pinned) == before
    done = call("pin", pinned.path, "--update")
    assert done.out == dry.out
    after = _lock(pinned)
    old, new = (lock.by_pointer["transcript:s1:3"] for lock in (before, after))
    assert done.out.splitlines() == [
        f"removed transcript:s1:1 {before.by_pointer['transcript:s1:1'].sha256[:12]} -",
        f"changed transcript:s1:3 {old.sha256[:12]} {new.sha256[:12]}",
    ]
    assert old.run != new.run
    assert call("verify", pinned.path).code == 0


def test_without_update_nothing_is_removed_and_it_is_said(pinned: Home, call: Call) -> None:
    (pinned.path / "states/a.json").unlink()
    done = call("pin", pinned.path)
    assert (done.code, done.out) == (0, "")
    assert "1 that nothing cites any more" in done.err


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        ("transcript:s1:9", 12),
        ("memory:x", 11),
        ("transcript:secret:1", 13),
        ("artifact:s1:log.txt:" + "0" * 64, 14),
        ("nonsense", 14),
    ],
)
def test_what_is_not_available_is_in_the_way(
    pinned: Home, call: Call, pointer: str, code: int
) -> None:
    pinned.config('[[rule]]\neffect = "deny"\nsession = "secret"\n')
    pinned.transcript("secret", 1)
    before = (pinned.path / "ctxaudit.lock").read_bytes()
    pinned.state("c.json", ["transcript:s1:2", pointer])
    done = call("pin", pinned.path)
    assert (done.code, done.out) == (code, "")
    assert f"ctxaudit pin: {pointer}: " in done.err
    assert (pinned.path / "ctxaudit.lock").read_bytes() == before
    left = call("pin", pinned.path, "--available-only")
    assert left.code == 0
    assert f"ctxaudit pin: {pointer}: " in left.err
    assert "1 left out" in left.err
    assert "transcript:s1:2" in _lock(pinned).by_pointer
    assert pointer not in _lock(pinned).by_pointer


def test_a_pin_stays_when_its_source_is_gone(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    (pinned.path / "s1/tool-results/log.txt").unlink()
    done = call("pin", pinned.path, "--available-only", "--update")
    assert (done.code, done.out) == (0, "")
    assert _lock(pinned) == before
    assert call("verify", pinned.path).code == 12


def _drop(home: Home, state: str) -> None:
    (home.path / "states" / state).unlink()


def test_a_state_of_the_store_is_known_by_its_name(home: Home, call: Call) -> None:
    one, two, three = home.transcript("s1", 3)
    store = DurableStateStore(home.path)

    def state(*pointers: str) -> DurableContextState:
        facts = [DurableFact(f"f{n}", "x", one, _TIME) for n, one in enumerate(pointers)]
        return DurableContextState(facts)

    store.put("run-1", state(one, two), replaces=None, author="h")
    store.put("run-1", state(two), replaces=1, author="h")
    assert call("pin", home.path, "--state", "run-1").code == 0
    assert set(_lock(home).by_pointer) == {two}
    # One of the same name in a file is meant as well.
    home.state("run-1.json", [three])
    assert call("pin", home.path, "--state", "run-1").code == 0
    assert set(_lock(home).by_pointer) == {two, three}
    assert call("pin", home.path, "--state", "run-2").code == 2


@pytest.mark.parametrize("args", [[], ["--state", "a"], ["--available-only"]])
def test_other_bytes_under_a_pin_that_nothing_cites_stop_it(
    pinned: Home, call: Call, args: list[str]
) -> None:
    before = _lock(pinned)
    _drop(pinned, "b.json")
    _rewrite(pinned, "event 3", "event E")
    done = call("pin", pinned.path, *args)
    assert (done.code, done.out) == (14, "")
    assert "transcript:s1:3: expected the pinned" in done.err
    assert _lock(pinned) == before
    # Told and replaced, never taken out.
    done = call("pin", pinned.path, "--update", *args)
    assert done.code == 0
    assert "changed transcript:s1:3 " in done.out
    assert "removed transcript:s1:3" not in done.out
    assert "transcript:s1:3" in _lock(pinned).by_pointer


def test_other_bytes_are_told_also_where_nothing_is_cited(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    shutil.rmtree(pinned.path / "states")
    _rewrite(pinned, "event 3", "event E")
    assert call("pin", pinned.path).code == 14
    assert call("pin", pinned.path, "--update").code == 3
    assert _lock(pinned) == before


def test_a_pin_that_nothing_cites_stays_when_its_source_is_gone(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    _drop(pinned, "b.json")
    (pinned.path / "s1/tool-results/short.txt").unlink()
    (short,) = [one for one in before.by_pointer if "short.txt" in one]
    done = call("pin", pinned.path, "--update")
    assert done.code == 0
    assert f"{short}: kept, its source is missing (artifact_missing)" in done.err
    assert "1 kept whose source is not available" in done.err
    # What is intact and cited by nothing goes, and is named.
    assert [line.split()[:2] for line in done.out.splitlines()] == [["removed", "transcript:s1:3"]]
    assert _lock(pinned).by_pointer.keys() == before.by_pointer.keys() - {"transcript:s1:3"}
    assert call("verify", pinned.path).code == 12


def test_an_update_keeps_what_is_cited_again_meanwhile(
    pinned: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:

    state = (pinned.path / "states/b.json").read_bytes()
    _drop(pinned, "b.json")
    before = _lock(pinned)

    def meanwhile(request: PinRequest) -> Gathered:
        gathered = gather(request)
        (pinned.path / "states/b.json").write_bytes(state)
        return gathered

    monkeypatch.setattr("cli.pinning.gather", meanwhile)
    assert call("pin", pinned.path, "--update").code == 0
    assert _lock(pinned) == before


def test_an_update_removes_nothing_where_a_state_broke_meanwhile(
    pinned: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:

    _drop(pinned, "b.json")
    before = _lock(pinned)

    def meanwhile(request: PinRequest) -> Gathered:
        gathered = gather(request)
        (pinned.path / "states/b.json").write_bytes(b"{")
        return gathered

    monkeypatch.setattr("cli.pinning.gather", meanwhile)
    assert call("pin", pinned.path, "--update").code == 14
    assert _lock(pinned) == before


def test_where_nothing_is_cited_nothing_is_written(home: Home, call: Call) -> None:
    (home.path / "states").mkdir()
    done = call("pin", home.path)
    assert done.code == 3
    assert not (home.path / "ctxaudit.lock").exists()
    home.state("a.json", ["transcript:gone:1"])
    assert call("pin", home.path, "--available-only").code == 12
    assert not (home.path / "ctxaudit.lock").exists()


def test_an_emptied_home_does_not_empty_its_lock(pinned: Home, call: Call) -> None:
    before = _lock(pinned)
    shutil.rmtree(pinned.path / "states")
    assert call("pin", pinned.path, "--update").code == 3
    assert _lock(pinned) == before


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"<<<<<<< ours\n", "merge conflict markers in line 1"), (b"{}", "the key schema")],
)
def test_a_lock_that_cannot_be_read_is_not_replaced(
    pinned: Home, call: Call, data: bytes, said: str
) -> None:
    path = pinned.path / "ctxaudit.lock"
    path.write_bytes(data)
    done = call("pin", pinned.path, "--update")
    assert done.code == 14
    assert said in done.err
    assert "(lock_unreadable)" in done.err
    assert path.read_bytes() == data


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_plain_file_is_not_replaced(
    pinned: Home, call: Call, tmp_path: Path, kind: str
) -> None:
    path = pinned.path / "ctxaudit.lock"
    outside = Path(shutil.move(path, tmp_path / "outside"))
    before = outside.read_bytes()
    {
        "link": lambda: path.symlink_to(outside),
        "fifo": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }[kind]()
    pinned.state("c.json", ["transcript:s1:2"])
    done = call("pin", pinned.path, "--update")
    assert done.code == 14
    assert "(lock_unreadable)" in done.err
    assert outside.read_bytes() == before
    named = call("pin", pinned.path, "--lock", path)
    assert named.code in (2, 14)
    assert outside.read_bytes() == before


def test_a_lock_may_lie_elsewhere(pinned: Home, call: Call, tmp_path: Path) -> None:
    place = tmp_path / "reviewed.lock"
    assert call("pin", pinned.path, "--lock", place).code == 0
    assert [pin.sha256 for pin in parse_lock(place.read_bytes()).pins] == [
        pin.sha256 for pin in _lock(pinned).pins
    ]
    place.write_bytes(b"=======\n")
    done = call("pin", pinned.path, "--lock", place)
    assert done.code == 2
    assert "--lock: reviewed.lock: expected a lock file, got merge conflict markers" in done.err
    gone = call("pin", pinned.path, "--lock", tmp_path / "gone/x.lock")
    assert gone.code == 2
    assert str(tmp_path) not in gone.err


def test_a_lock_elsewhere_holds_what_the_own_lock_of_the_home_cites(
    pinned: Home, call: Call, tmp_path: Path
) -> None:
    for state in (pinned.path / "states").iterdir():
        state.unlink()
    place = tmp_path / "reviewed.lock"
    assert call("pin", pinned.path, "--lock", place).code == 0
    assert parse_lock(place.read_bytes()).by_pointer.keys() == _lock(pinned).by_pointer.keys()
    done = call("verify", pinned.path, "--lock", place, "--min-strength", "pinned")
    assert done.code == 0, done.out
    # Under its own name the lock of the home cites nothing: what else would ever be unused?
    done = call("pin", pinned.path, "--lock", pinned.path / "ctxaudit.lock", "--update")
    assert "expected a state that cites something, got none" in done.err


@pytest.mark.parametrize("options", [(), ("--update",), ("--available-only",)])
def test_a_lock_elsewhere_takes_nothing_that_the_own_lock_contradicts(
    pinned: Home, call: Call, tmp_path: Path, options: tuple[str, ...]
) -> None:
    first = next(pin for pin in _lock(pinned).pins if pin.pointer.startswith("transcript:"))
    lock = pinned.path / "ctxaudit.lock"
    digest = ("0" if first.sha256[0] != "0" else "1") + first.sha256[1:]
    lock.write_text(lock.read_text().replace(first.sha256, digest))
    place = tmp_path / "reviewed.lock"
    done = call("pin", pinned.path, "--lock", place, *options)
    assert "pinned_digest_mismatch" in done.err
    held = parse_lock(place.read_bytes()).by_pointer if place.exists() else {}
    assert first.pointer not in held
    if "--available-only" not in options:
        assert (done.code, held) == (14, {})


@pytest.mark.parametrize("update", [(), ("--update",), ("--dry-run",)])
@pytest.mark.parametrize("way", ["same", "dots", "link"])
@pytest.mark.parametrize(
    "place", ["states/x.json", "transcripts/x.jsonl", "s1/tool-results.jsonl", "other.lock"]
)
def test_no_lock_is_written_where_a_home_is_read(
    pinned: Home, call: Call, tmp_path: Path, place: str, way: str, update: tuple[str, ...]
) -> None:
    for folder in ("states", "transcripts", "s1"):
        (pinned.path / folder).mkdir(exist_ok=True, mode=0o700)
    home = pinned.path
    if way == "dots":
        home = pinned.path / ".." / pinned.path.name
    elif way == "link":
        home = tmp_path / "link"
        home.symlink_to(pinned.path)
    path = pinned.path / place
    before = path.read_bytes() if path.exists() else None
    done = call("pin", pinned.path, "--lock", home / place, *update)
    assert done.code == 2
    assert f"--lock: {path.name}: expected ctxaudit.lock of the home or a place outside" in done.err
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("way", ["same", "dots", "link"])
def test_the_lock_of_the_home_may_be_named(
    pinned: Home, call: Call, tmp_path: Path, way: str
) -> None:
    home = pinned.path
    if way == "dots":
        home = pinned.path / ".." / pinned.path.name
    elif way == "link":
        home = tmp_path / "link"
        home.symlink_to(pinned.path)
    pinned.state("c.json", ["transcript:s1:2"])
    done = call("pin", pinned.path, "--lock", home / "ctxaudit.lock")
    assert done.code == 0, done.err
    assert len(_lock(pinned).pins) > 1


@pytest.mark.parametrize("option", ["--transcript-root", "--artifact-root"])
def test_no_lock_is_written_below_a_root_beside_the_home(
    pinned: Home, call: Call, tmp_path: Path, option: str
) -> None:
    root = tmp_path / "beside"
    root.mkdir()
    done = call("pin", pinned.path, "--lock", root / "x.jsonl", option, root)
    assert done.code == 2
    assert f"a place outside {option}, got one below it" in done.err
    assert not any(root.iterdir())


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_what_is_no_home_is_a_usage_error(call: Call, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    done = call("pin", tmp_path / name)
    assert done.code == 2
    assert f"{name}: expected a state home" in done.err
    assert str(tmp_path) not in done.err
    assert os.listdir(tmp_path / "empty") == []


def test_a_home_that_may_not_be_written_to(pinned: Home, run: Call) -> None:
    if is_root():
        pytest.skip("root may write anywhere: see tests/attacks/test_pinning.py")
    pinned.state("c.json", ["transcript:s1:2"])
    pinned.path.chmod(0o500)
    try:
        assert run("pin", pinned.path, "--dry-run").code == 0
        done = run("pin", pinned.path)
    finally:
        pinned.path.chmod(0o700)
    assert done.code == 1
    assert "expected to write, got EACCES" in done.err


def test_policy_tenant_and_jobs(pinned: Home, call: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "deny"\n[[rule]]\neffect = "allow"\ntenant = "ours"\n')
    (pinned.path / "ctxaudit.lock").unlink()
    assert call("pin", pinned.path, "--policy", policy).code == 13
    assert not (pinned.path / "ctxaudit.lock").exists()
    asked = ("--policy", policy, "--as-tenant", "ours", "--jobs", "2")
    assert call("pin", pinned.path, *asked).code == 0
    assert len(_lock(pinned).pins) == 4


def test_more_processes_pin_the_same(home: Home, run: Call, tmp_path: Path) -> None:
    pointers = home.transcript("s1", 2)
    pointers += [home.artifact("s1", f"f{n}", f"text {n}\n") for n in range(30)]
    home.state("a.json", pointers)
    digests = []
    for jobs in (1, 3):
        place = tmp_path / f"{jobs}.lock"
        assert run("pin", home.path, "--lock", place, "--jobs", str(jobs)).code == 0
        digests.append(
            [(p.pointer, p.sha256, p.bytes) for p in parse_lock(place.read_bytes()).pins]
        )
    assert digests[0] == digests[1]
    assert len(digests[0]) == 32


def test_records_of_other_agents_are_pinned_by_their_bytes(home: Home, call: Call) -> None:
    folder = home.path / "transcripts"
    folder.mkdir()
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "c1",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": "hello"},
    }
    line = json.dumps(record)
    (folder / "c1.jsonl").write_text(line + "\n")
    home.state("a.json", ["transcript:c1:1"])
    assert call("pin", home.path).code == 0
    assert _lock(home).pins[0].bytes == len(line)
    assert call("verify", home.path, "--min-strength", "pinned").code == 0
    (folder / "c1.jsonl").write_text(line.replace("hello", "hallo") + "\n")
    assert call("verify", home.path).code == 14


def test_a_lock_that_would_be_too_large_is_not_written(
    pinned: Home, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from provenance.audit import pinning

    before = (pinned.path / "ctxaudit.lock").read_bytes()
    pinned.state("c.json", ["transcript:s1:2"])
    monkeypatch.setattr(pinning, "encode_lock", lambda lock: encode_lock(lock) + b" " * (65 << 20))
    done = call("pin", pinned.path)
    assert done.code == 1
    assert "ctxaudit.lock: file: expected at most 67108864 bytes" in done.err
    assert (pinned.path / "ctxaudit.lock").read_bytes() == before
