"""Where a person finds a source, as a report may say it."""

from __future__ import annotations

import pytest

from provenance.reports.places import place_of


@pytest.mark.parametrize(
    ("pointer", "reason", "place"),
    [
        ("artifact:s1:a.txt:123456789abc", "artifact_missing", "s1/tool-results/a.txt"),
        ("transcript:s1:3", "transcript_invalid_json", "s1.jsonl, line 3"),
        ("transcript:s1:3", "transcript_missing", "record 3 of session s1"),
        ("transcript:s1:3", "policy_denied", ""),
        ("artifact:s1:a.txt:123456789abc", "policy_error", ""),
        ("transcript:../s1:3", "malformed_pointer", ""),
        ("memory:a:b", "unsupported_scheme", ""),
    ],
)
def test_places(pointer: str, reason: str, place: str) -> None:
    assert place_of(pointer, reason) == place
