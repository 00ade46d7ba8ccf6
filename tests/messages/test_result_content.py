"""The text inside a result that has other blocks too: it is found, and put back in its place."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages.shapes import (
    NotAToolResultError,
    blocks_of,
    result_text,
    text_in_result,
    to_json_value,
    with_result_text,
    with_result_texts,
)
from tests.messages.builders import text_block, tool_result

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
OUTCOME = {"type": "exit", "exit_code": 1}


def search_result(*texts: str) -> dict[str, Any]:
    return {
        "type": "search_result",
        "title": "T",
        "source": "S",
        "content": [*map(text_block, texts)],
    }


def shell(*outputs: tuple[str, str]) -> dict[str, Any]:
    written = [{"stdout": out, "stderr": err, "outcome": OUTCOME} for out, err in outputs]
    return {"type": "shell_call_output", "call_id": "c1", "output": written}


def message_of(content: Any) -> Any:
    return {"role": "user", "content": [tool_result("c1", content, is_error=True)]}


@pytest.mark.parametrize(
    ("content", "text", "shortened"),
    [
        ([text_block("ab"), PICTURE], "ab", [text_block("cut"), PICTURE]),
        ([PICTURE, text_block("ab")], "ab", [PICTURE, text_block("cut")]),
        (
            [text_block("a"), PICTURE, text_block("b"), PICTURE],
            "a\nb",
            [text_block("cut"), PICTURE, PICTURE],
        ),
        ([PICTURE, "a", text_block("b")], "a\nb", [PICTURE, "cut"]),
        ([search_result("x", "y")], "T\nS\nx\ny", "cut"),
        (
            [PICTURE, search_result("x"), text_block("z")],
            "T\nS\nx\nz",
            [PICTURE, text_block("cut")],
        ),
        # A search result that is not as it should be is no text, and stays.
        (
            [{"type": "search_result", "title": "T"}, text_block("b")],
            "b",
            [{"type": "search_result", "title": "T"}, text_block("cut")],
        ),
        # Nothing but text: as before, one text.
        ([text_block("a"), text_block("b")], "a\nb", "cut"),
        ("ab", "ab", "cut"),
        ([], "", "cut"),
        (None, "", "cut"),
    ],
)
def test_the_text_is_replaced_and_the_rest_stays(content: Any, text: str, shortened: Any) -> None:
    message = message_of(content)
    before = copy.deepcopy(message)
    [block] = blocks_of(message)
    assert text_in_result(block) == text
    made: Any = with_result_text(message, 0, "cut")
    assert made == message_of(shortened)
    assert message == before


@pytest.mark.parametrize("content", [[PICTURE], {"type": "image"}, 7, [7], [None], [{}]])
def test_what_has_no_text_in_it_gives_none(content: Any) -> None:
    [block] = blocks_of(message_of(content))
    assert text_in_result(block) is result_text(block) is None


def test_a_block_that_is_no_result_has_no_text_of_one() -> None:
    message = {"role": "user", "content": [text_block("a")]}
    assert text_in_result(blocks_of(message)[0]) is None
    with pytest.raises(NotAToolResultError):
        with_result_texts(message, {0: "x"})


def test_what_a_shell_wrote_is_text_and_how_it_ended_stays() -> None:
    message = shell(("out", ""), ("", "err"), ("more", "worse"))
    [block] = blocks_of(message)
    assert text_in_result(block) == "out\nerr\nmore\nworse"
    assert with_result_text(message, 0, "cut") == shell(("cut", ""), ("", ""), ("", ""))
    only_errors = shell(("", ""), ("", "err"))
    assert with_result_text(only_errors, 0, "cut") == shell(("", ""), ("", "cut"))
    assert with_result_text(shell(("", "")), 0, "cut") == shell(("cut", ""))


def test_objects_of_an_sdk_keep_their_type_where_they_stay() -> None:
    picture, text = SimpleNamespace(type="image", data="a"), SimpleNamespace(type="text", text="ab")
    made: Any = with_result_text(message_of([picture, text]), 0, "cut")
    content = made["content"][0]["content"]
    assert content[0] is picture or content[0] == picture
    assert to_json_value(content[1]) == text_block("cut")
    assert text.text == "ab"


def test_several_results_of_one_message_at_once() -> None:
    message = {
        "role": "user",
        "content": [tool_result("a", "x"), text_block("and"), tool_result("b", [PICTURE, "y"])],
    }
    assert with_result_texts(message, {0: "1", 2: "2"}) == {
        "role": "user",
        "content": [tool_result("a", "1"), text_block("and"), tool_result("b", [PICTURE, "2"])],
    }


_items = st.one_of(
    st.text(max_size=4),
    st.text(max_size=4).map(text_block),
    st.just(PICTURE),
    st.lists(st.text(max_size=4), max_size=2).map(lambda texts: search_result(*texts)),
    st.sampled_from([{"type": "search_result"}, {"type": "text"}, {"type": "text", "text": 7}]),
    st.sampled_from([None, 7, {}, {"stdout": "o"}, {"stdout": "o", "stderr": 7}, []]),
    st.tuples(st.text(max_size=4), st.text(max_size=4)).map(lambda two: shell(two)["output"][0]),
)


@given(
    items=st.lists(_items, max_size=6),
    text=st.text(max_size=9),
    in_tuple=st.booleans(),
    of_shell=st.booleans(),
)
def test_the_text_that_is_put_in_is_the_text_that_is_read(
    items: list[Any], text: str, in_tuple: bool, of_shell: bool
) -> None:
    content: Any = tuple(items) if in_tuple else items
    message: Any = {**shell(), "output": content} if of_shell else message_of(content)
    before = copy.deepcopy(message)
    [block] = blocks_of(message)
    if text_in_result(block) is None:
        return
    made: Any = with_result_text(message, 0, text)
    [changed] = blocks_of(made)
    assert text_in_result(changed) == text
    assert message == before
    # What is no text stays, in its order; once more changes nothing.
    found = changed.value["output" if of_shell else "content"]
    pictures = [] if isinstance(found, str) else [one for one in found if one == PICTURE]
    assert pictures == [one for one in items if one == PICTURE]
    assert with_result_text(made, 0, text) == made
    rest = {key: value for key, value in block.value.items() if key not in ("output", "content")}
    assert {key: changed.value[key] for key in rest} == rest
