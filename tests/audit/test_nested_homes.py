"""State homes below what was named: told by what only a home has, never by a folder's name."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from provenance.audit import nested_homes
from provenance.audit.nested_homes import is_home
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.sealing.log import SEALS_FOLDER, checkpoint_name, leaves_name


def _write(*names: str, text: str = "{}", and_link: str | None = None) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder.joinpath(*names)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if and_link is not None:
            shutil.rmtree(folder / and_link, ignore_errors=True)
            (folder / and_link).symlink_to("nowhere")

    return write


def _very_large(folder: Path) -> None:
    with (folder / "states/z.json").open("wb") as file:
        file.truncate(DEFAULT_LIMITS.max_document_bytes + 1)


_STATE = json.dumps({"facts": [], "schema": "ctxaudit.state/1", "session": "s"})
_RECEIPT = json.dumps({"schema": "ctxaudit.receipt/1"})


def _is_home(root: Path) -> bool:
    folder = root / "a"
    folder.mkdir(exist_ok=True)
    home = TrustedRoot(root)
    with home.open_directory("a") as opened:
        return is_home(home, ("a",), opened.entries())


@pytest.mark.parametrize(
    "write",
    [
        _write("ctxaudit.lock"),
        _write("ctxaudit.toml", text=""),
        lambda folder: (folder / "ctxaudit.toml").symlink_to("nowhere"),
        _write("seals", checkpoint_name(1)),
        _write("seals", leaves_name(1, b"\0" * 32)),
        _write("states", "states.sqlite3"),
        _write("states", "z.json", text=_STATE),
        _write("states", "z.json", text=_STATE[:-1]),  # torn: a state all the same
        _write("receipts", "z.json", text=_RECEIPT),
        _write("states", "z.json", text=_STATE.replace("/", "\\/").replace("c", "\\u0063")),
        _write("states", "z.json", text='{"facts": [{"source_pointer" : "transcript:s:1"}]}'),
        _write("states", "z.json", text=_STATE.replace(": ", " :\t")),
        _very_large,
        _write("transcripts", "s.jsonl", and_link="states"),
    ],
)
def test_what_a_home_has(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "a").mkdir()
    _write("states", "a.json")(tmp_path / "a")
    assert not _is_home(tmp_path)
    write(tmp_path / "a")
    assert _is_home(tmp_path)


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: None,
        _write("states", "a.json"),
        _write("states", "a.jsonl", text=_STATE),
        _write("states", "deeper", "a.json", text=_STATE),
        _write("receipts", "a.json", text='{"schema": "receipt/1"}'),
        _write("receipts", "a.json", text='{"text": "a document in the form ctxaudit.receipt/1"}'),
        _write("seals", "key.pub"),
        _write("seals", "model.checkpoint"),
        _write("transcripts", "a.jsonl"),
        _write("a.json", text=_STATE),
        _write("states"),
        lambda folder: (folder / "states").symlink_to("nowhere"),
        lambda folder: (folder / "states").mkdir() or os.mkfifo(folder / "states/a.json"),
    ],
)
def test_what_agents_have_too(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "a").mkdir()
    write(tmp_path / "a")
    assert not _is_home(tmp_path)


def test_the_names_of_a_log_are_those_of_its_writer() -> None:
    assert nested_homes._SEALS == SEALS_FOLDER
    for name in (checkpoint_name(1), leaves_name(1, b"\0" * 32)):
        assert nested_homes._is_log_file(name)
