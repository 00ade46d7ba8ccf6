"""Compaction for LangChain and LangGraph, as middleware or as a hook. Extra: `langchain`.

A message's content and its `tool_calls` are its blocks. Some models say a call twice, in both; it
is one block then, and goes from both. A call that could not be parsed (`invalid_tool_calls`) counts
as a call where a tool message answers it.

Guarantees: the state of the graph keeps every message; only the input of a request is shorter. A
message that keeps all its blocks is the same object; a changed one keeps its id, artifact and
metadata. System messages at the beginning are never touched.

Example:
    >>> compact([])
    []
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, Unpack

from provenance.embedding._engine import Change, Compactor, Foreign, Place, Row
from provenance.embedding._extras import load
from provenance.embedding._memory import Memory
from provenance.embedding._options import CompactionOptions

__all__ = ["compact", "compaction_middleware", "pre_model_hook", "to_messages"]

MessageT = TypeVar("MessageT")
_EXTRA = "langchain"
_ROLES = {"human": "user", "ai": "assistant", "system": "system"}
_CALLS = ("tool_calls", "invalid_tool_calls")
# How a call is named inside the content, by provider and version.
_CALL_TYPES = frozenset({"tool_use", "tool_call", "function_call", "custom_tool_call"})


class _Messages:
    """Subclasses of `BaseMessage`."""

    def rows(self, history: Sequence[Foreign]) -> list[Row]:
        answered = {one.tool_call_id for one in history if _kind(one) == "tool"}
        rows: list[Row] = []
        leading = True
        for message in history:
            kind = _kind(message)
            leading = leading and kind == "system"
            if leading or kind == "remove":
                rows.append(Row(None))
            elif kind == "tool":
                rows.append(_tool_row(message))
            else:
                # A message of the kind `chat` says its role itself.
                role = _ROLES[kind] if kind in _ROLES else getattr(message, "role", "user")
                rows.append(_row(message, role, answered))
        return rows

    def changed(self, item: Foreign, change: Change) -> Foreign:
        if ("", 0) in change.contents:
            return item.model_copy(update={"content": change.contents["", 0]})
        content = item.content
        if isinstance(content, list):
            content = [
                {**part, "content": change.contents[place]}
                if (place := ("content", index)) in change.contents
                else part
                for index, part in enumerate(content)
                if ("content", index) not in change.gone
            ]
        elif ("content", 0) in change.gone:
            content = ""
        return item.model_copy(update={"content": content, **_calls_left(item, change)})

    def emptied(self, item: Foreign, row: Row) -> Foreign | None:
        return None

    def inserted(self, role: str, text: str) -> Foreign:
        made: Foreign = load("langchain_core.messages", _EXTRA)
        return made.HumanMessage(text) if role == "user" else made.AIMessage(text)


_MESSAGES = _Messages()


def to_messages(history: Sequence[object]) -> list[object]:
    """Give the messages that a compaction is shown, in the shape of Anthropic Messages."""
    return [row.message for row in _MESSAGES.rows(history) if row.message is not None]


def compact(history: Sequence[MessageT], **options: Unpack[CompactionOptions]) -> list[MessageT]:
    """Compact a list of messages once.

    Raises:
        ToolProtocolError: the messages break the tool protocol.
        MessageViewLimitExceeded: they are too large after all layers.
    """
    return Compactor(_MESSAGES, options)(history)


def compaction_middleware(**options: Unpack[CompactionOptions]) -> Foreign:
    """Give an `AgentMiddleware` for `create_agent`.

    What an earlier request was shortened to is what the next one begins with; one middleware may
    serve many threads of conversation.

    Raises:
        MissingEmbeddingExtra: the framework is not installed.
    """
    base: Foreign = load("langchain.agents.middleware", _EXTRA).AgentMiddleware
    compactor = Compactor(_MESSAGES, options, memory=Memory())

    def wrap_model_call(
        self: object, request: Foreign, handler: Callable[[Foreign], Foreign]
    ) -> Foreign:
        return handler(request.override(messages=compactor(request.messages)))

    async def awrap_model_call(
        self: object, request: Foreign, handler: Callable[[Foreign], Awaitable[Foreign]]
    ) -> Foreign:
        return await handler(request.override(messages=await compactor.run(request.messages)))

    methods = {"wrap_model_call": wrap_model_call, "awrap_model_call": awrap_model_call}
    return type("CompactionMiddleware", (base,), methods)()


def pre_model_hook(**options: Unpack[CompactionOptions]) -> Foreign:
    """Give a `pre_model_hook` for LangGraph's `create_react_agent`, or a node before the model.

    It gives `llm_input_messages`, which the model sees instead of the state's `messages`.

    Raises:
        MissingEmbeddingExtra: the framework is not installed.
    """
    runnables: Foreign = load("langchain_core.runnables", _EXTRA)
    compactor = Compactor(_MESSAGES, options, memory=Memory())

    def hook(state: Foreign) -> dict[str, Any]:
        return {"llm_input_messages": compactor(_messages_of(state))}

    async def async_hook(state: Foreign) -> dict[str, Any]:
        return {"llm_input_messages": await compactor.run(_messages_of(state))}

    return runnables.RunnableLambda(hook, afunc=async_hook, name="compaction")


def _messages_of(state: Foreign) -> Sequence[Foreign]:
    found: Sequence[Foreign] = state["messages"] if isinstance(state, dict) else state.messages
    return found


def _kind(message: Foreign) -> str:
    # A streamed message is of the type `AIMessageChunk`, and otherwise the same.
    kind: str = message.type
    return kind.removesuffix("MessageChunk").lower()


def _tool_row(message: Foreign) -> Row:
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": message.content,
    }
    if message.status == "error":
        result["is_error"] = True
    return Row({"role": "user", "content": [result]}, ((("", 0),),))


def _row(message: Foreign, role: str, answered: set[str]) -> Row:
    calls = _calls(message, answered)
    if isinstance(message.content, str):
        if not calls:
            return Row({"role": role, "content": message.content}, ((("content", 0),),))
        parts = [{"type": "text", "text": message.content}] if message.content else []
    else:
        parts = message.content
    blocks: list[Any] = []
    places: list[tuple[Place, ...]] = []
    for index, part in enumerate(parts):
        call_id = _call_id(part)
        call = None if call_id is None else calls.pop(call_id, None)
        blocks.append(_block(part) if call is None else call[0])
        places.append((("content", index), *(() if call is None else (call[1],))))
    for block, place in calls.values():
        blocks.append(block)
        places.append((place,))
    return Row({"role": role, "content": blocks}, tuple(places))


def _calls(message: Foreign, answered: set[str]) -> dict[object, tuple[dict[str, Any], Place]]:
    """Give the calls of a message by their ids, as blocks, each with its place."""
    found: dict[object, tuple[dict[str, Any], Place]] = {}
    for name in _CALLS:
        for index, call in enumerate(getattr(message, name, ())):
            if name == "invalid_tool_calls" and call["id"] not in answered:
                continue
            arguments = call["args"]
            block = {
                "type": "tool_use",
                "id": call["id"],
                "name": call["name"],
                "input": arguments if isinstance(arguments, dict) else {"arguments": arguments},
            }
            # Two calls of one id are a breach of the protocol, and must both be seen to be one.
            key = call["id"] if call["id"] not in found else (name, index)
            found[key] = (block, (name, index))
    return found


def _call_id(part: object) -> object:
    if not isinstance(part, dict) or part.get("type") not in _CALL_TYPES:
        return None
    # Items of the Responses API have an id of their own beside the id of the call.
    return part.get("call_id") or part.get("id")


def _block(part: object) -> object:
    if isinstance(part, dict) and part.get("type") == "reasoning":
        # Bound to what it leads to, whatever its name.
        return {"type": "thinking", "thinking": "", "reasoning": part}
    return part


def _calls_left(item: Foreign, change: Change) -> dict[str, object]:
    """Give the fields of an answer that list its calls, without those that are gone."""
    fields: dict[str, object] = {}
    lost: set[object] = set()
    for name in _CALLS:
        calls = getattr(item, name, ())
        gone = [index for index in range(len(calls)) if (name, index) in change.gone]
        if gone:
            lost |= {calls[index]["id"] for index in gone}
            fields[name] = [call for index, call in enumerate(calls) if index not in gone]
    if not lost:
        return fields
    # The provider's own form of the calls, and the pieces that a streamed message came in.
    raw = item.additional_kwargs.get("tool_calls")
    if isinstance(raw, list):
        rest = [one for one in raw if not (isinstance(one, dict) and one.get("id") in lost)]
        others = {key: it for key, it in item.additional_kwargs.items() if key != "tool_calls"}
        fields["additional_kwargs"] = {**others, "tool_calls": rest} if rest else others
    if chunks := getattr(item, "tool_call_chunks", None):
        fields["tool_call_chunks"] = [one for one in chunks if one.get("id") not in lost]
    return fields
