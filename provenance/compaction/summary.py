"""Layer 4: older messages become one summary, and an acknowledgement of it.

Guarantees: the summarizer sees messages and never durable state. Its failure, silence, lateness or
length is an outcome with a name, and never text of the history. What it gives is plain text: a
claim in it, or a tool call, is only words. The cut moves back to whole interactions, so no pair is
torn. The instructions at the beginning (system messages) are not summarised.

Example:
    >>> SummaryOutcome.NO_SUMMARIZER.value
    'no_summarizer'
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence

from provenance.compaction.asking import Summarizer, SummaryOutcome, SummaryResult
from provenance.compaction.canonical_form import canonical_bytes
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.interactions import all_of, drop
from provenance.compaction.neighbours import bonds, leading_systems
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import Entry, View
from provenance.messages.shapes import BlockKind, new_text_message, texts_in, to_json_value

__all__ = [
    "ACKNOWLEDGEMENT",
    "LAYER",
    "SUMMARY_HEAD",
    "Summarizer",
    "SummaryOutcome",
    "SummaryResult",
    "mark_earlier_summary",
    "summarise",
]

LAYER = "conversation_summary"
SUMMARY_HEAD = "[Conversation summary]"
ACKNOWLEDGEMENT = "Understood. I will go on from this summary."

# Asks with a conversation in JSON, is told what came of it, and ends with what came of it all.
Asking = Generator[str, SummaryResult, SummaryResult]


def mark_earlier_summary(view: View, previous_summary: str | None) -> None:
    """Mark the summary of an earlier compaction, and its acknowledgement, where they stand.

    What of the user's stands under the heading of a summary is kept from being pruned, whether the
    caller says what it was or not. Only the one that the caller names is not summarised again.
    """
    named = f"{SUMMARY_HEAD}\n{previous_summary}" if _is_given(previous_summary) else None
    for index, entry in enumerate(view.entries):
        texts = texts_in(entry.message) if entry.role == "user" else ()
        if not any(map(_is_under_the_heading, texts)):
            continue
        entry.is_never_pruned = True
        if texts == (named,):
            named = None  # the first of them
            entry.is_kept = True
            for after in view.entries[index + 1 : index + 2]:
                after.is_kept = texts_in(after.message) == (ACKNOWLEDGEMENT,)


def summarise(
    view: View,
    log: ChangeLog,
    config: CompactionConfig,
    spiller: Spiller,
    *,
    previous_summary: str | None = None,
) -> Asking:
    """Put a summary in the place of the older messages of a view.

    Args:
        view: changed in place, and only where the summary is a gain.
        log: hears of each block that goes and each that is put in.
        config: how much stays, and how long a summary may be.
        spiller: keeps interactions that go, where that is wanted.
        previous_summary: an earlier one. Its message is not summarised again: only what is new is,
            and both are put together.

    Yields:
        A conversation in JSON that is to be summarised; to be sent what came of it.
    """
    # 1. What is old: all but the recent messages, back to whole interactions.
    start, cut = _span(view, config)
    new = [entry for entry in view.entries[start:cut] if not entry.is_kept]
    if not new:
        return SummaryResult(SummaryOutcome.NOTHING_OLDER)
    # 2. Now somebody else's code runs, for long perhaps: what is left has to be ours.
    view.detach()
    # 3. Its summary, put together with the earlier one.
    result = yield _as_json([to_json_value(entry.message) for entry in new])
    if result.summary is None:
        return result
    if not _fits(view, result.summary, config):
        return result._replace(outcome=SummaryOutcome.TOO_LONG, summary=None)
    summary = result.summary
    # One that stands among the messages that stay is not said twice.
    stays = any(entry.is_kept for entry in (*view.entries[:start], *view.entries[cut:]))
    if _is_given(previous_summary) and not stays:
        summary = f"{previous_summary}\n\n{summary}"
        if not _fits(view, summary, config):
            # Together they are too long: one summary of the two, not of the messages again.
            result = yield _as_json([{"role": "user", "content": summary}])
            if result.summary is None:
                return result
            summary = result.summary
            if not _fits(view, summary, config):
                return result._replace(outcome=SummaryOutcome.TOO_LONG, summary=None)
    # 4. Only where it is shorter than what it stands for.
    put_in = _entries_for(view, summary, view.entries[cut:])
    if _cost(put_in) >= _cost(view.entries[start:cut]):
        return result._replace(outcome=SummaryOutcome.NO_GAIN, summary=None)
    ahead = {id(entry) for entry in view.entries[:start]}
    noted = drop(view, log, all_of(view, range(start, cut)), layer=LAYER, spiller=spiller)
    if noted is None:
        return result._replace(outcome=SummaryOutcome.NOT_SPILLED, summary=None)
    # Thinking ahead of it that led to nothing else is gone too, perhaps as a whole message.
    at = sum(id(entry) in ahead for entry in view.entries)
    view.replace([*view.entries[:at], *put_in, *view.entries[at:]])
    log.note_inserted(put_in[0], layer=LAYER, stands_for=[one.sha256 for one in noted])
    for entry in put_in[1:]:
        log.note_inserted(entry, layer=LAYER)
    return result._replace(summary=summary)


def _span(view: View, config: CompactionConfig) -> tuple[int, int]:
    """Give where the old messages begin and end, so that nothing that is bound is parted."""
    count = len(view.entries)
    pairs = [*view.interactions().values(), *bonds(view)]
    start = leading_systems(view)
    if config.keep_first and start < count and not view.entries[start].is_kept:
        start += 1
    cut = max(0, count - config.summary_keep_recent)
    # The earliest begin of what ends at a place or behind it; the latest end of what begins before.
    earliest, latest = list(range(count + 1)), list(range(count + 1))
    for first, last in pairs:
        earliest[last] = min(earliest[last], first)
        latest[first] = max(latest[first], last + 1)
    for index in range(count - 1, -1, -1):
        earliest[index] = min(earliest[index], earliest[index + 1])
    while cut > 0 and earliest[cut] < cut:
        cut = earliest[cut]
    index = 0
    while index < start:
        start = max(start, latest[index])
        index += 1
    return start, cut


def _entries_for(view: View, summary: str, after: Sequence[Entry]) -> list[Entry]:
    """Give the summary as a message and its acknowledgement.

    It is left out where nothing follows, since no provider wants text of the assistant at the end;
    and before thinking, which has to be the first of its turn.
    """
    like = [entry.message for entry in view.entries]
    made = [new_text_message(like, "user", f"{SUMMARY_HEAD}\n{summary}")]
    if after and after[0].blocks[0].kind is not BlockKind.THINKING:
        made.append(new_text_message(like, "assistant", ACKNOWLEDGEMENT))
    return [Entry.of(message, view.counter, None) for message in made]


def _fits(view: View, summary: str, config: CompactionConfig) -> bool:
    return view.counter.count_text(summary) <= config.summary_max_tokens


def _cost(entries: Sequence[Entry]) -> int:
    return sum(entry.tokens for entry in entries)


def _is_under_the_heading(text: str | None) -> bool:
    return text is not None and text.startswith((f"{SUMMARY_HEAD}\n", f"{SUMMARY_HEAD}\r\n"))


def _is_given(summary: str | None) -> bool:
    return summary is not None and bool(summary.strip())


def _as_json(messages: list[object]) -> str:
    try:
        return json.dumps(messages, ensure_ascii=False)
    except (ValueError, RecursionError):  # an integer or a depth that the standard library refuses
        return canonical_bytes(messages).decode()
