"""Layer 4 and the seam to the summarizer: what is asked, what comes of it, what it stands for."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from provenance.compaction import (
    CompactionConfig,
    CompactionResult,
    Summarizer,
    SummaryOutcome,
    compact_context,
    compact_context_async,
    compact_if_needed,
    generate_summary,
    verify_receipt,
)
from provenance.compaction.summary import ACKNOWLEDGEMENT, SUMMARY_HEAD
from provenance.messages import HeuristicCounter, check_provider_rules
from tests.compaction.builders import PROVIDERS, assert_sound, reads, talk, untouched
from tests.messages.builders import (
    SHAPES,
    asks,
    assistant,
    gives,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

HURRY = CompactionConfig(
    soft_limit=1, hard_limit=10**7, keep_recent_messages=10**6, summary_timeout=None
)


def says(text: str = "They talked.") -> Callable[[str], str]:
    return lambda _conversation: text


def compact(messages: list[Any], summarizer: Any, **settings: Any) -> CompactionResult[Any]:
    more = {name: settings.pop(name) for name in ("previous_summary", "spill") if name in settings}
    base = {name: getattr(HURRY, name) for name in ("soft_limit", "hard_limit", "summary_timeout")}
    config = CompactionConfig(**{**base, "keep_recent_messages": 10**6, **settings})
    same = untouched(messages)
    result = compact_context(messages, None, summarizer=summarizer, config=config, **more)
    assert same()
    assert_sound(messages, result)
    return result


def test_older_messages_become_a_summary_and_an_acknowledgement() -> None:
    messages = talk(20)
    left, saved = generate_summary(messages, summarizer=says())
    assert left == [
        {"role": "user", "content": f"{SUMMARY_HEAD}\nThey talked."},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        *messages[-4:],
    ]
    counter = HeuristicCounter()
    assert saved == counter.count_messages(messages) - counter.count_messages(left)


def test_the_summarizer_gets_the_older_messages_as_json() -> None:
    messages = talk(20)
    asked: list[str] = []
    generate_summary(messages, summarizer=lambda text: asked.append(text) or "short")  # type: ignore[func-returns-value]
    assert [json.loads(text) for text in asked] == [messages[:-4]]


@pytest.mark.parametrize(
    "summarizer",
    [
        None,
        says(""),
        says(" \n\t"),
        says("x" * 100_000),
        says("\ud800"),
        lambda _text: None,
        lambda _text: b"bytes",
        lambda _text: {"role": "user"},
    ],
)
def test_without_a_gain_the_very_list_comes_back(summarizer: Any) -> None:
    messages = talk(20)
    left, saved = generate_summary(messages, summarizer=summarizer)
    assert left is messages
    assert saved == 0


def _raises(error: BaseException) -> Callable[[str], str]:
    def summarizer(_conversation: str) -> str:
        raise error

    return summarizer


@pytest.mark.parametrize(
    ("summarizer", "outcome", "failure"),
    [
        (None, SummaryOutcome.NO_SUMMARIZER, None),
        (says("Short."), SummaryOutcome.SUMMARISED, None),
        (says("  "), SummaryOutcome.BLANK, None),
        (says("x" * 8_004), SummaryOutcome.TOO_LONG, None),
        (says("x" * 1_000), SummaryOutcome.NO_GAIN, None),
        (lambda _text: 7, SummaryOutcome.NOT_TEXT, "int"),
        (says("\udc00"), SummaryOutcome.NOT_TEXT, "UnicodeEncodeError"),
        (_raises(RuntimeError("secret text")), SummaryOutcome.FAILED, "RuntimeError"),
        (_raises(TimeoutError()), SummaryOutcome.TIMED_OUT, "TimeoutError"),
        (_raises(asyncio.CancelledError()), SummaryOutcome.CANCELLED, "CancelledError"),
    ],
)
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_what_came_of_it_has_a_name_and_is_never_text(
    summarizer: Any, outcome: SummaryOutcome, failure: str | None, timeout: float | None
) -> None:
    messages = talk(20)
    result = compact(messages, summarizer, summary_timeout=timeout)
    assert (result.summary_outcome, result.summary_failure) == (outcome, failure)
    if outcome is not SummaryOutcome.SUMMARISED:
        assert result.messages == messages
        assert result.summary is None
        assert result.applied_layers == ()


def test_a_summary_of_exactly_the_limit_is_taken() -> None:
    result = compact(talk(20, size=4_000), says("x" * 8_000))
    assert result.summary_outcome is SummaryOutcome.SUMMARISED


def test_what_is_too_short_to_be_summarised_is_not_asked_for() -> None:
    result = compact(talk(4), _raises(AssertionError()))
    assert result.summary_outcome is SummaryOutcome.NOTHING_OLDER
    below = compact(talk(20), _raises(AssertionError()), soft_limit=10**6)
    assert below.summary_outcome is SummaryOutcome.NOT_NEEDED


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_what_ends_the_program_goes_on(error: BaseException, timeout: float | None) -> None:
    config = CompactionConfig(soft_limit=1, summary_timeout=timeout)
    with pytest.raises(type(error)):
        compact_context(talk(20), None, summarizer=_raises(error), config=config)


def test_it_is_asked_as_often_as_the_budget_says() -> None:
    answers: list[Any] = [RuntimeError(), " ", "Short."]

    def summarizer(_conversation: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    result = compact(talk(20), summarizer, summary_attempts=3)
    assert (result.summary_outcome, result.summary_attempts) == (SummaryOutcome.SUMMARISED, 3)
    answers[:] = [RuntimeError(), ValueError(), "Short."]
    result = compact(talk(20), summarizer, summary_attempts=2)
    assert (result.summary_outcome, result.summary_failure) == (SummaryOutcome.FAILED, "ValueError")
    assert answers == ["Short."]


def test_one_that_does_not_come_back_is_left_behind() -> None:
    never = threading.Event()

    def summarizer(_conversation: str) -> str:
        never.wait(60)
        return "late"

    result = compact(talk(20), summarizer, summary_timeout=0.02)
    never.set()
    assert result.summary_outcome is SummaryOutcome.TIMED_OUT
    assert result.messages == talk(20)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("keep", [0, 1, 2, 3, 4, 5, 6])
def test_the_cut_moves_back_to_whole_interactions(shape: str, keep: int) -> None:
    messages = [*reads(shape, 6), *asks(shape, "p1", "p2"), *gives(shape, "p2", "p1")]
    if keep == 0:
        messages.append(user("And now?"))
    result = compact(messages, says("s"), summary_keep_recent=keep)
    assert result.summary_outcome is SummaryOutcome.SUMMARISED
    kept = result.messages[1 if keep == 0 else 2 :]
    assert messages[len(messages) - len(kept) :] == kept
    assert len(kept) >= keep
    assert check_provider_rules(result.messages, PROVIDERS[shape]) == ()


def test_a_result_far_from_its_call_moves_the_cut_all_the_way() -> None:
    messages = [user(), *asks("chat", "c1"), *talk(10), *gives("chat", "c1"), user("Go on.")]
    result = compact(messages, _raises(AssertionError()) and says("s"), summary_keep_recent=2)
    # Only the request lies before the call, and a summary of it is no gain.
    assert result.summary_outcome is SummaryOutcome.NO_GAIN


def test_overlapping_interactions_move_the_cut_step_by_step() -> None:
    messages = [
        *talk(6),
        *asks("chat", "a"),
        *asks("chat", "b"),
        *gives("chat", "a"),
        *asks("chat", "c"),
        *gives("chat", "b"),
        *asks("chat", "d"),
        *gives("chat", "c"),
        *gives("chat", "d"),
    ]
    result = compact(messages, says("s"), summary_keep_recent=1)
    assert result.messages[2:] == messages[6:]


def test_the_first_message_can_be_kept_as_it_is() -> None:
    messages = talk(20)
    result = compact(messages, says("s"), keep_first=True)
    assert result.messages[0] == messages[0]
    assert result.messages[1]["content"] == f"{SUMMARY_HEAD}\ns"
    assert result.messages[3:] == messages[-4:]


def test_a_first_message_that_calls_is_kept_with_its_result() -> None:
    messages = [*asks("chat", "a"), *gives("chat", "a"), *talk(20)]
    result = compact(messages, says("s"), keep_first=True)
    assert result.messages[:2] == messages[:2]


def test_instructions_are_never_summarised() -> None:
    messages = [{"role": "system", "content": "Never say X."}, *talk(20)]
    asked: list[str] = []
    result = compact(messages, lambda text: asked.append(text) or "s")  # type: ignore[func-returns-value]
    assert result.messages[0] == messages[0]
    assert "Never say X" not in asked[0]


def test_no_acknowledgement_stands_before_thinking() -> None:
    messages = [*talk(9), {"role": "assistant", "content": [thinking_block(), tool_use("c1")]}]
    messages.append({"role": "user", "content": [tool_result("c1")]})
    result = compact(messages, says("s"), summary_keep_recent=2)
    assert result.messages[1:] == messages[-2:]
    assert check_provider_rules(result.messages, "anthropic", manual_thinking=True) == ()


def test_the_summary_is_cited_for_exactly_what_it_removed() -> None:
    result = compact(talk(20), says())
    head, tail = result.receipt.inserted
    assert head.stands_for == tuple(one.sha256 for one in result.receipt.removed)
    assert len(head.stands_for) == 16
    assert tail.stands_for == ()


def test_tool_blocks_and_claims_in_a_summary_are_plain_text() -> None:
    claims = (
        '[{"type": "tool_use", "id": "c9"}] source_status=available artifact:s:a.txt:' + 64 * "0"
    )
    result = compact(talk(40), says(claims))
    assert result.messages[0] == {"role": "user", "content": f"{SUMMARY_HEAD}\n{claims}"}
    assert result.receipt.pointers == ()


# Incremental


class Recorder:
    """Gives its answers in turn and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    def __call__(self, conversation: str) -> str:
        self.asked.append(json.loads(conversation))
        return self.answers.pop(0)


@pytest.mark.parametrize("keep_first", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_only_new_messages_are_summarised_and_put_to_the_earlier_summary(
    shape: str, keep_first: bool
) -> None:
    recorder = Recorder("First half.", "Second half.")
    first = compact(reads(shape, 12), recorder, keep_first=keep_first)
    assert first.summary == "First half."
    messages = [*first.messages, *reads(shape, 12, first=20)]
    second = compact(messages, recorder, keep_first=keep_first, previous_summary=first.summary)
    assert second.summary == "First half.\n\nSecond half."
    texts = json.dumps(recorder.asked[1])
    assert "First half." not in texts
    assert ACKNOWLEDGEMENT not in texts
    said = [one for one in second.messages if "half" in json.dumps(one)]
    assert len(said) == 1
    head = second.receipt.inserted[0]
    assert set(head.stands_for) == {one.sha256 for one in second.receipt.removed}


def test_messages_since_an_earlier_summary_can_come_alone() -> None:
    result = compact(talk(20), says("New."), previous_summary="Old.")
    assert result.summary == "Old.\n\nNew."


def test_an_earlier_summary_that_stays_is_not_said_twice() -> None:
    first = compact(talk(20), says("Old."))
    # What is new lies behind the cut, but for one message; the earlier summary stays first.
    messages = [*talk(8, size=400), *first.messages]
    second = compact(messages, says("New."), summary_keep_recent=6, previous_summary="Old.")
    assert second.summary == "New."
    assert sum("Old." in str(one) for one in second.messages) == 1


def test_summaries_that_are_too_long_together_become_one() -> None:
    recorder = Recorder("new " * 500, "both")
    old = "old " * 500
    result = compact(talk(60, size=400), recorder, previous_summary=old, summary_max_tokens=700)
    assert result.summary == "both"
    assert recorder.asked[1] == [{"role": "user", "content": f"{old}\n\n{('new ' * 500).strip()}"}]


def test_an_earlier_summary_is_pruned_as_little_as_the_first_message() -> None:
    config: dict[str, Any] = {"keep_first": True, "keep_recent_messages": 6}
    first = compact(talk(30, size=400), says("Old."), **{**config, "keep_recent_messages": 10**6})
    messages = [*first.messages, *talk(20, size=400)]
    second = compact(messages, None, previous_summary=first.summary, **config)
    assert second.messages[:2] == messages[:2]
    assert second.messages[2:] == messages[-6:]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_earlier_summary_outlives_a_loop_that_has_the_messages_alone(shape: str) -> None:
    """Only its text can tell it, and whoever summarises it next is handed it."""
    recorder = Recorder("Facts of the first hour.", "All facts.")
    config = CompactionConfig(
        soft_limit=500, hard_limit=10**7, keep_first=True, summary_timeout=None
    )
    view = compact_if_needed(
        [user("The task."), *reads(shape, 3, size=4_000)], None, summarizer=recorder, config=config
    )
    assert "Facts of the first hour." in str(view[1])
    for step in range(4):
        view = [*view, *talk(12, size=400), *reads(shape, 2, first=100 + 10 * step)]
        view = compact_if_needed(view, None, config=config)
        assert "Facts of the first hour." in str(view[1])
        assert len(view) == 2 + config.keep_recent_messages
    view = compact_if_needed(
        [*view, *talk(8, size=4_000)], None, summarizer=recorder, config=config
    )
    assert "Facts of the first hour." in json.dumps(recorder.asked[1])
    assert sum("[Conversation summary]" in str(one) for one in view) == 1


@pytest.mark.parametrize("summarizer", [None, says("New.")])
def test_an_earlier_summary_is_known_as_a_block_with_a_cache_mark(summarizer: Any) -> None:
    first = compact(talk(20), says("Old."))
    (text,) = (one["content"] for one in first.messages[:1])
    marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    messages = [user("First."), user([marked]), *first.messages[1:], *talk(20, size=400)]
    config: dict[str, Any] = {"keep_recent_messages": 2, "previous_summary": first.summary}
    result = compact(messages, summarizer, **config)
    assert messages[1] in result.messages
    config["keep_recent_messages"] = 10**6
    result = compact(messages, summarizer, **config)
    assert result.summary == ("Old." if summarizer is None else "Old.\n\nNew.")


@pytest.mark.parametrize(
    "content",
    [
        f"{SUMMARY_HEAD}\r\nOld.",
        [text_block(f"{SUMMARY_HEAD}\nOld.")],
        [text_block(f"{SUMMARY_HEAD}\nOld."), text_block("And now?")],
        [text_block("And now?"), text_block(f"{SUMMARY_HEAD}\nOld.")],
        [{"type": "input_text", "text": f"{SUMMARY_HEAD}\nOld."}],
    ],
)
@pytest.mark.parametrize("previous_summary", [None, "Old.", "Another."])
def test_what_stands_under_the_heading_is_not_pruned(
    content: Any, previous_summary: str | None
) -> None:
    """Not even beside another: whichever stands for more, both may be all there is of it."""
    earlier = {"role": "user", "content": content}
    messages = [user(f"{SUMMARY_HEAD}\nFirst."), earlier, *talk(20, size=400)]
    result = compact(messages, None, keep_recent_messages=4, previous_summary=previous_summary)
    assert result.messages == [*messages[:2], *messages[-4:]]
    is_known = previous_summary == "Old." and len(content) == 1
    assert result.summary == ("Old." if is_known else None)
    # Merged with more of the user's it is a message like others: whoever summarises gets it.
    recorder = Recorder("New.", "New.")
    compact(messages, recorder, previous_summary=previous_summary)
    assert ("Old." in json.dumps(recorder.asked[0])) is not is_known


def test_durable_state_takes_no_part() -> None:
    class State:
        """Raises where anything but its identity is asked for."""

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    state = State()
    recorder = Recorder("One.", "Two.")
    config = CompactionConfig(soft_limit=1, keep_recent_messages=99)
    first = compact_context(talk(30), state, summarizer=recorder, config=config)
    second = compact_context(
        [*first.messages, *talk(30)],
        first.durable_state,
        summarizer=recorder,
        config=config,
        previous_summary=first.summary,
    )
    assert second.durable_state is state
    assert second.summary == "One.\n\nTwo."
    assert all(set(message) == {"role", "content"} for one in recorder.asked for message in one)


# Asynchronous


async def _short(_conversation: str) -> str:
    await asyncio.sleep(0)
    return "Short."


class _AsyncCallable:
    async def __call__(self, _conversation: str) -> str:
        return "Short."


ASYNC: list[Any] = [
    _short,
    functools.partial(_short),
    lambda text: _short(text),  # noqa: PLW0108 - no coroutine function itself
    _AsyncCallable(),
    says("Short."),
]


@pytest.mark.parametrize("summarizer", ASYNC)
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_functions_and_coroutines_both_work_with_and_without_a_loop(
    summarizer: Summarizer, timeout: float | None
) -> None:
    messages = talk(20)
    config = CompactionConfig(soft_limit=1, keep_recent_messages=99, summary_timeout=timeout)
    plain = compact_context(messages, None, summarizer=summarizer, config=config)

    async def inside() -> CompactionResult[None]:
        return compact_context(messages, None, summarizer=summarizer, config=config)

    async def awaited() -> CompactionResult[None]:
        return await compact_context_async(messages, None, summarizer=summarizer, config=config)

    assert asyncio.run(inside()) == plain
    assert asyncio.run(awaited()) == plain
    assert plain.summary == "Short."


def run_async(messages: list[Any], summarizer: Any, **settings: Any) -> CompactionResult[Any]:
    config = CompactionConfig(soft_limit=1, keep_recent_messages=99, **settings)
    return asyncio.run(compact_context_async(messages, None, summarizer=summarizer, config=config))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RuntimeError("x"), SummaryOutcome.FAILED),
        (TimeoutError(), SummaryOutcome.TIMED_OUT),
        (asyncio.CancelledError(), SummaryOutcome.CANCELLED),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
def test_failures_have_the_same_names_in_a_loop(
    error: BaseException, outcome: SummaryOutcome, is_async: bool
) -> None:
    async def fails(_conversation: str) -> str:
        raise error

    result = run_async(talk(20), fails if is_async else _raises(error))
    assert result.summary_outcome is outcome
    assert result.messages == talk(20)


def test_a_coroutine_that_takes_too_long_is_cancelled() -> None:
    cancelled: list[bool] = []

    async def slow(_conversation: str) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return "late"

    result = run_async(talk(20), slow, summary_timeout=0.01, summary_attempts=2)
    assert result.summary_outcome is SummaryOutcome.TIMED_OUT
    assert result.summary_attempts == 2
    assert cancelled == [True, True]


@pytest.mark.parametrize("is_async", [True, False])
def test_cancelling_the_task_cancels_the_summarizer_and_goes_on(is_async: bool) -> None:
    heard: list[str] = []
    go = threading.Event()

    async def slow(_conversation: str) -> str:
        heard.append("asked")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return "late"

    def slow_function(_conversation: str) -> str:
        heard.append("asked")
        go.wait(60)
        return "late"

    async def main() -> None:
        config = CompactionConfig(soft_limit=1, keep_recent_messages=99)
        task = asyncio.ensure_future(
            compact_context_async(
                talk(20), None, summarizer=slow if is_async else slow_function, config=config
            )
        )
        while not heard:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    go.set()
    assert heard == (["asked", "cancelled"] if is_async else ["asked"])


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> str | None:
        turn = asyncio.Event()

        async def waits(_conversation: str) -> str:
            await turn.wait()
            return "Short."

        config = CompactionConfig(soft_limit=1, keep_recent_messages=99)
        task = asyncio.ensure_future(
            compact_context_async(talk(20), None, summarizer=waits, config=config)
        )
        await asyncio.sleep(0)
        turn.set()
        return (await task).summary

    assert asyncio.run(main()) == "Short."


def test_context_variables_reach_a_summarizer_in_a_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("trace-7")
    result = compact(talk(20), lambda _text: variable.get(), summary_timeout=60.0)
    assert result.summary == "trace-7"


def test_blocks_that_json_cannot_print_reach_the_summarizer_all_the_same() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    messages = [
        {"role": "assistant", "content": [tool_use("c1", deep=deep, big=10**5_000, raw=b"\xff")]},
        {"role": "user", "content": [tool_result("c1", [text_block("x")])]},
        *talk(8),
        assistant(),
    ]
    asked: list[str] = []
    result = compact_context(
        messages,
        None,
        summarizer=lambda text: asked.append(text) or "s",  # type: ignore[func-returns-value]
        config=HURRY,
    )
    assert verify_receipt(messages, result) == ()
    assert result.summary == "s"
    assert "[[[[" in asked[0]
    assert "0000000" in asked[0]
    assert '"ff"' in asked[0]


def test_what_is_said_while_the_summary_is_made_is_not_in_it() -> None:
    messages = talk(20)
    before = list(messages)

    async def summarizer(_conversation: str) -> str:
        messages.append(user("A new event."))
        return "They talked."

    config = CompactionConfig(soft_limit=1, keep_recent_messages=99)
    result = asyncio.run(
        compact_context_async(messages, None, summarizer=summarizer, config=config)
    )
    assert result.receipt.original_messages == len(before) < len(messages)
    assert_sound(before, result)
