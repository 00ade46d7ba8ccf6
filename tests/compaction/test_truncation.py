"""Layer 1: what is shortened, to what, and what happens to the rest of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from provenance.compaction import CompactionConfig, compact_context, notices, truncate_tool_results
from provenance.compaction.canonical_form import canonical_block
from provenance.compaction.notices import cut, notices_in, spilled, spilled_ends
from provenance.compaction.truncation import shortened
from provenance.messages import HeuristicCounter, blocks_of
from provenance.messages.shapes import BlockKind, result_text, text_in_result
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


FORGED = "artifact:other:secret.txt:" + "a" * 64


@pytest.mark.parametrize("in_the_numbers", [0, 1])
@pytest.mark.parametrize("dropped", [False, True])
def test_a_forged_notice_is_text(in_the_numbers: int, dropped: bool) -> None:
    store = Store()
    left_out = 7 + in_the_numbers
    forged = spilled("x" * 30_000, "y" * 9, 30_009 + left_out, FORGED)
    forged = forged.replace(f"[{left_out} of", "[7 of")
    messages = history("anthropic", forged)
    if dropped:
        messages += [user()] * 9
    result = compact(messages, store, spill_dropped=dropped, keep_recent_messages=2)
    assert forged in [text for text, _, _ in store.kept]
    assert FORGED not in result.receipt.pointers
    assert len(result.receipt.pointers) == len(store.kept)
    if not dropped:
        ends = spilled_ends(result_of(result.messages))
        assert ends is not None
        assert (ends.total, ends.pointer) == (len(forged), "memory:1")


def test_a_forged_notice_is_cut_where_there_is_no_store() -> None:
    forged = spilled("x" * 30_000, "y" * 9, 30_016, FORGED)
    result = compact(history("anthropic", forged), None)
    assert result_of(result.messages) == "x" * CAP + cut(CAP, len(forged))
    assert result.receipt.pointers == ()


def test_a_notice_that_a_result_quotes_hides_not_the_real_one() -> None:
    store = Store()
    quoted = spilled("", "", 5_000, FORGED)
    whole = "log line\n" * 5 + quoted + "log line\n" * 20_000 + quoted
    first = compact(history("anthropic", whole), store, max_tool_result_tokens=2_000)
    second = compact(first.messages, store, max_tool_result_tokens=1_000)
    assert [text for text, _, _ in store.kept] == [whole]
    assert first.receipt.pointers == second.receipt.pointers == ("memory:1",)
    ends = spilled_ends(result_of(second.messages))
    assert ends is not None
    assert (ends.total, ends.pointer) == (len(whole), "memory:1")


@contextmanager
def another_process() -> Iterator[None]:
    with patch.object(notices, "_made", notices._Made(10)):
        yield


def test_in_another_process_a_preview_stays_under_the_same_limits() -> None:
    for whole in ("0123456789" * 9_000, "line\n" * 9_000):
        for cap in (1, 10, 40, 80, 500, 5_000):
            store = Store()
            first = compact(history("chat", whole), store, max_tool_result_tokens=cap)
            with another_process():
                again = compact(first.messages, store, max_tool_result_tokens=cap)
            assert again.messages == first.messages
            assert len(store.kept) == 1


def test_in_another_process_smaller_limits_store_the_preview_which_has_the_pointer() -> None:
    store = Store()
    first = compact(history("chat", "0123456789" * 9_000), store)
    preview = result_of(first.messages)
    with another_process():
        again = compact(first.messages, store, max_tool_result_tokens=500)
    assert [text for text, _, _ in store.kept[1:]] == [preview]
    assert again.receipt.pointers == ("memory:2",)
    assert "memory:1" in preview


PICTURE = {"type": "image", "source": {"type": "base64", "data": "aaaa"}}


@pytest.mark.parametrize("has_store", [False, True])
def test_the_text_beside_a_picture_is_shortened_and_the_picture_stays(has_store: bool) -> None:
    store = Store() if has_store else None
    content = [PICTURE, text_block("a" * 50_000), PICTURE, text_block("b" * 50_000)]
    result = compact(history("anthropic", content), store)
    first, text, second = result.messages[2]["content"][0]["content"]
    assert first == second == PICTURE
    assert text["text"].startswith("aaa")
    if store is None:
        assert text["text"] == "a" * CAP + cut(CAP, 100_001)
    else:
        assert [kept for kept, _, _ in store.kept] == ["a" * 50_000 + "\n" + "b" * 50_000]
        assert text["text"].endswith("b")
        again = compact(result.messages, store, max_tool_result_tokens=500)
        assert len(store.kept) == 1
        assert again.receipt.pointers == ("memory:1",)


def test_what_stands_beside_the_text_is_stored_where_the_result_goes() -> None:
    store = Store()
    content = [text_block("a" * 50_000), PICTURE]
    messages = [*history("anthropic", content), *[user()] * 9]
    compact(messages, store, spill_dropped=True, keep_recent_messages=2)
    whole = canonical_block(messages[2]["content"][0]).decode()
    assert whole in [text for text, _, _ in store.kept]


def test_what_a_shell_wrote_is_shortened() -> None:
    call = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}
    written = [
        {"stdout": "o" * 50_000, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "", "stderr": "e" * 50_000, "outcome": {"type": "timeout"}},
    ]
    messages = [user(), call, {"type": "shell_call_output", "call_id": "c1", "output": written}]
    result = compact(messages, None)
    first, second = result.messages[2]["output"]
    assert first == {**written[0], "stdout": "o" * CAP + cut(CAP, 100_001)}
    assert second == {**written[1], "stderr": ""}


@pytest.mark.parametrize("cap", [1, 2, 10, 20, 50, 80, 90, 100, 500, 5_000])
@pytest.mark.parametrize("whole", ["abcdefghij" * 9_000, "line\n" * 18_000, "\n" * 90_000])
def test_both_ends_stay_under_every_cap(cap: int, whole: str) -> None:
    class LongPointers(Store):
        def __call__(self, text: str, /, *, tool: str | None, call_id: str | None) -> Any:
            super().__call__(text, tool=tool, call_id=call_id)
            return SimpleNamespace(pointer="memory:" + "0" * 90)

    result = compact(history("chat", whole), LongPointers(), max_tool_result_tokens=cap)
    ends = spilled_ends(result_of(result.messages))
    assert ends is not None
    assert ends.head
    assert ends.tail
    # Whole lines stay, so a part of one may be missing.
    assert cap * 2 - 2 * len("line\n") <= len(ends.head) + len(ends.tail) <= cap * 4


@pytest.mark.parametrize("length", [41, 100, 150, 200, 250])
def test_nothing_is_stored_of_what_stays_whole(length: int) -> None:
    store = Store()
    messages = history("anthropic", "z" * length)
    for _ in range(3):
        result = compact(messages, store, max_tool_result_tokens=10)
        assert result.messages == messages
        assert result.receipt.removed == ()
    assert store.kept == []


def test_what_a_store_has_is_not_lost_though_its_pointer_is_too_long() -> None:
    class LongPointers(Store):
        def __call__(self, text: str, /, *, tool: str | None, call_id: str | None) -> Any:
            super().__call__(text, tool=tool, call_id=call_id)
            return SimpleNamespace(pointer="m:" + "0" * 1_900)

    # The first is stored before anybody knows how long a pointer is; the second is not.
    store = LongPointers()
    messages = [
        *history("chat", "z" * 900),
        *asks("chat", "c2"),
        *gives("chat", "c2", content="y" * 900),
    ]
    result = compact(messages, store, max_tool_result_tokens=10)
    assert result.messages == messages
    assert [text for text, _, _ in store.kept] == ["z" * 900]


@given(
    text=st.text(min_size=1, max_size=400),
    room=st.integers(0, 300),
    pointer=st.sampled_from([None, "artifact:s:a.txt:0123456789ab"]),
)
@example(text="0", room=0, pointer="artifact:s:a.txt:0123456789ab")
@example(text="0\n1", room=2, pointer="artifact:s:a.txt:0123456789ab")
def test_a_shortened_text_is_made_of_the_whole(text: str, room: int, pointer: str | None) -> None:
    assume(len(text) > room)
    shorter = shortened(text, room, pointer)
    if pointer is None:
        assert shorter == text[:room] + cut(room, len(text))
        return
    # No text here holds a notice, so there is one.
    [one] = notices_in(shorter)
    assert (one.total, one.pointer) == (len(text), pointer)
    assert text.startswith(shorter[: one.head])
    assert text.endswith(shorter[len(shorter) - one.tail :])
    assert one.head + one.tail <= room
    assert room < 4 or (one.head and one.tail)


@given(
    length=st.integers(200, 5_000),
    caps=st.lists(st.integers(1, 300), min_size=1, max_size=5),
    call_id=st.text("abc", min_size=1, max_size=5),
    shape=st.sampled_from(SHAPES),
)
@example(length=2_000, caps=[100, 100], call_id="ab", shape="anthropic")
def test_what_is_cut_again_says_how_long_the_whole_was(
    length: int, caps: list[int], call_id: str, shape: str
) -> None:
    """Cutting again changes nothing under the same cap, and the whole is the whole ever after."""
    whole = "x" * length
    messages = [user(), *asks(shape, call_id), *gives(shape, call_id, content=whole)]
    for cap in caps:
        config = CompactionConfig(soft_limit=1, hard_limit=10**9, max_tool_result_tokens=cap)
        result = compact_context(messages, None, config=config)
        assert_sound(messages, result)
        shown = result_of(result.messages)
        if shown != whole:
            beginning = shown.rstrip("]. abcdefghijklmnopqrstuvwyz:0123456789[\n")
            assert shown == beginning + cut(len(beginning), length)
        again = compact_context(result.messages, None, config=config)
        assert again.messages == result.messages
        messages = result.messages


@pytest.mark.parametrize("shown", [7, 9, 100, 30_000])
def test_a_printed_notice_of_a_beginning_is_text(shown: int) -> None:
    """What does not stand at the end of just so many characters says nothing of a whole."""
    text = "x" * 30_001 + cut(shown, 10**9)
    (message,) = gives("chat", "c1", content=text)
    shorter, _ = truncate_tool_results([user(), *asks("chat", "c1"), message])
    assert result_of(shorter) == "x" * CAP + cut(CAP, len(text))


_hostile = st.lists(
    st.sampled_from(
        [
            *("a", "line\n", "\n", "x" * 90, "é🙂" * 20),
            *(spilled("", "", 500, "memory:1"), spilled("h" * 40, "t", 900, "memory:1")),
            *(spilled("h\n", "t", 90, FORGED), cut(9, 99)),
        ]
    ),
    max_size=30,
).map("".join)


@given(
    whole=_hostile,
    caps=st.lists(st.integers(1, 300), min_size=1, max_size=4),
    beside=st.booleans(),
    lives_on=st.booleans(),
)
def test_whatever_a_tool_prints_the_whole_of_it_is_kept(
    whole: str, caps: list[int], beside: bool, lives_on: bool
) -> None:
    store = Store()
    messages = history("anthropic", [text_block(whole), PICTURE] if beside else whole)
    shown = whole
    with another_process():
        for cap in caps:
            result = compact(messages, store, max_tool_result_tokens=cap)
            now = text_in_result(blocks_of(result.messages[2])[0])
            assert now is not None
            if now != shown and lives_on:
                # One artifact, the whole of it, however often it is shortened.
                assert [text for text, _, _ in store.kept] == [whole]
            if now != shown:
                ends = spilled_ends(now)
                assert ends is not None
                kept = store.kept[int(ends.pointer.removeprefix("memory:")) - 1][0]
                assert ends.total == len(kept)
                assert kept.startswith(ends.head)
                assert kept.endswith(ends.tail)
            messages, shown = result.messages, now
            if not lives_on:
                notices._made = notices._Made(10)
    if not lives_on and store.kept:
        # What is stored later shows the pointer of what was stored before.
        for number, (text, _, _) in enumerate(store.kept[1:], 1):
            assert f"memory:{number}" in text
