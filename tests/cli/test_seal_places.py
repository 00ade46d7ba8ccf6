"""What stands in the place of something that was sealed is said, and not only that it is gone."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance import DurableContextState, DurableFact, DurableStateStore
from tests.cli.sealed_homes import SealedHome

Call = Callable[..., Any]


@pytest.fixture(scope="session")
def _once(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    return SealedHome.make(tmp_path_factory.mktemp("places"))


@pytest.fixture
def sealed(_once: SealedHome, tmp_path: Path) -> SealedHome:
    return _once.copy_into(tmp_path)


def _verify(call: Call, home: SealedHome) -> Any:
    done = call("verify", home.path, "--seal", home.public, "--format", "json")
    assert done.out, done.err
    return done


def _messages(done: Any, code: str) -> list[str]:
    return [one["message"] for one in done.report["findings"] if one["code"] == code]


def _link_there(path: Path) -> None:
    path.symlink_to("elsewhere")


def _folder_there(path: Path) -> None:
    path.mkdir()


def _pipe_there(path: Path) -> None:
    os.mkfifo(path)


def _socket_there(path: Path) -> None:
    room = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:  # the address of a socket is short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(f"/proc/self/fd/{room}/{path.name}")
    finally:
        os.close(room)


def _nothing_there(path: Path) -> None:
    assert not path.exists()


_PIPE = "a pipe, socket or device in its place"
_PLACES = [
    (_link_there, "a link in its place"),
    (_folder_there, "a folder in its place"),
    (_pipe_there, _PIPE),
    (_socket_there, _PIPE),
]


@pytest.mark.parametrize(("put", "got"), [*_PLACES, (_nothing_there, "")])
@pytest.mark.parametrize(
    ("name", "code", "nothing"),
    [
        ("transcripts/s2.jsonl", "sealed_events_removed", "0"),
        ("s1/tool-results.jsonl", "sealed_ledger_lines_removed", "0"),
        ("states/a.json", "sealed_state_removed", "nothing of that name"),
        ("receipts/r.json", "sealed_state_removed", "nothing of that name"),
        ("ctxaudit.lock", "sealed_lock_entry_removed", "none"),
    ],
)
def test_what_stands_in_the_place_of_a_sealed_file_is_said(
    call: Call,
    sealed: SealedHome,
    put: Callable[[Path], None],
    got: str,
    name: str,
    code: str,
    nothing: str,
) -> None:
    path = sealed.path / name
    if not path.exists():
        path.parent.mkdir()
        path.write_text("{}")
        sealed.seal()
    path.unlink()
    put(path)
    done = _verify(call, sealed)
    assert done.code == 14
    told = _messages(done, code)
    assert told
    assert {one.rpartition(", got ")[2] for one in told} == {got or nothing}
    if code in ("sealed_events_removed", "sealed_ledger_lines_removed"):
        assert f", got {got or nothing}" in call("seal", sealed.path, "--key", sealed.key).err


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("transcripts", "sealed_events_removed"),
        ("s1", "sealed_ledger_lines_removed"),
        ("states", "sealed_state_removed"),
    ],
)
@pytest.mark.parametrize("what", ["a file", "a link"])
def test_what_stands_in_the_place_of_a_folder_is_said(
    call: Call, sealed: SealedHome, name: str, code: str, what: str
) -> None:
    path = sealed.path / name
    path.rename(sealed.path.with_name("away"))
    if what == "a file":
        path.touch()
    else:
        path.symlink_to("../away")
    done = _verify(call, sealed)
    assert done.code == 14
    told = _messages(done, code)
    assert told
    assert all(one.endswith(f"got {what} in the place of {name}/") for one in told), told


def test_what_stands_in_the_place_of_the_store_of_states_is_said(
    call: Call, sealed: SealedHome
) -> None:
    fact = DurableFact("f", "A claim.", "transcript:s1:2", "2026-01-01T00:00:00Z")
    with DurableStateStore(sealed.path) as store:
        store.put("kept", DurableContextState([fact]), replaces=None, author="me")
    sealed.seal()
    path = sealed.path / "states/states.sqlite3"
    for one in path.parent.glob("states.sqlite3*"):
        one.unlink()
    path.mkdir()
    done = _verify(call, sealed)
    assert done.code == 14
    (told,) = _messages(done, "sealed_state_versions_rewritten")
    assert told.endswith("got a folder in its place")
