"""What OpenAI's two APIs refuse beyond unpaired calls.

Guarantees: pure and linear. Neither API wants alternating roles, a certain first message, or a
certain last one.

Sources:
- Chat, results next: "An assistant message with 'tool_calls' must be followed by tool messages
  responding to each 'tool_call_id'" (QwenLM/qwen-code 606), "messages with role 'tool' must be a
  response to a preceeding message with 'tool_calls'" (open-chat-studio 1659).
- Chat, content: required unless there are calls (`chat_completion_assistant_message_param.py` of
  `openai` 3.57); "expected a string, got null", while "" is taken (vercel/ai 14950).
- Chat, ids: at most 40 characters (vercel/ai 5171). Responses: at most 64 (earendil-works/pi 1022).
- Responses, pairs: by `call_id`, wherever they stand (deepseek-ai/awesome-deepseek-integration
  740); "No tool output found for function call", "No tool call found for function call output".
- Responses, reasoning: "was provided without its required following item" (vercel/ai 7099).
- Responses, item ids: "Duplicate item found with id" (openai-agents-python 1789).

Example:
    >>> from provenance.messages.shapes import blocks_of
    >>> message = {"role": "tool", "tool_call_id": "c1", "content": "3"}
    >>> row = Row(0, "tool", blocks_of(message), message)
    >>> [found.rule.value for found in chat_problems([row])]
    ['result_without_call']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenance.messages import _anthropic, _openai_chat, _openai_responses
from provenance.messages._blocks import Block, BlockKind
from provenance.messages._fields import field, items_of, text_field
from provenance.messages._problems import ProviderProblem, ProviderRule, Row, long_call_id
from provenance.messages.shapes import shape_of

__all__ = ["chat_problems", "responses_problems"]

_CHAT_LONGEST_ID = 40
_RESPONSES_LONGEST_ID = 64
_ANTHROPIC_TYPES = frozenset({"tool_use", "tool_result"})


def chat_problems(rows: Sequence[Row]) -> Iterator[ProviderProblem]:
    """Every breach of a rule of Chat Completions, message by message."""
    if not rows:
        yield ProviderProblem(0, ProviderRule.MESSAGE_COUNT, "expected a message, got none")
        return
    # Calls of the latest assistant message that no tool message has answered yet.
    waiting: dict[str, tuple[Row, Block]] = {}
    answerable: set[str] = set()
    for row in rows:
        if row.role == "tool":
            yield from _of_tool_message(row, answerable)
            for block in row.blocks:
                if isinstance(block.call_id, str):
                    waiting.pop(block.call_id, None)
                    answerable.discard(block.call_id)
        else:
            yield from _unanswered(waiting)
            waiting = _calls(row)
            answerable = set(waiting)
        yield from _of_chat_message(row)
    yield from _unanswered(waiting)


def responses_problems(rows: Sequence[Row]) -> Iterator[ProviderProblem]:
    """Every breach of a rule of the Responses API, item by item, then calls without output."""
    if not rows:
        yield ProviderProblem(0, ProviderRule.MESSAGE_COUNT, "expected an item, got none")
        return
    waiting: dict[str, tuple[Row, Block]] = {}
    called: set[str] = set()
    item_ids: dict[str, int] = {}
    for number, row in enumerate(rows):
        block = row.blocks[0]
        yield from _of_item(row)
        if (item_id := text_field(row.message, "id")) and _has_own_id(row):
            if item_id in item_ids:
                detail = f"item id: expected one used once, got that of item {item_ids[item_id]}"
                yield ProviderProblem(row.index, ProviderRule.ITEM_ID_TWICE, detail)
            item_ids.setdefault(item_id, row.index)
        if block.kind is BlockKind.THINKING:
            after = rows[number + 1] if number + 1 < len(rows) else None
            if after is None or after.role != "assistant":
                detail = "expected the item that the reasoning led to, got none"
                yield ProviderProblem(row.index, ProviderRule.THINKING_PLACE, detail)
        if not isinstance(block.call_id, str):
            continue
        if block.kind is BlockKind.TOOL_CALL:
            called.add(block.call_id)
            waiting[block.call_id] = (row, block)
        elif block.kind is BlockKind.TOOL_RESULT:
            waiting.pop(block.call_id, None)
            if block.call_id not in called:
                detail = "expected its call before it, got none"
                yield ProviderProblem(row.index, ProviderRule.RESULT_WITHOUT_CALL, detail, 0)
    for row, _ in waiting.values():
        detail = "expected an output of the call, got none"
        yield ProviderProblem(row.index, ProviderRule.RESULTS_NEXT, detail, 0)


def _calls(row: Row) -> dict[str, tuple[Row, Block]]:
    return {
        block.call_id: (row, block)
        for block in row.blocks
        if block.kind is BlockKind.TOOL_CALL and isinstance(block.call_id, str)
    }


def _unanswered(waiting: dict[str, tuple[Row, Block]]) -> Iterator[ProviderProblem]:
    for row, block in waiting.values():
        detail = "expected a tool message right behind the call's message, got none"
        yield ProviderProblem(row.index, ProviderRule.RESULTS_NEXT, detail, block.index)


def _of_tool_message(row: Row, answerable: set[str]) -> Iterator[ProviderProblem]:
    for block in row.blocks:
        if block.kind is not BlockKind.TOOL_RESULT:
            continue
        if not isinstance(block.call_id, str) or block.call_id not in answerable:
            detail = "expected its call in the assistant message before, got none"
            rule = ProviderRule.RESULT_WITHOUT_CALL
            yield ProviderProblem(row.index, rule, detail, block.index)


def _of_chat_message(row: Row) -> Iterator[ProviderProblem]:
    if not row.role:
        detail = "expected system, developer, user, assistant or tool, got no known role"
        yield ProviderProblem(row.index, ProviderRule.ROLE, detail)
    if shape_of(row.message) is _openai_responses:
        detail = "expected a chat message, got a Responses item"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail)
        return
    calls = field(row.message, "tool_calls")
    if calls is not None and not items_of(calls):
        detail = "tool_calls: expected at least one call or no field, got none"
        yield ProviderProblem(row.index, ProviderRule.EMPTY_CONTENT, detail)
    content = field(row.message, "content")
    speaks_otherwise = bool(items_of(calls)) or any(
        field(row.message, name) is not None for name in _openai_chat.SINGLE_FIELDS
    )
    may_be_null = row.role == "assistant" and speaks_otherwise
    is_null = content is None and not may_be_null
    if is_null or not (content is None or isinstance(content, str) or items_of(content)):
        detail = "content: expected a string or content parts, got none"
        yield ProviderProblem(row.index, ProviderRule.EMPTY_CONTENT, detail)
    for block in row.blocks:
        yield from _of_chat_block(row, block)


def _of_chat_block(row: Row, block: Block) -> Iterator[ProviderProblem]:
    tag = text_field(block.value, "type") if block.value is not row.message else ""
    if tag in _ANTHROPIC_TYPES or block.kind is BlockKind.THINKING:
        detail = "expected content parts and tool_calls, got a block of another provider"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail, block.index)
        return
    if block.kind is BlockKind.TOOL_CALL:
        if row.role != "assistant":
            detail = "expected calls in an assistant message, got another role"
            yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail, block.index)
        part = _openai_chat.called(block.value)
        name = "input" if field(block.value, "custom") is not None else "arguments"
        if not isinstance(field(part, name), str):
            detail = f"{name}: expected a string, got something else"
            yield ProviderProblem(row.index, ProviderRule.CALL_ARGUMENTS, detail, block.index)
    if (problem := long_call_id(row, block, _CHAT_LONGEST_ID)) is not None:
        yield problem


def _has_own_id(row: Row) -> bool:
    # A reference stands for an item, and the answer to a local shell call has the call's id.
    return text_field(row.message, "type") not in {"item_reference", "local_shell_call_output"}


def _of_item(row: Row) -> Iterator[ProviderProblem]:
    block, shape = row.blocks[0], shape_of(row.message)
    is_plain = shape is _anthropic and all(
        one.kind in {BlockKind.TEXT, BlockKind.OTHER} for one in row.blocks
    )
    tag = text_field(row.message, "type")
    content = field(row.message, "content")
    if tag in {"", "message"}:
        if not row.role:
            detail = "expected an item or a message with a role, got neither"
            yield ProviderProblem(row.index, ProviderRule.ROLE, detail)
        elif content is None or (
            is_plain and not isinstance(content, str) and not items_of(content)
        ):
            detail = "content: expected a string or content parts, got none"
            yield ProviderProblem(row.index, ProviderRule.EMPTY_CONTENT, detail)
            return
    if shape is not _openai_responses and not (is_plain and isinstance(content, str)):
        detail = "expected an item of the Responses shape, got a message of another"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail)
        return
    if (problem := long_call_id(row, block, _RESPONSES_LONGEST_ID)) is not None:
        yield problem
    name = {"function_call": "arguments", "custom_tool_call": "input"}.get(tag)
    if name is not None and not isinstance(field(row.message, name), str):
        detail = f"{name}: expected a string, got something else"
        yield ProviderProblem(row.index, ProviderRule.CALL_ARGUMENTS, detail, 0)
