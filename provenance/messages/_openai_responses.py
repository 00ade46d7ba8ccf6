"""The shape of OpenAI Responses items.

Guarantees: an item is one block whose value is the item; only a message whose content is a string
has that string as its block, as in every shape. The calls that a client answers (function, custom,
computer, shell, local shell, patch) are calls; what the server runs by itself is OTHER.

Source: the type `ResponseInputItemParam` of the package `openai` 3.57.

Example:
    >>> item = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    >>> [(block.kind.value, block.call_id, block.name) for block in blocks(item)]
    [('tool_call', 'c1', 'read')]
"""

from __future__ import annotations

from collections.abc import Mapping

from provenance.messages._blocks import DROPPED, Block, BlockKind, nothing_but
from provenance.messages._fields import field, items_of, replaced, text_field

__all__ = [
    "OUTPUT_OF",
    "blocks",
    "id_name",
    "interrupted_result",
    "is_item",
    "rebuilt",
    "role_of_item",
]

OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
"""Each type of call that the client answers, with the type of its answer."""

_OUTPUTS = frozenset(OUTPUT_OF.values())
_ROLES = {
    "reasoning": "assistant",
    "program": "assistant",
    "compaction": "assistant",
    "mcp_list_tools": "assistant",
    "mcp_approval_request": "assistant",
    "mcp_approval_response": "user",
    "additional_tools": "system",
    "configuration_update": "system",
}
_KNOWN = frozenset({*OUTPUT_OF, *_OUTPUTS, *_ROLES})
_PARTS = frozenset(
    {"input_text", "input_image", "input_file", "input_audio", "output_text", "summary_text"}
)
_TEXT_PARTS = frozenset({"input_text", "output_text", "text"})
# Types that stand beside a role in other shapes; a message of an assistant's answer has one.
_NO_ITEM = frozenset({"", "message"})


def is_item(message: object, tag: str, role: str) -> bool:
    """Whether a message is an item of this shape and of no other."""
    if tag not in _NO_ITEM:
        return not role or tag in _KNOWN
    content = field(message, "content")
    if isinstance(content, str):
        return tag == "message"
    items = content if type(content) is list else items_of(content)
    if not items:
        return False
    part = text_field(items[0], "type")
    return part in _PARTS or (tag == "message" and part == "refusal")


def role_of_item(tag: str) -> str:
    """Who an item is by, from its type; "" where it says nothing."""
    if tag in OUTPUT_OF or (tag.endswith("_call") and tag not in _ROLES):
        return "assistant"
    if tag.endswith("_output"):
        return "tool"
    return _ROLES.get(tag, "")


def blocks(message: object) -> tuple[Block, ...]:
    """The blocks of an item: always one."""
    tag = text_field(message, "type")
    if tag in OUTPUT_OF or tag in _OUTPUTS:
        kind = BlockKind.TOOL_CALL if tag in OUTPUT_OF else BlockKind.TOOL_RESULT
        call_id = field(message, id_name(tag))
        return (Block(0, kind, call_id, text_field(message, "name") or None, message),)
    if tag == "reasoning":
        return (Block(0, BlockKind.THINKING, None, None, message),)
    content = field(message, "content")
    if isinstance(content, str) and tag in _NO_ITEM:
        return (Block(0, BlockKind.TEXT, None, None, content),)
    items = items_of(content) if tag in _NO_ITEM else None
    if items and all(text_field(item, "type") in _TEXT_PARTS for item in items):
        return (Block(0, BlockKind.TEXT, None, None, message),)
    return nothing_but(message)


def id_name(tag: str) -> str:
    """The field that holds the id of the call, by the type of the item."""
    # The answer to a local shell call has the id of its call where others have their own.
    return "id" if tag == "local_shell_call_output" else "call_id"


def rebuilt(message: object, changes: Mapping[int, object]) -> object | None:
    """A copy with its block changed; None when it was dropped."""
    if 0 not in changes:
        return message
    new = changes[0]
    if new is DROPPED:
        return None
    return replaced(message, {"content": new}) if isinstance(new, str) else new


def interrupted_result(call: Block, text: str) -> dict[str, object] | None:
    """An item that says that the call was interrupted; None where its answer cannot be text."""
    tag = text_field(call.value, "type")
    answer: dict[str, object] = {
        "type": OUTPUT_OF.get(tag, ""),
        id_name(OUTPUT_OF.get(tag, "")): call.call_id,
    }
    if tag == "computer_call":  # it is answered by a picture of the screen
        return None
    if tag == "shell_call":
        failed = {"type": "exit", "exit_code": 1}
        answer["output"] = [{"stdout": "", "stderr": text, "outcome": failed}]
        return answer
    if tag == "apply_patch_call":
        answer["status"] = "failed"
    answer["output"] = text
    return answer
