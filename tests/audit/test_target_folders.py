"""Folders that were named: a part of a home that says nothing alone is refused by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenance.audit.notes import Notes
from provenance.audit.request import AuditRequest, TargetError
from provenance.audit.targets import read_targets


@pytest.mark.parametrize("name", ["states", "receipts"])
@pytest.mark.parametrize("file", ["a.json", "states.sqlite3"])
def test_the_states_of_a_home_alone_are_named_as_that(tmp_path: Path, name: str, file: str) -> None:
    folder = tmp_path / "home" / name
    folder.mkdir(parents=True)
    (folder / file).write_bytes(b"{}")
    request = AuditRequest(targets=(str(folder),))
    with pytest.raises(TargetError, match=f"got the {name} of a home; name the home, or a file"):
        read_targets(request, Notes())
    # The nearest that is none: transcripts of an agent in a folder of that name.
    (folder / "b.jsonl").write_text('{"type":"user","uuid":"1","sessionId":"s"}\n')
    assert read_targets(request, Notes()).parts
