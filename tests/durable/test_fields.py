"""The rules of single fields."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable.failures import DurableTypeError, DurableValueError
from provenance.durable.fields import (
    MAX_WHOLE_NUMBER,
    collapse,
    optional_text,
    require_items,
    require_score,
    require_text,
    require_unique,
    require_whole_number,
    shown,
)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("plain", "plain"),
        ("  two \n\t words ", "two words"),
        ("a\u00a0b\u3000c\u2028d\x85e\x1cf", "a b c d e f"),
        ("zero\u200bwidth", "zero\u200bwidth"),
        ("half \ud800", "half \ud800"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\udc00\ud800", "\udc00\ud800"),
    ],
)
def test_white_space_is_collapsed_and_nothing_else(given_text: str, kept: str) -> None:
    assert require_text(given_text, "content") == kept


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0\u2003"])
def test_an_empty_text_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(DurableValueError, match=r"^content: expected text, must not be empty$"):
        require_text(text, "content")
    assert require_text(text, "title", may_be_empty=True) == ""
    assert collapse(text, "title") == ""


class _Kind(StrEnum):
    NOTE = "note"


class _Spoof(str):
    """Says that it equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def test_an_enum_member_becomes_plain_text() -> None:
    assert type(require_text(_Kind.NOTE, "source_type")) is str


def test_of_a_subclass_its_plain_text_is_kept() -> None:
    kept = require_text(_Spoof("done"), "content")
    assert type(kept) is str
    assert kept == "done"
    assert kept != "open"


@pytest.mark.parametrize("value", [None, 3, True, b"text", ["text"]])
def test_what_is_no_text_is_refused_by_type(value: object) -> None:
    with pytest.raises(DurableTypeError, match=r"^content: expected text, got ") as caught:
        require_text(value, "content")
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


def test_optional_text_is_none_or_text() -> None:
    assert optional_text(None, "reason") is None
    assert optional_text(" why ", "reason") == "why"
    with pytest.raises(DurableValueError, match="reason"):
        optional_text(" ", "reason")


@pytest.mark.parametrize(
    ("value", "kept"),
    [(0, 0.0), (1, 1.0), (0.5, 0.5), (Fraction(1, 4), 0.25), (5e-324, 5e-324), (-0.0, 0.0)],
)
def test_a_score_is_a_float_from_0_to_1(value: object, kept: float) -> None:
    score = require_score(value, "score")
    assert type(score) is float
    assert math.copysign(1, score) == 1
    assert score == kept


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 1.0000000000000002, -5e-324, 2, -1, 10**400, Fraction(10**400)],
)
def test_a_score_outside_is_refused(value: object) -> None:
    with pytest.raises(DurableValueError, match=r"^score: expected a finite number from 0 to 1"):
        require_score(value, "score")


@pytest.mark.parametrize("value", [True, False, None, "0.5", Decimal("0.5"), 0.5j])
def test_a_score_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(DurableTypeError, match=r"^score: expected a real number"):
        require_score(value, "score")


@pytest.mark.parametrize("value", [1, 2, MAX_WHOLE_NUMBER])
def test_a_rank_counts_from_1(value: int) -> None:
    assert require_whole_number(value, "source_rank", minimum=1) == value


@pytest.mark.parametrize(
    "value", [0, -1, MAX_WHOLE_NUMBER + 1, 10**5000, -(10**5000)], ids=lambda value: "number"
)
def test_a_rank_outside_is_refused_even_where_it_cannot_be_printed(value: int) -> None:
    with pytest.raises(DurableValueError, match=r"^source_rank: expected a whole number of 1"):
        require_whole_number(value, "source_rank", minimum=1)


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_rank_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(DurableTypeError, match=r"^source_rank: expected a whole number, got"):
        require_whole_number(value, "source_rank", minimum=1)


def test_items_become_a_tuple_of_one_type() -> None:
    assert require_items(iter([1, 2]), "numbers", of=int) == (1, 2)
    with pytest.raises(DurableTypeError, match=r"^numbers\[1\]: expected int, got str"):
        require_items([1, "2"], "numbers", of=int)
    for value in (None, 7, "text", b"bytes"):
        with pytest.raises(DurableTypeError, match=r"^numbers: expected a collection of int"):
            require_items(value, "numbers", of=int)


def test_a_repeated_id_is_shown_bounded_and_printable() -> None:
    require_unique(["a", "b"], "fact ids")
    with pytest.raises(DurableValueError, match=r"^fact ids: expected no duplicate") as caught:
        require_unique(["\x1b" * 500, "\x1b" * 500], "fact ids")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@given(st.text())
def test_what_is_shown_is_short_printable_ascii(text: str) -> None:
    assert shown(text).isascii()
    assert shown(text).isprintable()


@given(st.text(st.characters(max_codepoint=sys.maxunicode)))
def test_collapsing_twice_changes_nothing(text: str) -> None:
    once = collapse(text, "content")
    assert collapse(once, "content") == once
