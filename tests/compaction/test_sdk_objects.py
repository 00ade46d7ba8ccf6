"""Objects of the providers' own packages: compacted, and given back as what they are."""

from __future__ import annotations

from typing import Any

import pytest

from provenance.compaction import CompactionConfig, compact_context, verify_receipt
from provenance.messages import HeuristicCounter
from tests.compaction.builders import assert_sound, talk
from tests.messages.builders import tool_result, user

anthropic_types = pytest.importorskip("anthropic.types")
chat_types = pytest.importorskip("openai.types.chat")
responses_types = pytest.importorskip("openai.types.responses")

HURRY = CompactionConfig(
    soft_limit=1, hard_limit=10**7, summary_timeout=None, max_tool_result_tokens=50
)


def anthropic_answer(number: int, *, thinks: bool = True) -> Any:
    content: list[Any] = [
        anthropic_types.ToolUseBlock(
            id=f"toolu_{number}", name="read", input={"path": "x"}, type="tool_use"
        )
    ]
    if thinks:
        content.insert(
            0, anthropic_types.ThinkingBlock(thinking="Hm.", signature="c2ln", type="thinking")
        )
    return anthropic_types.Message(
        id=f"msg_{number}",
        content=content,
        model="claude",
        role="assistant",
        stop_reason="tool_use",
        type="message",
        usage=anthropic_types.Usage(input_tokens=1, output_tokens=1),
    )


def anthropic_history(count: int) -> list[Any]:
    messages: list[Any] = [user()]
    for number in range(count):
        messages.append(anthropic_answer(number))
        messages.append(
            {"role": "user", "content": [tool_result(f"toolu_{number}", "x" * 900, _read_path="x")]}
        )
    return messages


def chat_history(count: int) -> list[Any]:
    messages: list[Any] = [user()]
    for number in range(count):
        call = chat_types.ChatCompletionMessageFunctionToolCall(
            id=f"call_{number}",
            type="function",
            function={"name": "read", "arguments": '{"path": "x"}'},
        )
        messages.append(
            chat_types.ChatCompletionMessage(
                role="assistant", content="I look." if number % 2 else None, tool_calls=[call]
            )
        )
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "x" * 900})
    return messages


def responses_history(count: int) -> list[Any]:
    items: list[Any] = [user()]
    for number in range(count):
        items.append(
            responses_types.ResponseReasoningItem(id=f"rs_{number}", summary=[], type="reasoning")
        )
        items.append(
            responses_types.ResponseFunctionToolCall(
                call_id=f"call_{number}",
                name="read",
                arguments='{"path": "x"}',
                type="function_call",
            )
        )
        items.append(
            {
                "type": "function_call_output",
                "call_id": f"call_{number}",
                "output": "x" * 900,
            }
        )
    return items


HISTORIES = {
    "anthropic": anthropic_history,
    "chat": chat_history,
    "responses": responses_history,
}


@pytest.mark.parametrize("shape", sorted(HISTORIES))
@pytest.mark.parametrize("percent", [100, 70, 40, 0])
def test_what_stays_is_of_the_class_that_came(shape: str, percent: int) -> None:
    messages = [*HISTORIES[shape](8), user("Go on.")]
    before = [repr(one) for one in messages]
    soft = max(1, HeuristicCounter().count_messages(messages) * percent // 100)
    config = CompactionConfig(
        soft_limit=soft,
        hard_limit=10**7,
        max_tool_result_tokens=50,
        read_tools={"read": "path"},
        summary_timeout=None,
    )
    result = compact_context(messages, None, summarizer=lambda _text: "They looked.", config=config)
    assert_sound(messages, result)
    assert [repr(one) for one in messages] == before
    types = {type(one) for one in messages}
    assert {type(one) for one in result.messages} <= types
    assert not {id(one) for one in messages} & {id(one) for one in result.messages}


@pytest.mark.parametrize("shape", sorted(HISTORIES))
def test_a_copy_of_objects_comes_back_below_the_limit(shape: str) -> None:
    messages = HISTORIES[shape](3)
    result = compact_context(messages, None)
    assert result.messages == messages
    assert all(a is not b for a, b in zip(messages, result.messages, strict=True))


def test_an_object_that_was_altered_is_found() -> None:
    messages = [*anthropic_history(2), *talk(2)]
    result = compact_context(messages, None)
    result.messages[1].content[1].input["path"] = "y"
    assert messages[1].content[1].input == {"path": "x"}
    [problem] = verify_receipt(messages, result)
    assert (problem.message, problem.block) == (1, 1)


def test_blocks_of_an_object_go_one_by_one() -> None:
    messages = anthropic_history(2)
    result = compact_context(messages, None, config=HURRY)
    assert [
        one.kind for one in result.receipt.removed if one.layer == "file_read_deduplication"
    ] == [
        "thinking",
        "tool_call",
        "tool_result",
    ]
    assert_sound(messages, result)
