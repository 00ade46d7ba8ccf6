"""What of a message is counted, in any of the three shapes.

Guarantees: the caller's own strings and blocks are given, never copies; no value of a message
makes it fail. String content is text. Content blocks, tool calls and what else an assistant says
in a field of its own are blocks; an item of the Responses shape without a role is one block.

Example:
    >>> parts_of({"role": "assistant", "content": "hi", "tool_calls": [{"id": "c1"}]})
    ('hi', [{'id': 'c1'}])
    >>> parts_of({"type": "function_call_output", "call_id": "c1", "output": "3"})
    ('', ({'type': 'function_call_output', 'call_id': 'c1', 'output': '3'},))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from provenance.messages._fields import field, items_of
from provenance.messages._openai_chat import SINGLE_FIELDS

__all__ = ["many_messages", "parts_of"]

_SINGLE_FIELDS = frozenset(SINGLE_FIELDS)


def parts_of(message: object) -> tuple[str, Sequence[object]]:
    """Take a message apart.

    Returns:
        Its text (empty where it has none) and its blocks.
    """
    if isinstance(message, str):
        return message, ()
    role, kind = field(message, "role"), field(message, "type")
    content, calls = field(message, "content"), field(message, "tool_calls")
    more = _single_fields(message)
    if role is None:
        is_item = isinstance(kind, str) and kind != "message" and not _as_blocks(calls)
        if is_item or (content is None and calls is None and not more):
            return "", (message,)
    text, blocks = (content, ()) if isinstance(content, str) else ("", _as_blocks(content))
    if calls is not None:
        more += _as_blocks(calls)
    return text, [*blocks, *more] if more else blocks


def _single_fields(message: object) -> list[object]:
    if type(message) is dict and _SINGLE_FIELDS.isdisjoint(message):
        return []
    values = [field(message, name) for name in SINGLE_FIELDS]
    return [value for value in values if value is not None]


def many_messages(messages: object) -> Iterable[object]:
    """Give a list of messages; one message alone, or the text of one, is a list of one."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence | Iterator):
        return (messages,)  # an SDK's object can be iterated too, but over its fields
    return messages


def _as_blocks(value: object) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    items = items_of(value)
    return (value,) if items is None else items
