"""What the items of OpenAI's Responses interface are, one at a time.

Guarantees: pure functions that take any JSON object; nothing in it makes them raise.

Example:
    >>> item = {"type": "function_call", "call_id": "c1", "name": "ls", "id": "__fake_id__"}
    >>> kind_of(item), calls_of(item), results_of(item)
    ('function_call', (Call(id='c1', name='ls'),), ())
"""

from __future__ import annotations

from typing import Any

from provenance.transcripts.records import Call, CallResult, Speaker

__all__ = ["KNOWN_KINDS", "calls_of", "kind_of", "results_of", "say", "speaker_of"]

_RESULT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
    "program": "program_output",
}
_RESULTS = frozenset(_RESULT_OF.values())
# Done by the service: call and result are one item.
_HOSTED = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    }
)
_BY_ASSISTANT = frozenset({*_RESULT_OF, *_HOSTED, "reasoning", "mcp_approval_request"})
_BY_USER = frozenset({*_RESULTS, "mcp_approval_response"})
_OTHERS = frozenset(
    {
        "message",
        "mcp_list_tools",
        "item_reference",
        "compaction",
        "compaction_trigger",
        "additional_tools",
        "configuration_update",
        "encrypted",
    }
)
KNOWN_KINDS = _BY_ASSISTANT | _BY_USER | _OTHERS
_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
# A stand-in for an id that the model's service did not give.
_NO_ID = "__fake_id__"


def calls_of(item: dict[str, Any]) -> tuple[Call, ...]:
    """Give the tool call that an item is, if something else than the service answers it."""
    call_id, name = item.get("call_id"), item.get("name")
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _RESULT_OF or not isinstance(call_id, str):
        return ()
    return (Call(call_id, name if isinstance(name, str) else None),)


def results_of(item: dict[str, Any]) -> tuple[CallResult, ...]:
    """Give the result that an item is."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _RESULTS:
        return ()
    call_id = item.get("call_id")
    if call_id is None and kind == "local_shell_call_output" and item.get("id") != _NO_ID:
        call_id = item.get("id")  # the service's own name for it
    return (CallResult(call_id),) if isinstance(call_id, str) else ()


def kind_of(item: dict[str, Any]) -> str:
    """Give the type of an item, or what one without a type is taken for."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    if kind is None and isinstance(item.get("role"), str):
        return "message"  # which the service takes it for
    if kind is None and item.get("__enc__") == 1:
        return "encrypted"
    return "(none)"


def speaker_of(kind: str, item: dict[str, Any]) -> Speaker | None:
    """Say whose part of the conversation an item of a kind is."""
    if kind in _BY_ASSISTANT:
        return Speaker.ASSISTANT
    if kind in _BY_USER:
        return Speaker.USER
    role = item.get("role")
    return _SPEAKERS.get(role) if kind == "message" and isinstance(role, str) else None


def say(item: dict[str, Any]) -> str:
    """Give what an item says: to a person, to a tool, or what a tool said."""
    said: list[str] = []
    for name in ("content", "summary", "arguments", "input", "output", "error"):
        field_value = item.get(name)
        parts = field_value if isinstance(field_value, list) else [field_value]
        for part in parts:
            if isinstance(part, str):
                said.append(part)
            elif isinstance(part, dict):
                said += [
                    part[key]
                    for key in ("text", "refusal", "stdout", "stderr")
                    if isinstance(part.get(key), str)
                ]
    return "\n".join(said)
