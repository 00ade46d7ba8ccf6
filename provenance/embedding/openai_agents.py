"""Compaction for the OpenAI Agents SDK, as a filter of a model's input.

Its items are those of the Responses API, one of our shapes, so nothing has to be translated. Extra:
`openai-agents`.

Guarantees: the session and the result of the run keep every item; only the input of a request is
shorter. System and developer messages at the beginning are never touched.

Example:
    >>> from provenance.compaction import CompactionConfig
    >>> items = [
    ...     {"role": "user", "content": "How deep is it?"},
    ...     {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    ...     {"type": "function_call_output", "call_id": "c1", "output": "deep " * 100},
    ... ]
    >>> view = compact(items, config=CompactionConfig(soft_limit=50, max_tool_result_tokens=20))
    >>> view[1] is items[1], len(view[2]["output"]) < 200
    (True, True)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, Unpack

from provenance.embedding._engine import Change, Compactor, Foreign, Row
from provenance.embedding._extras import load
from provenance.embedding._memory import Memory
from provenance.embedding._options import CompactionOptions
from provenance.messages.shapes import role_of

__all__ = ["ITEMS", "compact", "input_filter", "to_messages"]

ItemT = TypeVar("ItemT")
_EXTRA = "openai-agents"


class _Items:
    """Items of the Responses API as the SDK hands them around: mappings."""

    def rows(self, history: Sequence[Foreign]) -> list[Row]:
        rows: list[Row] = []
        leading = True
        for item in history:
            leading = leading and role_of(item) == "system"
            rows.append(Row(None) if leading else Row(item, ((("", 0),),)))
        return rows

    def changed(self, item: Foreign, change: Change) -> Foreign:
        return change.message

    def emptied(self, item: Foreign, row: Row) -> Foreign | None:
        return None

    def inserted(self, role: str, text: str) -> Foreign:
        return {"type": "message", "role": role, "content": text}


ITEMS = _Items()


def to_messages(items: Sequence[object]) -> list[object]:
    """Give the items that a compaction is shown: all but system messages at the beginning."""
    return [row.message for row in ITEMS.rows(items) if row.message is not None]


def compact(items: Sequence[ItemT], **options: Unpack[CompactionOptions]) -> list[ItemT]:
    """Compact a list of input items once.

    Raises:
        ToolProtocolError: the items break the tool protocol.
        MessageViewLimitExceeded: they are too large after all layers.
    """
    return Compactor(ITEMS, options)(items)


def input_filter(
    **options: Unpack[CompactionOptions],
) -> Callable[[Foreign], Awaitable[Foreign]]:
    """Give a `call_model_input_filter` for `RunConfig`.

    What an earlier request was shortened to is what the next one begins with; a filter may be used
    for many runs. Not for runs with `conversation_id` or `previous_response_id`: there the server
    has the history, and the items alone are none.

    Raises:
        MissingEmbeddingExtra: the SDK is not installed.
    """
    data: Foreign = load("agents.run", _EXTRA)
    compactor = Compactor(ITEMS, options, memory=Memory())

    async def compact_input(call: Foreign) -> Foreign:
        items = await compactor.run(call.model_data.input)
        return data.ModelInputData(input=items, instructions=call.model_data.instructions)

    return compact_input
