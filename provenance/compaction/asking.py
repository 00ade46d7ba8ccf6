"""Asking a summarizer, within a budget of time and attempts.

Guarantees: whatever a summarizer does, one word says what came of it; nothing that it raises and
nothing that is no text becomes a summary. Only what ends the program goes on: `KeyboardInterrupt`,
`SystemExit`, and the cancellation of the caller's own task. One that does not come back is left
behind when its time is over.

Example:
    >>> ask(lambda conversation: " short ", "[]", timeout=None, attempts=1).summary
    'short'
"""

from __future__ import annotations

import contextvars
import inspect
import sys
import threading
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import NamedTuple

__all__ = ["AnswerBox", "Summarizer", "SummaryOutcome", "SummaryResult", "ask", "start_thread"]

# Gives the summary of a conversation in JSON; may be a coroutine function.
Summarizer = Callable[[str], str | Awaitable[str]]


class SummaryOutcome(StrEnum):
    """What came of the summary."""

    NOT_NEEDED = "not_needed"
    NO_SUMMARIZER = "no_summarizer"
    NOTHING_OLDER = "nothing_older"
    SUMMARISED = "summarised"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    BLANK = "blank"
    NOT_TEXT = "not_text"
    TOO_LONG = "too_long"
    NO_GAIN = "no_gain"
    NOT_SPILLED = "not_spilled"


class SummaryResult(NamedTuple):
    """What came of the summary, and its text where there is one.

    Attributes:
        outcome: one word for it.
        summary: the text that stands in the messages now; None where none does.
        failure: the class of what the summarizer raised last; None where it raised nothing.
        attempts: how often it was asked.
    """

    outcome: SummaryOutcome
    summary: str | None = None
    failure: str | None = None
    attempts: int = 0


def ask(
    summarizer: Summarizer, conversation: str, *, timeout: float | None, attempts: int
) -> SummaryResult:
    """Ask until there is an answer, or the attempts are used up.

    With a timeout it is asked in a thread of its own, which can be left behind; without one in the
    caller's. What has to be awaited gets a loop and a thread of its own, so that a running loop of
    the caller's is not in its way.
    """
    result = SummaryResult(SummaryOutcome.FAILED)
    for attempt in range(1, attempts + 1):
        result = _ask_once(summarizer, conversation, timeout)._replace(attempts=attempt)
        if result.summary is not None or result.outcome is SummaryOutcome.CANCELLED:
            break
    return result


def _ask_once(summarizer: Summarizer, conversation: str, timeout: float | None) -> SummaryResult:
    box = AnswerBox()

    def run() -> object:
        answer = summarizer(conversation)
        if not inspect.isawaitable(answer):
            return answer
        from provenance.compaction.asking_async import awaited  # noqa: PLC0415 - loads asyncio

        return awaited(answer, timeout)

    if timeout is None:
        box.fill(run)
    else:
        thread = start_thread(lambda: box.fill(run))
        thread.join(timeout)
        if thread.is_alive():
            return SummaryResult(SummaryOutcome.TIMED_OUT)
    return box.judged()


class AnswerBox:
    """What a summarizer gave or raised."""

    def __init__(self) -> None:
        self.answer: object = None
        self.failure: BaseException | None = None

    def fill(self, run: Callable[[], object]) -> None:
        """Run something and keep what it gives or raises."""
        try:
            self.answer = run()
        except BaseException as error:  # noqa: BLE001 - judged by who asked
            self.failure = error

    def judged(self) -> SummaryResult:
        """Say what came of it; what ends the program is raised."""
        error = self.failure
        if error is None:
            return _of_answer(self.answer)
        name = type(error).__name__
        if _is_cancellation(error):
            return SummaryResult(SummaryOutcome.CANCELLED, failure=name)
        if not isinstance(error, Exception):
            raise error
        if isinstance(error, TimeoutError):
            return SummaryResult(SummaryOutcome.TIMED_OUT, failure=name)
        return SummaryResult(SummaryOutcome.FAILED, failure=name)


def _is_cancellation(error: BaseException) -> bool:
    # Where one of them was never loaded nobody can have raised its error.
    loaded = [sys.modules.get(name) for name in ("asyncio.exceptions", "concurrent.futures")]
    return any(module and isinstance(error, module.CancelledError) for module in loaded)


def _of_answer(answer: object) -> SummaryResult:
    if not isinstance(answer, str):
        return SummaryResult(SummaryOutcome.NOT_TEXT, failure=type(answer).__name__)
    text = str.strip(answer)
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair: no provider takes it
        return SummaryResult(SummaryOutcome.NOT_TEXT, failure=type(error).__name__)
    if not text:
        return SummaryResult(SummaryOutcome.BLANK)
    return SummaryResult(SummaryOutcome.SUMMARISED, summary=text)


def start_thread(run: Callable[[], None]) -> threading.Thread:
    """Run something in a thread of its own, with the caller's context variables."""
    context = contextvars.copy_context()
    # A daemon: one that never comes back must not keep the program from ending.
    thread = threading.Thread(
        target=context.run, args=(run,), name="ctxaudit-summarizer", daemon=True
    )
    thread.start()
    return thread
