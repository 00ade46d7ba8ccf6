"""Any history of each framework: what comes back is what the compaction gave, in their objects."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import CompactionConfig, CompactionResult, verify_receipt
from provenance.embedding import langchain, openai_agents, pydantic_ai
from provenance.messages import validate_tool_protocol


@dataclass(frozen=True)
class Call:
    name: str
    path: str
    length: int


@dataclass(frozen=True)
class Step:
    """A user's message, or thinking, a text and calls; whether results come in one message."""

    asked: str | None
    said: str
    calls: tuple[Call, ...]
    thinks: bool
    together: bool


_CALLS = st.builds(
    Call,
    st.sampled_from(["read_file", "read_gauge"]),
    st.sampled_from(["a.txt", "b.txt"]),
    st.sampled_from([0, 10, 300]),
)
_STEPS = st.builds(
    Step,
    st.none() | st.sampled_from(["And now?", "x" * 200]),
    st.sampled_from(["", "Reading.", "y" * 200]),
    st.lists(_CALLS, max_size=4).map(tuple),
    st.booleans(),
    st.booleans(),
)
_CONFIGS = st.builds(
    CompactionConfig,
    soft_limit=st.sampled_from([1, 200, 400]),
    hard_limit=st.just(10**6),
    max_tool_result_tokens=st.sampled_from([30, 5_000]),
    keep_recent_messages=st.integers(0, 8),
    summary_keep_recent=st.integers(0, 6),
    keep_first=st.booleans(),
    read_tools=st.sampled_from([{}, {"read_file": "path"}]),
)


def _items(steps: list[Step]) -> list[Any]:
    made: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Which float is stuck?"},
    ]
    for number, step in enumerate(steps):
        if step.asked is not None:
            made.append({"role": "user", "content": step.asked})
        if step.thinks:
            made.append({"type": "reasoning", "id": f"rs_{number}", "summary": []})
        made.append(
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "content": [{"type": "output_text", "text": step.said or "So.", "annotations": []}],
            }
        )
        calls = [
            {
                "type": "function_call",
                "call_id": f"c{number}_{index}",
                "name": call.name,
                "arguments": f'{{"path": "{call.path}"}}',
            }
            for index, call in enumerate(step.calls)
        ]
        results = [
            {
                "type": "function_call_output",
                "call_id": f"c{number}_{index}",
                "output": "z" * call.length,
            }
            for index, call in enumerate(step.calls)
        ]
        # One after the other, or all calls first.
        pairs = zip(calls, results, strict=True)
        made += [*calls, *results] if step.together else [one for pair in pairs for one in pair]
    return made


def _langchain(steps: list[Step]) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    made: list[Any] = [SystemMessage("Be brief."), HumanMessage("Which float is stuck?")]
    for number, step in enumerate(steps):
        if step.asked is not None:
            made.append(HumanMessage(step.asked))
        calls: list[Any] = [
            {"name": call.name, "args": {"path": call.path}, "id": f"c{number}_{index}"}
            for index, call in enumerate(step.calls)
        ]
        content: Any = step.said
        if step.thinks:
            content = [
                {"type": "thinking", "thinking": "So.", "signature": "c2lnbmVk"},
                {"type": "text", "text": step.said or "So."},
            ]
            if step.together:
                content += [
                    {"type": "tool_use", "id": one["id"], "name": one["name"], "input": one["args"]}
                    for one in calls
                ]
        made.append(AIMessage(content, tool_calls=calls, id=f"a{number}"))
        made += [
            ToolMessage("z" * call.length, tool_call_id=f"c{number}_{index}", artifact=call)
            for index, call in enumerate(step.calls)
        ]
    return made


def _pydantic_ai(steps: list[Step]) -> list[Any]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    first = [SystemPromptPart("Be brief."), UserPromptPart("Which float is stuck?")]
    made: list[Any] = [ModelRequest(parts=first)]
    for number, step in enumerate(steps):
        if step.asked is not None:
            made.append(ModelRequest(parts=[UserPromptPart(step.asked)]))
        parts: list[Any] = [TextPart(step.said or "So.")]
        if step.thinks:
            parts.insert(0, ThinkingPart("So.", signature="c2lnbmVk", provider_name="anthropic"))
        parts += [
            ToolCallPart(call.name, {"path": call.path}, f"c{number}_{index}")
            for index, call in enumerate(step.calls)
        ]
        made.append(ModelResponse(parts=parts, model_name="m"))
        results: list[Any] = [
            ToolReturnPart(call.name, "z" * call.length, f"c{number}_{index}", metadata=call)
            for index, call in enumerate(step.calls)
        ]
        if step.together and results:
            made.append(ModelRequest(parts=results, instructions="One line."))
        else:
            made += [ModelRequest(parts=[one]) for one in results]
    return made


def _plain(messages: list[Any]) -> list[Any]:
    """Messages with their text alone in one form: a string, or one block of text."""
    return [
        {**one, "content": [{"type": "text", "text": one["content"]}]}
        if isinstance(one.get("content"), str) and one.get("type") != "message"
        else one
        for one in messages
    ]


@pytest.mark.parametrize(
    ("module", "build", "package"),
    [
        pytest.param(openai_agents, _items, None, id="openai-agents"),
        pytest.param(langchain, _langchain, "langchain_core", id="langchain"),
        pytest.param(pydantic_ai, _pydantic_ai, "pydantic_ai", id="pydantic-ai"),
    ],
)
def test_what_comes_back_is_what_the_compaction_gave(
    module: ModuleType, build: Callable[[list[Step]], list[Any]], package: str | None
):
    if package is not None:
        pytest.importorskip(package, reason="needs the extra of this framework")

    @given(st.lists(_STEPS, max_size=6), _CONFIGS, st.booleans())
    def check(steps: list[Step], config: CompactionConfig, has_summarizer: bool) -> None:
        history = build(steps)
        before = copy.deepcopy(history)
        heard: list[tuple[Any, CompactionResult[None]]] = []
        view = module.compact(
            history,
            config=config,
            summarizer=(lambda _: "Pits were read.") if has_summarizer else None,
            on_result=lambda original, result: heard.append((original, result)),
        )
        assert history == before
        ((original, result),) = heard
        assert verify_receipt(original, result) == ()
        # The way back and the way there agree.
        assert list(original) == module.to_messages(history)
        assert _plain(module.to_messages(view)) == _plain(result.messages)
        validate_tool_protocol(module.to_messages(view))
        # What no receipt names is the same object, in the same order.
        skipped = len(history) - len(original)
        touched = {one.message + skipped for one in result.receipt.removed}
        untouched = [one for index, one in enumerate(history) if index not in touched]
        known = {id(one) for one in untouched}
        assert [id(one) for one in view if id(one) in known] == list(map(id, untouched))
        # And once compacted, what is sent again stays as it is.
        assert module.compact(view) == view

    check()
