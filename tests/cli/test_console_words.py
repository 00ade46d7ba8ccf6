"""Short words for numbers, names and times."""

from __future__ import annotations

import pytest

from cli.console_words import cut, listing, name_of, number, ranked, span_of, time_of


def test_numbers_agree_with_their_noun() -> None:
    assert [number(count, "file") for count in (0, 1, 2, 1_000)] == [
        "0 files",
        "1 file",
        "2 files",
        "1,000 files",
    ]


def test_long_lists_end_with_a_number() -> None:
    five = [(letter, 1) for letter in "abcde"]
    assert listing(five) == "1 a, 1 b, 1 c, 1 d, 1 e"
    assert listing([*five, ("f", 3), ("g", 4)]).endswith("1 e, 7 of 2 more")
    assert listing(ranked({"b": 1, "a": 1, "c": 2})) == "2 c, 1 a, 1 b"


def test_names_are_short_and_steer_nothing() -> None:
    assert name_of("a\x1b]0;x\x07\n") == "a\\x1b]0;x\\x07\\n"
    assert len(name_of("x" * 500)) == 40
    assert cut("abcd", 4) == "abcd"
    assert cut("abcde", 4) == "a..."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-01-01T00:00:00.999Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:00Z"),
        ("yesterday\x1b", "yesterday\\x1b"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        (None, ""),
    ],
)
def test_times(text: str | None, said: str) -> None:
    assert time_of(text) == said


def test_the_span_is_by_moment_and_not_by_text() -> None:
    times = ["2026-01-01T05:00:00+09:00", None, "2026-01-01T00:00:00Z", "soon"]
    assert span_of(times) == "2025-12-31T20:00:00Z to 2026-01-01T00:00:00Z"
    assert span_of(["soon", "late"]) == "soon to late"
    assert span_of([None]) == "not said"
