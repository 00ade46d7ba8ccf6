"""Writers that are killed, that meet, that have no room; files that somebody damaged."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import threading
from collections import UserDict
from collections.abc import ItemsView
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance import CtxauditError, DurableStateStore, StateConflict, TrustedRoot
from provenance.stores import StoreUnsafe, iter_state_versions
from tests.attacks.namespaces import run_with_mounts
from tests.fixtures import no_handle_is_left
from tests.stores.stores import a_state, alter, file_of, filled, tables_of

__all__ = ["no_handle_is_left"]

pytestmark = pytest.mark.attack

_KILLS = 40


def _write_until_killed(home: Path, say: int) -> None:
    store = DurableStateStore(home)
    current: int | None = store.get("run-1").version if store.names() else None
    while True:
        text = f"version {(current or 0) + 1}"
        current = store.put("run-1", a_state(text), replaces=current, author="victim").version
        os.write(say, current.to_bytes(4))


def _killed_at_random(home: Path, choice: random.Random) -> int:
    """Let a child write versions and kill it; give the last one that it said is written."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(said)
            _write_until_killed(home, say)
        finally:
            os._exit(1)
    os.close(say)
    last = 0
    for _ in range(choice.randrange(3)):
        last = int.from_bytes(os.read(said, 4))
    for _ in range(choice.randrange(200_000)):
        pass
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while words := os.read(said, 4):
        last = int.from_bytes(words)
    os.close(said)
    assert os.WIFSIGNALED(status), "the child ended by itself"
    return last


def test_a_writer_that_is_killed_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    choice = random.Random(5)
    home, last = tmp_path / "home", 0
    for turn in range(_KILLS):
        if turn % 8 == 0:  # also while the file is being made
            shutil.rmtree(home, ignore_errors=True)
            last = 0
        last = max(last, _killed_at_random(home, choice))
        # As the next reader finds it, from a copy and in place.
        store = DurableStateStore(home)
        if file_of(home).exists():
            with TrustedRoot(home) as root:
                copied = [one.version for one in iter_state_versions(root)]
        else:
            copied = []
        history = store.history("run-1") if store.names() else ()
        numbers = [one.version for one in history]
        assert numbers == copied == list(range(1, len(numbers) + 1))
        assert len(numbers) in (last, last + 1)  # nothing that was said is lost
        for number in numbers[-2:]:
            assert store.get("run-1", number).state == a_state(f"version {number}")
        if numbers:
            assert set(tables_of(home)) >= {"versions", "changes"}
        last = len(numbers)


_WRITER = """
import sys
from provenance import DurableStateStore, StateConflict
from tests.stores.stores import a_state
home, name, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
store, won, lost = DurableStateStore(home, busy_timeout_seconds=60), 0, 0
while won < wanted:
    current = store.get("run-1").version
    try:
        made = store.put("run-1", a_state(f"{name} on {current}"), replaces=current, author=name)
        assert made.replaces == current
        won += 1
    except StateConflict as error:
        assert error.expected == current < error.current
        lost += 1
print(won, lost)
"""


def test_two_processes_write_and_none_overwrites_the_other(tmp_path: Path, checkout: Path) -> None:
    import subprocess
    import sys

    filled(tmp_path, versions=1)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), name, "12"],
            cwd=checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    with TrustedRoot(tmp_path) as root:  # and a reader that copies meanwhile, as an audit does
        while any(process.poll() is None for process in running):
            numbers = [one.version for one in iter_state_versions(root)]
            assert numbers == list(range(1, len(numbers) + 1))
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert out.split()[0] == "12"
    store = DurableStateStore(tmp_path)
    history = store.history("run-1")
    assert [one.version for one in history] == list(range(1, 26))
    for one in history[1:]:
        (fact,) = store.get("run-1", one.version).state.facts
        assert fact.content == f"{one.author} on {one.replaces}"


def test_a_fork_in_the_midst_of_use(tmp_path: Path) -> None:
    store = filled(tmp_path, versions=1)
    child = os.fork()
    if child == 0:
        try:
            code = 0 if store.put("run-1", a_state("c"), replaces=1, author="child") else 1
            os._exit(code)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    with pytest.raises(StateConflict):
        store.put("run-1", a_state("p"), replaces=1, author="parent")
    assert store.get("run-1").info.author == "child"


_FULL = """
import json, os, shutil, subprocess, sys
from provenance import CtxauditError, DurableStateStore
from tests.stores.stores import a_state
place, said = sys.argv[1], {"failed": [], "versions": []}
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k,mode=0700", "none", place], check=True)
store, current = DurableStateStore(place + "/home"), None
for number in range(60):
    try:
        current = store.put("run", a_state("x" * 20_000 + str(number)), replaces=current,
                            author="h").version
    except CtxauditError as error:
        said["failed"].append([type(error).__name__, str(error)])
        if len(said["failed"]) > 3:
            break
said["current"] = current
said["versions"] = [one.version for one in store.history("run")]
said["last"] = len(store.get("run").document)
with open(place + "/filler", "wb", buffering=0) as filler:
    try:
        while filler.write(b"y" * 4096): pass
    except OSError: pass
try:
    store.put("other", a_state("x" * 20_000), replaces=None, author="h")
except CtxauditError as error:
    said["brim"] = type(error).__name__
os.unlink(place + "/filler")
said["names"] = store.names()
fresh = DurableStateStore(place + "/new")
with open(place + "/filler", "wb", buffering=0) as filler:
    try:
        while filler.write(b"y" * 4096): pass
    except OSError: pass
try:
    fresh.put("run", a_state("x" * 9_000), replaces=None, author="h")
except CtxauditError as error:
    said["new"] = type(error).__name__
os.unlink(place + "/filler")
shutil.rmtree(place + "/home")
said["new works"] = fresh.put("run", a_state("x"), replaces=None, author="h").version
print(json.dumps(said))
"""


def test_a_full_disk_loses_no_version(tmp_path: Path) -> None:
    said = run_with_mounts(_FULL, tmp_path, what="a full disk")
    assert {name for name, _ in said["failed"]} == {"StoreWriteFailed"}
    assert said["versions"] == list(range(1, said["current"] + 1))
    assert said["current"] > 3
    assert said["last"] > 20_000
    assert said["brim"] == said["new"] == "StoreWriteFailed"
    assert said["names"] == ["run"]
    assert said["new works"] == 1


_READ_ONLY = """
import json, subprocess, sys
from provenance import CtxauditError, DurableStateStore
from tests.stores.stores import a_state, filled
from pathlib import Path
place = sys.argv[1]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "none", place], check=True)
filled(Path(place) / "home")
Path(place, "bare").mkdir()
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
store = DurableStateStore(place + "/home")
said = {"current": store.get("run-1").version, "history": len(store.history("run-1"))}
for name, home, replaces in (("old", "home", 3), ("bare", "bare", None), ("new", "new", None)):
    try:
        DurableStateStore(f"{place}/{home}").put("run-1", a_state(), replaces=replaces, author="h")
    except CtxauditError as error:
        said[name] = [type(error).__name__, str(error)]
print(json.dumps(said))
"""


def test_a_read_only_disk_is_read_and_says_so(tmp_path: Path) -> None:
    said = run_with_mounts(_READ_ONLY, tmp_path, what="a read-only disk")
    assert (said["current"], said["history"]) == (3, 3)
    for name in ("old", "bare", "new"):
        kind, words = said[name]
        assert kind == "StoreReadOnly", said
        assert "\n" not in words
        assert str(tmp_path) not in words


def _every_answer(home: Path) -> int:
    """Ask everything; give how many questions were answered with an error of ours."""
    store = DurableStateStore(home)
    failed: list[str] = []
    with TrustedRoot(home) as root:
        for act in (
            store.names,
            lambda: store.history("run-1"),
            lambda: [store.get("run-1", number).state for number in (1, 2, 3)],
            store.selections,
            lambda: list(iter_state_versions(root)),
        ):
            try:
                act()
            except CtxauditError as error:
                failed.append(str(error))
    assert all("\n" not in said for said in failed)
    return len(failed)


@settings(max_examples=25)
@given(data=st.data())
def test_damaged_pages_are_errors_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("home")
    store = filled(home)
    store.record_selection("run-1", query="q", candidates=["m1"], winners=["m1"])
    content = bytearray(file_of(home).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        size = data.draw(st.sampled_from((1, 2, 16, 600)))
        content[at : at + size] = data.draw(st.binary(min_size=size, max_size=size))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    file_of(home).write_bytes(content)
    _every_answer(home)
    shutil.rmtree(home)


_TEXT = "CAST(x'{}' AS TEXT)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE versions SET name = x'00ff' WHERE version = 2",
        "UPDATE versions SET name = 'a' || char(27) || '[31m' WHERE version = 2",
        f"UPDATE versions SET name = {_TEXT.format('ff')} WHERE version = 2",
        "UPDATE versions SET version = 'two' WHERE version = 2",
        "UPDATE versions SET version = -5 WHERE version = 2",
        "UPDATE versions SET version = 9223372036854775807 WHERE version = 3",
        "DELETE FROM versions WHERE version = 2",
        "UPDATE versions SET replaces = 7 WHERE version = 2",
        "UPDATE versions SET created_at = 'yesterday' WHERE version = 2",
        "UPDATE versions SET author = x'00' WHERE version = 2",
        f"UPDATE versions SET author = {_TEXT.format('c3')} WHERE version = 2",
        "UPDATE versions SET sha256 = upper(sha256) WHERE version = 2",
        "UPDATE versions SET sha256 = 1 WHERE version = 2",
        "UPDATE versions SET bytes = 'many' WHERE version = 2",
        "UPDATE versions SET document = CAST(document AS TEXT) WHERE version = 2",
        "UPDATE versions SET document = replace(document, '8', '9') || ' ' WHERE version = 2",
        "UPDATE versions SET document = (SELECT max(document) FROM versions) WHERE version = 2",
        "UPDATE changes SET kind = 'rumour' WHERE version = 2",
        "UPDATE changes SET change = 7 WHERE version = 2",
        "UPDATE changes SET confirmed_at = '' WHERE version = 2",
        "UPDATE selections SET document = zeroblob(9) WHERE selection_id = 1",
        "UPDATE selections SET name = '../x' WHERE selection_id = 1",
        "UPDATE selections SET version = 1.5 WHERE selection_id = 1",
        "UPDATE resolutions SET document = x'7b7d' WHERE position = 0",
        "INSERT INTO versions VALUES ('run-1', 4, 3, '', '', '', '', 0, zeroblob(70000000))",
    ],
)
def test_a_cell_that_is_not_what_was_written_is_an_error_of_ours(
    tmp_path: Path, statement: str
) -> None:
    from provenance import SourceResolution, SourceResolutionStatus

    store = filled(tmp_path)
    store.record_selection("run-1", query="q", candidates=["m1"], winners=["m1"])
    store.link_resolution(1, SourceResolution("transcript:s1:1", SourceResolutionStatus.MISSING))
    assert _every_answer(tmp_path) == 0
    alter(tmp_path, statement)
    assert _every_answer(tmp_path) > 0


def test_a_document_of_the_right_digest_that_is_no_state(tmp_path: Path) -> None:
    import hashlib

    filled(tmp_path)
    data = b'{"schema": "ctxaudit.state/9"}'
    with closing(sqlite3.connect(file_of(tmp_path), isolation_level=None)) as base:
        base.execute(
            "UPDATE versions SET document = ?, bytes = ?, sha256 = ? WHERE version = 3",
            (data, len(data), hashlib.sha256(data).hexdigest()),
        )
    with pytest.raises(CtxauditError, match="schema"):
        DurableStateStore(tmp_path).get("run-1")
    assert DurableStateStore(tmp_path).get("run-1", 2).version == 2


def _puts_in_a_child(home: Path, name: str) -> tuple[int, int]:
    """Fork a child that stores a state; give its process and where it says what came of it."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            store = DurableStateStore(home, busy_timeout_seconds=10)
            store.put(name, a_state(name), replaces=None, author="child")
            os.write(say, b"stored")
        except BaseException as error:  # noqa: BLE001 - told to the parent
            os.write(say, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(say)
    return child, said


def test_forks_while_another_thread_writes_lose_nothing(tmp_path: Path) -> None:
    store = DurableStateStore(tmp_path, busy_timeout_seconds=10)
    store.put("parent", a_state(), replaces=None, author="parent")
    stop, written, failed = threading.Event(), [1], []

    def write() -> None:
        try:
            while not stop.is_set():
                made = store.put("parent", a_state(), replaces=written[0], author="parent")
                written[0] = made.version
        except CtxauditError as error:
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    answers: dict[str, str] = {}
    for turn in range(3):
        children = {
            name: _puts_in_a_child(tmp_path, name)
            for name in (f"child-{turn}-{number}" for number in range(4))
        }
        for name, (child, said) in children.items():
            answers[name] = os.read(said, 100).decode()
            os.close(said)
            os.waitpid(child, 0)
    stop.set()
    thread.join()
    assert failed == []
    assert set(answers.values()) == {"stored"}
    assert set(store.names()) == {"parent", *answers}
    assert len(store.history("parent")) == written[0]
    assert tables_of(tmp_path)


class _Forking(UserDict[str, str]):
    """Keys of conflicts that fork once they are looked at, inside the transaction."""

    child = -1

    def items(self) -> ItemsView[str, str]:
        if self.child < 0:
            self.child = os.fork()
        return super().items()


def test_a_fork_inside_a_call_writes_nothing_in_the_child(tmp_path: Path) -> None:
    store = filled(tmp_path, versions=1)
    keys = _Forking(f1="a conflict")
    try:
        made = store.put("run-1", a_state("x"), replaces=1, author="a", conflict_keys=keys)
    except BaseException as error:  # in the child, which must not go on
        if keys.child:
            raise
        code = 1
        with contextlib.suppress(BaseException):
            # Nor later on; what is stored can be read.
            is_refused = isinstance(error, StoreUnsafe)
            with pytest.raises(StoreUnsafe):
                DurableStateStore(tmp_path).put("b", a_state(), replaces=None, author="child")
            is_read = DurableStateStore(tmp_path).get("run-1", 1).version == 1
            code = 0 if is_refused and is_read else 1
        os._exit(code)
    if keys.child == 0:
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(keys.child, 0)[1]) == 0
    assert made.version == 2
    assert store.names() == ("run-1",)
    assert [one.version for one in store.history("run-1")] == [1, 2]
