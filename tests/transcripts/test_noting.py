"""What was tolerated becomes findings."""

from __future__ import annotations

from provenance.findings import Finding, Location, Severity
from provenance.transcripts.envelope import Note
from provenance.transcripts.noting import MAX_LISTED, NoteLog


def test_a_note_becomes_a_finding() -> None:
    log = NoteLog("s1")
    log.add([(7, Note("a_code", "field: expected x, got none"))])
    log.add([])
    assert log.findings == [
        Finding(
            "a_code",
            Severity.WARNING,
            "s1.jsonl",
            Location(ordinal=7, line=7),
            "field: expected x, got none",
        )
    ]
    assert log.counts == {"a_code": 1}


def test_each_code_has_its_own_bound() -> None:
    log = NoteLog("s1")
    for line in range(1, MAX_LISTED + 3):
        log.add([(line, Note("often", "")), *([(line, Note("once", ""))] if line == 1_002 else [])])
    assert log.counts == {"often": MAX_LISTED + 2, "once": 1}
    assert [found.location.line for found in log.findings if found.code == "often"] == list(
        range(1, MAX_LISTED + 1)
    )
    assert log.findings[-1].code == "once"
