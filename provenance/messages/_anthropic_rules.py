"""What the Anthropic Messages API refuses beyond unpaired calls.

Guarantees: pure and linear. Rules are checked on turns, since consecutive messages of one role are
combined into one turn before anything else is checked; alternating roles is therefore no rule.

Sources:
- Turns are combined; 100,000 messages; prefill: `anthropic/types/message_create_params.py` 2.14.
- Results in the next turn, first in it: platform.claude.com, "Handle tool calls"; the errors
  "`tool_use` ids were found without `tool_result` blocks immediately after" (claude-code 3632) and
  "unexpected `tool_use_id` found in `tool_result` blocks" (claude-code 18947).
- No text behind a call: recorded 400 in opencode, `packages/llm/test/fixtures/recordings/
  anthropic-messages/rejects-malformed-assistant-tool-order-without-patch.json` (May 2026).
- First turn: "first message must use the "user" role" (lobehub 1601).
- Text: "text content blocks must be non-empty", and of white space alone only where the message has
  no other text (LibreChat agents 124); "all messages must have non-empty content except for the
  optional final assistant message" (claude-code 6774).
- Thinking: "Invalid `signature` in `thinking` block" (oh-my-openagent 2775); "The final block in an
  assistant message cannot be `thinking`" (forgecode 2107); "Expected `thinking` or
  `redacted_thinking`, but found `tool_use`" (haystack-core-integrations 2146).
- No prefill from Claude 4.6 on: "The conversation must end with a user message" (qwen-code 8039).
- System messages: platform.claude.com, "Mid-conversation system messages" (Claude Opus 4.8).
- Server results: "must have a corresponding `server_tool_use` block before it" (claude-code 64383).
- Ids: "String should match pattern '^[a-zA-Z0-9_-]+$'".

Example:
    >>> from provenance.messages.shapes import blocks_of
    >>> message = {"role": "assistant", "content": "Hello."}
    >>> [found.rule.value for found in problems([Row(0, "assistant", blocks_of(message), message)])]
    ['first_message', 'trailing_assistant']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from provenance.messages import _anthropic
from provenance.messages._blocks import Block, BlockKind
from provenance.messages._fields import field, items_of, text_field
from provenance.messages._problems import ProviderProblem, ProviderRule, Row, blank_texts
from provenance.messages.shapes import shape_of

__all__ = ["problems"]

_MOST_MESSAGES = 100_000
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_ROLES = frozenset({"user", "assistant", "system"})
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_Place = tuple[Row, Block]


@dataclass(frozen=True, slots=True)
class _Turn:
    """Consecutive messages of one role."""

    role: str
    rows: list[Row]
    places: list[_Place]

    def of(self, kind: BlockKind) -> list[_Place]:
        return [place for place in self.places if place[1].kind is kind]


def problems(rows: Sequence[Row], *, thinking: bool = False) -> Iterator[ProviderProblem]:
    """Every breach, rule by rule.

    Args:
        rows: the messages.
        thinking: whether the request asks for extended thinking in the manual mode, which wants the
            last turn with calls to begin with thinking.
    """
    if not rows:
        yield ProviderProblem(0, ProviderRule.MESSAGE_COUNT, "expected a message, got none")
        return
    if len(rows) > _MOST_MESSAGES:
        detail = f"expected at most {_MOST_MESSAGES} messages, got {len(rows)}"
        yield ProviderProblem(_MOST_MESSAGES, ProviderRule.MESSAGE_COUNT, detail)
    for row in rows:
        yield from _of_message(row, is_last=row is rows[-1])
    yield from _of_server_results(rows)
    turns = _turns(rows)
    if turns and turns[0].role == "assistant":
        row = turns[0].rows[0]
        detail = "expected the user, got assistant"
        yield ProviderProblem(row.index, ProviderRule.FIRST_MESSAGE, detail)
    for number, turn in enumerate(turns):
        before = turns[number - 1] if number else None
        after = turns[number + 1] if number + 1 < len(turns) else None
        if turn.role == "assistant":
            yield from _of_assistant(turn, after)
        elif turn.role == "user":
            yield from _of_user(turn, before)
        else:
            yield from _of_system(turn, before, after)
    yield from _of_end(turns)
    if thinking:
        yield from _of_loop(turns)


def _turns(rows: Sequence[Row]) -> list[_Turn]:
    turns: list[_Turn] = []
    for row in rows:
        if row.role not in _ROLES:
            continue
        if not turns or turns[-1].role != row.role:
            turns.append(_Turn(row.role, [], []))
        turns[-1].rows.append(row)
        turns[-1].places.extend((row, block) for block in row.blocks)
    return turns


def _of_message(row: Row, *, is_last: bool) -> Iterator[ProviderProblem]:
    if row.role not in _ROLES:
        got = row.role or "no known role"
        detail = f"expected user, assistant or system, got {got}"
        yield ProviderProblem(row.index, ProviderRule.ROLE, detail)
    if shape_of(row.message) is not _anthropic:
        detail = "expected a role and content blocks, got a message of another provider"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail)
        return
    content = field(row.message, "content")
    items = items_of(content)
    if content is None or items == () or (isinstance(content, str) and not content):
        if not (is_last and row.role == "assistant"):
            detail = "expected content, got none"
            yield ProviderProblem(row.index, ProviderRule.EMPTY_CONTENT, detail)
        return
    if not isinstance(content, str) and items is None:
        detail = "expected a string or a list of blocks, got another type"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail)
        return
    for block in blank_texts(row):
        detail = "expected text, got an empty or blank text block"
        yield ProviderProblem(row.index, ProviderRule.EMPTY_CONTENT, detail, block.index)
    for block in row.blocks:
        yield from _of_block(row, block)


def _of_block(row: Row, block: Block) -> Iterator[ProviderProblem]:
    has_id = block.kind is BlockKind.TOOL_CALL or block.kind is BlockKind.TOOL_RESULT
    if has_id and not (isinstance(block.call_id, str) and _CALL_ID.match(block.call_id)):
        detail = "call id: expected letters, digits, _ and -, got something else"
        yield ProviderProblem(row.index, ProviderRule.CALL_ID_FORM, detail, block.index)
    if block.kind is BlockKind.TOOL_CALL and not isinstance(field(block.value, "input"), Mapping):
        detail = "input: expected an object, got something else"
        yield ProviderProblem(row.index, ProviderRule.CALL_ARGUMENTS, detail, block.index)
    if block.kind is BlockKind.THINKING:
        if row.role != "assistant":
            detail = f"thinking: expected in an assistant message, got one of {row.role or 'none'}"
            yield ProviderProblem(row.index, ProviderRule.THINKING_PLACE, detail, block.index)
        name = "data" if text_field(block.value, "type") == "redacted_thinking" else "signature"
        if not text_field(block.value, name).strip():
            detail = f"{name}: expected the provider's own, got none"
            yield ProviderProblem(row.index, ProviderRule.THINKING_SIGNATURE, detail, block.index)


def _of_server_results(rows: Sequence[Row]) -> Iterator[ProviderProblem]:
    called: set[str] = set()
    for row in rows:
        for block in row.blocks:
            if block.kind is not BlockKind.OTHER or block.value is row.message:
                continue
            tag = text_field(block.value, "type")
            if tag in _SERVER_CALLS:
                called.add(text_field(block.value, "id"))
            is_result = tag.endswith("_tool_result")
            if is_result and text_field(block.value, "tool_use_id") not in called:
                detail = "expected the server's call before its result, got none"
                rule = ProviderRule.SERVER_RESULT_WITHOUT_CALL
                yield ProviderProblem(row.index, rule, detail, block.index)


def _of_assistant(turn: _Turn, after: _Turn | None) -> Iterator[ProviderProblem]:
    calls = turn.of(BlockKind.TOOL_CALL)
    results = after.of(BlockKind.TOOL_RESULT) if after is not None and after.role == "user" else []
    answered = {block.call_id for _, block in results if isinstance(block.call_id, str)}
    for row, block in calls:
        if not isinstance(block.call_id, str) or block.call_id not in answered:
            detail = "expected a result in the next turn, got none"
            yield ProviderProblem(row.index, ProviderRule.RESULTS_NEXT, detail, block.index)
    for row, block in turn.of(BlockKind.TOOL_RESULT):
        detail = "expected a result by the user, got one by assistant"
        yield ProviderProblem(row.index, ProviderRule.RESULT_WITHOUT_CALL, detail, block.index)
    has_called = False
    for row, block in turn.places:
        has_called = has_called or block.kind is BlockKind.TOOL_CALL
        if has_called and block.kind is BlockKind.TEXT:
            detail = "expected no text behind a call of its turn, got text"
            yield ProviderProblem(row.index, ProviderRule.CALLS_LAST, detail, block.index)
    row, block = turn.places[-1]
    if block.kind is BlockKind.THINKING:
        detail = "expected text or a call behind thinking, got the end of the turn"
        yield ProviderProblem(row.index, ProviderRule.THINKING_PLACE, detail, block.index)


def _of_user(turn: _Turn, before: _Turn | None) -> Iterator[ProviderProblem]:
    calls = before.of(BlockKind.TOOL_CALL) if before and before.role == "assistant" else []
    called = {block.call_id for _, block in calls if isinstance(block.call_id, str)}
    for row, block in turn.of(BlockKind.TOOL_CALL):
        detail = "expected a call by the assistant, got one by user"
        yield ProviderProblem(row.index, ProviderRule.MESSAGE_SHAPE, detail, block.index)
    has_other = False
    for row, block in turn.places:
        if block.kind is not BlockKind.TOOL_RESULT:
            has_other = True
            continue
        if not isinstance(block.call_id, str) or block.call_id not in called:
            detail = "expected its call in the turn before, got none"
            rule = ProviderRule.RESULT_WITHOUT_CALL
            yield ProviderProblem(row.index, rule, detail, block.index)
        if has_other:
            detail = "expected results first in their turn, got something before"
            yield ProviderProblem(row.index, ProviderRule.RESULTS_FIRST, detail, block.index)


def _of_system(turn: _Turn, before: _Turn | None, after: _Turn | None) -> Iterator[ProviderProblem]:
    row = turn.rows[0]
    follows_server_call = before is not None and before.places[-1][1].kind is BlockKind.OTHER
    if before is None or (before.role != "user" and not follows_server_call):
        detail = "expected a system message behind a user message, got another place"
        yield ProviderProblem(row.index, ProviderRule.SYSTEM_PLACE, detail)
    if len(turn.rows) > 1 or (after is not None and after.role != "assistant"):
        detail = "expected the assistant or the end behind a system message, got something else"
        yield ProviderProblem(turn.rows[-1].index, ProviderRule.SYSTEM_PLACE, detail)


def _of_end(turns: Sequence[_Turn]) -> Iterator[ProviderProblem]:
    if not turns or turns[-1].role != "assistant":
        return
    row, block = turns[-1].places[-1]
    # A turn that ends with a server's call is one that was paused, and is sent back to go on.
    if block.kind is BlockKind.TEXT or block.value is row.message:
        detail = "expected a user message at the end, got text by assistant"
        yield ProviderProblem(row.index, ProviderRule.TRAILING_ASSISTANT, detail)


def _of_loop(turns: Sequence[_Turn]) -> Iterator[ProviderProblem]:
    for turn in reversed(turns):
        if turn.role == "assistant":
            row, block = turn.places[0]
            if turn.of(BlockKind.TOOL_CALL) and block.kind is not BlockKind.THINKING:
                detail = "expected thinking first in the last turn with calls, got something else"
                yield ProviderProblem(row.index, ProviderRule.THINKING_PLACE, detail, block.index)
            return
