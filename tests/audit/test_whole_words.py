"""Putting the faults of a transcript into the words of the report."""

from __future__ import annotations

import pytest

from provenance.audit.whole_words import finding_of
from provenance.findings import Location, Severity
from provenance.transcripts.records import Fault

_FAULT = Fault(
    "x", Severity.ERROR, "field: expected a, got b", ordinal=3, line=5, native_id="n", session="s"
)


def test_a_plain_fault_keeps_its_place() -> None:
    finding = finding_of(_FAULT, "a.jsonl")
    assert (finding.target, finding.message, finding.part) == ("a.jsonl", _FAULT.message, "")
    assert finding.location == Location(ordinal=3, native_id="n", line=5)


def test_a_file_of_a_folder_is_the_target() -> None:
    finding = finding_of(_FAULT._replace(member="00001-a.json"), "run", is_folder=True)
    assert (finding.target, finding.message, finding.part) == (
        "run/00001-a.json",
        _FAULT.message,
        "",
    )
    assert finding.location.line == 5


def test_a_member_of_an_archive_stands_in_the_message() -> None:
    fault = _FAULT._replace(member="samples/7_epoch_1.json")
    for names_session in (False, True):
        finding = finding_of(fault, "a.eval", names_session=names_session)
        assert finding.target == "a.eval"
        assert finding.part == "member samples/7_epoch_1.json, line 5"
        assert finding.message == f"{fault.message} (member samples/7_epoch_1.json, line 5)"
        # The archive has no such line.
        assert finding.location == Location(ordinal=3, native_id="n")
    without = finding_of(fault._replace(line=None), "a.eval")
    assert without.message.endswith("(member samples/7_epoch_1.json)")


def test_a_session_stands_in_the_message_where_there_are_several() -> None:
    finding = finding_of(_FAULT, "a.db", names_session=True)
    assert (finding.target, finding.part) == ("a.db", "session s")
    assert finding.message == "field: expected a, got b (session s)"
    assert finding.location == Location(ordinal=3, native_id="n", line=5)
    nobodys = finding_of(_FAULT._replace(session=None), "a.db", names_session=True)
    assert nobodys.message == _FAULT.message


@pytest.mark.parametrize("name", ["a\x1b[2J\nb", "\u202e" + "x" * 900, "é" * 300])
def test_a_hostile_name_is_short_and_steers_nothing(name: str) -> None:
    for finding in (
        finding_of(_FAULT._replace(member=name, line=None), "a.eval"),
        finding_of(_FAULT._replace(session=name), "a.db", names_session=True),
    ):
        assert finding.message.isprintable()
        assert len(finding.message) < len(_FAULT.message) + 220
