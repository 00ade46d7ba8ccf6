"""Each layer alone, for a loop of one's own.

Guarantees: the input is never changed; the tool protocol is validated first. Each gives the new
messages and the tokens saved, by the estimate of four characters a token, whatever the limits.

Example:
    >>> messages = [{"role": "user", "content": f"{number}"} for number in range(9)]
    >>> pruned, saved = prune_old_messages(messages)
    >>> [message["content"] for message in pruned], saved
    (['0', '3', '4', '5', '6', '7', '8'], 8)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from provenance.compaction import deduplication, pruning, summary, truncation
from provenance.compaction.asking import Summarizer, ask
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import View
from provenance.messages.tokens import HeuristicCounter

__all__ = [
    "dedup_file_reads",
    "generate_summary",
    "prune_old_messages",
    "truncate_tool_results",
]

_DEFAULT = CompactionConfig()


def truncate_tool_results(
    messages: Sequence[Any], *, config: CompactionConfig = _DEFAULT
) -> tuple[list[Any], int]:
    """Layer 1 alone: shorten tool results above the cap."""
    return _alone(truncation.truncate, messages, config)


def dedup_file_reads(
    messages: Sequence[Any], *, config: CompactionConfig = _DEFAULT
) -> tuple[list[Any], int]:
    """Layer 2 alone: of several reads of one file leave the latest."""
    return _alone(deduplication.deduplicate, messages, config)


def prune_old_messages(
    messages: Sequence[Any], *, config: CompactionConfig = _DEFAULT
) -> tuple[list[Any], int]:
    """Layer 3 alone: leave the first message and the most recent ones."""
    return _alone(pruning.prune, messages, config)


def generate_summary(
    messages: list[Any],
    *,
    summarizer: Summarizer | None,
    config: CompactionConfig = _DEFAULT,
    previous_summary: str | None = None,
) -> tuple[list[Any], int]:
    """Layer 4 alone; without a gain, the very list that was handed in, and nothing saved."""
    view, log, spiller = _begun(messages)
    before = view.tokens
    if summarizer is None:
        return messages, 0
    summary.mark_earlier_summary(view, previous_summary)
    steps = summary.summarise(view, log, config, spiller, previous_summary=previous_summary)
    try:
        conversation = next(steps)
        while True:
            result = ask(
                summarizer,
                conversation,
                timeout=config.summary_timeout,
                attempts=config.summary_attempts,
            )
            conversation = steps.send(result)
    except StopIteration as done:
        if done.value.summary is None:
            return messages, 0
    return view.messages(), before - view.tokens


def _alone(
    layer: Callable[[View, ChangeLog, CompactionConfig, Spiller], None],
    messages: Sequence[Any],
    config: CompactionConfig,
) -> tuple[list[Any], int]:
    view, log, spiller = _begun(messages)
    before = view.tokens
    layer(view, log, config, spiller)
    view.interactions()
    return view.messages(), before - view.tokens


def _begun(messages: Sequence[Any]) -> tuple[View, ChangeLog, Spiller]:
    counter = HeuristicCounter()
    view = View.of(messages, counter)
    view.interactions()
    summary.mark_earlier_summary(view, None)
    return view, ChangeLog(counter), Spiller(None, wanted=False)
