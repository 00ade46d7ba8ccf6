"""The four layers in turn, until the messages fit: read `compact_context`, then `_Run`.

Guarantees: the input is never changed and the durable state is handed through as the same object.
The tool protocol is validated first, also where nothing has to be done, and after each layer. Above
the hard limit there is a typed refusal with numbers and no text.

Example:
    >>> result = compact_context([{"role": "user", "content": "hello"}], None)
    >>> result.messages, result.applied_layers
    ([{'role': 'user', 'content': 'hello'}], ())
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from provenance.compaction import deduplication, pruning, summary, truncation
from provenance.compaction.asking import (
    Summarizer,
    SummaryOutcome,
    SummaryResult,
    ask,
)
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.receipt import Receipt
from provenance.compaction.results import (
    CompactionResult,
    LayerReport,
    MessageViewLimitExceeded,
    Observer,
)
from provenance.compaction.spilling import Spiller, SpillFunction
from provenance.compaction.view import View
from provenance.messages.tokens import HeuristicCounter, TokenCounter, counter_name

__all__ = ["compact_context", "compact_context_async", "compact_if_needed"]

StateT = TypeVar("StateT")
_DEFAULT = CompactionConfig()


def compact_context(
    messages: Sequence[Any],
    durable_state: StateT,
    *,
    summarizer: Summarizer | None = None,
    config: CompactionConfig = _DEFAULT,
    counter: TokenCounter | None = None,
    spill: SpillFunction | None = None,
    previous_summary: str | None = None,
    observer: Observer | None = None,
) -> CompactionResult[StateT]:
    """Compact a history of messages, if it has to be.

    Args:
        messages: Anthropic Messages, OpenAI Chat or OpenAI Responses; mappings or SDK objects.
        durable_state: is not looked at, and comes back as the same object.
        summarizer: gives the summary of a conversation in JSON. A coroutine function runs in a
            loop of its own in a thread of its own, and this one waits for it: in a running loop
            take `compact_context_async`.
        config: limits and what stays.
        counter: counts tokens; None: four characters a token.
        spill: stores a text and gives its pointer, as `ArtifactStore.spill` does for a session.
        previous_summary: `CompactionResult.summary` of the compaction before: only messages that
            it does not stand for are summarised, and both are put together.
        observer: hears of each layer that ran; what it raises is raised.

    Raises:
        ToolProtocolError: the messages break the tool protocol.
        MessageViewLimitExceeded: they are too large after all layers.
    """
    run = _Run(config, counter or HeuristicCounter(), spill, observer, previous_summary)
    steps = run.steps(messages, durable_state, has_summarizer=summarizer is not None)
    try:
        conversation = next(steps)
        while True:
            conversation = steps.send(_answer(summarizer, conversation, config))
    except StopIteration as done:
        result: CompactionResult[StateT] = done.value
        return result


async def compact_context_async(
    messages: Sequence[Any],
    durable_state: StateT,
    *,
    summarizer: Summarizer | None = None,
    config: CompactionConfig = _DEFAULT,
    counter: TokenCounter | None = None,
    spill: SpillFunction | None = None,
    previous_summary: str | None = None,
    observer: Observer | None = None,
) -> CompactionResult[StateT]:
    """Compact in a running event loop, which goes on while the summarizer works.

    As `compact_context`. A coroutine function runs in this loop, a plain function in a thread of
    its own. Where the task is cancelled, so is the summarizer, and the cancellation goes on.
    """
    run = _Run(config, counter or HeuristicCounter(), spill, observer, previous_summary)
    steps = run.steps(messages, durable_state, has_summarizer=summarizer is not None)
    try:
        conversation = next(steps)
        while True:
            conversation = steps.send(await _answer_async(summarizer, conversation, config))
    except StopIteration as done:
        result: CompactionResult[StateT] = done.value
        return result


def compact_if_needed(
    messages: Sequence[Any],
    durable_state: object = None,
    *,
    summarizer: Summarizer | None = None,
    config: CompactionConfig = _DEFAULT,
    counter: TokenCounter | None = None,
    spill: SpillFunction | None = None,
    previous_summary: str | None = None,
    observer: Observer | None = None,
) -> list[Any]:
    """Compact, and give the messages alone; all else as in `compact_context`."""
    result = compact_context(
        messages,
        durable_state,
        summarizer=summarizer,
        config=config,
        counter=counter,
        spill=spill,
        previous_summary=previous_summary,
        observer=observer,
    )
    return result.messages


def _answer(
    summarizer: Summarizer | None, conversation: str, config: CompactionConfig
) -> SummaryResult:
    if summarizer is None:
        return SummaryResult(SummaryOutcome.NO_SUMMARIZER)
    return ask(
        summarizer,
        conversation,
        timeout=config.summary_timeout,
        attempts=config.summary_attempts,
    )


async def _answer_async(
    summarizer: Summarizer | None, conversation: str, config: CompactionConfig
) -> SummaryResult:
    if summarizer is None:
        return SummaryResult(SummaryOutcome.NO_SUMMARIZER)
    from provenance.compaction.asking_async import ask_async  # noqa: PLC0415 - loads asyncio

    return await ask_async(
        summarizer,
        conversation,
        timeout=config.summary_timeout,
        attempts=config.summary_attempts,
    )


_Layer = Callable[[View, ChangeLog, CompactionConfig, Spiller], None]
# In their order; the summary comes last and has a seam of its own.
_LAYERS: tuple[tuple[str, _Layer], ...] = (
    (truncation.LAYER, truncation.truncate),
    (deduplication.LAYER, deduplication.deduplicate),
    (pruning.LAYER, pruning.prune),
)


class _Run:
    """One compaction; whoever drives it asks the summarizer, in a loop or without one."""

    def __init__(
        self,
        config: CompactionConfig,
        counter: TokenCounter,
        spill: SpillFunction | None,
        observer: Observer | None,
        previous_summary: str | None,
    ) -> None:
        self._config = config
        self._counter = counter
        self._observer = observer
        self._previous = previous_summary
        self._log = ChangeLog(counter)
        self._spiller = Spiller(spill, wanted=config.spill_dropped)
        self._applied: list[str] = []

    def steps(
        self, messages: Sequence[Any], durable_state: StateT, *, has_summarizer: bool
    ) -> Generator[str, SummaryResult, CompactionResult[StateT]]:
        """Run; yields a conversation that is to be summarised, and is sent what came of it."""
        config, log, spiller = self._config, self._log, self._spiller
        # 1. A copy: what follows is disposable. Each message is counted once.
        view = View.of(messages, self._counter, soft_limit=config.soft_limit)
        # The caller's list may grow while a summarizer works.
        count = len(view.entries)
        # 2. The tool protocol, before anything else.
        view.interactions()
        before = view.tokens
        said = SummaryResult(SummaryOutcome.NOT_NEEDED)
        if self._previous is not None or before >= config.soft_limit:
            summary.mark_earlier_summary(view, self._previous)
        # 3. The layers in turn, each only while it is needed, each followed by the protocol again.
        for name, layer in _LAYERS:
            if view.tokens < config.soft_limit:
                break
            began = self._begin(view)
            layer(view, log, config, spiller)
            self._end(view, name, began)
        if view.tokens >= config.soft_limit:
            began = self._begin(view)
            said = SummaryResult(SummaryOutcome.NO_SUMMARIZER)
            if has_summarizer:
                said = yield from summary.summarise(
                    view, log, config, spiller, previous_summary=self._previous
                )
            self._end(view, summary.LAYER, began, said.outcome)
        # 4. What is still too large is refused.
        applied = tuple(self._applied)
        if view.tokens >= config.hard_limit:
            raise MessageViewLimitExceeded(
                tokens_before=before,
                tokens_after=view.tokens,
                hard_limit=config.hard_limit,
                applied_layers=applied,
            )
        # 5. The receipt.
        receipt = Receipt(
            original_messages=count,
            result_messages=len(view.entries),
            tokens_before=before,
            tokens_after=view.tokens,
            applied_layers=applied,
            removed=log.removed,
            inserted=log.inserted(view.entries),
            counter=counter_name(self._counter),
        )
        return CompactionResult(
            messages=view.messages(),
            durable_state=durable_state,
            tokens_before=before,
            tokens_after=view.tokens,
            applied_layers=applied,
            receipt=receipt,
            summary_outcome=said.outcome,
            summary=said.summary or self._still_standing(view),
            summary_failure=said.failure,
            summary_attempts=said.attempts,
            spill_failures=sum(spiller.failures.values()),
        )

    def _still_standing(self, view: View) -> str | None:
        """Give the earlier summary where the messages hold it still."""
        # Its acknowledgement alone, which is the assistant's, says nothing of it.
        stands = any(entry.is_kept and entry.role != "assistant" for entry in view.entries)
        return self._previous if stands else None

    def _begin(self, view: View) -> tuple[int, int]:
        return view.tokens, self._log.notes

    def _end(
        self,
        view: View,
        name: str,
        began: tuple[int, int],
        outcome: SummaryOutcome | None = None,
    ) -> None:
        view.interactions()
        tokens, notes = began
        if view.tokens < tokens:
            self._applied.append(name)
        if self._observer is not None:
            self._observer(
                LayerReport(
                    layer=name,
                    tokens_before=tokens,
                    tokens_after=view.tokens,
                    blocks_touched=self._log.notes - notes,
                    messages=len(view.entries),
                    outcome=outcome,
                )
            )
