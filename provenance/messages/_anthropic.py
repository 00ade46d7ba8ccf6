"""The shape of Anthropic Messages, and of any message that is a role and a content.

Guarantees: content is a string (one block) or a list of blocks; `tool_use` and `tool_result` are
the client's calls and results. What a server ran by itself (`server_tool_use`, `mcp_tool_use` and
their results) stands in the assistant's own message, is no part of the tool protocol, and is OTHER.

Source: the types `MessageParam` and `ContentBlockParam` of the package `anthropic` 2.14.

Example:
    >>> call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    >>> [block.kind.value for block in blocks({"role": "assistant", "content": [call]})]
    ['tool_call']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from provenance.messages._blocks import DROPPED, Block, BlockKind, nothing_but
from provenance.messages._fields import field, items_of, replaced, text_field

__all__ = [
    "blocks",
    "content_block",
    "interrupted_result",
    "rebuilt",
    "rebuilt_items",
    "with_first",
]

# Every block of a history comes through here: names of the module are read faster than an enum's.
_TEXT, _OTHER = BlockKind.TEXT, BlockKind.OTHER
_TOOL_CALL, _TOOL_RESULT = BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT
_KINDS = {
    "text": _TEXT,
    "tool_use": _TOOL_CALL,
    "tool_result": _TOOL_RESULT,
    "thinking": BlockKind.THINKING,
    "redacted_thinking": BlockKind.THINKING,
}


def blocks(message: object) -> tuple[Block, ...]:
    """The blocks of a message, at least one."""
    content = field(message, "content")
    if isinstance(content, str):
        return (Block(0, _TEXT, None, None, content),)
    items = content if type(content) is list else items_of(content)
    if not items:
        return nothing_but(message)
    return tuple([content_block(index, item) for index, item in enumerate(items)])


def content_block(index: int, value: object) -> Block:
    """One item of a content list."""
    if isinstance(value, str):
        return Block(index, _TEXT, None, None, value)
    # The get of a dict is what `field` would call.
    read = value.get if type(value) is dict else partial(field, value)
    tag = read("type")
    kind = _KINDS.get(tag, _OTHER) if isinstance(tag, str) else _OTHER
    if kind is _TEXT:
        if not isinstance(read("text"), str):
            kind = _OTHER
        return Block(index, kind, None, None, value)
    if kind is _TOOL_CALL:
        name = read("name")
        name = name if isinstance(name, str) and name else None
        return Block(index, kind, read("id"), name, value)
    if kind is _TOOL_RESULT:
        return Block(index, kind, read("tool_use_id"), None, value)
    return Block(index, kind, None, None, value)


def rebuilt(message: object, changes: Mapping[int, object]) -> object | None:
    """A copy with these blocks changed or dropped; None when nothing is left."""
    content = field(message, "content")
    items = items_of(content)
    if not isinstance(content, str) and not items:
        return None if changes.get(0) is DROPPED else message
    if items is None:
        new = changes.get(0, content)
        return None if new is DROPPED else replaced(message, {"content": new})
    kept = rebuilt_items(items, changes)
    if not kept:
        return None
    return replaced(message, {"content": tuple(kept) if isinstance(content, tuple) else kept})


def rebuilt_items(items: Sequence[object], changes: Mapping[int, object]) -> list[object]:
    """The items of a content list with these changed or dropped."""
    new = (changes.get(index, item) for index, item in enumerate(items))
    return [item for item in new if item is not DROPPED]


def interrupted_result(call: Block, text: str) -> dict[str, object]:
    """A result block that says that the call was interrupted."""
    result: dict[str, object] = {
        "type": "tool_result",
        "tool_use_id": call.call_id,
        "content": text,
        "is_error": True,
    }
    # A call of a toolset (computer, browser) is paired by the family too.
    if family := text_field(call.value, "toolset_name"):
        result["toolset_name"] = family
    return result


def with_first(message: object, results: Sequence[object]) -> object | None:
    """A copy of a user message with these result blocks first; None where it cannot take them."""
    content = field(message, "content")
    if isinstance(content, str):
        # An empty text block is refused by the provider, so an empty string leaves none.
        rest: list[object] = [{"type": "text", "text": content}] if content else []
        return replaced(message, {"content": [*results, *rest]})
    items = items_of(content)
    if items is None:
        return None
    new = [*results, *items]
    return replaced(message, {"content": tuple(new) if isinstance(content, tuple) else new})
