"""A counter that learns from reported usage, and what it refuses to learn."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.calibrated_tokens import CalibratedCounter, input_tokens_of
from provenance.messages.tokens import HeuristicCounter, TokenCounter, count_request

MESSAGE = {"role": "user", "content": "x" * 396}  # 103 by the estimate


def test_before_it_has_learned_it_counts_as_its_base() -> None:
    counter = CalibratedCounter(HeuristicCounter())
    assert counter.ratio == 1.0
    assert counter.count_message(MESSAGE) == 103
    assert isinstance(counter, TokenCounter)


def test_it_scales_by_what_was_reported_and_rounds_up() -> None:
    counter = CalibratedCounter()
    assert counter.learn(counted=1_000, reported=2_501)
    assert counter.ratio == 2.501
    assert counter.count_text("x" * 400) == 251
    assert counter.count_block("x" * 398) == 251
    assert counter.count_message(MESSAGE) == math.ceil(Fraction(103 * 2_501, 1_000))
    assert counter.count_messages([MESSAGE] * 3) == 3 * counter.count_message(MESSAGE)
    assert count_request([MESSAGE], system="x" * 400, counter=counter).system == 251


def test_it_never_goes_below_its_base() -> None:
    counter = CalibratedCounter()
    assert counter.learn(counted=1_000, reported=10)
    assert counter.ratio == 1.0
    assert counter.count_message(MESSAGE) == 103


def test_it_never_goes_below_a_ratio_that_was_seen() -> None:
    counter = CalibratedCounter()
    counter.learn(counted=1_000, reported=3_000)
    counter.learn(counted=1_000_000, reported=1_000_000)
    assert counter.ratio == 3.0
    counter.learn(counted=500, reported=1_501)
    assert counter.ratio == 1_501 / 500


def test_small_reports_are_added_up() -> None:
    counter = CalibratedCounter()
    assert counter.learn(counted=4, reported=12)  # mostly what the provider adds
    assert counter.ratio == 3.0
    assert counter.learn(counted=396, reported=408)
    assert counter.ratio == 420 / 400
    assert counter.learn(counted=100, reported=80)  # the sample is full, and it stays
    assert counter.ratio == 1.0
    assert counter.learn(counted=4, reported=12)
    assert counter.ratio == 3.0
    counter.learn(counted=499, reported=1_006)
    assert counter.ratio == 1_018 / 503
    counter.learn(counted=400, reported=400)
    assert counter.ratio == 1_018 / 503


@pytest.mark.parametrize("odd", [0, -1, True, False, 1.5, math.nan, math.inf, "9", None, 10**9 + 1])
def test_what_is_no_count_is_refused(odd: Any) -> None:
    counter = CalibratedCounter()
    counter.learn(counted=1_000, reported=2_000)
    assert counter.learn(counted=1_000, reported=odd) is False
    assert counter.learn(counted=odd, reported=1_000) is False
    assert counter.ratio == 2.0


def test_more_tokens_than_a_text_can_have_are_refused() -> None:
    counter = CalibratedCounter()
    assert counter.learn(counted=1_000, reported=16_001) is False
    assert counter.ratio == 1.0
    assert counter.learn(counted=1_000, reported=16_000) is True
    assert counter.ratio == 16.0


@given(st.lists(st.tuples(st.integers(-5, 3_000), st.integers(-5, 40_000))), st.text())
def test_no_reports_lead_below_the_base_or_a_full_sample(
    reports: list[tuple[int, int]], text: str
) -> None:
    counter = CalibratedCounter()
    floor = Fraction(1)
    for counted, reported in reports:
        learned = counter.learn(counted=counted, reported=reported)
        assert learned == (counted > 0 and 0 < reported <= 16 * counted)
        if learned and counted >= 500:
            floor = max(floor, Fraction(reported, counted))
        assert 1.0 <= counter.ratio <= 16.0
        base = HeuristicCounter().count_text(text)
        assert counter.count_text(text) >= math.ceil(base * floor) >= base


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 10, "output_tokens": 5}, 10),
        (
            {
                "input_tokens": 10,
                "cache_read_input_tokens": 200,
                "cache_creation_input_tokens": 3_000,
            },
            3_210,
        ),
        ({"input_tokens": 0, "cache_read_input_tokens": 200}, 200),
        ({"input_tokens": 10, "cache_read_input_tokens": None}, 10),
        ({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 8}}, 10),
        ({"prompt_tokens": 7, "completion_tokens": 1}, 7),
        (SimpleNamespace(input_tokens=10, cache_read_input_tokens=1), 11),
        ({"input_tokens": 0}, None),
        ({"input_tokens": True}, None),
        ({"input_tokens": -3, "cache_read_input_tokens": 9}, None),
        ({"input_tokens": "10"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_reported_input_includes_what_was_cached(usage: object, tokens: int | None) -> None:
    assert input_tokens_of(usage) == tokens


def test_usage_of_the_sdks() -> None:
    anthropic = pytest.importorskip("anthropic.types")
    openai = pytest.importorskip("openai.types")
    usage = anthropic.Usage(input_tokens=1, output_tokens=2, cache_read_input_tokens=30)
    assert input_tokens_of(usage) == 31
    chat = openai.CompletionUsage(prompt_tokens=7, completion_tokens=1, total_tokens=8)
    assert input_tokens_of(chat) == 7
