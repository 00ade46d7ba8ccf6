"""Sound transcripts, broken in every way: exactly what the break causes is found, in its place."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transcripts.breaking import (
    BREAKS,
    CLAUDE,
    FORMATS,
    Break,
    Broken,
    Entry,
    Writer,
    audit,
    check_bytes,
    conversations,
    found_places,
    lines_of,
)

_QUIET = {"info"}
_CASES = [
    pytest.param(writer, one, id=f"{writer.name}-{one.name}")
    for writer in FORMATS
    for one in BREAKS
    if writer.has_ids or not one.needs_ids
]


@pytest.mark.parametrize(("writer", "one"), _CASES)
def test_a_break_is_found_in_its_place_with_what_it_causes_and_nothing_else(
    writer: Writer, one: Break
) -> None:
    @given(one.of(writer))
    @settings(max_examples=25)
    def check(broken: Broken) -> None:
        said = check_bytes(writer, broken.data, broken.limits)
        expected = broken.expected()
        assert found_places(said) == expected
        codes = {code for code, *_ in expected}
        assert not broken.intended or codes & broken.intended
        placed = broken.placed()
        assert said.records == len(placed)
        assert said.calls == sum(len(record.entry.calls) for record in placed)
        assert said.call_results == sum(len(record.entry.results) for record in placed)
        assert said.sha256 == hashlib.sha256(broken.data).hexdigest()

    check()


@pytest.mark.parametrize("writer", FORMATS, ids=lambda writer: writer.name)
def test_a_sound_transcript_has_no_warning_and_no_error(writer: Writer) -> None:
    @given(conversations(writer))
    @settings(max_examples=50)
    def check(talk: list[Entry]) -> None:
        sound = Broken(writer, lines_of(writer, talk))
        said = check_bytes(writer, sound.data)
        assert {fault.severity for fault in said.faults} <= _QUIET
        assert set(said.fault_counts) <= {"split_message"}
        assert found_places(said) == sound.expected()
        times = [entry.time for entry in talk]
        assert (said.first_time, said.last_time) == (times[0], times[-1])

    check()


@given(
    talk=conversations(CLAUDE),
    change=st.sampled_from(["none", "other", "redacted"]),
    prefix=st.sampled_from([b"sha256:", b""]),
    end=st.sampled_from([b"", b"\n", b"\r\n"]),
)
@settings(max_examples=30)
def test_a_content_hash_beside_a_transcript(
    talk: list[Entry], change: str, prefix: bytes, end: bytes
) -> None:
    data = Broken(CLAUDE, lines_of(CLAUDE, talk)).data
    recorded = hashlib.sha256(data).hexdigest().encode()
    now = data
    if change == "other":
        now = data.replace(b'"version":"2.1.32"', b'"version":"2.1.33"', 1)
    elif change == "redacted":
        now = data.replace(b'"version":"2.1.32"', b'"version":"REDACTED"', 1)
    with TemporaryDirectory() as folder:
        home = Path(folder) / "one"
        home.mkdir()
        (home / "full.jsonl").write_bytes(now)
        (home / "content_hash.txt").write_bytes(prefix + recorded + end)
        (checked,) = audit(Path(folder)).transcripts
    hashes = {code: count for code, count in checked.findings.items() if "hash" in code}
    assert (
        hashes
        == {
            "none": {},
            "other": {"content_hash_mismatch": 1},
            "redacted": {"content_hash_mismatch_redacted": 1},
        }[change]
    )
    assert checked.sha256 == hashlib.sha256(now).hexdigest()
