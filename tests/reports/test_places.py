"""Where a person finds a source, as a report may say it."""

from __future__ import annotations

import pytest

from provenance.reports.places import place_of


@pytest.mark.parametrize(
    ("pointer", "reason", "place"),
    [
        ("artifact:s1:a.txt:123456789abc", "artifact_missing", "s1/tool-results/a.txt"),
        ("transcript:s1:3", "transcript_invalid_json", "record 3 of session s1"),
        ("transcript:s1:3", "transcript_missing", "record 3 of session s1"),
        ("transcript:s1:3", "policy_denied", ""),
        ("artifact:s1:a.txt:123456789abc", "policy_error", ""),
        ("artifact:s1:a.txt:123456789abc", "refused_by_policy", ""),
        ("transcript:../s1:3", "malformed_pointer", ""),
        ("memory:a:b", "unsupported_scheme", ""),
    ],
)
def test_places(pointer: str, reason: str, place: str) -> None:
    assert place_of(pointer, reason) == place


@pytest.mark.parametrize(
    ("pointer", "reason", "folder", "place"),
    [
        (
            "transcript:s1:3",
            "transcript_invalid_json",
            "transcripts/",
            "transcripts/s1.jsonl, on the way to record 3",
        ),
        ("transcript:s1:3", "transcript_record_too_large", "", "s1.jsonl, on the way to record 3"),
        ("transcript:s1:3", "transcript_event_missing", "transcripts/", "record 3 of session s1"),
        ("artifact:s1:a:123456789abc", "artifact_missing", "home/", "home/s1/tool-results/a"),
        ("transcript:s1:3", "policy_denied", "transcripts/", ""),
    ],
)
def test_below_a_folder_and_never_with_a_line(
    pointer: str, reason: str, folder: str, place: str
) -> None:
    assert place_of(pointer, reason, folder) == place
