"""Compaction for pydantic-ai, as a history processor. Extra: `pydantic-ai`.

A part of a message is a block. What answers a tool call is its result; system prompts at the
beginning are never touched; every other part is a block of its own kind, and costs what its JSON
costs.

Guarantees: a message that keeps all its parts is the same object, and so is each part that stays.
Thinking keeps its signature, a changed tool result its ids, outcome and metadata. A result with
files in it, or of a tool that the framework itself reads (`tool_kind`), is never shortened.

Example:
    >>> compact([])
    []
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, Unpack

from pydantic_core import to_jsonable_python

from provenance.embedding._engine import Change, Compactor, Foreign, Row
from provenance.embedding._extras import load
from provenance.embedding._memory import Memory
from provenance.embedding._options import CompactionOptions

__all__ = ["compact", "history_processor", "to_messages"]

MessageT = TypeVar("MessageT")
_EXTRA = "pydantic-ai"


class _Messages:
    """`ModelRequest` and `ModelResponse`."""

    def rows(self, history: Sequence[Foreign]) -> list[Row]:
        rows: list[Row] = []
        leading = True
        for message in history:
            blocks = [
                (_block(part), ("parts", index))
                for index, part in enumerate(message.parts)
                if not (leading and part.part_kind == "system-prompt")
            ]
            if leading and message.parts and not blocks:
                rows.append(Row(None))
                continue
            leading = False
            content = [block for block, _ in blocks]
            shown = {
                "role": "user" if message.kind == "request" else "assistant",
                # Text alone has the form in which an earlier summary is known again.
                "content": content[0]["text"] if _is_text(content) else content,
            }
            rows.append(Row(shown, tuple((place,) for _, place in blocks)))
        return rows

    def changed(self, item: Foreign, change: Change) -> Foreign:
        parts = [
            dataclasses.replace(part, content=change.contents[place])
            if (place := ("parts", index)) in change.contents
            else part
            for index, part in enumerate(item.parts)
            if ("parts", index) not in change.gone
        ]
        return dataclasses.replace(item, parts=parts)

    def emptied(self, item: Foreign, row: Row) -> Foreign | None:
        shown = {place for places in row.places for place in places}
        left = [part for index, part in enumerate(item.parts) if ("parts", index) not in shown]
        return dataclasses.replace(item, parts=left) if left else None

    def inserted(self, role: str, text: str) -> Foreign:
        made: Foreign = load("pydantic_ai.messages", _EXTRA)
        if role == "user":
            return made.ModelRequest(parts=[made.UserPromptPart(content=text)])
        return made.ModelResponse(parts=[made.TextPart(content=text)])


_MESSAGES = _Messages()


def to_messages(history: Sequence[object]) -> list[object]:
    """Give the messages that a compaction is shown, in the shape of Anthropic Messages."""
    return [row.message for row in _MESSAGES.rows(history) if row.message is not None]


def compact(history: Sequence[MessageT], **options: Unpack[CompactionOptions]) -> list[MessageT]:
    """Compact a message history once, such as one that a run will begin with.

    Raises:
        ToolProtocolError: the history breaks the tool protocol.
        MessageViewLimitExceeded: it is too large after all layers.
    """
    return Compactor(_MESSAGES, options)(history)


def history_processor(
    **options: Unpack[CompactionOptions],
) -> Callable[[list[Foreign]], Awaitable[list[Foreign]]]:
    """Give a history processor for an agent (`capabilities=[ProcessHistory(...)]`).

    The framework puts what a processor gives in the place of the run's history, so the next request
    goes on from there; `on_result` is where to keep what was before.

    Raises:
        MissingEmbeddingExtra: the framework is not installed.
    """
    load("pydantic_ai.messages", _EXTRA)
    compactor = Compactor(_MESSAGES, options, memory=Memory())

    async def compact_history(messages: list[Foreign]) -> list[Foreign]:
        return await compactor.run(messages)

    return compact_history


def _is_text(content: Sequence[dict[str, Any]]) -> bool:
    return len(content) == 1 and content[0]["type"] == "text"


def _block(part: Foreign) -> dict[str, Any]:
    match part.part_kind:
        case "tool-call":
            return {
                "type": "tool_use",
                "id": part.tool_call_id,
                "name": part.tool_name,
                "input": _arguments(part),
            }
        case "tool-return":
            return _result(part, _return_content(part))
        # Without a tool it is a remark on the answer as a whole, and answers no call.
        case "retry-prompt" if part.tool_name is not None:
            is_text = isinstance(part.content, str)
            return _result(part, part.content if is_text else part.model_response())
        case "text":
            return {"type": "text", "text": part.content}
        case "user-prompt" if isinstance(part.content, str):
            return {"type": "text", "text": part.content}
        case "thinking":
            block = {"type": "thinking", "thinking": part.content}
            return block if part.signature is None else {**block, "signature": part.signature}
        case kind:
            return {"type": kind, "part": _json(part)}


def _arguments(part: Foreign) -> object:
    # Arguments that were cut off are no JSON; they are shown as the text they are.
    if part.args is None or isinstance(part.args, str):
        try:
            return part.args_as_dict()
        except (ValueError, AssertionError):
            return {"arguments": part.args}
    return _json(part.args)


def _result(part: Foreign, content: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": content}


def _return_content(part: Foreign) -> object:
    if getattr(part, "tool_kind", None) is not None or _has_files(part.content):
        return [{"type": "data", "data": _json(part.content)}]
    return part.content if isinstance(part.content, str) else part.model_response_str()


def _has_files(content: object) -> bool:
    # Every file the framework knows says what it is of: `image-url`, `binary`, `uploaded-file` ...
    items = content if isinstance(content, list | tuple) else [content]
    return any(
        isinstance(getattr(item, "kind", None), str) and not isinstance(item, dict)
        for item in items
    )


def _json(value: object) -> object:
    return to_jsonable_python(value, bytes_mode="base64", fallback=lambda one: type(one).__name__)
