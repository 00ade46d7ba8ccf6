"""pydantic-ai: real agents with a function as the model, no network."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, MessageViewLimitExceeded, SummaryOutcome
from provenance.embedding.pydantic_ai import compact, history_processor, to_messages
from provenance.messages import ToolProtocolError
from tests.embedding.loops import (
    CONFIG,
    STEPS,
    Results,
    calls_in,
    reading,
    require_valid,
    summarise,
    summarise_later,
)

pydantic_ai = pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai")

from pydantic_ai import Agent, BinaryContent, ModelRetry  # noqa: E402 - skipped without it
from pydantic_ai.capabilities import ProcessHistory  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel  # noqa: E402


class Pits:
    """Calls the tool three times a step, then answers; keeps what it was sent."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.sent: list[list[Any]] = []

    def answer(self, messages: list[Any], info: Any) -> ModelResponse:
        self.sent.append(list(messages))
        step = len(self.sent)
        if step > self.steps:
            return ModelResponse(parts=[TextPart("All stuck.")])
        thought = ThinkingPart("So.", signature="c2lnbmVk", provider_name="anthropic")
        calls = [
            ToolCallPart("read_gauge", {"step": step, "pit": pit}, f"call_{step}_{pit}")
            for pit in (1, 2, 3)
        ]
        return ModelResponse(parts=[thought, TextPart("Reading."), *calls])


def _agent(pits: Pits, **options: Any) -> Any:
    agent = Agent(
        FunctionModel(pits.answer),
        system_prompt="Be brief.",
        instructions="Answer in one line.",
        capabilities=[ProcessHistory(history_processor(**options))],
    )

    @agent.tool_plain(retries=3)
    def read_gauge(step: int, pit: int) -> str:
        if step == 2 and pit == 1:
            raise ModelRetry("The gauge did not answer.")
        return reading(step, pit)

    return agent


def _run(pits: Pits, **options: Any) -> Any:
    return asyncio.run(_agent(pits, **options).run("Which float is stuck?"))


def _require_valid(pits: Pits) -> None:
    for sent in pits.sent:
        require_valid(to_messages(sent), "anthropic")


def test_a_long_run_with_parallel_calls_is_compacted_and_ends():
    pits, results = Pits(), Results()
    run = _run(pits, config=CONFIG, on_result=results)
    assert run.output == "All stuck."
    assert len(pits.sent) == len(results.results) == STEPS + 1
    assert results.layers >= {"tool_result_truncation", "message_pruning"}
    _require_valid(pits)
    for sent in pits.sent:
        assert [part.part_kind for part in sent[0].parts] == ["system-prompt", "user-prompt"]
        assert sent[-1].instructions == "Answer in one line."
    assert calls_in(to_messages(pits.sent[-1]))[-3:] == [f"call_{STEPS}_{n}" for n in (1, 2, 3)]


def test_signed_thinking_stays_with_its_calls():
    pits = Pits()
    _run(pits, config=CONFIG)
    for message in pits.sent[-1]:
        if isinstance(message, ModelResponse) and calls_in(to_messages([message])):
            assert message.parts[0] == ThinkingPart(
                "So.", signature="c2lnbmVk", provider_name="anthropic"
            )


@pytest.mark.parametrize("summarizer", [summarise, summarise_later])
def test_summaries_take_the_place_of_the_history(summarizer: Any):
    asked = []

    def summarizing(conversation: str) -> Any:
        asked.append(conversation)
        return summarizer(conversation)

    pits, results = Pits(), Results()
    config = CompactionConfig(
        soft_limit=2_000, hard_limit=6_000, keep_recent_messages=100, summary_keep_recent=4
    )
    run = _run(pits, config=config, summarizer=summarizing, on_result=results)
    outcomes = [result.summary_outcome for result in results.results]
    assert outcomes.count(SummaryOutcome.SUMMARISED) > 1
    _require_valid(pits)
    # Standing instructions are no part of what is summed up, and no summary is summed up again.
    assert all(sent[0].parts[0].content == "Be brief." for sent in pits.sent)
    assert not any("Conversation summary" in conversation for conversation in asked)
    assert any("about pits" in part.content for part in pits.sent[-1][0].parts)
    assert len(calls_in(to_messages(run.all_messages()))) < 3 * STEPS


def test_a_history_that_a_run_begins_with():
    pits = Pits(steps=2)
    agent = _agent(pits, config=CONFIG)
    history = compact(_history(6), config=CONFIG)
    run = asyncio.run(agent.run("And now?", message_history=history))
    assert run.output == "All stuck."
    _require_valid(pits)


def test_several_runs_at_once():
    async def run() -> list[Any]:
        agents = [_agent(Pits(), config=CONFIG) for _ in range(3)]
        return await asyncio.gather(*(agent.run("Which float?") for agent in agents))

    assert [one.output for one in asyncio.run(run())] == ["All stuck."] * 3


def _history(steps: int = 4) -> list[Any]:
    made: list[Any] = [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("Go.")], run_id="r1")
    ]
    for step in range(1, steps + 1):
        ids = [f"old_{step}_{pit}" for pit in (1, 2)]
        calls = [ToolCallPart("read_gauge", '{"pit": 1}', one) for one in ids]
        returns = [
            ToolReturnPart("read_gauge", "x" * 900, one, metadata={"rows": 3}) for one in ids
        ]
        made += [
            ModelResponse(parts=[TextPart("Reading."), *calls], model_name="m"),
            ModelRequest(parts=returns, instructions="One line.", run_id="r1"),
        ]
    return made


def test_what_is_small_comes_back_as_the_same_objects():
    history = _history(1)
    assert list(map(id, compact(history))) == list(map(id, history))


def test_what_changes_is_a_copy_that_keeps_the_rest():
    history = _history(1)
    second = history[2].parts[1]
    history[2].parts[1] = small = ToolReturnPart("read_gauge", "dry", second.tool_call_id)
    view = compact(history, config=CompactionConfig(soft_limit=150, max_tool_result_tokens=50))
    assert [one is other for one, other in zip(view, history, strict=True)] == [True, True, False]
    now, was = view[2].parts[0], history[2].parts[0]
    assert len(now.content) < len(was.content) == 900
    assert (now.tool_call_id, now.metadata) == (was.tool_call_id, {"rows": 3})
    assert now.timestamp == was.timestamp
    assert view[2].parts[1] is small
    assert (view[2].instructions, view[2].run_id) == ("One line.", "r1")


def test_a_read_that_goes_leaves_its_siblings():
    thought = ThinkingPart("So.", signature="c2lnbmVk", provider_name="anthropic")
    gauge = ToolCallPart("read_gauge", {"pit": 1}, "c2")
    level = ToolReturnPart("read_gauge", "x" * 400, "c2")
    first = ModelResponse(
        parts=[thought, ToolCallPart("read_file", '{"path": "a.txt"}', "c1"), gauge],
        model_name="m",
        provider_response_id="p1",
    )
    history = [
        ModelRequest(parts=[UserPromptPart("Go.")]),
        first,
        ModelRequest(parts=[ToolReturnPart("read_file", "y" * 400, "c1"), level]),
        ModelResponse(parts=[ToolCallPart("read_file", {"path": "a.txt"}, "c3")]),
        ModelRequest(parts=[ToolReturnPart("read_file", "y" * 400, "c3")]),
    ]
    config = CompactionConfig(soft_limit=350, read_tools={"read_file": "path"})
    view = compact(history, config=config)
    assert [one is other for one, other in zip(view, history, strict=True)] == [
        True,
        False,
        False,
        True,
        True,
    ]
    assert list(map(id, view[1].parts)) == [id(thought), id(gauge)]
    assert (view[1].model_name, view[1].provider_response_id) == ("m", "p1")
    assert list(map(id, view[2].parts)) == [id(level)]
    assert len(first.parts) == 3


def test_a_system_prompt_stays_where_its_message_goes():
    history = _history(6)
    view = compact(
        history,
        config=CompactionConfig(soft_limit=700, summary_keep_recent=2, keep_recent_messages=99),
        summarizer=lambda _: "Pits were read.",
    )
    assert list(map(id, view[0].parts)) == [id(history[0].parts[0])]
    assert view[0].run_id == "r1"
    assert view[1].parts[0].content.endswith("Pits were read.")
    assert [type(one) for one in view[1:3]] == [ModelRequest, ModelResponse]
    assert list(map(id, view[3:])) == list(map(id, history[-2:]))


def test_a_result_with_a_file_is_not_shortened():
    picture = BinaryContent(data=b"\x89PNG" * 300, media_type="image/png")
    for content in (picture, ["see", picture]):
        history = [
            ModelRequest(parts=[UserPromptPart(["Look:", picture])]),
            ModelResponse(parts=[ToolCallPart("shoot", None, "c1")]),
            ModelRequest(parts=[ToolReturnPart("shoot", content, "c1")]),
        ]
        config = CompactionConfig(soft_limit=100, max_tool_result_tokens=20)
        results = Results()
        view = compact(history, config=config, on_result=results)
        assert list(map(id, view)) == list(map(id, history))


def test_a_result_that_is_no_text_is_shortened_as_its_json():
    history = [
        ModelRequest(parts=[UserPromptPart("Go.")]),
        ModelResponse(parts=[ToolCallPart("read", {}, "c1")]),
        ModelRequest(parts=[ToolReturnPart("read", {"rows": list(range(500))}, "c1")]),
    ]
    view = compact(history, config=CompactionConfig(soft_limit=100, max_tool_result_tokens=20))
    assert view[2].parts[0].content.startswith('{"rows":[0,1,2,')


def test_arguments_that_were_cut_off_are_shown_as_text():
    history = [
        ModelRequest(parts=[UserPromptPart("Go.")]),
        ModelResponse(parts=[ToolCallPart("read", '{"pit', "c1")]),
        ModelRequest(parts=[ToolReturnPart("read", "no such pit", "c1")]),
    ]
    assert compact(history) == history
    shown: Any = to_messages(history)[1]
    assert shown["content"][0]["input"] in ({"arguments": '{"pit'}, {"INVALID_JSON": '{"pit'})


def test_messages_without_parts():
    history = [ModelRequest(parts=[]), ModelResponse(parts=[]), ModelRequest(parts=[])]
    results = Results()
    assert list(map(id, compact(history, on_result=results))) == list(map(id, history))
    config = CompactionConfig(soft_limit=1, keep_recent_messages=1)
    view = compact(history, config=config, on_result=results)
    assert list(map(id, view)) == [id(history[0]), id(history[2])]


def test_an_unanswered_call_is_refused():
    with pytest.raises(ToolProtocolError):
        compact(_history(1)[:-1])


def test_what_cannot_fit_ends_the_run():
    with pytest.raises(MessageViewLimitExceeded):
        _run(Pits(), config=CompactionConfig(soft_limit=5, hard_limit=8))
