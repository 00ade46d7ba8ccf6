"""Receipts: what they hold, and that nothing can be altered without being found."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.compaction import (
    RECEIPT_SCHEMA,
    ChangedBlock,
    CompactionConfig,
    CompactionResult,
    Receipt,
    ReceiptError,
    compact_context,
    digest_of,
    verify_receipt,
)
from provenance.messages import HeuristicCounter, blocks_of, count_blocks
from tests.compaction.builders import reads, talk
from tests.messages.builders import SHAPES, asks, gives, text_block, tool_result, tool_use, user

COUNTER = HeuristicCounter()


class Store:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _text: str, /, *, tool: str | None, call_id: str | None) -> Any:
        self.count += 1
        return SimpleNamespace(pointer=f"memory:{self.count}")


def compacted(
    original: list[Any], percent: int, *, cap: int = 60, spill: Any = None
) -> CompactionResult[Any]:
    config = CompactionConfig(
        soft_limit=max(1, COUNTER.count_messages(original) * percent // 100),
        hard_limit=10**7,
        max_tool_result_tokens=cap,
        read_tools={"read": "path"},
        spill_dropped=True,
        summary_timeout=None,
    )
    return compact_context(
        original, None, summarizer=lambda _text: "They looked.", config=config, spill=spill
    )


def history(shape: str) -> list[Any]:
    messages = [*talk(4), *asks(shape, "p1", "p2", "p3"), *gives(shape, "p3", "p1", "p2")]
    for number in range(6):
        messages += asks(shape, f"c{number}", text="I look.")
        messages += gives(shape, f"c{number}", content=f"{number}" * (500 if number % 2 else 30))
    return [*messages, user("Go on.")]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("percent", [110, 90, 70, 50, 30, 0])
@pytest.mark.parametrize("store", [None, Store()])
def test_kept_and_receipt_cover_the_original(shape: str, percent: int, store: Any) -> None:
    original = history(shape)
    result = compacted(original, percent, spill=store)
    assert verify_receipt(original, result, counter=COUNTER) == ()
    assert verify_receipt(original, result) == ()


def test_each_entry_says_what_stood_where() -> None:
    original: list[Any] = [user(), *reads("anthropic", 1, size=9_000)[1:], *talk(3)]
    result = compacted(original, 50, cap=100)
    [one] = result.receipt.removed
    block = original[2]["content"][0]
    assert one == ChangedBlock(
        message=2,
        block=0,
        kind="tool_result",
        call_id="c0",
        layer="tool_result_truncation",
        sha256=digest_of(block),
        tokens=count_blocks(original[2])[0],
        pointer=None,
        changed_to=digest_of(result.messages[2]["content"][0]),
    )
    assert result.receipt.original_messages == result.receipt.result_messages == len(original)
    assert "xxxx" not in result.receipt.to_json()


def test_a_block_is_noted_once_though_two_layers_touched_it() -> None:
    original = [*reads("chat", 8, size=9_000), user()]
    store = Store()
    result = compacted(original, 0, cap=100, spill=store)
    places = [(one.message, one.block) for one in result.receipt.removed]
    assert places == sorted(set(places))
    first = next(one for one in result.receipt.removed if one.kind == "tool_result")
    assert first.layer != "tool_result_truncation"
    assert first.changed_to is None
    assert first.pointer is not None
    assert first.sha256 == digest_of(original[first.message])


# What is altered is found


def _altered(draw: st.DrawFn, value: Any) -> Any:
    """The same JSON value with one part of it changed."""
    if isinstance(value, dict) and value:
        name = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)) == 0:
            return {key: item for key, item in value.items() if key != name}
        return {**value, name: _altered(draw, value[name])}
    if isinstance(value, list) and value:
        index = draw(st.integers(0, len(value) - 1))
        how = draw(st.sampled_from(["inside", "gone", "twice", "swapped"]))
        if how == "gone":
            return value[:index] + value[index + 1 :]
        if how == "twice":
            return [*value[: index + 1], copy.deepcopy(value[index]), *value[index + 1 :]]
        if how == "swapped" and index:
            return [*value[: index - 1], value[index], value[index - 1], *value[index + 1 :]]
        return [*value[:index], _altered(draw, value[index]), *value[index + 1 :]]
    if isinstance(value, str):
        return value + draw(st.sampled_from(["x", " ", "\n"]))
    if isinstance(value, bool | int | float):
        return value + 1
    return "something" if value is None else [value]


@st.composite
def _messages_altered(draw: st.DrawFn, messages: list[Any]) -> list[Any]:
    altered: list[Any] = _altered(draw, messages)
    return altered


CASES = {
    (shape, percent): (original := history(shape), compacted(original, percent))
    for shape in SHAPES
    for percent in (110, 70, 40, 0)
}
cases = st.sampled_from(sorted(CASES)).map(CASES.__getitem__)


@given(data=st.data(), case=cases)
def test_whatever_is_altered_in_the_result_is_found(data: st.DataObject, case: Any) -> None:
    original, result = case
    altered = data.draw(_messages_altered(result.messages))
    if altered != result.messages:
        assert verify_receipt(original, replace(result, messages=altered)) != ()


def test_a_summary_of_items_says_its_type() -> None:
    original, result = CASES["responses", 0]
    assert result.receipt.inserted
    for one in result.receipt.inserted:
        altered = copy.deepcopy(result.messages)
        del altered[one.message]["type"]
        problems = verify_receipt(original, replace(result, messages=altered))
        assert [(problem.message, problem.of_result) for problem in problems] == [
            (one.message, True)
        ]


@given(data=st.data(), case=cases)
def test_whatever_is_altered_in_the_original_is_found(data: st.DataObject, case: Any) -> None:
    original, result = case
    altered = data.draw(_messages_altered(original))
    if altered == original:
        return
    # What a message holds beside its blocks is gone with the message, and has no digest.
    if [[(b.kind, b.value) for b in blocks_of(m)] for m in altered] == [
        [(b.kind, b.value) for b in blocks_of(m)] for m in original
    ]:
        return
    assert verify_receipt(altered, result) != ()


@given(data=st.data(), case=cases)
def test_whatever_is_altered_in_the_receipt_is_found(data: st.DataObject, case: Any) -> None:
    original, result = case
    fields = result.receipt.to_dict()
    altered = _altered(data.draw, fields)
    try:
        receipt = Receipt.from_json(json.dumps(altered))
    except ReceiptError:
        return
    if receipt == result.receipt or _differs_in_what_cannot_be_known(receipt, result.receipt):
        return
    assert verify_receipt(original, replace(result, receipt=receipt), counter=COUNTER) != ()


def _differs_in_what_cannot_be_known(one: Receipt, other: Receipt) -> bool:
    """A pointer of somebody's own store: only that store knows whether it is right."""
    return len(one.removed) == len(other.removed) and all(
        a._replace(pointer=b.pointer) == b for a, b in zip(one.removed, other.removed, strict=True)
    ) and replace(one, removed=other.removed) == other  # fmt: skip


def test_the_first_block_that_does_not_fit_is_named() -> None:
    original = talk(20)
    result = compacted(original, 0)
    altered = copy.deepcopy(original)
    altered[3]["content"] += "!"
    first = verify_receipt(altered, result)[0]
    assert (first.message, first.block, first.of_result) == (3, 0, False)
    changed = copy.deepcopy(result.messages)
    changed[-1]["content"] += "!"
    [problem] = verify_receipt(original, replace(result, messages=changed))
    assert (problem.message, problem.block, problem.of_result) == (19, 0, False)
    assert "!" not in problem.text
    assert original[19]["content"] not in problem.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layer", "message_pruning"),
        ("layer", "made_up"),
        ("kind", "text"),
        ("call_id", None),
        ("call_id", "c9"),
        ("tokens", 7),
        ("changed_to", None),
        ("changed_to", "0" * 64),
        ("sha256", "0" * 64),
        ("message", 0),
        ("message", 10**6),
        ("block", 9),
        ("pointer", "artifact:s:a.txt:0123456789ab"),
        ("pointer", "artifact:../a"),
    ],
)
def test_a_forged_entry_is_found(field: str, value: Any) -> None:
    original: list[Any] = [user(), *reads("anthropic", 1, size=9_000)[1:], *talk(3)]
    result = compacted(original, 50, cap=100)
    forged = (result.receipt.removed[0]._replace(**{field: value}),)
    receipt = replace(result.receipt, removed=forged)
    assert verify_receipt(original, replace(result, receipt=receipt), counter=COUNTER) != ()


def test_a_summary_that_claims_other_digests_is_found() -> None:
    original = talk(20)
    result = compacted(original, 0)
    head, *rest = result.receipt.inserted
    for cited in (head.stands_for[1:], (*head.stands_for, "0" * 64), head.stands_for[::-1], ()):
        receipt = replace(result.receipt, inserted=(head._replace(stands_for=cited), *rest))
        assert verify_receipt(original, replace(result, receipt=receipt)) != ()


def test_messages_that_were_merged_or_split_are_found() -> None:
    original = [user("a"), {"role": "user", "content": [text_block("b"), text_block("c")]}]
    result = compacted(original, 110)
    split = [original[0], *({"role": "user", "content": [one]} for one in original[1]["content"])]
    assert verify_receipt(original, replace(result, messages=split)) != ()
    apart = [{"role": "user", "content": [text_block("b")]}, *split[2:]]
    assert verify_receipt(
        split[1:], SimpleNamespace(messages=[original[1]], receipt=result.receipt)
    )
    assert verify_receipt([original[1]], SimpleNamespace(messages=apart, receipt=result.receipt))


def test_a_role_that_was_changed_is_found() -> None:
    original = talk(3)
    result = compacted(original, 110)
    altered = [{**original[0], "role": "assistant"}, *original[1:]]
    assert verify_receipt(original, replace(result, messages=altered)) != ()


def test_result_and_receipt_have_to_say_the_same() -> None:
    original = talk(20)
    result = compacted(original, 0)
    for changed in (
        replace(result, tokens_after=1),
        replace(result, tokens_before=1),
        replace(result, applied_layers=()),
    ):
        assert verify_receipt(original, changed) != ()


# JSON


def test_a_receipt_prints_and_parses() -> None:
    result = compacted(history("chat"), 0)
    text = result.receipt.to_json()
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text)["schema"] == RECEIPT_SCHEMA
    assert Receipt.from_json(text) == result.receipt
    assert Receipt.from_json(text.encode()) == result.receipt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "ctxaudit.receipt/2"}, "schema: "),
        ({"removed": {}}, "removed: "),
        ({"tokens_before": -1}, "tokens_before: "),
        ({"tokens_before": True}, "tokens_before: "),
        ({"tokens_before": "9"}, "tokens_before: "),
        ({"more": 1}, "more: "),
        ({"inserted": [{}]}, "inserted.0.message: expected a field, got none"),
    ],
)
def test_a_receipt_that_breaks_its_schema_is_refused(change: dict[str, Any], message: str) -> None:
    fields = {**compacted(talk(9), 110).receipt.to_dict(), **change}
    with pytest.raises(ReceiptError) as caught:
        Receipt.from_json(json.dumps(fields))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", b"\xff", '"x"', "NaN"])
def test_what_is_no_receipt_is_refused(text: str | bytes) -> None:
    with pytest.raises(ReceiptError):
        Receipt.from_json(text)


def test_long_and_unprintable_call_ids_stand_as_digests() -> None:
    ids = ["c" * 5_000, "half \ud800 pair", "fine é"]
    original = [
        user(),
        {"role": "assistant", "content": [tool_use(one) for one in ids]},
        {"role": "user", "content": [tool_result(one) for one in ids]},
        *talk(20),
    ]
    result = compacted(original, 0)
    assert verify_receipt(original, result, counter=COUNTER) == ()
    assert Receipt.from_json(result.receipt.to_json()) == result.receipt
    said = [one.call_id for one in result.receipt.removed if one.kind == "tool_call"]
    assert said == [f"sha256:{digest_of(ids[0])}", f"sha256:{digest_of(ids[1])}", "fine é"]
