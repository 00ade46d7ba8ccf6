"""What ledgers say was stored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from provenance.audit.ledgers import is_ledger, is_session_folder, stored_digests
from provenance.audit.notes import Notes
from provenance.fs import TrustedRoot


def test_the_last_word_on_each_artifact(tmp_path: Path) -> None:
    with ArtifactStore(tmp_path) as store:
        one = store.spill("s", "one", name="one.txt")
        store.spill("s", "two", name="two.txt")
    ledger = tmp_path / "s" / "tool-results.jsonl"
    with ledger.open("a") as file:
        file.write('{"schema":"ctxaudit.artifact/1","event":"removed","filename":"two.txt"}\n')
        file.write("rubbish\n")
        file.write("torn")
    notes = Notes()
    stored = stored_digests(TrustedRoot(tmp_path), "s", notes=notes, prefix="home/")
    assert stored == {"one.txt": one.sha256}
    assert [(f.code, f.location.line, f.target) for f in notes.listed()] == [
        ("ledger_line_invalid", 4, "home/s/tool-results.jsonl"),
        ("ledger_line_torn", 5, "home/s/tool-results.jsonl"),
    ]


def test_a_ledger_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    os.symlink("/dev/null", tmp_path / "s" / "tool-results.jsonl")
    notes = Notes()
    assert stored_digests(TrustedRoot(tmp_path), "s", notes=notes) == {}
    assert notes.counts() == {"ledger_unreadable": 1}


_ENTRY = b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"two.txt"}\n'
_EVENT = b'{"sequence":1,"content":{"schema":"ctxaudit.artifact/1"}}\n'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (_ENTRY, True),
        (_ENTRY + _EVENT, True),
        (b"torn\n\n[]\n" + _ENTRY, True),
        (_ENTRY.strip(), True),
        (_EVENT, False),
        (_EVENT + _ENTRY, False),
        (b"", False),
        (b"torn", False),
        (b"[" * 200_000, False),
        (b"9" * 5_000 + b"\n", False),
        (b"\xff\xfe\n", False),
        (b'{"schema":["ctxaudit.artifact/1"]}\n', False),
    ],
)
def test_a_ledger_is_told_by_its_first_record(tmp_path: Path, data: bytes, expected: bool) -> None:
    (tmp_path / "x.jsonl").write_bytes(data)
    assert is_ledger(TrustedRoot(tmp_path), "x.jsonl") is expected


def test_what_cannot_be_read_is_no_ledger(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    os.symlink("x", tmp_path / "link.jsonl")
    for name in ("pipe.jsonl", "link.jsonl", "nothing.jsonl", "tool-results.jsonl"):
        assert not is_ledger(TrustedRoot(tmp_path), name)


def test_a_session_folder_is_told_by_its_artifacts(tmp_path: Path) -> None:
    def found() -> bool:
        with TrustedRoot(tmp_path).open_directory() as folder:
            return is_session_folder(folder.entries())

    (tmp_path / "tool-results.jsonl").write_bytes(b"torn")
    assert not found()
    assert not is_ledger(TrustedRoot(tmp_path), "tool-results.jsonl")
    (tmp_path / "tool-results").mkdir()
    assert found()
    assert is_ledger(TrustedRoot(tmp_path), "tool-results.jsonl")
