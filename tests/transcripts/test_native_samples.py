"""Samples with one fault each: what is said of every event of every one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.resolution import Reason
from provenance.transcripts import check_transcript, verify_events
from tests.transcripts.model import lines_of, sha256_of_line

_FOLDER = Path(__file__).resolve().parent.parent / "data" / "native"


@dataclass(frozen=True)
class _Row:
    session: str
    lines: int
    good: int
    then: Reason


def _rows() -> list[_Row]:
    text = (_FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \| (\d+) \| (\d+) \| .* \| `(\w+)` \|$", text, re.MULTILINE
    )
    return [_Row(name, int(lines), int(good), Reason(then)) for name, lines, good, then in rows]


_ROWS = _rows()


def test_every_sample_has_its_row() -> None:
    assert sorted(row.session for row in _ROWS) == sorted(
        path.stem for path in _FOLDER.glob("*.jsonl")
    )
    assert len(_ROWS) > 40


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.session)
def test_each_event_of_a_sample(row: _Row) -> None:
    data = (_FOLDER / f"{row.session}.jsonl").read_bytes()
    assert len(lines_of(data)) == row.lines
    numbers = range(1, row.lines + 3)
    with TrustedRoot(_FOLDER) as root:
        together = verify_events(
            root, row.session, numbers, limits=DEFAULT_LIMITS, excerpt_chars=100
        )
        for number in numbers:
            said = together.outcomes[number]
            alone = verify_events(
                root, row.session, [number], limits=DEFAULT_LIMITS, excerpt_chars=100
            )
            assert alone.outcomes[number] == said
            if number <= row.good:
                assert said.reason is Reason.VERIFIED_TRANSCRIPT_EVENT
                assert said.sha256 == sha256_of_line(data, number)
                assert said.excerpt is not None
                said.excerpt.encode()
            else:
                assert (said.reason, said.sha256, said.excerpt) == (row.then, None, None)
        check = check_transcript(root, row.session, limits=DEFAULT_LIMITS)
    assert check.records == check.last_sequence == row.good
    is_sound = row.then is Reason.TRANSCRIPT_EVENT_MISSING
    assert check.first_bad == (None if is_sound else (row.good + 1, row.then))


@pytest.mark.parametrize(
    ("session", "lines"), [("legacy-no-envelope", [1, 2, 3, 4, 5]), ("legacy-one-line", [3])]
)
def test_what_older_writers_leave_out_is_a_finding_a_line(session: str, lines: list[int]) -> None:
    with TrustedRoot(_FOLDER) as root:
        said = verify_events(root, session, [5], limits=DEFAULT_LIMITS, excerpt_chars=0)
    assert [found.location.line for found in said.findings] == lines
    assert said.finding_counts == {"envelope_field_absent": len(lines)}


def test_the_line_end_is_no_evidence() -> None:
    with TrustedRoot(_FOLDER) as root:
        said = verify_events(root, "crlf", range(1, 6), limits=DEFAULT_LIMITS, excerpt_chars=0)
    data = (_FOLDER / "crlf.jsonl").read_bytes().replace(b"\r\n", b"\n")
    for number in range(1, 6):
        assert said.outcomes[number].sha256 == sha256_of_line(data, number)


def test_calls_and_their_results_are_counted() -> None:
    with TrustedRoot(_FOLDER) as root:
        clean = check_transcript(root, "clean", limits=DEFAULT_LIMITS)
        unknown = check_transcript(root, "unknown-type", limits=DEFAULT_LIMITS)
    assert (clean.calls, clean.call_results, clean.unknown_types) == (1, 1, {})
    assert clean.first_time == "2026-03-02T09:01:00+00:00"
    assert clean.last_time == "2026-03-02T09:06:00+00:00"
    assert unknown.unknown_types == {"weather-report": 1}
