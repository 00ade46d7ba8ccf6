"""LangChain and LangGraph: real agents with a fake model, no network."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, MessageViewLimitExceeded, SummaryOutcome
from provenance.embedding.langchain import (
    compact,
    compaction_middleware,
    pre_model_hook,
    to_messages,
)
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

pytest.importorskip("langchain", reason="needs the extra langchain")

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool


class PitModel(GenericFakeChatModel):
    """Says what it is told to, and keeps what it was sent."""

    sent: list[Any] = []

    def bind_tools(self, tools: Any, **_: Any) -> PitModel:
        return self

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        self.sent.append(list(messages))
        return super()._generate(messages, *args, **options)


@tool
def read_gauge(step: int, pit: int) -> str:
    """Read a gauge."""
    return reading(step, pit)


def _calls(step: int) -> list[dict[str, Any]]:
    return [
        {"name": "read_gauge", "args": {"step": step, "pit": pit}, "id": f"call_{step}_{pit}"}
        for pit in (1, 2, 3)
    ]


def _said() -> list[AIMessage]:
    calling = [
        AIMessage(f"Step {step}." if step % 2 else "", tool_calls=_calls(step))
        for step in range(1, STEPS + 1)
    ]
    return [*calling, AIMessage("All stuck.")]


def _model(said: list[AIMessage] | None = None) -> PitModel:
    return PitModel(messages=iter(said or _said()), sent=[])


def _asked() -> dict[str, Any]:
    return {"messages": [HumanMessage("Which float is stuck?")]}


def _run(model: PitModel, *, is_async: bool = False, **options: Any) -> list[Any]:
    agent = create_agent(
        model,
        [read_gauge],
        system_prompt="Be brief.",
        middleware=[compaction_middleware(**options)],
    )
    settings: Any = {"recursion_limit": 10 * STEPS}
    if is_async:
        return asyncio.run(agent.ainvoke(_asked(), settings))["messages"]
    return agent.invoke(_asked(), settings)["messages"]


def _require_valid(model: PitModel) -> None:
    for sent in model.sent:
        require_valid(to_messages(sent), "anthropic")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_long_run_with_parallel_calls_is_compacted_and_ends(is_async: bool):
    model, results = _model(), Results()
    state = _run(model, is_async=is_async, config=CONFIG, on_result=results)
    assert state[-1].content == "All stuck."
    assert len(model.sent) == len(results.results) == STEPS + 1
    assert results.layers >= {"tool_result_truncation", "message_pruning"}
    _require_valid(model)
    for sent in model.sent:
        assert [one.content for one in sent[:2]] == ["Be brief.", "Which float is stuck?"]
    assert calls_in(to_messages(model.sent[-1]))[-3:] == [f"call_{STEPS}_{n}" for n in (1, 2, 3)]


def test_the_state_of_the_graph_keeps_every_message():
    state = _run(_model(), config=CONFIG)
    assert [one.content for one in state if isinstance(one, ToolMessage)] == [
        reading(step, pit) for step in range(1, STEPS + 1) for pit in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("is_async", "summarizer"),
    [(False, summarise), (False, summarise_later), (True, summarise), (True, summarise_later)],
)
def test_a_request_goes_on_from_the_one_before(is_async: bool, summarizer: Any):
    asked = []

    def summarizing(conversation: str) -> Any:
        asked.append(conversation)
        return summarizer(conversation)

    model, results = _model(), Results()
    config = CompactionConfig(
        soft_limit=1_000, hard_limit=6_000, keep_recent_messages=100, summary_keep_recent=4
    )
    _run(model, is_async=is_async, config=config, summarizer=summarizing, on_result=results)
    outcomes = [result.summary_outcome for result in results.results]
    assert SummaryOutcome.SUMMARISED in outcomes
    for step in range(1, STEPS + 1):
        said = json.dumps(reading(step, 1), ensure_ascii=False)
        assert sum(said in conversation for conversation in asked) <= 1
    _require_valid(model)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_hook_of_langgraph(is_async: bool):
    model, results = _model(), Results()
    hook = pre_model_hook(config=CONFIG, on_result=results)
    with warnings.catch_warnings():
        # It has moved to create_agent, which has middleware; who still uses it has the hook.
        warnings.simplefilter("ignore")
        from langgraph.prebuilt import create_react_agent

        agent = create_react_agent(model, [read_gauge], pre_model_hook=hook)
    settings: Any = {"recursion_limit": 10 * STEPS}
    if is_async:
        state = asyncio.run(agent.ainvoke(_asked(), settings))
    else:
        state = agent.invoke(_asked(), settings)
    assert state["messages"][-1].content == "All stuck."
    assert results.layers >= {"tool_result_truncation", "message_pruning"}
    assert len(calls_in(to_messages(state["messages"]))) == 3 * STEPS
    _require_valid(model)


def test_one_middleware_serves_several_threads_of_conversation():
    from langgraph.checkpoint.memory import InMemorySaver

    model = _model([*_said(), *_said()])
    agent = create_agent(
        model,
        [read_gauge],
        middleware=[compaction_middleware(config=CONFIG)],
        checkpointer=InMemorySaver(),
    )
    for site in ("north", "south"):
        settings: Any = {"recursion_limit": 10 * STEPS, "configurable": {"thread_id": site}}
        asked: Any = {"messages": [HumanMessage(f"Which float in the {site} is stuck?")]}
        state = agent.invoke(asked, settings)
        assert site in state["messages"][0].content
        assert site in model.sent[-1][0].content
    _require_valid(model)


def _answers(calls: list[Any], status: Any = "success") -> list[ToolMessage]:
    return [
        ToolMessage(
            f"{call['id']} {'x' * 900}",
            tool_call_id=call["id"],
            id=f"m_{call['id']}",
            artifact={"rows": 3},
            status=status,
            name="read_gauge",
        )
        for call in calls
    ]


def _history(steps: int = 4) -> list[Any]:
    made: list[Any] = [SystemMessage("Be brief."), HumanMessage("Go.", id="h1")]
    for step in range(1, steps + 1):
        calls = _calls(step)
        made += [
            AIMessage(f"Step {step}.", tool_calls=calls, id=f"a{step}"),
            *_answers(calls, "error"),
        ]
    return made


def test_what_is_small_comes_back_as_the_same_objects():
    history = _history(1)
    assert list(map(id, compact(history))) == list(map(id, history))


def test_what_changes_keeps_its_id_artifact_and_status():
    history = _history(1)
    before = [one.model_dump() for one in history]
    view = compact(history, config=CompactionConfig(soft_limit=200, max_tool_result_tokens=50))
    assert [one is other for one, other in zip(view, history, strict=True)] == [True] * 3 + [
        False
    ] * 3
    for one, other in zip(view[3:], history[3:], strict=True):
        assert isinstance(one, ToolMessage)
        assert len(one.content) < len(other.content)
        assert one.model_copy(update={"content": other.content}) == other
        assert one.artifact is other.artifact
    assert [one.model_dump() for one in history] == before


def test_a_call_that_goes_takes_its_other_forms_with_it():
    calls = [
        {"name": "read_file", "args": {"path": "a.txt"}, "id": "c1", "type": "tool_call"},
        {"name": "read_gauge", "args": {"pit": 1}, "id": "c2", "type": "tool_call"},
    ]
    content: list[Any] = [
        {"type": "thinking", "thinking": "So.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.txt"}},
        {"type": "tool_use", "id": "c2", "name": "read_gauge", "input": {"pit": 1}},
    ]
    first = AIMessage(
        content,
        tool_calls=calls,
        id="a1",
        additional_kwargs={"tool_calls": [{"id": "c1"}, {"id": "c2"}], "other": 1},
        response_metadata={"model_name": "m"},
    )
    again = AIMessage("", tool_calls=[{"name": "read_file", "args": {"path": "a.txt"}, "id": "c3"}])
    history = [
        HumanMessage("Go."),
        first,
        *_answers(calls),
        again,
        *_answers(again.tool_calls),
    ]
    config = CompactionConfig(soft_limit=700, read_tools={"read_file": "path"})
    results = Results()
    view = compact(history, config=config, on_result=results)
    assert results.layers == {"file_read_deduplication"}
    assert [one.id for one in view[2:]] == ["m_c2", again.id, "m_c3"]
    now = view[1]
    assert now is not first
    assert now.content == [content[0], content[1], content[3]]
    assert [call["id"] for call in now.tool_calls] == ["c2"]
    assert now.additional_kwargs == {"tool_calls": [{"id": "c2"}], "other": 1}
    assert (now.id, now.response_metadata) == ("a1", {"model_name": "m"})
    assert len(first.content) == 4
    assert len(first.additional_kwargs["tool_calls"]) == 2
    assert all(
        one is other for one, other in zip(view[2:], [history[3], again, history[5]], strict=True)
    )


def test_a_message_that_came_in_pieces_stays_one():
    chunk = AIMessageChunk(
        content="Reading.",
        tool_call_chunks=[
            {"name": "read_file", "args": '{"path": "a.txt"}', "id": f"c{n}", "index": n}
            for n in (0, 1)
        ],
    )
    assert len(chunk.tool_calls) == 2
    history = [HumanMessage("Go."), chunk, *_answers(chunk.tool_calls)]
    config = CompactionConfig(soft_limit=300, read_tools={"read_file": "path"})
    view = compact(history, config=config)
    assert [type(one) for one in view] == [HumanMessage, AIMessageChunk, ToolMessage]
    assert [call["id"] for call in view[1].tool_calls] == ["c1"]
    assert [call["id"] for call in view[1].tool_call_chunks] == ["c1"]


def test_an_item_of_the_responses_api_is_its_call():
    calls = [{"name": "read_file", "args": {"path": "a.txt"}, "id": f"call_{n}"} for n in (1, 2)]
    content: list[Any] = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "read_file"},
    ]
    message = AIMessage(content, tool_calls=calls)
    history = [HumanMessage("Go."), message, *_answers(calls)]
    assert calls_in(to_messages(history)) == ["call_1", "call_2"]
    config = CompactionConfig(soft_limit=300, read_tools={"read_file": "path"})
    view = compact(history, config=config)
    kept = [part["id"] for part in view[1].content]
    assert "fc_1" not in kept
    assert kept[-2:] == ["rs_2", "fc_2"]


def test_a_call_that_could_not_be_parsed_counts_where_it_is_answered():
    broken = AIMessage(
        "",
        invalid_tool_calls=[{"name": "read", "args": '{"pit', "id": "c1", "error": "cut off"}],
    )
    alone = [HumanMessage("Go."), broken, HumanMessage("Again.")]
    assert compact(alone) == alone
    assert calls_in(to_messages(alone)) == []
    answered = [HumanMessage("Go."), broken, *_answers(broken.invalid_tool_calls)]
    assert calls_in(to_messages(answered)) == ["c1"]
    assert compact(answered) == answered


def test_two_calls_of_one_id_are_refused():
    calls = [{"name": "read_gauge", "args": {}, "id": "c1"} for _ in range(2)]
    with pytest.raises(ToolProtocolError):
        compact([HumanMessage("Go."), AIMessage("", tool_calls=calls), *_answers(calls[:1])])


@pytest.mark.parametrize("content", ["", "Reading.", [{"type": "text", "text": "Reading."}]])
def test_a_call_without_an_id_is_refused(content: Any):
    call = {"name": "read_gauge", "args": {}, "id": None}
    with pytest.raises(ToolProtocolError, match="message 1: tool call id"):
        compact([HumanMessage("Go."), AIMessage(content, tool_calls=[call])])


def test_a_message_with_a_role_of_its_own():
    history = [ChatMessage("Go.", role="user"), ChatMessage("So.", role="assistant")]
    assert [one["role"] for one in to_messages(history)] == ["user", "assistant"]
    assert list(map(id, compact(history))) == list(map(id, history))


def test_an_unanswered_call_is_refused():
    with pytest.raises(ToolProtocolError):
        compact(_history(1)[:-1])


def test_system_messages_at_the_beginning_survive_a_summary():
    history = _history(6)
    view = compact(
        history,
        config=CompactionConfig(soft_limit=900, summary_keep_recent=2, keep_recent_messages=99),
        summarizer=lambda _: "Pits were read.",
    )
    assert view[0] is history[0]
    assert [type(one) for one in view[1:3]] == [HumanMessage, AIMessage]
    assert view[1].content.endswith("Pits were read.")
    assert list(map(id, view[3:])) == list(map(id, history[-4:]))


def test_content_of_parts_and_messages_of_every_kind():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    history = [
        SystemMessage("Be brief."),
        RemoveMessage(id="gone"),
        HumanMessage([picture, "and text", {"type": "text", "text": "more"}]),
        HumanMessage([]),
        AIMessage(""),
        SystemMessage("A remark in the middle."),
    ]
    results = Results()
    assert list(map(id, compact(history, on_result=results))) == list(map(id, history))
    assert [one["role"] for one in to_messages(history)] == ["user", "user", "assistant", "system"]
    config = CompactionConfig(soft_limit=1, keep_recent_messages=0)
    view = compact(history, config=config, on_result=results)
    assert list(map(id, view)) == list(map(id, history[:3]))


def test_a_picture_beside_the_text_of_a_result_stays():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [picture, {"type": "text", "text": "x" * 900}, "y" * 900]
    inside = {"type": "tool_result", "tool_use_id": "c2", "content": content}
    calls = [{"name": "read_gauge", "args": {}, "id": one} for one in ("c1", "c2")]
    history = [
        HumanMessage("Go."),
        AIMessage("", tool_calls=calls),
        ToolMessage(content, tool_call_id="c1"),
        HumanMessage([inside]),
    ]
    config = CompactionConfig(soft_limit=100, max_tool_result_tokens=20)
    view = compact(history, config=config)
    text = "x" * 80 + "\n\n[... truncated: the first 80 of 1801 characters are shown ...]"
    shorter = [picture, {"type": "text", "text": text}]
    assert view[2].content == shorter
    assert view[3].content == [{**inside, "content": shorter}]
    assert history[2].content == content


def test_a_result_inside_a_human_message_is_shortened_there():
    call = {"name": "read_gauge", "args": {}, "id": "c1"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x" * 900, "is_error": True}
    text = {"type": "text", "text": "Go on."}
    history = [HumanMessage("Go."), AIMessage("", tool_calls=[call]), HumanMessage([result, text])]
    view = compact(history, config=CompactionConfig(soft_limit=100, max_tool_result_tokens=20))
    shortened = view[2].content[0]
    assert shortened | {"content": ""} == result | {"content": ""}
    assert len(shortened["content"]) < 200
    assert view[2].content[1] is history[2].content[1]
    assert len(result["content"]) == 900


def test_what_cannot_fit_ends_the_run():
    with pytest.raises(MessageViewLimitExceeded):
        _run(_model(), config=CompactionConfig(soft_limit=5, hard_limit=8))
