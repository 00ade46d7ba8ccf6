"""Messages of any provider's shape, read and changed through one interface.

Guarantees: Anthropic Messages, OpenAI Chat and OpenAI Responses, as mappings or SDK objects, in one
list or in several; the shape is chosen for each message by itself. The caller's values are never
changed; what is given back is of the shape and type that went in. No value makes a function here
fail: what is of no shape is one block of the kind OTHER.

Example:
    >>> message = {"role": "tool", "tool_call_id": "c1", "content": "42"}
    >>> [(block.kind.value, block.call_id) for block in blocks_of(message)]
    [('tool_result', 'c1')]
    >>> with_result_text(message, 0, "cut")
    {'role': 'tool', 'tool_call_id': 'c1', 'content': 'cut'}
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from provenance.messages import _anthropic, _openai_chat, _openai_responses
from provenance.messages._blocks import DROPPED, Block, BlockKind, Shape
from provenance.messages._copying import copy_message
from provenance.messages._fields import field, items_of, replaced, text_field
from provenance.messages._json_value import to_json_value
from provenance.messages._plain import (
    ANTHROPIC_ALONE,
    TALKERS,
    read_plainly,
    with_result_texts_plainly,
    without_plainly,
)
from provenance.messages._result_content import plain_text, text_in, with_text
from provenance.messages.failures import NotAToolResultError

__all__ = [
    "ROLES",
    "Block",
    "BlockKind",
    "arguments_of",
    "blocks_of",
    "copy_message",
    "field",
    "fields_of_blocks",
    "is_user_side",
    "new_text_message",
    "read_message",
    "read_path_of",
    "result_text",
    "role_of",
    "shape_of",
    "text_field",
    "text_in_result",
    "texts_in",
    "to_json_value",
    "with_call_ids",
    "with_result_text",
    "with_result_texts",
    "without_blocks",
    "without_some",
]

_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_read_json = json.JSONDecoder().raw_decode
ROLES = frozenset(_ROLES)
"""What the providers call whom a message is by."""
_OUTPUTS = frozenset(_openai_responses.OUTPUT_OF.values())
_CONTENT = frozenset({"content"})


def shape_of(message: object) -> Shape:
    """The adapter of a message's shape."""
    if type(message) is dict:
        tag, role = message.get("type"), message.get("role")
        if tag is None and role in TALKERS and _openai_chat.OWN_FIELDS.isdisjoint(message):
            # The short way for what most messages are.
            content = message.get("content")
            first = content[0] if type(content) is list and content else None
            if type(first) is dict and first.get("type") in ANTHROPIC_ALONE:
                return _anthropic
    else:
        tag, role = field(message, "type"), field(message, "role")
    tag = tag if isinstance(tag, str) else ""
    role = role if isinstance(role, str) else ""
    # Calls are calls whatever type stands beside them, and no item has any.
    if _openai_responses.is_item(message, tag, role) and not _openai_chat.has_own(message, tag):
        return _openai_responses
    if _openai_chat.is_chat(message, role):
        return _openai_chat
    return _anthropic


def blocks_of(message: object) -> tuple[Block, ...]:
    """The blocks of a message, at least one."""
    found = read_plainly(message)
    return shape_of(message).blocks(message) if found is None else found[1]


def read_message(message: object) -> tuple[str, tuple[Block, ...]]:
    """Who a message is by (`role_of`) and its blocks (`blocks_of`)."""
    found = read_plainly(message)
    return (role_of(message), shape_of(message).blocks(message)) if found is None else found


def fields_of_blocks(message: object) -> frozenset[str]:
    """The fields that its blocks stand in, where the message is not a block itself."""
    if shape_of(message) is _openai_chat:
        return _openai_chat.fields_of_blocks(message)
    return _CONTENT


def role_of(message: object) -> str:
    """Who a message is by: "user", "assistant", "system", "tool", or "" where it does not say."""
    role = message.get("role") if type(message) is dict else field(message, "role")
    if isinstance(role, str) and role:
        return _ROLES.get(role, "")
    return _openai_responses.role_of_item(text_field(message, "type"))


def is_user_side(message: object) -> bool:
    """Whether a message is by who may give results: the user, or the role `tool`."""
    return role_of(message) in {"user", "tool"}


def without_blocks(message: object, indexes: Collection[int]) -> object | None:
    """A new message without these blocks; None when nothing is left.

    Args:
        message: never changed.
        indexes: places of blocks, as `blocks_of` numbers them; others are passed over.
    """
    return shape_of(message).rebuilt(message, dict.fromkeys(indexes, DROPPED))


def without_some(
    message: object, blocks: Sequence[Block], indexes: Collection[int]
) -> tuple[object, tuple[Block, ...]] | None:
    """The same, not for all of the blocks, where they are known; with the blocks that are left."""
    found = without_plainly(message, blocks, indexes)
    if found is None and (made := without_blocks(message, indexes)) is not None:
        found = made, blocks_of(made)
    return found


def with_result_text(message: object, index: int, text: str) -> object:
    """A new message in which one tool result's text is this; all else stays.

    Where a result has other blocks beside its text (pictures, say), they stay in their order, and
    the new text stands where its first text stood.

    Raises:
        NotAToolResultError: the message has no tool result in that place.
    """
    return with_result_texts(message, {index: text})


def with_result_texts(message: object, texts: Mapping[int, str]) -> object:
    """A new message in which some tool results' texts are these; all else stays.

    Raises:
        NotAToolResultError: the message has no tool result in one of these places.
    """
    short = with_result_texts_plainly(message, texts)
    if short is not None:
        return short
    shape = shape_of(message)
    blocks = shape.blocks(message)
    values: dict[int, object] = {}
    for index, text in texts.items():
        block = blocks[index] if 0 <= index < len(blocks) else None
        if block is None or block.kind is not BlockKind.TOOL_RESULT:
            got = "no block" if block is None else f"a block of the kind {block.kind.value}"
            raise NotAToolResultError(f"block {index}: expected a tool result, got {got}")
        name = _content_name(block.value)
        new = with_text(field(block.value, name), text_field(block.value, "type"), text)
        values[index] = replaced(block.value, {name: new})
    made = shape.rebuilt(message, values)
    # Blocks were changed and none dropped, so there is a message.
    return message if made is None else made


def with_call_ids(message: object, ids: Mapping[int, str]) -> object:
    """A new message in which these calls and results have these ids."""
    shape = shape_of(message)
    values = {
        block.index: replaced(block.value, {_id_name(shape, block, message): ids[block.index]})
        for block in shape.blocks(message)
        if block.index in ids and block.kind in {BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT}
    }
    made = shape.rebuilt(message, values)
    return message if made is None else made


def texts_in(message: object) -> tuple[str | None, ...]:
    """Give what the content of a message consists of, as far as it is text: None for all else.

    One text where the content is one, else one for each item of it.
    """
    content = field(message, "content")
    if isinstance(content, str):
        return (content,)
    return tuple(map(plain_text, items_of(content) or ()))


def result_text(block: Block) -> str | None:
    """The plain text of a tool result, its text blocks joined by line ends.

    Returns:
        "" where it has no content; None where it is no plain text (pictures, documents), or no
        tool result.
    """
    if block.kind is not BlockKind.TOOL_RESULT:
        return None
    content = field(block.value, _content_name(block.value))
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    items = items_of(content)
    if items is None:
        return None
    texts = [plain_text(item) for item in items]
    return None if None in texts else "\n".join(text for text in texts if text is not None)


def text_in_result(block: Block) -> str | None:
    """The text of a tool result that may have other blocks beside it.

    Returns:
        What `result_text` gives where it is plain text; else its texts joined by line ends; None
        where nothing in it is text, or it is no tool result.
    """
    if block.kind is not BlockKind.TOOL_RESULT:
        return None
    content = field(block.value, _content_name(block.value))
    return text_in(content, text_field(block.value, "type"))


def read_path_of(block: Block) -> str | None:
    """The file that a tool result shows, where the harness says so in `_read_path`."""
    if block.kind is not BlockKind.TOOL_RESULT:
        return None
    return text_field(block.value, "_read_path") or None


def arguments_of(block: Block) -> Mapping[str, object]:
    """The arguments of a call by name; {} where they are none, or cut off in the middle."""
    if block.kind is not BlockKind.TOOL_CALL:
        return {}
    source = _openai_chat.called(block.value) or block.value
    for name in ("input", "arguments"):
        found = field(source, name)
        if type(found) is dict or (found is not None and isinstance(found, Mapping)):
            return found
        if isinstance(found, str) and name == "arguments":
            return _parsed(found)
    return {}


def new_text_message(like: Sequence[object], role: str, text: str) -> object:
    """A message of plain text, of the shape that others have.

    Args:
        like: messages; the first that shows its shape decides. A role and a string is good in
            every shape; a Responses item says its type too.
        role: "user", "assistant" or "system".
        text: what it says.
    """
    for message in like:
        says_type = _says_type(message)
        if says_type is not None:
            return _text_message(role, text, says_type=says_type)
    return _text_message(role, text, says_type=False)


def _says_type(message: object) -> bool | None:
    """Whether messages beside this one say their type; None where it does not show its shape."""
    shape = shape_of(message)
    if shape is _openai_responses:
        return True
    return False if shape is _openai_chat or items_of(field(message, "content")) else None


def _text_message(role: str, text: str, *, says_type: bool) -> object:
    message: dict[str, object] = {"type": "message"} if says_type else {}
    return message | {"role": role, "content": text}


def _content_name(result: object) -> str:
    return "output" if text_field(result, "type") in _OUTPUTS else "content"


def _id_name(shape: Shape, block: Block, message: object) -> str:
    if shape is _openai_responses:
        return _openai_responses.id_name(text_field(block.value, "type"))
    if block.kind is BlockKind.TOOL_CALL:
        return "id"
    return "tool_call_id" if block.value is message else "tool_use_id"


def _parsed(arguments: str) -> Mapping[str, object]:
    try:
        if arguments[:1] == "{":
            # The same as below, but for what stands around the object, which there seldom is.
            found, end = _read_json(arguments)
            if end == len(arguments):
                return found if isinstance(found, dict) else {}
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
