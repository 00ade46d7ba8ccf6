"""Short ways to build messages of each shape, and histories of all of them for Hypothesis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

SHAPES = ("anthropic", "chat", "responses")
SIGNATURE = "c2lnbmVk"


def user(text: str = "Go on.") -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str = "Done.") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def text_block(text: str = "Hello.") -> dict[str, Any]:
    return {"type": "text", "text": text}


def thinking_block(text: str = "So.") -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": SIGNATURE}


def tool_use(call_id: object, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: object, content: Any = "found", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def chat_call(call_id: object, name: str = "read", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def asks(shape: str, *call_ids: object, text: str = "") -> list[Any]:
    """An assistant's parallel calls, as the messages of a shape."""
    if shape == "anthropic":
        before = [text_block(text)] if text else []
        return [{"role": "assistant", "content": [*before, *map(tool_use, call_ids)]}]
    if shape == "chat":
        calls = [*map(chat_call, call_ids)]
        return [{"role": "assistant", "content": text or None, "tool_calls": calls}]
    before = [{"type": "message", "role": "assistant", "content": text}] if text else []
    return before + [
        {"type": "function_call", "call_id": call_id, "name": "read", "arguments": "{}"}
        for call_id in call_ids
    ]


def gives(shape: str, *call_ids: object, content: Any = "found") -> list[Any]:
    """Results, as the messages of a shape."""
    if shape == "anthropic":
        return [{"role": "user", "content": [tool_result(one, content) for one in call_ids]}]
    if shape == "chat":
        return [{"role": "tool", "tool_call_id": one, "content": content} for one in call_ids]
    return [{"type": "function_call_output", "call_id": one, "output": content} for one in call_ids]


@dataclass(slots=True)
class Plain:
    """An object with attributes, as a harness may have its own."""

    type: str | None = None
    role: str | None = None
    content: Any = None
    id: Any = None
    name: str | None = None
    input: Any = None
    tool_use_id: Any = None
    text: str | None = None


def as_objects(value: Any) -> Any:
    """The same message with objects in place of mappings, down to the blocks."""
    if isinstance(value, list):
        return [as_objects(item) for item in value]
    if isinstance(value, dict) and value.keys() & {"type", "role", "function"}:
        named = {
            name: item if name in {"input", "arguments"} else as_objects(item)
            for name, item in value.items()
        }
        known = named.keys() <= set(Plain.__slots__)
        return Plain(**named) if known else SimpleNamespace(**named)
    if isinstance(value, dict) and value.keys() == {"name", "arguments"}:
        return SimpleNamespace(**value)
    return value


# Few ids, so that they meet again: the same one twice, blank ones, ones that are no strings.
call_ids = st.sampled_from(
    ["c1", "c2", "c3", "c4", "", " ", None, 7, "repaired_0_0", "repaired_1_0"]
)


@st.composite
def _anthropic_messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant", "assistant", "system", "tool", "stranger"]))
    block = st.one_of(
        st.builds(text_block, st.sampled_from(["", "Hello.", "看"])),
        st.builds(tool_use, call_ids),
        st.builds(tool_result, call_ids),
        st.builds(thinking_block),
        st.sampled_from([{"type": "image"}, {"type": "server_tool_use", "id": "s1"}, None, "text"]),
    )
    content = draw(st.one_of(st.lists(block, max_size=5), st.sampled_from(["", "Hello.", None])))
    return {"role": role, "content": content}


@st.composite
def _chat_messages(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return gives("chat", draw(call_ids))[0]  # type: ignore[no-any-return]
    calls = draw(st.lists(st.builds(chat_call, call_ids), max_size=4))
    role = draw(st.sampled_from(["assistant", "assistant", "user"]))
    content = draw(st.sampled_from([None, "", "Hello.", [text_block()]]))
    return {"role": role, "content": content, "tool_calls": calls}


_items = st.one_of(
    call_ids.map(lambda one: asks("responses", one)[0]),
    call_ids.map(lambda one: gives("responses", one)[0]),
    st.sampled_from(
        [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "computer_call", "call_id": "c1", "action": {}},
            {"type": "computer_call", "call_id": "", "action": {}},
            {"type": "custom_tool_call", "call_id": "c2", "name": "x", "input": "raw"},
            {"type": "local_shell_call", "call_id": "c3", "id": "ls_1"},
            {"type": "local_shell_call_output", "id": "c3", "output": "[]"},
            {"type": "shell_call", "call_id": "c4"},
        ]
    ),
)


def histories(max_size: int = 12) -> st.SearchStrategy[list[Any]]:
    """Histories of any shape, paired or not, mappings or objects."""
    one_shape = [_anthropic_messages(), _chat_messages(), _items]
    message: st.SearchStrategy[Any] = st.one_of(*one_shape)
    lists = st.one_of(
        *(st.lists(one, max_size=max_size) for one in one_shape), st.lists(message, max_size=12)
    )
    return st.one_of(lists, lists.map(as_objects))


hostile = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.binary(max_size=5),
        st.just(object()),
        st.just(len),
        st.just(int),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(
            st.sampled_from(
                ["role", "type", "content", "tool_calls", "id", "call_id", "text", "output", "name"]
            ),
            st.one_of(
                inner,
                st.sampled_from(
                    ["user", "assistant", "tool", "tool_use", "tool_result", "text", "message"]
                ),
                st.sampled_from(["function_call", "function_call_output", "reasoning"]),
            ),
            max_size=5,
        ),
        inner.map(lambda value: SimpleNamespace(role="assistant", content=value)),
    ),
    max_leaves=12,
)


@st.composite
def paired_histories(draw: st.DrawFn, shape: str | None = None) -> list[Any]:
    """Histories in which every call has its result, of one shape, as a harness writes them.

    Parallel calls, results in any order and in more than one message, text beside them, signed
    thinking, and results that come long after their calls.
    """
    shape = shape or draw(st.sampled_from(SHAPES))
    made: list[Any] = [user("Start.")]
    waiting: list[str] = []
    count = 0
    for _ in range(draw(st.integers(0, 8))):
        step = draw(st.sampled_from(["talk", "call", "give", "think"]))
        if step == "talk":
            made += [assistant("Well."), user("And?")]
        elif step == "give" and waiting:
            some = draw(st.integers(1, len(waiting)))
            order = draw(st.permutations(waiting))
            made += _mixed(shape, order[:some], text=draw(st.booleans()))
            waiting = [*order[some:]]
        else:
            new = [f"t{count + number}" for number in range(draw(st.integers(1, 6)))]
            count += len(new)
            waiting += new
            made += _thoughtful(shape, new) if step == "think" else asks(shape, *new)
    if waiting:
        made += gives(shape, *waiting)
    return made


def _mixed(shape: str, ids: Sequence[str], *, text: bool) -> list[Any]:
    found = gives(shape, *ids)
    if text and shape == "anthropic":
        found[0]["content"].append(text_block("By the way."))
    elif text:
        found.append(user("By the way."))
    return found


def _thoughtful(shape: str, ids: Sequence[str]) -> list[Any]:
    found = asks(shape, *ids)
    if shape == "anthropic":
        found[0]["content"].insert(0, thinking_block())
    elif shape == "responses":
        found.insert(0, {"type": "reasoning", "id": f"rs_{ids[0]}", "summary": []})
    return found
