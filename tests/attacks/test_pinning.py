"""`pin` killed, raced, on a full or read-only disk: no entry is lost, nothing is torn."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.audit.pin_plan import Evidence, plan_pins
from provenance.audit.pinning import PinRequest, locked_place
from provenance.fs import is_temporary_name
from provenance.locks import LOCK_FILE, LockFile, encode_lock, parse_lock
from tests.attacks.kills import killed_at_random
from tests.attacks.namespaces import run_with_mounts

pytestmark = pytest.mark.attack

_MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
_KILLS = 40
_EACH = 40


def _add(home: Path, numbers: range) -> None:
    """Pin events as one run of the command does, from the reading of the lock on."""
    with locked_place(PinRequest(home=str(home))) as place:
        evidence = [Evidence(f"transcript:s1:{n}", f"{n:064x}", n) for n in numbers]
        place.write(plan_pins(place.read(), evidence, at=_MOMENT).lock)


def test_killed_at_any_moment_it_is_the_old_lock_or_the_new_one(tmp_path: Path) -> None:
    choice = random.Random(1)
    sizes = {0}
    for number in range(_KILLS):
        turn = iter(range(10**9))

        def work(number: int = number, turn: object = turn) -> None:
            start = 1 + number * 1_000_000 + _EACH * next(turn)  # type: ignore[call-overload]
            _add(tmp_path, range(start, start + _EACH))

        before = _pins(tmp_path)
        killed_at_random(work, choice)
        after = _pins(tmp_path)
        assert before <= after
        assert len(after) % _EACH == 0
        sizes.add(len(after))
    assert len(sizes) > 2
    names = set(os.listdir(tmp_path)) - {LOCK_FILE}
    assert all(is_temporary_name(name) for name in names)
    _add(tmp_path, range(1, 2))  # and the folder is not held by anybody


def _pins(home: Path) -> set[str]:
    path = home / LOCK_FILE
    return set(parse_lock(path.read_bytes()).by_pointer) if path.exists() else set()


def test_many_runs_at_once_lose_no_entry(tmp_path: Path) -> None:
    runs, each = 6, 15
    children = []
    for run in range(runs):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                for turn in range(each):
                    first = 1 + (run * each + turn) * 3
                    _add(tmp_path, range(first, first + 3))
                os._exit(0)
            os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * runs
    pins = parse_lock((tmp_path / LOCK_FILE).read_bytes()).pins
    assert {pin.bytes for pin in pins} == set(range(1, runs * each * 3 + 1))
    assert os.listdir(tmp_path) == [LOCK_FILE]


def _home(path: Path, states: int) -> None:
    folder = path / "transcripts"
    folder.mkdir(parents=True)
    (path / "states").mkdir()
    lines = []
    for number in range(1, states + 1):
        event = {"sequence": number, "session_id": "s1", "type": "message", "content": f"{number}"}
        lines.append(json.dumps(event | {"event_id": f"transcript:s1:{number}"}) + "\n")
        fact = {
            "fact_id": "f",
            "content": "x",
            "source_pointer": f"transcript:s1:{number}",
            "last_confirmed_at": "2026-01-01T00:00:00Z",
        }
        state = {"schema": "ctxaudit.state/1", "session": "s1", "facts": [fact]}
        (path / f"states/{number}.json").write_text(json.dumps(state))
    (folder / "s1.jsonl").write_text("".join(lines))


def test_commands_at_once_pin_every_state(tmp_path: Path, checkout: Path) -> None:
    home = tmp_path / "home"
    _home(home, 3)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "cli", "pin", str(home), *more],
            cwd=checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for more in (["--state", "1"], ["--state", "2"], ["--state", "3"])
    ]
    said = [one.communicate() for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], said
    assert len(_pins(home)) == 3
    # A run over the whole home removes nothing that was pinned while it read the states.
    assert sum(out.count(b"added ") for out, _ in said) == 3


def test_an_update_keeps_what_another_run_pinned_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from cli import pinning
    from cli.application import app

    home = tmp_path / "home"
    _home(home, 3)
    assert CliRunner().invoke(app, ["pin", str(home), "--state", "3"]).exit_code == 0
    (home / "states/3.json").unlink()  # nothing cites it: an update removes it
    gather = pinning.gather

    def meanwhile(request: PinRequest) -> object:
        gathered = gather(request)
        _add(home, range(9, 10))
        return gathered

    monkeypatch.setattr(pinning, "gather", meanwhile)
    done = CliRunner().invoke(app, ["pin", str(home), "--update"])
    assert done.exit_code == 0, done.output
    assert _pins(home) == {f"transcript:s1:{n}" for n in (1, 2, 9)}


_FULL_DISK = """
import json, os, subprocess, sys
from pathlib import Path
place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", place], check=True)
sys.path.insert(0, sys.argv[2])
from tests.attacks.test_pinning import _home
home = place / "home"
_home(home, 3)
def pin(*more):
    done = subprocess.run([sys.executable, "-m", "cli", "pin", str(home), *more],
        capture_output=True, text=True, cwd=sys.argv[2])
    return [done.returncode, done.stderr.strip().split(": ", 1)[1]]
lock = home / "ctxaudit.lock"
said = {"first": pin("--state", "1")[0]}
before = lock.read_bytes()
with open(place / "filler", "wb", buffering=0) as filler:
    for size in (4096, 1):
        try:
            while filler.write(b"y" * size):
                pass
        except OSError:
            continue
said["full"] = pin()
said["old"] = lock.read_bytes() == before
said["names"] = sorted(name for name in os.listdir(home) if name.startswith("."))
os.unlink(place / "filler")
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
said["read-only"] = pin()
said["dry"] = pin("--dry-run")[0]
said["still"] = lock.read_bytes() == before
print(json.dumps(said))
"""


def test_a_full_disk_and_a_read_only_one_leave_the_old_lock(tmp_path: Path, checkout: Path) -> None:
    said = run_with_mounts(_FULL_DISK, tmp_path, checkout, what="a full disk was")
    assert said == {
        "first": 0,
        "full": [1, "pin: ctxaudit.lock: file: expected to write, got ENOSPC"],
        "old": True,
        "names": [],
        "read-only": [1, "pin: ctxaudit.lock: file: expected to write, got EROFS"],
        "dry": 0,
        "still": True,
    }


def test_a_link_that_is_swapped_in_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.write_bytes(b"theirs")
    with locked_place(PinRequest(home=str(home))) as place:
        assert place.read() == LockFile()
        (home / LOCK_FILE).symlink_to(outside)  # after the look, before the write
        place.write(LockFile())
    assert outside.read_bytes() == b"theirs"
    assert (home / LOCK_FILE).read_bytes() == encode_lock(LockFile())
