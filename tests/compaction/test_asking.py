"""What comes of a summarizer that is cancelled by a pool of threads or processes."""

from __future__ import annotations

import asyncio
from concurrent import futures
from typing import Any

import pytest

from provenance.compaction import SummaryOutcome
from provenance.compaction.asking import SummaryResult, ask
from provenance.compaction.asking_async import ask_async

CANCELLED = SummaryResult(SummaryOutcome.CANCELLED, failure="CancelledError", attempts=1)


def cancelled(_conversation: str) -> str:
    future: futures.Future[str] = futures.Future()
    future.cancel()
    return future.result()


async def cancelled_later(conversation: str) -> str:
    return cancelled(conversation)


@pytest.mark.parametrize("summarizer", [cancelled, cancelled_later])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_a_cancelled_future_is_a_cancellation(summarizer: Any, timeout: float | None) -> None:
    # It is not asked again: whoever cancelled it wants no answer.
    assert ask(summarizer, "[]", timeout=timeout, attempts=3) == CANCELLED
    asked = ask_async(summarizer, "[]", timeout=timeout, attempts=3)
    assert asyncio.run(asked) == CANCELLED


def test_a_pool_that_is_broken_is_a_failure() -> None:
    def fails(_conversation: str) -> str:
        raise futures.InvalidStateError

    result = ask(fails, "[]", timeout=None, attempts=2)
    assert result == SummaryResult(SummaryOutcome.FAILED, failure="InvalidStateError", attempts=2)
