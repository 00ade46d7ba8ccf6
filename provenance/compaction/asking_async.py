"""Asking a summarizer in an event loop: what `asking` does, for programs that have asyncio loaded.

Guarantees: as in `asking`. Where the caller's task is cancelled, so is the summarizer, and the
cancellation goes on. What a thread that was left behind gives later is dropped.

Example:
    >>> import asyncio
    >>> asyncio.run(ask_async(lambda text: " short ", "[]", timeout=None, attempts=1)).summary
    'short'
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable

from provenance.compaction.asking import (
    AnswerBox,
    Summarizer,
    SummaryOutcome,
    SummaryResult,
    start_thread,
)

__all__ = ["ask_async", "awaited"]

# What a cancelled coroutine gets to put its things in order.
_GRACE_SECONDS = 1.0


async def ask_async(
    summarizer: Summarizer, conversation: str, *, timeout: float | None, attempts: int
) -> SummaryResult:
    """The same in a running event loop, which goes on meanwhile.

    A coroutine function runs in this loop, a plain function in a thread of its own.
    """
    result = SummaryResult(SummaryOutcome.FAILED)
    for attempt in range(1, attempts + 1):
        result = (await _ask_once_async(summarizer, conversation, timeout))._replace(
            attempts=attempt
        )
        if result.summary is not None or result.outcome is SummaryOutcome.CANCELLED:
            break
    return result


async def _ask_once_async(
    summarizer: Summarizer, conversation: str, timeout: float | None
) -> SummaryResult:
    box = AnswerBox()

    async def run() -> None:
        if _is_async(summarizer):
            box.answer = await _as_awaitable(summarizer(conversation))
            return
        box.answer = await _in_a_thread(lambda: summarizer(conversation))
        if inspect.isawaitable(box.answer):
            box.answer = await box.answer

    task = asyncio.ensure_future(run())
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        # The caller's task is cancelled: so is the summarizer, and then it goes on.
        await _cancelled(task)
        raise
    if not done:
        await _cancelled(task)
        return SummaryResult(SummaryOutcome.TIMED_OUT)
    if task.cancelled():
        box.failure = asyncio.CancelledError()
    else:
        box.failure = task.exception()
    return box.judged()


def _is_async(summarizer: Summarizer) -> bool:
    return inspect.iscoroutinefunction(summarizer) or inspect.iscoroutinefunction(
        getattr(summarizer, "__call__", None)  # noqa: B004 - an object with an async __call__
    )


async def _in_a_thread(run: Callable[[], object]) -> object:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    box = AnswerBox()

    def tell() -> None:
        if not done.done():
            done.set_result(None)

    def work() -> None:
        box.fill(run)
        # The loop may be closed, where nobody waited for the answer any longer.
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell)

    start_thread(work)
    await done
    if box.failure is not None:
        raise box.failure
    return box.answer


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    task.add_done_callback(_look_at)
    await asyncio.wait({task}, timeout=_GRACE_SECONDS)


def _look_at(task: asyncio.Task[None]) -> None:
    """Take notice of what a task raised that nobody waits for, so that no one is warned of it."""
    if not task.cancelled():
        task.exception()


def awaited(answer: object, timeout: float | None) -> object:
    """Run what has to be awaited in a loop and thread of its own: here one may run already."""
    box = AnswerBox()

    async def wait() -> object:
        return await asyncio.wait_for(_as_awaitable(answer), timeout)

    start_thread(lambda: box.fill(lambda: asyncio.run(wait()))).join()
    if box.failure is not None:
        raise box.failure
    return box.answer


async def _as_awaitable(answer: object) -> object:
    return await answer if inspect.isawaitable(answer) else answer
