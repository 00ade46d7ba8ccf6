"""Messages of any shape, read and changed through one interface."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.failures import NotAToolResultError
from provenance.messages.shapes import (
    Block,
    BlockKind,
    arguments_of,
    blocks_of,
    copy_message,
    is_user_side,
    new_text_message,
    read_path_of,
    result_text,
    role_of,
    shape_of,
    to_json_value,
    with_call_ids,
    with_result_text,
    without_blocks,
)
from tests.messages.builders import (
    SHAPES,
    Plain,
    as_objects,
    asks,
    assistant,
    chat_call,
    gives,
    histories,
    hostile,
    paired_histories,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

ANSWER = {
    "role": "assistant",
    "content": [thinking_block(), text_block("Look."), tool_use("t1", path="a"), tool_use("t2")],
}


def _kinds(message: object) -> list[str]:
    return [block.kind.value for block in blocks_of(message)]


# Reading


def test_a_message_with_string_content_is_one_block() -> None:
    assert blocks_of(user("Hello.")) == (Block(0, BlockKind.TEXT, None, None, "Hello."),)


def test_blocks_of_a_list_are_the_callers_own() -> None:
    found = blocks_of(ANSWER)
    assert _kinds(ANSWER) == ["thinking", "text", "tool_call", "tool_call"]
    assert [block.call_id for block in found] == [None, None, "t1", "t2"]
    assert [block.name for block in found] == [None, None, "read", "read"]
    assert all(block.value is value for block, value in zip(found, ANSWER["content"], strict=True))
    assert [block.index for block in found] == [0, 1, 2, 3]


def test_chat_calls_come_after_the_content() -> None:
    message = {
        "role": "assistant",
        "content": [text_block(), {"type": "image_url", "image_url": {"url": "x"}}],
        "refusal": "No.",
        "tool_calls": [chat_call("c1"), {"id": "c2", "type": "custom", "custom": {"name": "raw"}}],
    }
    assert _kinds(message) == ["text", "other", "other", "tool_call", "tool_call"]
    assert [(block.index, block.name) for block in blocks_of(message)[3:]] == [
        (3, "read"),
        (4, "raw"),
    ]


@pytest.mark.parametrize("content", [None, ""])
def test_no_content_beside_chat_calls_is_no_block(content: object) -> None:
    message = {"role": "assistant", "content": content, "tool_calls": [chat_call("c1")]}
    assert _kinds(message) == ["tool_call"]
    assert without_blocks(message, {0}) is None


def test_empty_content_without_calls_is_a_block() -> None:
    assert blocks_of(assistant(""))[0].value == ""


def test_a_tool_message_is_one_result_whatever_its_content() -> None:
    message = {"role": "tool", "tool_call_id": "c1", "content": [text_block("a"), text_block("b")]}
    (block,) = blocks_of(message)
    assert (block.kind, block.call_id, block.value) == (BlockKind.TOOL_RESULT, "c1", message)
    assert result_text(block) == "a\nb"


@pytest.mark.parametrize(
    ("call", "output", "id_name"),
    [
        ("function_call", "function_call_output", "call_id"),
        ("custom_tool_call", "custom_tool_call_output", "call_id"),
        ("computer_call", "computer_call_output", "call_id"),
        ("shell_call", "shell_call_output", "call_id"),
        ("apply_patch_call", "apply_patch_call_output", "call_id"),
        ("local_shell_call", "local_shell_call_output", "id"),
    ],
)
def test_what_a_client_answers_is_a_call(call: str, output: str, id_name: str) -> None:
    asked = {"type": call, "call_id": "c1", "id": "item_1"}
    answered = {"type": output, id_name: "c1"}
    assert [(block.kind, block.call_id) for block in blocks_of(asked)] == [
        (BlockKind.TOOL_CALL, "c1")
    ]
    assert [(block.kind, block.call_id) for block in blocks_of(answered)] == [
        (BlockKind.TOOL_RESULT, "c1")
    ]
    assert (role_of(asked), role_of(answered)) == ("assistant", "tool")


@pytest.mark.parametrize(
    ("item", "kind", "role"),
    [
        ({"type": "reasoning", "summary": []}, "thinking", "assistant"),
        ({"type": "web_search_call", "id": "ws_1"}, "other", "assistant"),
        ({"type": "mcp_approval_response"}, "other", "user"),
        ({"type": "additional_tools", "role": "developer"}, "other", "system"),
        ({"type": "item_reference", "id": "x"}, "other", ""),
        ({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}, "text", "user"),
        ({"role": "user", "content": [{"type": "input_image"}]}, "other", "user"),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "refusal"}]},
            "other",
            "assistant",
        ),
    ],
)
def test_other_items_are_one_block(item: dict[str, Any], kind: str, role: str) -> None:
    (block,) = blocks_of(item)
    assert (block.kind.value, block.value, role_of(item)) == (kind, item, role)


def test_what_a_server_ran_is_no_part_of_the_protocol() -> None:
    message = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "mcp_tool_use", "id": "m1"},
            {"type": "mcp_tool_result", "tool_use_id": "m1"},
            {"type": "redacted_thinking", "data": "x"},
        ],
    }
    assert _kinds(message) == ["other", "other", "other", "other", "thinking"]


def test_an_old_function_call_has_no_id_and_so_no_part_in_the_protocol() -> None:
    called = {"role": "assistant", "content": None, "function_call": {"name": "f"}}
    answered = {"role": "function", "name": "f", "content": "3"}
    assert (_kinds(called), _kinds(answered)) == (["other"], ["other"])
    assert role_of(answered) == "tool"


@pytest.mark.parametrize(
    ("role", "known", "is_user"),
    [
        ("user", "user", True),
        ("assistant", "assistant", False),
        ("system", "system", False),
        ("developer", "system", False),
        ("tool", "tool", True),
        ("stranger", "", False),
        (None, "", False),
        (7, "", False),
    ],
)
def test_roles(role: object, known: str, *, is_user: bool) -> None:
    message = {"role": role, "content": "x"}
    assert (role_of(message), is_user_side(message)) == (known, is_user)


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        "text",
        b"bytes",
        [],
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": []},
        {"role": "user", "content": 7},
        {"role": "user", "content": {"type": "text"}},
        object(),
    ],
)
def test_a_message_that_holds_nothing_is_one_block_that_is_the_message(message: object) -> None:
    assert blocks_of(message) == (Block(0, BlockKind.OTHER, None, None, message),)
    assert without_blocks(message, {0}) is None


def test_a_content_that_can_be_read_once_is_not_read() -> None:
    parts = iter([text_block()])
    assert _kinds({"role": "user", "content": parts}) == ["other"]
    assert next(parts) == text_block()


@given(histories())
def test_objects_read_like_mappings(messages: list[Any]) -> None:
    for message in messages:
        plain = as_objects(message)
        assert _kinds(plain) == _kinds(message)
        assert role_of(plain) == role_of(message)
        assert [block.call_id for block in blocks_of(plain)] == [
            block.call_id for block in blocks_of(message)
        ]


# Changing


@given(histories(), st.sets(st.integers(0, 5)))
def test_what_is_left_is_what_was_not_taken_out(messages: list[Any], indexes: set[int]) -> None:
    for message in messages:
        before = to_json_value(message)
        kept = [block for block in blocks_of(message) if block.index not in indexes]
        made = without_blocks(message, indexes)
        assert to_json_value(message) == before
        if made is None:
            assert not kept
            continue
        assert type(made) is type(message)
        assert [(block.kind, block.call_id) for block in blocks_of(made)] == [
            (block.kind, block.call_id) for block in kept
        ]
        if message is not blocks_of(message)[0].value:
            assert all(
                new.value is old.value for new, old in zip(blocks_of(made), kept, strict=True)
            )


def test_chat_fields_go_with_their_blocks() -> None:
    message = {
        "role": "assistant",
        "content": "Hi.",
        "refusal": "No.",
        "tool_calls": [chat_call(1)],
    }
    assert without_blocks(message, {0}) == {**message, "content": None}
    assert without_blocks(message, {1, 2}) == {"role": "assistant", "content": "Hi."}
    assert without_blocks(message, {0, 1, 2}) is None


@given(
    content=st.sampled_from([None, "", "Hi.", [], [{"type": "text", "text": ""}]]),
    own=st.fixed_dictionaries(
        {},
        optional={
            "refusal": st.sampled_from(["", "No."]),
            "audio": st.just({"id": "a1"}),
            "function_call": st.just({"name": "f", "arguments": "{}"}),
            "tool_calls": st.sampled_from(
                [[], [chat_call("c1")], [chat_call("c1"), chat_call("c2")]]
            ),
        },
    ),
    data=st.data(),
)
def test_what_stays_of_a_chat_assistant_has_the_blocks_that_stayed(
    content: object, own: dict[str, Any], data: st.DataObject
) -> None:
    """An empty text is no block that comes and goes with what stands beside it."""
    message = {"role": "assistant", "content": content, **own}
    before = [block.value for block in blocks_of(message)]
    gone = data.draw(st.sets(st.integers(0, len(before) - 1)))
    made = without_blocks(message, gone)
    kept = [value for index, value in enumerate(before) if index not in gone]
    assert ([] if made is None else [block.value for block in blocks_of(made)]) == (
        [made] if kept and before == [message] else kept
    )


def test_a_tuple_of_blocks_stays_a_tuple() -> None:
    message = {"role": "user", "content": (text_block("a"), text_block("b"))}
    assert without_blocks(message, {0}) == {"role": "user", "content": (text_block("b"),)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("as_what", [lambda value: value, as_objects])
def test_a_results_text_is_replaced_and_all_else_stays(shape: str, as_what: Any) -> None:
    (message,) = gives(shape, "c1", content=[text_block("long"), text_block("er")])
    block = message["content"][0] if shape == "anthropic" else message
    block["_mark"] = {"cache": True}
    message = as_what(message)
    before = to_json_value(message)
    made = with_result_text(message, 0, "cut")
    assert to_json_value(message) == before
    assert type(made) is type(message)
    (changed,) = blocks_of(made)
    assert (result_text(changed), changed.call_id) == ("cut", "c1")
    assert "_mark" in str(changed.value)


def test_one_of_several_results_is_replaced() -> None:
    message = {"role": "user", "content": [tool_result("a", "x"), text_block(), tool_result("b")]}
    made = with_result_text(message, 2, "cut")
    assert made == {
        "role": "user",
        "content": [tool_result("a", "x"), text_block(), tool_result("b", "cut")],
    }


@pytest.mark.parametrize(("index", "got"), [(0, "text"), (1, "no block"), (-1, "no block")])
def test_only_a_results_text_is_replaced(index: int, got: str) -> None:
    with pytest.raises(NotAToolResultError, match=f"expected a tool result, got .*{got}"):
        with_result_text({"role": "user", "content": [text_block("secret")]}, index, "x")


@given(histories())
def test_ids_are_replaced_where_they_stand(messages: list[Any]) -> None:
    sides = {BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT}
    for message in messages:
        before = to_json_value(message)
        ids = {block.index: f"new_{block.index}" for block in blocks_of(message)}
        made = with_call_ids(message, ids)
        assert to_json_value(message) == before
        for old, new in zip(blocks_of(message), blocks_of(made), strict=True):
            assert new.kind == old.kind
            assert new.call_id == (ids[old.index] if old.kind in sides else None)


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ({"role": "tool", "type": "tool_result", "tool_call_id": "a", "content": "x"}, "tool"),
        ({"role": "tool", "type": "x_output", "tool_call_id": "a", "content": "x"}, "tool"),
        (
            {"role": "assistant", "tool_calls": [{"type": "tool_use", "id": "a", "name": "f"}]},
            "assistant",
        ),
        ({"role": "assistant", "type": "function_call", "call_id": "a"}, "assistant"),
    ],
)
def test_mixed_shapes_are_changed_where_they_are_read(message: dict[str, Any], role: str) -> None:
    (block,) = blocks_of(with_call_ids(message, {0: "b"}))
    assert (block.call_id, role_of(message)) == ("b", role)


class Refusing:
    """An object that refuses to be copied or set, and raises where it can."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __copy__(self) -> NoReturn:
        raise OSError("no")

    __deepcopy__ = __reduce_ex__ = __copy__  # type: ignore[assignment]

    @property
    def tool_calls(self) -> NoReturn:
        raise OSError("no")


class OwnMapping(Mapping[str, Any]):
    """A mapping of somebody's own, which cannot be set."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@pytest.mark.parametrize("kind", [Refusing, OwnMapping, MappingProxyType])
def test_what_cannot_be_copied_comes_back_as_a_dict(kind: Any) -> None:
    fields = {"role": "user", "content": [text_block(), tool_result("a")], "extra": 1}
    message = kind(**fields) if kind is Refusing else kind(fields)
    assert _kinds(message) == ["text", "tool_result"]
    made = without_blocks(message, {0})
    assert made == {"role": "user", "content": [tool_result("a")], "extra": 1}


# Text, path, arguments


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("found", "found"),
        ("", ""),
        (None, ""),
        ([], ""),
        ([text_block("a"), text_block("b")], "a\nb"),
        (["a", "b"], "a\nb"),
        ([text_block("a"), {"type": "image", "source": {}}], None),
        ([{"type": "text", "text": 7}], None),
        ([None], None),
        (7, None),
        ({"type": "text", "text": "a"}, None),
    ],
)
def test_the_text_of_a_result(content: object, text: str | None) -> None:
    for shape in SHAPES:
        (message,) = gives(shape, "a", content=content)
        assert result_text(blocks_of(message)[0]) == text
        assert result_text(blocks_of(as_objects(message))[0]) == text


def test_only_a_result_has_a_text_and_a_path() -> None:
    block = {**text_block(), "content": "x", "_read_path": "a.py"}
    (text,) = blocks_of({"role": "user", "content": [block]})
    assert (result_text(text), read_path_of(text)) == (None, None)


@pytest.mark.parametrize(("path", "known"), [("a.py", "a.py"), ("", None), (None, None), (7, None)])
def test_the_path_of_a_read(path: object, known: str | None) -> None:
    for shape in SHAPES:
        (message,) = gives(shape, "a")
        block = message["content"][0] if shape == "anthropic" else message
        block["_read_path"] = path
        assert read_path_of(blocks_of(message)[0]) == known


@pytest.mark.parametrize(
    ("call", "known"),
    [
        (tool_use("a", path="x"), {"path": "x"}),
        (tool_use("a") | {"input": "cut off"}, {}),
        (tool_use("a") | {"input": None}, {}),
        ({"type": "function_call", "call_id": "a", "arguments": '{"path": "x"}'}, {"path": "x"}),
        ({"type": "function_call", "call_id": "a", "arguments": '{"path": "x'}, {}),
        ({"type": "function_call", "call_id": "a", "arguments": "[1]"}, {}),
        ({"type": "function_call", "call_id": "a", "arguments": "[" * 100_000}, {}),
        ({"type": "function_call", "call_id": "a", "arguments": "9" * 10_000}, {}),
        ({"type": "function_call", "call_id": "a", "arguments": {"path": "x"}}, {"path": "x"}),
        ({"type": "custom_tool_call", "call_id": "a", "input": "raw"}, {}),
    ],
)
def test_the_arguments_of_a_call(call: dict[str, Any], known: dict[str, Any]) -> None:
    is_item = call["type"] != "tool_use"
    message = call if is_item else {"role": "assistant", "content": [call]}
    assert arguments_of(blocks_of(message)[0]) == known


def test_the_arguments_of_a_chat_call() -> None:
    (message,) = asks("chat", "a")
    message["tool_calls"] = [chat_call("a", path="x"), {"id": "b", "custom": {"input": "raw"}}, 7]
    assert [arguments_of(block) for block in blocks_of(message)] == [{"path": "x"}, {}, {}]


# A new message


@pytest.mark.parametrize(
    ("shape", "made"),
    [
        ("anthropic", {"role": "user", "content": "x"}),
        ("chat", {"role": "user", "content": "x"}),
        ("responses", {"type": "message", "role": "user", "content": "x"}),
    ],
)
def test_a_new_message_is_of_the_shape_of_the_others(shape: str, made: dict[str, Any]) -> None:
    like = [user(), *asks(shape, "a"), *gives(shape, "a")]
    assert new_text_message(like, "user", "x") == made
    assert blocks_of(made)[0].value == "x"


def test_a_new_message_beside_nothing_is_plain() -> None:
    assert new_text_message([], "assistant", "x") == {"role": "assistant", "content": "x"}


# JSON


@given(hostile)
def test_everything_has_a_json_value(value: object) -> None:
    made = to_json_value(value)
    assert json.loads(json.dumps(made, allow_nan=False)) == made


@given(paired_histories())
def test_the_json_value_of_json_is_itself(messages: list[Any]) -> None:
    assert to_json_value(messages) == messages
    assert to_json_value(as_objects(messages)) is not messages


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"\x00\xff", "00ff"),
        (
            {2: "a", None: "b", True: "c", (3,): "d"},
            {"2": "a", "null": "b", "true": "c", "(3,)": "d"},
        ),
        ({"b", "a"}, ["a", "b"]),
        (BlockKind.TEXT, "text"),
        (SimpleNamespace(a=1, _b=2), {"a": 1}),
        (object(), "<object>"),
        (int, "<int>"),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
    ],
)
def test_json_values(value: object, made: object) -> None:
    assert to_json_value(value) == made


def test_the_json_value_of_an_object_is_its_fields() -> None:
    found: Any = to_json_value(Plain(type="text", text="x"))
    assert {name: got for name, got in found.items() if got is not None} == text_block("x")


def test_what_holds_itself_and_what_is_deep_has_a_json_value() -> None:
    loop: list[Any] = [1]
    loop += [loop, {"again": loop}, [2]]
    assert to_json_value(loop) == [1, None, {"again": None}, [2]]
    shared = [1]
    assert to_json_value([shared, shared]) == [[1], [1]]
    deep: Any = "end"
    for _ in range(20_000):
        deep = [deep]
    made = to_json_value(deep)
    for _ in range(20_000):
        (made,) = made  # type: ignore[misc]
    assert made == "end"


def test_a_mock_does_no_harm() -> None:
    assert json.dumps(to_json_value(MagicMock()))
    assert _kinds(MagicMock())


# Copies


@given(histories())
def test_a_copy_is_equal_and_apart(messages: list[Any]) -> None:
    for message in messages:
        copied = copy_message(message)
        assert to_json_value(copied) == to_json_value(message)
        assert type(copied) is type(message)
        assert copied is not message or not isinstance(message, dict)


@given(hostile)
def test_whatever_it_is_can_be_copied_read_and_changed(value: object) -> None:
    for one in (value, {"role": "user", "content": value}, {"role": "tool", "content": value}):
        copy_message(one)
        role_of(one)
        for block in blocks_of(one):
            result_text(block)
            read_path_of(block)
            arguments_of(block)
            to_json_value(block.value)
        made = without_blocks(one, {0})
        assert made is None or len(blocks_of(made)) == len(blocks_of(one)) - 1
        new_text_message([one], "user", "x")


def test_changing_a_copy_leaves_the_original() -> None:
    message = copy.deepcopy(ANSWER)
    copied: Any = copy_message(message)
    copied["content"][2]["input"]["path"] = "b"
    assert message == ANSWER


def test_a_copy_of_what_is_deep_or_holds_itself() -> None:
    loop: dict[str, Any] = {"role": "user"}
    loop["content"] = [loop]
    copied: Any = copy_message(loop)
    assert copied["content"][0] is copied
    assert copied is not loop
    deep: Any = ("t", {"end": "end"})
    for _ in range(20_000):
        deep = [deep]
    made: Any = copy_message(deep)
    while isinstance(made, list):
        assert made is not deep
        (made,), (deep,) = made, deep
    assert made == ("t", {"end": "end"})


def test_an_object_that_cannot_be_copied_is_shared() -> None:
    value = Refusing(role="user", content="x")
    assert copy_message(value) is value


# SDK objects


@pytest.fixture(scope="module")
def anthropic_types() -> Any:
    return pytest.importorskip("anthropic.types", reason="the test extra is not installed")


@pytest.fixture(scope="module")
def chat_types() -> Any:
    return pytest.importorskip("openai.types.chat", reason="the test extra is not installed")


@pytest.fixture(scope="module")
def responses_types() -> Any:
    return pytest.importorskip("openai.types.responses", reason="the test extra is not installed")


@pytest.fixture
def claude(anthropic_types: Any) -> Any:
    """A real answer of the Anthropic SDK."""
    return anthropic_types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": ANSWER["content"],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    )


@pytest.fixture
def gpt(chat_types: Any) -> Any:
    """A real answer of the OpenAI Chat SDK."""
    return chat_types.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]}
    )


def test_an_anthropic_answer(claude: Any, anthropic_types: Any) -> None:
    found = blocks_of(claude)
    assert _kinds(claude) == _kinds(ANSWER)
    assert found[2].value is claude.content[2]
    assert arguments_of(found[2]) == {"path": "a"}
    assert to_json_value(found[0].value) == thinking_block()
    made: Any = without_blocks(claude, {2})
    assert isinstance(made, anthropic_types.Message)
    assert [block.type for block in made.content] == ["thinking", "text", "tool_use"]
    assert made.content[0] is claude.content[0]
    assert len(claude.content) == 4
    assert made.id == "msg_1"
    renamed: Any = with_call_ids(claude, {3: "fresh"})
    assert renamed.content[3].id == "fresh"
    assert isinstance(renamed.content[3], anthropic_types.ToolUseBlock)
    assert claude.content[3].id == "t2"
    assert to_json_value(renamed) == renamed.model_dump(mode="json", exclude_unset=True)


def test_sdk_blocks_in_a_mapping(claude: Any) -> None:
    message = {"role": "assistant", "content": claude.content}
    assert _kinds(message) == _kinds(ANSWER)
    made: Any = without_blocks(message, {0, 1})
    assert [block.id for block in made["content"]] == ["t1", "t2"]
    copied: Any = copy_message(message)
    assert copied["content"][2] == claude.content[2]
    assert copied["content"][2] is not claude.content[2]


def test_anthropic_params(anthropic_types: Any) -> None:
    param = anthropic_types.ToolResultBlockParam(
        type="tool_result",
        tool_use_id="t1",
        content=[anthropic_types.TextBlockParam(type="text", text="found")],
        cache_control={"type": "ephemeral"},
        is_error=True,
    )
    message = anthropic_types.UserMessageParam(role="user", content=[param])
    assert result_text(blocks_of(message)[0]) == "found"
    assert with_result_text(message, 0, "cut") == {
        "role": "user",
        "content": [{**param, "content": "cut"}],
    }


def test_every_block_of_the_anthropic_sdk_is_known(anthropic_types: Any) -> None:
    kinds = {
        "TextBlock": BlockKind.TEXT,
        "ThinkingBlock": BlockKind.THINKING,
        "RedactedThinkingBlock": BlockKind.THINKING,
        "ToolUseBlock": BlockKind.TOOL_CALL,
        "ServerToolUseBlock": BlockKind.OTHER,
        "WebSearchToolResultBlock": BlockKind.OTHER,
    }
    for name, kind in kinds.items():
        tag = getattr(anthropic_types, name).model_fields["type"].annotation.__args__[0]
        value = {"type": tag, "text": "x", "id": "a"}
        assert blocks_of({"role": "assistant", "content": [value]})[0].kind is kind, name


def test_a_chat_answer(gpt: Any, chat_types: Any) -> None:
    assert [(block.index, block.call_id, block.name) for block in blocks_of(gpt)] == [
        (0, "c1", "read"),
        (1, "c2", "read"),
    ]
    made: Any = without_blocks(gpt, {0})
    assert isinstance(made, chat_types.ChatCompletionMessage)
    assert [call.id for call in made.tool_calls] == ["c2"]
    assert len(gpt.tool_calls) == 2
    assert without_blocks(gpt, {0, 1}) is None
    renamed: Any = with_call_ids(gpt, {1: "fresh"})
    assert [call.id for call in renamed.tool_calls] == ["c1", "fresh"]


def test_a_chat_answer_without_its_calls_does_not_send_a_null_field(chat_types: Any) -> None:
    message = chat_types.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": "Hi.", "tool_calls": [chat_call("c1")]}
    )
    made: Any = without_blocks(message, {1})
    assert made.model_dump(mode="json", exclude_unset=True) == {
        "role": "assistant",
        "content": "Hi.",
    }
    assert message.tool_calls


def test_chat_params(chat_types: Any) -> None:
    message = chat_types.ChatCompletionToolMessageParam(
        role="tool", tool_call_id="c1", content=[{"type": "text", "text": "found"}]
    )
    assert result_text(blocks_of(message)[0]) == "found"
    custom = chat_types.ChatCompletionMessageCustomToolCall(
        id="c2", type="custom", custom={"name": "raw", "input": "x"}
    )
    asked = {"role": "assistant", "content": None, "tool_calls": [custom]}
    assert [(block.call_id, block.name) for block in blocks_of(asked)] == [("c2", "raw")]


def test_responses_items(responses_types: Any) -> None:
    call = responses_types.ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="read", arguments='{"path": "a"}', id="fc_1"
    )
    said = responses_types.ResponseOutputMessage.model_validate(
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
        }
    )
    thought = responses_types.ResponseReasoningItem(type="reasoning", id="rs_1", summary=[])
    assert [_kinds(one) for one in (call, said, thought)] == [["tool_call"], ["text"], ["thinking"]]
    assert [role_of(one) for one in (call, said, thought)] == ["assistant"] * 3
    (block,) = blocks_of(call)
    assert (block.call_id, block.name, arguments_of(block)) == ("c1", "read", {"path": "a"})
    renamed: Any = with_call_ids(call, {0: "fresh"})
    assert (renamed.call_id, renamed.id, call.call_id) == ("fresh", "fc_1", "c1")
    assert isinstance(renamed, responses_types.ResponseFunctionToolCall)
    output = {"type": "function_call_output", "call_id": "c1", "output": "found"}
    assert with_result_text(output, 0, "cut") == {**output, "output": "cut"}


def test_json_of_an_sdk_object_is_by_the_names_that_are_sent(responses_types: Any) -> None:
    call = responses_types.ResponseFunctionToolCall.model_validate(
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "async": True}
    )
    assert to_json_value(call) == {
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": "{}",
        "async": True,
    }


def test_each_message_has_its_own_shape(claude: Any, gpt: Any) -> None:
    names = [
        shape_of(one).__name__.rsplit("_", 1)[-1]  # type: ignore[attr-defined]
        for one in (claude, gpt, *asks("responses", "a"), user())
    ]
    assert names == ["anthropic", "chat", "responses", "anthropic"]
