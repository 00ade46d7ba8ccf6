"""Answers to interrupted calls, put where the provider looks for them.

Guarantees: each answer stands behind its call. Anthropic: first in the user message right after the
assistant's turn, in a new one where there is none. OpenAI Chat: messages right after the call's.
OpenAI Responses: items right after the run of calls. Linear in the messages.

Example:
    >>> call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    >>> asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    >>> block = Block(0, BlockKind.TOOL_CALL, "c1", "ls", call)
    >>> with_answers([asked], {0: [(block, answer_to(asked, block))]})[1]["role"]
    'tool'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from provenance.messages import _anthropic, _openai_chat, _openai_responses
from provenance.messages._blocks import Block, BlockKind
from provenance.messages._fields import text_field
from provenance.messages.shapes import blocks_of, role_of, shape_of

__all__ = ["INTERRUPTED_TEXT", "answer_to", "with_answers"]

INTERRUPTED_TEXT: Final = "[interrupted: this call has no result]"
"""What the result of an interrupted call says."""


def answer_to(message: object, call: Block) -> dict[str, object] | None:
    """The answer to an interrupted call.

    Args:
        message: the one that the call stands in.
        call: the call, with the id that it is answered by.

    Returns:
        A result block or message of the call's shape; None where a text cannot answer it.
    """
    if text_field(call.value, "type") == "tool_use":
        return _anthropic.interrupted_result(call, INTERRUPTED_TEXT)
    if shape_of(message) is _openai_responses:
        return _openai_responses.interrupted_result(call, INTERRUPTED_TEXT)
    return _openai_chat.interrupted_result(call, INTERRUPTED_TEXT)


def with_answers(
    messages: Sequence[object], answers: Mapping[int, Sequence[tuple[Block, object]]]
) -> list[object]:
    """A history with these answers put in.

    Args:
        messages: a history; never changed.
        answers: calls with their answers, in their order, by the place of the call's message.
    """
    ends = _ends_of_turns(messages) if answers else []
    after: dict[int, list[object]] = {}
    first: dict[int, list[object]] = {}
    for index in sorted(answers):
        for call, answer in answers[index]:
            if text_field(call.value, "type") == "tool_use":
                first.setdefault(ends[index], []).append(answer)
            else:
                chat = shape_of(messages[index]) is _openai_chat
                after.setdefault(index if chat else ends[index], []).append(answer)
    made: list[object] = []
    results: list[object] = []
    for index, message in enumerate(messages):
        made += _with_results(message, results)
        made += after.get(index, ())
        results = first.get(index, [])
    if results:
        made.append(_message_of(results))
    return made


def _with_results(message: object, results: list[object]) -> list[object]:
    """A message behind these result blocks: with them in it where it can take them."""
    if not results:
        return [message]
    if role_of(message) == "user" and shape_of(message) is _anthropic:
        joined = _anthropic.with_first(message, results)
        if joined is not None:
            return [joined]
    return [_message_of(results), message]


def _message_of(results: list[object]) -> object:
    return {"role": "user", "content": list(results)}


def _ends_of_turns(messages: Sequence[object]) -> list[int]:
    """For each message the last one of the run of calls that goes on from it.

    Parallel calls may come as messages of their own (an item each, in the Responses shape); they
    are one turn, so an answer between them would tear it. A message that says anything ends the run
    before it.
    """
    ends = list(range(len(messages)))
    reach: int | None = None  # the last call of the run that begins at the message after this one
    for index in range(len(messages) - 1, -1, -1):
        if reach is not None:
            ends[index] = reach
        message = messages[index]
        kinds = {block.kind for block in blocks_of(message)}
        is_part = (
            kinds <= {BlockKind.TOOL_CALL, BlockKind.THINKING}
            and role_of(message) == "assistant"
            and shape_of(message) is not _openai_chat
        )
        if not is_part:
            reach = None
        elif reach is None and BlockKind.TOOL_CALL in kinds:
            reach = index
    return ends
