"""Files of messages: their three shapes, there and back, and what is none of them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.histories import HistoryError, MessageFileShape, parse_message_file
from provenance.limits import Limits

HELLO = {"role": "user", "content": "hello"}
CALL = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()


class TestShapes:
    def test_a_list(self) -> None:
        found = parse_message_file(_bytes([HELLO, CALL]))
        assert (found.messages, found.shape) == ([HELLO, CALL], MessageFileShape.LIST)
        assert (found.system, found.tools) == (None, ())
        assert json.loads(found.with_messages([CALL])) == [CALL]

    @pytest.mark.parametrize("name", ["messages", "input"])
    def test_an_object_keeps_its_other_fields_in_their_order(self, name: str) -> None:
        request = {"model": "m", "system": "Be brief.", name: [HELLO], "tools": [{"name": "ls"}]}
        found = parse_message_file(json.dumps(request, indent=2).encode())
        assert (found.messages, found.shape) == ([HELLO], MessageFileShape.OBJECT)
        assert (found.system, found.tools) == ("Be brief.", [{"name": "ls"}])
        new = json.loads(found.with_messages([]))
        assert new == request | {name: []}
        assert list(new) == list(request)

    def test_the_instructions_are_the_system_prompt_of_responses(self) -> None:
        found = parse_message_file(_bytes({"instructions": "Be brief.", "input": [HELLO]}))
        assert found.system == "Be brief."

    @pytest.mark.parametrize("data", [b"%s\n%s\n", b"%s\n%s", b"\n%s\n\n%s\r\n"])
    def test_lines(self, data: bytes) -> None:
        found = parse_message_file(data % (_bytes(HELLO), _bytes(CALL)))
        assert (found.messages, found.shape) == ([HELLO, CALL], MessageFileShape.LINES)
        assert found.with_messages([CALL, HELLO]).count(b"\n") == 2
        assert parse_message_file(found.with_messages([HELLO])).shape is MessageFileShape.LINES

    def test_one_message_on_one_line_is_a_line(self) -> None:
        assert parse_message_file(_bytes(HELLO)).shape is MessageFileShape.LINES

    def test_an_object_on_one_line_is_an_object(self) -> None:
        found = parse_message_file(_bytes({"messages": [HELLO]}))
        assert found.shape is MessageFileShape.OBJECT

    def test_an_empty_list_is_a_history(self) -> None:
        assert parse_message_file(b"[]").with_messages([]) == b"[]\n"


class TestNumbersAndTexts:
    def test_long_integers_and_lone_surrogates_come_back_as_they_were(self) -> None:
        data = b'[{"role":"user","content":[{"n":123456789012345678901234567890,"t":"\\ud800"}]}]'
        found = parse_message_file(data)
        again = found.with_messages(found.messages)
        assert b"123456789012345678901234567890" in again
        assert b'"\\ud800"' in again
        assert parse_message_file(again).messages == found.messages

    def test_text_is_written_as_it_is(self) -> None:
        found = parse_message_file('[{"role":"user","content":"é中😀"}]'.encode())
        assert "é中😀" in found.with_messages(found.messages).decode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected messages, got nothing"),
        (b" \n\t", "expected messages, got nothing"),
        (b"\xff\xfe", "expected UTF-8, got another byte at offset 0"),
        (b"\xef\xbb\xbf[]", "expected a value of its grammar"),
        (b"[" * 200_000, "expected at most 500 levels"),
        (b'{"a":' * 200_000, "expected at most 500 levels"),
        (b'[{"role":"user","content":NaN}]', "got NaN"),
        (b'[{"role":"user","role":"user"}]', "expected distinct keys"),
        (b'[{"role":"user","n":1e999}]', "expected numbers that can be written again"),
        (b'[{"role":"user","n":' + b"9" * 5_000 + b"}]", "expected numbers that can be written"),
        (b'"text"', "expected a list of messages, got a string"),
        (b"7", "expected a list of messages, got a number"),
        (b"{}", "got an object with neither"),
        (b'{"messages":[],"input":[]}', "got both"),
        (b'{"messages":"hello"}', "messages: expected a list of messages, got a string"),
        (b'{"input":"hello"}', "input: expected a list of messages, got a string"),
        (b'[{"role":"user"},7]', "message 1: expected an object, got a number"),
        (b'[{"x":1}]', "message 0: expected a message with a role or an item"),
        (b'[{"type":"user","message":{"role":"user"}}]', "message 0: expected a message with"),
        (b'[{"type":["message"]}]', "message 0: expected a message with a role or an item"),
        (b'{"role":"user"}\n7', "line 2: expected an object, got a number"),
        (b'{"role":"user"}\n{"role":', "line 2: JSON: expected a value"),
        (b'{"role":"user"}\n\n{"x":1}', "line 3: expected a message"),
        (b'[{"role":"user","content":"secret-text"', "expected a value of its grammar"),
    ],
)
def test_what_is_no_file_of_messages_is_one_line(data: bytes, said: str) -> None:
    with pytest.raises(HistoryError) as refused:
        parse_message_file(data)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_size_is_bounded() -> None:
    with pytest.raises(HistoryError, match="expected at most 5 bytes"):
        parse_message_file(b'[{"role":"user"}]', limits=Limits(max_document_bytes=5))


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "tool"])},
            optional={"content": st.text(), "n": st.integers() | st.floats(allow_nan=False)},
        )
    )
)
def test_each_shape_comes_back_as_it_was(messages: list[dict[str, Any]]) -> None:
    kept = [m for m in messages if "n" not in m or abs(m["n"]) != float("inf")]
    for data in (_bytes(kept), _bytes({"x": 1, "messages": kept}), b"\n".join(map(_bytes, kept))):
        if not data:
            continue
        found = parse_message_file(data)
        assert parse_message_file(found.with_messages(found.messages) or b"[]").messages == kept


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(HistoryError):
        assert isinstance(parse_message_file(data).messages, list)
