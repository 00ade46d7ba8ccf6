"""The OpenAI Agents SDK: real runs with a model of our own, no network."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance.artifacts.store import ArtifactStore
from provenance.compaction import CompactionConfig, MessageViewLimitExceeded, SummaryOutcome
from provenance.embedding.openai_agents import compact, input_filter, to_messages
from provenance.messages import HeuristicCounter, ToolProtocolError
from tests.embedding.loops import (
    CONFIG,
    STEPS,
    Results,
    calls_in,
    reading,
    require_valid,
    summarise_later,
)

agents = pytest.importorskip("agents", reason="needs the extra openai-agents")


class PitModel(agents.Model):
    """Calls the tool three times a step, then answers; keeps what it was sent."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.run = ""  # begins the ids of the calls, which are never used twice
        self.sent: list[list[Any]] = []

    async def get_response(self, *args: Any, **named: Any) -> Any:
        from openai.types.responses import (
            ResponseFunctionToolCall,
            ResponseOutputMessage,
            ResponseOutputText,
            ResponseReasoningItem,
        )

        # The second one is the input; some releases pass it by name.
        self.sent.append(list(named.get("input") or args[1]))
        step = len(self.sent)
        output: list[Any] = [
            ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call_{self.run}{step}_{pit}",
                name="read_gauge",
                arguments=json.dumps({"step": step, "pit": pit}),
            )
            for pit in (1, 2, 3)
        ]
        thought = {"id": f"rs_{step}", "type": "reasoning", "summary": []}
        output.insert(0, ResponseReasoningItem(**thought))
        if step > self.steps:
            text = ResponseOutputText(type="output_text", text="All stuck.", annotations=[])
            output = [
                ResponseOutputMessage(
                    id=f"msg_{step}",
                    type="message",
                    role="assistant",
                    status="completed",
                    content=[text],
                )
            ]
        return agents.ModelResponse(output=output, usage=agents.Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@agents.function_tool
def read_gauge(step: int, pit: int) -> str:
    """Read a gauge."""
    return reading(step, pit)


def _run(model: PitModel, before: Any = "Which float is stuck?", **options: Any) -> Any:
    agent = agents.Agent(name="pits", instructions="Be brief.", model=model, tools=[read_gauge])
    config = agents.RunConfig(
        call_model_input_filter=input_filter(**options), tracing_disabled=True
    )
    return asyncio.run(agents.Runner.run(agent, before, run_config=config, max_turns=STEPS + 5))


def test_a_long_run_with_parallel_calls_is_compacted_and_ends():
    model, results = PitModel(), Results()
    run = _run(model, config=CONFIG, on_result=results)
    assert run.final_output == "All stuck."
    assert len(model.sent) == len(results.results) == STEPS + 1
    assert results.layers >= {"tool_result_truncation", "message_pruning"}
    for sent in model.sent:
        require_valid(sent, "openai-responses")
    # The first message is in every request, and the newest readings are too.
    assert all(sent[0]["content"] == "Which float is stuck?" for sent in model.sent)
    assert calls_in(model.sent[-1])[-3:] == [f"call_{STEPS}_{pit}" for pit in (1, 2, 3)]


def test_the_result_of_the_run_keeps_every_item():
    model = PitModel()
    run = _run(model, config=CONFIG)
    assert len(calls_in(run.to_input_list())) == 3 * STEPS
    outputs = [item["output"] for item in run.to_input_list() if "output" in item]
    assert outputs == [reading(step, pit) for step in range(1, STEPS + 1) for pit in (1, 2, 3)]


def test_a_request_goes_on_from_the_one_before():
    model, asked = PitModel(), []

    async def summarizer(conversation: str) -> str:
        asked.append(conversation)
        return await summarise_later(conversation)

    results = Results()
    config = CompactionConfig(
        soft_limit=1_000, hard_limit=6_000, keep_recent_messages=100, summary_keep_recent=4
    )
    _run(model, config=config, summarizer=summarizer, on_result=results)
    summarised = [
        result for result in results.results if result.summary_outcome is SummaryOutcome.SUMMARISED
    ]
    assert summarised
    # No reading is handed to the summarizer twice.
    for step in range(1, STEPS + 1):
        for pit in (1, 2, 3):
            said = json.dumps(reading(step, pit), ensure_ascii=False)
            assert sum(said in conversation for conversation in asked) <= 1
    for sent in model.sent:
        require_valid(sent, "openai-responses")


def test_one_filter_serves_several_runs_at_once():
    models = [PitModel() for _ in range(3)]
    compact_input = input_filter(config=CONFIG)

    async def run(model: PitModel, number: int) -> Any:
        agent = agents.Agent(name="pits", model=model, tools=[read_gauge])
        config = agents.RunConfig(call_model_input_filter=compact_input, tracing_disabled=True)
        question = f"Which float of site {number} is stuck?"
        return await agents.Runner.run(agent, question, run_config=config, max_turns=STEPS + 5)

    async def all_of_them() -> Any:
        return await asyncio.gather(*(run(model, n) for n, model in enumerate(models)))

    assert [one.final_output for one in asyncio.run(all_of_them())] == ["All stuck."] * 3
    for number, model in enumerate(models):
        assert all(f"site {number}" in sent[0]["content"] for sent in model.sent)


def test_a_session_keeps_every_item():
    model, session = PitModel(), agents.SQLiteSession("pits")
    agent = agents.Agent(name="pits", model=model, tools=[read_gauge])
    config = agents.RunConfig(
        call_model_input_filter=input_filter(config=CONFIG), tracing_disabled=True
    )

    async def twice() -> list[Any]:
        for model.run, question in (("", "Which float is stuck?"), ("again_", "And now?")):
            model.sent.clear()
            await agents.Runner.run(
                agent, question, session=session, run_config=config, max_turns=STEPS + 5
            )
        return await session.get_items()

    items = asyncio.run(twice())
    session.close()
    assert [item["content"] for item in items if item.get("role") == "user"] == [
        "Which float is stuck?",
        "And now?",
    ]
    outputs = [item["output"] for item in items if "output" in item]
    assert outputs == [
        reading(step, pit) for _ in "12" for step in range(1, STEPS + 1) for pit in (1, 2, 3)
    ]
    for sent in model.sent:
        require_valid(sent, "openai-responses")


def _call(number: int) -> list[dict[str, Any]]:
    call_id = f"c{number}"
    return [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": call_id,
            "name": "read",
            "arguments": "{}",
            "status": "completed",
        },
        {
            "type": "function_call_output",
            "call_id": call_id,
            "output": f"{number} " * 400,
            "status": "completed",
        },
    ]


def _items(calls: int) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Go."},
        *(item for number in range(calls) for item in _call(number)),
    ]


def test_what_is_small_comes_back_as_the_same_objects():
    items = _items(1)
    assert list(map(id, compact(items))) == list(map(id, items))


def test_what_stays_is_the_same_object_and_what_changes_keeps_its_fields():
    items = _items(2)
    view = compact(items, config=CompactionConfig(soft_limit=200, max_tool_result_tokens=50))
    assert [one is other for one, other in zip(view, items, strict=True)] == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]
    assert view[3]["output"].startswith("0 0 0 ")
    assert view[3] | {"output": ""} == items[3] | {"output": ""}
    assert items[3]["output"] == "0 " * 400


def test_system_messages_at_the_beginning_survive_a_summary():
    items = _items(8)
    view = compact(
        items,
        config=CompactionConfig(soft_limit=300, summary_keep_recent=2, keep_recent_messages=99),
        summarizer=lambda _: "Pits were read.",
    )
    assert view[0] is items[0]
    assert [item["role"] for item in view[1:3]] == ["user", "assistant"]
    assert view[1]["content"].endswith("Pits were read.")
    assert list(map(id, view[3:])) == list(map(id, items[-2:]))
    assert to_messages(items) == items[1:]


def test_what_is_cut_goes_to_the_store_first(tmp_path: Path):
    model, results, heard = PitModel(), Results(), []
    with ArtifactStore(tmp_path / "store") as store:
        run = _run(
            model,
            config=CompactionConfig(
                soft_limit=1_500, max_tool_result_tokens=300, spill_dropped=True
            ),
            spill=functools.partial(store.spill, "pits"),
            observer=heard.append,
            counter=HeuristicCounter(),
            on_result=results,
        )
        assert run.final_output == "All stuck."
        pointers = {one for result in results.results for one in result.receipt.pointers}
        assert pointers
        for number, sent in enumerate(model.sent):
            require_valid(sent, "openai-responses")
            shown = json.dumps(sent)
            assert any(one in shown for one in pointers) or number < 2
    assert {report.layer for report in heard} >= {"tool_result_truncation", "message_pruning"}


def test_an_unanswered_call_is_refused():
    with pytest.raises(ToolProtocolError):
        compact(_items(1)[:-1])


def test_what_cannot_fit_ends_the_run():
    config = CompactionConfig(soft_limit=10, hard_limit=20)
    with pytest.raises(MessageViewLimitExceeded):
        _run(PitModel(), config=config)


def test_what_on_result_raises_ends_the_run():
    class Full(Exception):
        pass

    def on_result(*_: object) -> None:
        raise Full

    with pytest.raises(Full):
        _run(PitModel(), on_result=on_result)


@pytest.mark.parametrize("make", [_items, lambda calls: _items(calls)[2:]])
def test_the_receipts_account_for_what_went(make: Callable[[int], list[dict[str, Any]]]):
    results = Results()
    compact(make(9), config=CONFIG, on_result=results)
    (result,) = results.results
    assert result.receipt.removed
