"""The layers in turn: when they run, when they stop, what is refused, what an observer hears."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import (
    CompactionConfig,
    CompactionConfigError,
    LayerReport,
    MessageViewLimitExceeded,
    SummaryOutcome,
    compact_context,
    compact_if_needed,
)
from provenance.errors import CallerError, DataError
from provenance.messages import HeuristicCounter, estimate_tokens
from tests.compaction.builders import assert_sound, reads, talk, untouched
from tests.messages.builders import SHAPES, paired_histories, user


def test_the_defaults_are_those_of_the_specification() -> None:
    config = CompactionConfig()
    assert (config.soft_limit, config.hard_limit) == (80_000, 120_000)
    assert (config.max_tool_result_tokens, config.summary_max_tokens) == (5_000, 2_000)
    assert (config.keep_recent_messages, config.summary_keep_recent) == (6, 4)
    assert CompactionConfig.preset("main") == config


@pytest.mark.parametrize("who", ["main", "subtask", "resume"])
def test_presets_make_sense(who: Any) -> None:
    config = CompactionConfig.preset(who)
    assert config.soft_limit < config.hard_limit


@pytest.mark.parametrize(
    "settings",
    [
        {"soft_limit": 0},
        {"soft_limit": 1.5},
        {"soft_limit": True},
        {"hard_limit": 79_999},
        {"keep_recent_messages": -1},
        {"max_tool_result_tokens": 0},
        {"summary_timeout": 0},
        {"summary_timeout": "1"},
        {"summary_attempts": 0},
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(CompactionConfigError) as caught:
        CompactionConfig(**settings)
    assert str(caught.value).startswith(next(iter(settings)))
    assert isinstance(caught.value, CallerError)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(CompactionConfigError):
        CompactionConfig.preset("nobody")  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_below_the_soft_limit_a_copy_comes_back(shape: str) -> None:
    messages = reads(shape, 3)
    result = compact_context(messages, None)
    assert result.messages == messages
    assert result.messages is not messages
    assert all(a is not b for a, b in zip(result.messages, messages, strict=True))
    assert result.applied_layers == ()
    assert result.tokens_before == result.tokens_after == estimate_tokens(messages)


def test_the_soft_limit_itself_is_too_much() -> None:
    messages = talk(20)
    tokens = estimate_tokens(messages)
    for limit, applied in ((tokens + 1, ()), (tokens, ("message_pruning",))):
        config = CompactionConfig(soft_limit=limit)
        assert compact_context(messages, None, config=config).applied_layers == applied


def test_the_hard_limit_itself_is_refused() -> None:
    messages = [user("x" * 784)]
    assert estimate_tokens(messages) == 200
    config = CompactionConfig(soft_limit=100, hard_limit=201)
    assert compact_context(messages, None, config=config).tokens_after == 200
    with pytest.raises(MessageViewLimitExceeded) as caught:
        compact_context(messages, None, config=CompactionConfig(soft_limit=100, hard_limit=200))
    error = caught.value
    assert (error.tokens_before, error.tokens_after, error.hard_limit) == (200, 200, 200)
    assert error.applied_layers == ()
    assert isinstance(error, DataError)
    assert "xx" not in str(error)


def test_it_stops_as_soon_as_the_messages_fit() -> None:
    heard: list[LayerReport] = []
    messages = [*reads("chat", 8, size=40_000), user()]
    tokens = estimate_tokens(messages)
    config = CompactionConfig(soft_limit=tokens - 1)
    result = compact_context(messages, None, config=config, observer=heard.append)
    assert [one.layer for one in heard] == ["tool_result_truncation"]
    assert (heard[0].tokens_before, heard[0].tokens_after) == (tokens, result.tokens_after)
    assert (heard[0].blocks_touched, heard[0].messages) == (8, len(messages))
    assert_sound(messages, result)


def test_an_observer_hears_every_layer_that_ran() -> None:
    heard: list[LayerReport] = []
    config = CompactionConfig(soft_limit=1)
    result = compact_context(talk(20), None, config=config, observer=heard.append)
    assert [one.layer for one in heard] == [
        "tool_result_truncation",
        "file_read_deduplication",
        "message_pruning",
        "conversation_summary",
    ]
    assert [one.blocks_touched for one in heard] == [0, 0, 13, 0]
    assert heard[-1].outcome is SummaryOutcome.NO_SUMMARIZER
    assert all(a.tokens_after == b.tokens_before for a, b in itertools.pairwise(heard))
    assert result.applied_layers == ("message_pruning",)


def test_what_an_observer_raises_is_raised() -> None:
    def fails(_report: LayerReport) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        compact_context(talk(9), None, config=CompactionConfig(soft_limit=1), observer=fails)


def test_the_short_form_gives_the_messages_alone() -> None:
    config = CompactionConfig(soft_limit=1)
    assert compact_if_needed(talk(20), config=config) == compact_context(
        talk(20), None, config=config
    ).messages  # fmt: skip


def test_changing_the_result_in_place_changes_nothing_else() -> None:
    messages = reads("anthropic", 12)
    same = untouched(messages)
    result = compact_context(messages, None, config=CompactionConfig(soft_limit=1))
    for message in result.messages:
        if isinstance(message["content"], list):
            message["content"][0]["changed"] = True
            message["content"].append("more")
        message["role"] = "nobody"
    assert same()


class Doubling(HeuristicCounter):
    """Counts twice as much, so that nothing of the estimate is taken for granted."""

    def count_text(self, text: str, /) -> int:
        return 2 * super().count_text(text)

    def count_block(self, block: object, /) -> int:
        return 2 * super().count_block(block)

    def count_message(self, message: object, /) -> int:
        return 2 * super().count_message(message)


@given(messages=paired_histories(), percent=st.integers(0, 100))
def test_another_counter_decides(messages: list[Any], percent: int) -> None:
    counter = Doubling()
    soft = max(1, sum(map(counter.count_message, messages)) * percent // 100)
    config = CompactionConfig(soft_limit=soft, hard_limit=10**7, keep_recent_messages=2)
    result = compact_context(messages, None, config=config, counter=counter)
    assert_sound(messages, result, counter=counter)
