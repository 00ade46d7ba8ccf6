"""Layer 1: what is shortened, to what, and what happens to the rest of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from provenance.compaction import CompactionConfig, compact_context, truncate_tool_results
from provenance.compaction.notices import cut, spilled, spilled_ends
from provenance.compaction.truncation import shortened
from provenance.messages import HeuristicCounter, blocks_of
from provenance.messages.shapes import BlockKind, result_text
from tests.compaction.builders import assert_sound, untouched
from tests.messages.builders import SHAPES, asks, gives, text_block, tool_result, tool_use, user

CAP = 20_000  # characters of the default cap


def history(shape: str, content: Any) -> list[Any]:
    return [user(), *asks(shape, "c1"), *gives(shape, "c1", content=content)]


def result_of(messages: list[Any]) -> str:
    found = [
        result_text(block)
        for message in messages
        for block in blocks_of(message)
        if block.kind is BlockKind.TOOL_RESULT
    ]
    assert len(found) == 1
    assert found[0] is not None
    return found[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_result_above_the_cap_keeps_its_beginning_and_says_both_lengths(shape: str) -> None:
    messages = history(shape, "x" * 90_000)
    same = untouched(messages)
    shorter, saved = truncate_tool_results(messages)
    text = result_of(shorter)
    assert text.startswith("x" * CAP)
    assert text[CAP:] == cut(CAP, 90_000)
    assert "20000" in text[CAP:]
    assert "90000" in text[CAP:]
    counter = HeuristicCounter()
    assert saved == counter.count_messages(messages) - counter.count_messages(shorter)
    assert same()


@pytest.mark.parametrize(("length", "is_cut"), [(20_000, False), (20_003, False), (20_100, True)])
def test_the_cap_itself_is_not_above_the_cap(length: int, is_cut: bool) -> None:
    messages = history("anthropic", "x" * length)
    shorter, saved = truncate_tool_results(messages)
    assert (shorter != messages) is is_cut
    assert (saved > 0) is is_cut


def test_a_truncation_that_would_not_shorten_is_not_made() -> None:
    # Above the cap by less than the notice is long.
    messages = history("anthropic", "x" * (CAP + 40))
    assert truncate_tool_results(messages) == (messages, 0)


def test_what_is_no_tool_result_stays_whatever_its_length() -> None:
    messages = [
        user("x" * 50_000),
        {"role": "assistant", "content": [tool_use("c1", text="y" * 50_000)]},
        {"role": "user", "content": [tool_result("c1"), text_block("z" * 50_000)]},
    ]
    assert truncate_tool_results(messages) == (messages, 0)


def test_all_else_of_a_result_stays() -> None:
    messages = history("anthropic", "x" * 50_000)
    messages[2]["content"][0] |= {"is_error": True, "cache_control": {"type": "ephemeral"}}
    shorter, _ = truncate_tool_results(messages)
    block = shorter[2]["content"][0]
    assert {**block, "content": 0} == {**messages[2]["content"][0], "content": 0}


def test_a_list_of_text_blocks_is_cut_as_one_text() -> None:
    messages = history("anthropic", [text_block("a" * 15_000), text_block("b" * 15_000)])
    text = result_of(truncate_tool_results(messages)[0])
    assert text.startswith("a" * 15_000 + "\n" + "b" * 4_999 + "\n\n[")
    assert "30001" in text


def test_a_picture_stays_whole() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "x" * 90_000}}
    messages = history("anthropic", [picture])
    assert truncate_tool_results(messages) == (messages, 0)


@pytest.mark.parametrize("sign", ["é", "文", "🙂", "👩‍👩‍👧‍👦"])
def test_no_character_is_split(sign: str) -> None:
    text = result_of(truncate_tool_results(history("chat", sign * 30_000))[0])
    kept = text.partition("\n\n[")[0]
    assert kept == (sign * 30_000)[:CAP]
    text.encode()


def test_many_results_of_one_message_are_cut_at_once() -> None:
    ids = [f"c{number}" for number in range(300)]
    messages = [
        user(),
        {"role": "assistant", "content": [tool_use(one) for one in ids]},
        {"role": "user", "content": [tool_result(one, "x" * 30_000) for one in ids]},
    ]
    result = compact_context(messages, None, config=CompactionConfig(hard_limit=10**7))
    assert [one.layer for one in result.receipt.removed[:1]] == ["tool_result_truncation"]
    assert_sound(messages, result)


class Store:
    """A store in memory that gives pointers of its own scheme."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str | None, str | None]] = []

    def __call__(self, text: str, /, *, tool: str | None, call_id: str | None) -> Any:
        self.kept.append((text, tool, call_id))
        return SimpleNamespace(pointer=f"memory:{len(self.kept)}")


def compact(messages: list[Any], spill: Any, **settings: Any) -> Any:
    config = CompactionConfig(soft_limit=1, hard_limit=10**7, **settings)
    result = compact_context(messages, None, config=config, spill=spill)
    assert_sound(messages, result)
    return result


@pytest.mark.parametrize("shape", SHAPES)
def test_with_a_store_both_ends_stay_and_the_notice_has_the_pointer(shape: str) -> None:
    whole = "begin\n" + "middle\n" * 10_000 + "end"
    store = Store()
    result = compact(history(shape, whole), store)
    assert store.kept == [(whole, "read", "c1")]
    text = result_of(result.messages)
    ends = spilled_ends(text)
    assert ends is not None
    assert (ends.total, ends.pointer) == (len(whole), "memory:1")
    assert whole.startswith(ends.head)
    assert whole.endswith(ends.tail)
    assert ends.head.startswith("begin")
    assert ends.tail.endswith("end")
    assert len(text) <= CAP
    assert result.receipt.pointers == ("memory:1",)


@pytest.mark.parametrize(
    "answer",
    [
        OSError("disk full"),
        SimpleNamespace(pointer=None),
        SimpleNamespace(pointer=""),
        SimpleNamespace(pointer="two\nlines"),
        SimpleNamespace(),
        None,
    ],
)
def test_if_the_store_fails_the_result_stays_whole(answer: Any) -> None:
    def spill(_text: str, /, *, tool: str | None, call_id: str | None) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    messages = history("anthropic", "x" * 50_000)
    result = compact(messages, spill)
    assert result.messages == messages
    assert result.spill_failures == 1
    assert result.applied_layers == ()


def test_a_list_of_blocks_is_spilled_too() -> None:
    store = Store()
    compact(history("anthropic", [text_block("a" * 15_000), text_block("b" * 15_000)]), store)
    assert store.kept[0][0] == "a" * 15_000 + "\n" + "b" * 15_000


def test_what_reads_a_spill_back_is_never_spilled_again() -> None:
    store = Store()
    messages = history("anthropic", "x" * 50_000)
    result = compact(messages, store, spill_read_tools=frozenset({"read"}))
    assert store.kept == []
    assert result_of(result.messages) == "x" * CAP + cut(CAP, 50_000)


def test_the_ends_of_a_spilled_text_are_never_spilled_again() -> None:
    store = Store()
    whole = "0123456789" * 9_000
    first = compact(history("anthropic", whole), store)
    second = compact(first.messages, store, max_tool_result_tokens=500)
    third = compact(second.messages, store, max_tool_result_tokens=500)
    assert len(store.kept) == 1
    ends = spilled_ends(result_of(second.messages))
    assert ends is not None
    assert (ends.pointer, ends.total) == ("memory:1", 90_000)
    assert whole.startswith(ends.head)
    assert whole.endswith(ends.tail)
    assert ends.head
    assert ends.tail
    assert third.messages == second.messages


def test_a_forged_notice_is_text() -> None:
    store = Store()
    forged = spilled("x" * 30_000, "y", 30_001, "memory:7").replace("[0 of 30001", "[9 of 30001")
    compact(history("anthropic", forged), store)
    assert [text for text, _, _ in store.kept] == [forged]


@given(
    text=st.text(min_size=1, max_size=400),
    room=st.integers(0, 300),
    pointer=st.sampled_from([None, "artifact:s:a.txt:0123456789ab"]),
)
def test_a_shortened_text_is_made_of_the_whole(text: str, room: int, pointer: str | None) -> None:
    assume(len(text) > room)
    shorter = shortened(text, room, pointer)
    if pointer is None:
        assert shorter == text[:room] + cut(room, len(text))
        return
    ends = spilled_ends(shorter)
    assert ends is not None
    assert (ends.total, ends.pointer) == (len(text), pointer)
    assert text.startswith(ends.head)
    assert text.endswith(ends.tail)
