"""What `ctxaudit cite` looks for: a text as it stands, never a pattern."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.cited import Row, around, batches, finder


@pytest.mark.parametrize(
    ("wanted", "text", "plain", "folded"),
    [
        ("b", "abc", (1, 2), (1, 2)),
        ("B", "abc", None, (1, 2)),
        ("a.c", "abc", None, None),
        (".*", "x.*", (1, 3), (1, 3)),
        ("ü", "XÜ", None, (1, 2)),
        ("b", "", None, None),
    ],
)
def test_a_text_as_it_stands(
    wanted: str, text: str, plain: tuple[int, int] | None, folded: tuple[int, int] | None
) -> None:
    assert finder(wanted, ignores_case=False)(text) == plain
    assert finder(wanted, ignores_case=True)(text) == folded


def test_no_text_is_a_pattern_that_runs_for_ever() -> None:
    text = "a" * 200_000
    assert finder("(a+)+$", ignores_case=True)(text) is None


@given(st.text(min_size=1, max_size=20), st.text(max_size=300), st.text(max_size=300))
def test_what_is_found_stands_in_the_excerpt(wanted: str, before: str, after: str) -> None:
    text = before + wanted + after
    span = finder(wanted, ignores_case=False)(text)
    assert span is not None
    assert text[span[0] : span[1]] == wanted
    shown = around(text, span)
    assert "\n" not in shown
    assert "\t" not in shown
    assert all(char.isprintable() for char in shown)


def test_batches() -> None:
    rows = [Row("s", number, "0" * 64, None, "user", None, "") for number in range(1, 8)]
    sizes = iter([3, 3, 3, 2, 2, 9, 9])
    found = list(batches(iter(rows), lambda: next(sizes)))
    assert [row for batch in found for row in batch] == rows
    assert [len(batch) for batch in found] == [3, 2, 2]
    assert rows[0].pointer == "transcript:s:1"
