"""The short way for messages that are plain dicts of an everyday form, which most are.

Guarantees: what is given is what the adapter of the message's shape gives (`_anthropic.py`,
`_openai_chat.py`, `_openai_responses.py`), block for block and field for field; None for every
message that is not of an everyday form, which has to go the long way. Nothing is changed.

Example:
    >>> read_plainly({"role": "tool", "tool_call_id": "c1", "content": "42"})[0]
    'tool'
    >>> read_plainly({"role": "tool", "tool_call_id": "c1", "content": ["42"]}) is None
    True
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from provenance.messages._anthropic import content_block
from provenance.messages._blocks import Block, BlockKind
from provenance.messages._openai_chat import OWN_FIELDS, SINGLE_FIELDS
from provenance.messages._openai_responses import OUTPUT_OF, id_name

__all__ = [
    "ANTHROPIC_ALONE",
    "TALKERS",
    "read_plainly",
    "with_result_texts_plainly",
    "without_plainly",
]

TALKERS = ("user", "assistant")
"""Who speaks in messages of every shape."""
ANTHROPIC_ALONE = ("tool_use", "tool_result", "thinking", "text")
"""Types of content blocks that no part of a Responses message has."""

# Names of the module are read faster than those of an enum.
_TEXT, _CALL, _RESULT = BlockKind.TEXT, BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT
_SINGLE_FIELDS = frozenset(SINGLE_FIELDS)
# By the type of an item: what it is, who it is by, and where the id of its call stands.
_ITEMS = {tag: (_CALL, "assistant", id_name(tag)) for tag in OUTPUT_OF} | {
    tag: (_RESULT, "tool", id_name(tag)) for tag in OUTPUT_OF.values()
}
# A name that is none, told apart from one that is not there.
_ODD = "\0"


def read_plainly(message: object) -> tuple[str, tuple[Block, ...]] | None:
    """Tell who a message is by, and give its blocks; None: it has to be read the long way."""
    if type(message) is not dict:
        return None
    role, tag = message.get("role"), message.get("type")
    if role is None:
        return _read_item(message, tag)
    if tag is not None or type(role) is not str:
        return None
    content = message.get("content")
    if role == "tool":
        name = _name_in(message)
        if type(content) is not str or name is _ODD:
            return None
        return role, (Block(0, _RESULT, message.get("tool_call_id"), name, message),)
    if role not in TALKERS:
        return None
    if not OWN_FIELDS.isdisjoint(message):
        return _read_calls(message) if role == "assistant" else None
    if type(content) is str:
        return role, (Block(0, _TEXT, None, None, content),)
    if type(content) is list and content and _is_anthropic_alone(content[0]):
        return role, tuple(_blocks_of(content))
    return None


def without_plainly(
    message: object, blocks: Sequence[Block], gone: Collection[int]
) -> tuple[object, tuple[Block, ...]] | None:
    """Take some, not all, blocks out of a message.

    Args:
        message: never changed.
        blocks: what was read of it.
        gone: places of blocks.

    Returns:
        The new message and its blocks; None: it has to be made the long way.
    """
    if type(message) is not dict or message.get("type") is not None:
        return None
    role, content = message.get("role"), message.get("content")
    if type(role) is not str or role not in TALKERS:
        return None
    kept = [block for block in blocks if block.index not in gone]
    if not 0 < len(kept) < len(blocks):
        return None
    if type(content) is list:
        is_plain = len(content) == len(blocks) and blocks[0].value is content[0]
        if not (is_plain and OWN_FIELDS.isdisjoint(message)):
            return None
        if not _is_anthropic_alone(kept[0].value):
            return None
        made = message.copy()
        made["content"] = [block.value for block in kept]
        return made, tuple(
            [
                block
                if block.index == index
                else Block(index, block.kind, block.call_id, block.name, block.value)
                for index, block in enumerate(kept)
            ]
        )
    # Only the text of a message with calls is left.
    if not (len(kept) == 1 and type(content) is str and kept[0].value is content and content):
        return None
    if kept[0].index or not _SINGLE_FIELDS.isdisjoint(message):
        return None
    made = message.copy()
    made.pop("tool_calls", None)
    return made, (kept[0],)


def with_result_texts_plainly(message: object, texts: Mapping[int, str]) -> object | None:
    """Put other texts into tool results that are text alone; None: it has to be done the long way.

    Args:
        message: never changed.
        texts: by the place of the block.
    """
    found = read_plainly(message)
    if type(message) is not dict or found is None or not texts:
        return None
    blocks, name = found[1], "output" if message.get("role") is None else "content"
    results: dict[int, object] = {}
    for index, text in texts.items():
        block = blocks[index] if 0 <= index < len(blocks) else None
        if block is None or block.kind is not _RESULT:
            return None
        result = block.value
        if type(result) is not dict or type(result.get(name)) is not str:
            return None
        changed = result.copy()
        changed[name] = text
        if result is message:
            return changed
        results[index] = changed
    made = message.copy()
    made["content"] = [results.get(index, item) for index, item in enumerate(message["content"])]
    return made


def _blocks_of(content: list[object]) -> list[Block]:
    """Read a content list; what most items are is read here, for a call costs as much again."""
    found: list[Block] = []
    for index, item in enumerate(content):
        if type(item) is not dict:
            found.append(content_block(index, item))
            continue
        tag = item.get("type")
        if tag == "tool_result":
            block = Block(index, _RESULT, item.get("tool_use_id"), None, item)
        elif tag == "tool_use" and type(name := item.get("name")) is str:
            block = Block(index, _CALL, item.get("id"), name or None, item)
        elif tag == "text" and type(item.get("text")) is str:
            block = Block(index, _TEXT, None, None, item)
        else:
            block = content_block(index, item)
        found.append(block)
    return found


def _read_item(message: dict[str, object], tag: object) -> tuple[str, tuple[Block, ...]] | None:
    known = _ITEMS.get(tag) if type(tag) is str else None
    if known is None or not OWN_FIELDS.isdisjoint(message):
        return None
    name = _name_in(message)
    if name is _ODD:
        return None
    kind, role, id_at = known
    return role, (Block(0, kind, message.get(id_at), name, message),)


def _read_calls(message: dict[str, object]) -> tuple[str, tuple[Block, ...]] | None:
    content, calls = message.get("content"), message.get("tool_calls")
    if type(calls) is not list or not calls or not _SINGLE_FIELDS.isdisjoint(message):
        return None
    if content is not None and type(content) is not str:
        return None
    found = [Block(0, _TEXT, None, None, content)] if content else []
    for call in calls:
        function = call.get("function") if type(call) is dict else None
        if type(function) is not dict or not function:
            return None
        name = _name_in(function)
        if name is _ODD:
            return None
        found.append(Block(len(found), _CALL, call.get("id"), name, call))
    return "assistant", tuple(found)


def _name_in(value: dict[str, object]) -> str | None:
    name = value.get("name")
    if name is None or type(name) is str:
        return name or None
    return _ODD


def _is_anthropic_alone(item: object) -> bool:
    return type(item) is dict and item.get("type") in ANTHROPIC_ALONE
