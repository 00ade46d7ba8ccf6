"""The shape of OpenAI Chat Completions messages.

Guarantees: the blocks of an assistant are its content, then its refusal, audio and old-style
function call where it has them, then its `tool_calls`, whatever type it says; what should be a list
and is none is one block. A message of the role `tool` is one result block whose value is the
message. An old-style function call and its answer have no id, so the tool protocol does not know
them: both are OTHER.

Source: the types `ChatCompletionMessageParam` and `ChatCompletionMessage` of `openai` 3.57.

Example:
    >>> call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    >>> message = {"role": "assistant", "content": "Reading.", "tool_calls": [call]}
    >>> [(block.index, block.kind.value, block.name) for block in blocks(message)]
    [(0, 'text', None), (1, 'tool_call', 'read')]
"""

from __future__ import annotations

from collections.abc import Mapping

from provenance.messages._anthropic import content_block
from provenance.messages._blocks import DROPPED, Block, BlockKind, nothing_but
from provenance.messages._fields import field, is_record, items_of, replaced, text_field

__all__ = [
    "OWN_FIELDS",
    "SINGLE_FIELDS",
    "blocks",
    "called",
    "fields_of_blocks",
    "has_own",
    "interrupted_result",
    "is_chat",
    "rebuilt",
]

SINGLE_FIELDS = ("refusal", "audio", "function_call")
"""What an assistant says outside its content and calls; each is one block."""
OWN_FIELDS = frozenset({"tool_calls", *SINGLE_FIELDS})
_PLAIN_TYPES = frozenset({"", "message"})
_RESULT_ROLES = frozenset({"tool", "function"})


def is_chat(message: object, role: str) -> bool:
    """Whether a message has something that only this shape has."""
    if role in _RESULT_ROLES:
        return True
    if type(message) is dict and OWN_FIELDS.isdisjoint(message):
        return False
    return any(field(message, name) is not None for name in OWN_FIELDS)


def has_own(message: object, tag: str) -> bool:
    """Whether what has the type of an item is a message of this shape all the same."""
    if type(message) is dict and OWN_FIELDS.isdisjoint(message):
        return False
    if _calls_of(message):
        return True
    # A plain message has what an assistant says beside its content in this shape alone.
    return tag in _PLAIN_TYPES and any(field(message, name) is not None for name in SINGLE_FIELDS)


def fields_of_blocks(message: object) -> frozenset[str]:
    """The fields that its blocks stand in."""
    return frozenset([part for part, _ in _parts(message)])


def blocks(message: object) -> tuple[Block, ...]:
    """The blocks of a message, at least one."""
    role = text_field(message, "role")
    if role == "tool":
        name = text_field(message, "name") or None
        return (Block(0, BlockKind.TOOL_RESULT, field(message, "tool_call_id"), name, message),)
    if role == "function":
        return nothing_but(message)
    calls = field(message, "tool_calls")
    found = [
        # What is no list of calls holds none.
        _block(index, "" if part == "tool_calls" and value is calls else part, value)
        for index, (part, value) in enumerate(_parts(message))
    ]
    return tuple(found) or nothing_but(message)


def called(value: object) -> object:
    """The part of a call that names the tool: `function`, or `custom`."""
    return field(value, "function") or field(value, "custom")


def rebuilt(message: object, changes: Mapping[int, object]) -> object | None:
    """A copy with these blocks changed or dropped; None when nothing is left."""
    parts = _parts(message)
    if text_field(message, "role") in _RESULT_ROLES or not parts:
        new = changes.get(0, message)
        return None if new is DROPPED else new
    kept = [
        (part, value)
        for index, (part, old) in enumerate(parts)
        if (value := changes.get(index, old)) is not DROPPED
    ]
    if not kept:
        return None
    fields: dict[str, object] = {}
    gone = []
    before, after = dict.fromkeys(part for part, _ in parts), {part for part, _ in kept}
    for part in before:
        if part in after:
            values = [value for name, value in kept if name == part]
            fields[part] = _as_field(message, part, values)
        elif part == "content":
            # Null is what the provider wants beside calls; the key itself has to stay.
            fields[part] = None
        else:
            # An empty list of calls is refused, so the field goes as a whole.
            gone.append(part)
    return replaced(message, fields, without=gone)


def interrupted_result(call: Block, text: str) -> dict[str, object]:
    """A result message that says that the call was interrupted."""
    return {"role": "tool", "tool_call_id": call.call_id, "content": text}


def _block(index: int, part: str, value: object) -> Block:
    if part == "content":
        return content_block(index, value)
    if part == "tool_calls" and is_record(value):
        name = text_field(called(value), "name") or None
        return Block(index, BlockKind.TOOL_CALL, field(value, "id"), name, value)
    return Block(index, BlockKind.OTHER, None, None, value)


def _parts(message: object) -> list[tuple[str, object]]:
    """Each block with the field that it stands in."""
    content, calls = field(message, "content"), _calls_of(message)
    found: list[tuple[str, object]] = []
    if isinstance(content, str) and content:
        found.append(("content", content))
    if not isinstance(content, str):
        found += [("content", item) for item in _items(content)]
    found += [(name, own) for name in SINGLE_FIELDS if (own := field(message, name)) is not None]
    found += [("tool_calls", call) for call in calls]
    # An empty string beside anything else is what null is elsewhere: no content, and none either
    # once some of the others are gone.
    return found or ([("content", content)] if isinstance(content, str) else [])


def _calls_of(message: object) -> tuple[object, ...]:
    return _items(field(message, "tool_calls"))


def _items(value: object) -> tuple[object, ...]:
    """What a field lists; what is no list is one item, so that nothing is left out."""
    items = items_of(value)
    if items is None:
        return () if value is None else (value,)
    return items


def _as_field(message: object, part: str, values: list[object]) -> object:
    old = field(message, part)
    if part in SINGLE_FIELDS or items_of(old) is None:
        return values[0]
    return tuple(values) if isinstance(old, tuple) else values
