"""What a compaction gives: refusals that can be sent on, and the summary that stands."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from provenance.compaction import (
    CompactionConfig,
    CompactionResult,
    MessageViewLimitExceeded,
    SummaryOutcome,
    compact_context,
)
from provenance.compaction.summary import SUMMARY_HEAD
from tests.compaction.builders import assert_sound, talk
from tests.messages.builders import user

COPIES: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    lambda value: pickle.loads(pickle.dumps(value)),
]


@pytest.mark.parametrize("copied", COPIES)
def test_a_refusal_can_be_copied_and_sent_to_another_process(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(MessageViewLimitExceeded) as caught:
        compact_context([user("x" * 800)], None, config=CompactionConfig(10, 10))
    error = caught.value
    error.add_note("in the loop of a test")
    same = copied(error)
    assert type(same) is MessageViewLimitExceeded
    assert (str(same), same.args, same.__notes__) == (str(error), error.args, error.__notes__)
    for name in ("tokens_before", "tokens_after", "hard_limit", "applied_layers"):
        assert getattr(same, name) == getattr(error, name)


@pytest.mark.parametrize("copied", COPIES)
def test_a_result_can_be_copied_and_sent_to_another_process(copied: Callable[[Any], Any]) -> None:
    result = compacted(talk(20), says="They talked.")
    assert copied(result) == result


def compacted(
    messages: list[Any], *, says: str | None = None, previous: str | None = None, **settings: Any
) -> CompactionResult[None]:
    config = CompactionConfig(
        **{"soft_limit": 1, "keep_recent_messages": 100, "summary_timeout": None, **settings}
    )
    return compact_context(
        messages,
        None,
        summarizer=None if says is None else lambda _conversation: says,
        config=config,
        previous_summary=previous,
    )


def stands(result: CompactionResult[None], summary: str) -> bool:
    return f"{SUMMARY_HEAD}\n{summary}" in [message["content"] for message in result.messages]


def test_a_summary_that_still_stands_is_given_back() -> None:
    first = compacted(talk(20), says="They talked.")
    for again in (
        compacted(first.messages, previous=first.summary, soft_limit=10_000),
        compacted(first.messages, previous=first.summary),
        compacted(first.messages, previous=first.summary, keep_recent_messages=2),
        compacted(first.messages, previous=first.summary, says=""),
    ):
        assert again.summary == first.summary == "They talked."
        assert again.summary_outcome is not SummaryOutcome.SUMMARISED
        assert stands(again, "They talked.")
        assert_sound(first.messages, again)


def test_the_chain_goes_on_without_care_of_the_caller() -> None:
    messages, summary = talk(20), None
    for turn in range(6):
        result = compacted(messages, says=f"Turn {turn}." if turn % 2 else None, previous=summary)
        assert_sound(messages, result)
        assert result.summary is None or stands(result, result.summary)
        messages, summary = [*result.messages, *talk(6, size=400)], result.summary
    # The sixth merged with the fourth and the second, which were handed on in between.
    assert summary == "Turn 1.\n\nTurn 3.\n\nTurn 5."


def test_a_summary_that_does_not_stand_is_not_given_back() -> None:
    messages = talk(9)
    assert compacted(messages, previous="Of something else.", soft_limit=10_000).summary is None
    assert compacted(messages, previous=None).summary is None
    assert compacted(messages, previous=" ").summary is None
    # Its acknowledgement alone is none.
    first = compacted(talk(20), says="They talked.")
    assert compacted(first.messages[1:], previous=first.summary).summary is None
