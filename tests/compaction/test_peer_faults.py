"""The faults that other programs have (spec 03, the end): each is a test here."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

import pytest

from provenance.artifacts import ArtifactStore
from provenance.compaction import (
    CompactionConfig,
    MessageViewLimitExceeded,
    SummaryOutcome,
    compact_context,
    verify_receipt,
)
from provenance.compaction.notices import spilled_ends
from provenance.messages import (
    ToolProtocolError,
    check_provider_rules,
    count_request,
    repair_tool_protocol,
    validate_tool_protocol,
)
from provenance.messages.shapes import blocks_of, result_text
from tests.compaction.builders import PROVIDERS, assert_sound, reads, talk
from tests.messages.builders import (
    SHAPES,
    asks,
    gives,
    text_block,
    tool_result,
    tool_use,
    user,
)


@pytest.fixture
def spill(tmp_path: Path) -> Any:
    tmp_path.chmod(0o700)
    return functools.partial(ArtifactStore(tmp_path).spill, "s1")


def hurry(**settings: Any) -> CompactionConfig:
    return CompactionConfig(
        **{"soft_limit": 1, "hard_limit": 10**7, "summary_timeout": None, **settings}
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_no_orphans_after_chained_compactions(shape: str) -> None:
    messages: list[Any] = [user("Start.")]
    summary: str | None = None
    for step in range(12):
        ids = [f"s{step}c{number}" for number in range(1 + step % 4)]
        messages = [*messages, *asks(shape, *ids), *gives(shape, *reversed(ids)), *talk(2)]
        messages.append(user("Go on."))
        config = hurry(keep_recent_messages=step % 7, summary_keep_recent=step % 5)
        result = compact_context(
            messages,
            None,
            summarizer=(lambda _text: "Short.") if step % 2 else None,
            config=config,
            previous_summary=summary,
        )
        assert_sound(messages, result)
        assert check_provider_rules(result.messages, PROVIDERS[shape]) == ()
        messages, summary = result.messages, result.summary or summary


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("recent", range(12))
def test_an_assistant_turn_with_six_parallel_calls(shape: str, recent: int) -> None:
    ids = [f"c{number}" for number in range(6)]
    messages = [*talk(5), *asks(shape, *ids, text="All six."), *gives(shape, *ids), user("So?")]
    for config in (hurry(keep_recent_messages=recent), hurry(summary_keep_recent=recent)):
        result = compact_context(messages, None, summarizer=lambda _text: "s", config=config)
        assert_sound(messages, result)
        assert check_provider_rules(result.messages, PROVIDERS[shape]) == ()


def test_mixed_text_and_result_in_one_message() -> None:
    mixed = {"role": "user", "content": [tool_result("c1"), text_block("and hurry"), "please"]}
    messages = [user(), *talk(6), *asks("anthropic", "c1"), mixed]
    result = compact_context(messages, None, config=hurry(keep_recent_messages=1))
    assert result.messages[-1] == {"role": "user", "content": [text_block("and hurry"), "please"]}
    assert_sound(messages, result)


def test_the_same_id_used_twice_the_first_time_paired() -> None:
    turn = [*asks("anthropic", "c1"), *gives("anthropic", "c1")]
    messages = [user(), *turn, *copy.deepcopy(turn)]
    with pytest.raises(ToolProtocolError):
        compact_context(messages, None)
    repaired, repairs = repair_tool_protocol(messages)
    assert repairs
    result = compact_context(repaired, None, config=hurry(keep_recent_messages=1))
    assert_sound(repaired, result)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_interrupted_call_then_compaction(shape: str) -> None:
    messages = [*talk(8), *asks(shape, "c1", "c2"), *gives(shape, "c1"), user("Stop.")]
    with pytest.raises(ToolProtocolError):
        compact_context(messages, None)
    repaired, _ = repair_tool_protocol(messages)
    for recent in range(6):
        config = hurry(keep_recent_messages=recent, summary_keep_recent=recent)
        result = compact_context(repaired, None, summarizer=lambda _text: "s", config=config)
        assert_sound(repaired, result)
        assert check_provider_rules(result.messages, PROVIDERS[shape]) == ()


def test_compaction_never_repairs_by_itself_below_the_limit_either() -> None:
    with pytest.raises(ToolProtocolError):
        compact_context([user(), *asks("chat", "c1")], None)


def test_failure_text_never_becomes_the_history() -> None:
    messages = talk(40, size=400)

    def fails(_conversation: str) -> str:
        raise RuntimeError("(summary failed: rate limit)")

    result = compact_context(
        messages, None, summarizer=fails, config=hurry(keep_recent_messages=99)
    )
    assert result.messages == messages
    assert (result.summary_outcome, result.summary_failure) == (
        SummaryOutcome.FAILED,
        "RuntimeError",
    )
    assert "rate limit" not in repr(result)


def test_a_summary_longer_than_its_input() -> None:
    messages = talk(10)
    result = compact_context(
        messages, None, summarizer=lambda text: text * 2, config=hurry(keep_recent_messages=99)
    )
    assert result.summary_outcome is SummaryOutcome.NO_GAIN
    assert result.messages == messages


@pytest.mark.parametrize("sign", ["🙂", "👩‍👩‍👧‍👦", "文", "é", "🇩🇪"])
def test_emoji_and_chinese_at_every_cut(sign: str, spill: Any) -> None:
    for offset in range(8):
        text = "x" * offset + sign * 400
        messages = [user(), *asks("chat", "c1"), *gives("chat", "c1", content=text)]
        for store in (None, spill):
            config = hurry(max_tool_result_tokens=40 + offset, keep_recent_messages=9)
            result = compact_context(messages, None, config=config, spill=store)
            kept = result.messages[2]["content"]
            json.dumps(kept, ensure_ascii=False).encode()
            assert_sound(messages, result)
            if store is not None and (ends := spilled_ends(kept)) is not None:
                assert text.startswith(ends.head)
                assert text.endswith(ends.tail)


def test_a_system_prompt_larger_than_the_budget() -> None:
    system = {"role": "system", "content": "Rule. " * 100_000}
    messages = [system, *talk(20)]
    with pytest.raises(MessageViewLimitExceeded) as caught:
        compact_context(messages, None, summarizer=lambda _text: "s")
    assert caught.value.tokens_after >= caught.value.hard_limit == 120_000
    assert "Rule" not in str(caught.value)
    assert "\n" not in str(caught.value)
    # Beside the messages it is counted, and never compacted.
    assert count_request(talk(20), system=system["content"]).system == 150_000
    assert compact_context(talk(20), None).messages == talk(20)


def test_a_preview_is_not_taken_for_the_whole_file(spill: Any) -> None:
    whole = "".join(f"line {number}\n" for number in range(9_000))
    messages = [user(), *asks("anthropic", "c1"), *gives("anthropic", "c1", content=whole)]
    for store in (None, spill):
        result = compact_context(messages, None, config=hurry(), spill=store)
        text = result_text(blocks_of(result.messages[2])[0]) or ""
        assert str(len(whole)) in text  # how much there is, beside what is shown
        assert ("truncated" if store is None else "left out") in text
    # A part of a file that is read later replaces neither the whole nor another part.
    config = hurry(read_tools={"read": "path"}, keep_recent_messages=9)
    parts = [
        user(),
        {"role": "assistant", "content": [tool_use("a", path="x")]},
        {"role": "user", "content": [tool_result("a", "whole")]},
        {"role": "assistant", "content": [tool_use("b", path="x", limit=10)]},
        {"role": "user", "content": [tool_result("b", "preview")]},
    ]
    assert compact_context(parts, None, config=config).messages == parts


def test_list_of_blocks_results_are_spilled(spill: Any) -> None:
    content = [text_block("a" * 30_000), text_block("b" * 30_000)]
    messages = [user(), *asks("anthropic", "c1"), *gives("anthropic", "c1", content=content)]
    result = compact_context(messages, None, config=hurry(), spill=spill)
    [pointer] = result.receipt.pointers
    assert pointer.startswith("artifact:s1:")
    assert verify_receipt(messages, result) == ()


def test_reading_a_spill_is_not_spilled_again(spill: Any) -> None:
    whole = "0123456789\n" * 9_000
    messages = [user(), *asks("chat", "c1"), *gives("chat", "c1", content=whole)]
    first = compact_context(messages, None, config=hurry(), spill=spill)
    [pointer] = first.receipt.pointers
    # The agent reads it back with its tool, and all is compacted again, tighter.
    read = {"id": "c2", "type": "function", "function": {"name": "show", "arguments": "{}"}}
    again = [
        *first.messages,
        {"role": "assistant", "content": None, "tool_calls": [read]},
        *gives("chat", "c2", content=whole),
    ]
    config = hurry(
        max_tool_result_tokens=500, spill_read_tools=frozenset({"show"}), keep_recent_messages=9
    )
    second = compact_context(again, None, config=config, spill=spill)
    assert second.receipt.pointers == (pointer,)
    ends = spilled_ends(second.messages[2]["content"])
    assert ends is not None
    assert ends.pointer == pointer
    assert "truncated: the first 2000 of 99000" in second.messages[4]["content"]
    assert_sound(again, second)


@pytest.mark.parametrize("shape", SHAPES)
def test_spilled_interactions_are_all_there(shape: str, spill: Any) -> None:
    messages = reads(shape, 20)
    result = compact_context(messages, None, config=hurry(spill_dropped=True), spill=spill)
    assert_sound(messages, result)
    sides = [one for one in result.receipt.removed if one.kind in ("tool_call", "tool_result")]
    assert sides
    assert all(one.pointer is not None for one in sides)


def test_if_the_store_fails_nothing_that_was_to_be_kept_is_dropped() -> None:
    def broken(_text: str, /, *, tool: str | None, call_id: str | None) -> Any:
        raise OSError("full")

    messages = reads("chat", 20, size=30_000)
    config = hurry(spill_dropped=True)
    result = compact_context(
        messages, None, summarizer=lambda _text: "s", config=config, spill=broken
    )
    assert result.messages == messages
    assert result.applied_layers == ()
    assert result.summary_outcome is SummaryOutcome.NOT_SPILLED
    assert result.spill_failures >= 20


def test_validation_still_holds_for_what_a_layer_left() -> None:
    messages = [*talk(3), *asks("anthropic", "c1", "c2"), *gives("anthropic", "c2", "c1")]
    result = compact_context(messages, None, config=hurry(keep_recent_messages=2))
    assert set(validate_tool_protocol(result.messages)) == {"c1", "c2"}
