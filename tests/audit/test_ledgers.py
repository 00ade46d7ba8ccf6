"""What ledgers say was stored."""

from __future__ import annotations

import os
from pathlib import Path

from provenance.artifacts import ArtifactStore
from provenance.audit.ledgers import stored_digests
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
