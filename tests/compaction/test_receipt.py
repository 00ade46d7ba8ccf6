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
from provenance.compaction.changes import said_role
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
        role="user",
    )
    assert result.receipt.counter == "heuristic"
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


def part_altered(draw: st.DrawFn, value: Any) -> Any:
    """The same JSON value with one part of it changed."""
    if isinstance(value, dict) and value:
        name = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)) == 0:
            return {key: item for key, item in value.items() if key != name}
        return {**value, name: part_altered(draw, value[name])}
    if isinstance(value, list) and value:
        index = draw(st.integers(0, len(value) - 1))
        how = draw(st.sampled_from(["inside", "gone", "twice", "swapped"]))
        if how == "gone":
            return value[:index] + value[index + 1 :]
        if how == "twice":
            return [*value[: index + 1], copy.deepcopy(value[index]), *value[index + 1 :]]
        if how == "swapped" and index:
            return [*value[: index - 1], value[index], value[index - 1], *value[index + 1 :]]
        return [*value[:index], part_altered(draw, value[index]), *value[index + 1 :]]
    if isinstance(value, str):
        return value + draw(st.sampled_from(["x", " ", "\n"]))
    if isinstance(value, bool | int | float):
        return value + 1
    return "something" if value is None else [value]


@st.composite
def _messages_altered(draw: st.DrawFn, messages: list[Any]) -> list[Any]:
    altered: list[Any] = part_altered(draw, messages)
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
    # What a message holds beside its blocks and its role is gone with it, and has no digest.
    if covered(altered) == covered(original):
        return
    assert verify_receipt(altered, result) != ()


def covered(messages: list[Any]) -> list[Any]:
    return [
        (said_role(one), [(block.kind, block.value) for block in blocks_of(one)])
        for one in messages
    ]


@given(data=st.data(), case=cases)
def test_whatever_is_altered_in_the_receipt_is_found(data: st.DataObject, case: Any) -> None:
    original, result = case
    fields = result.receipt.to_dict()
    altered = part_altered(data.draw, fields)
    try:
        receipt = Receipt.from_json(json.dumps(altered))
    except ReceiptError:
        return
    if receipt == result.receipt or _differs_in_what_cannot_be_known(receipt, result.receipt):
        return
    assert verify_receipt(original, replace(result, receipt=receipt), counter=COUNTER) != ()


def _differs_in_what_cannot_be_known(one: Receipt, other: Receipt) -> bool:
    """A pointer of somebody's own store, which that store knows; a counter that is not named."""
    return (
        one.counter in (None, other.counter)
        and len(one.removed) == len(other.removed)
        and all(
            a._replace(pointer=b.pointer) == b
            for a, b in zip(one.removed, other.removed, strict=True)
        )
        and replace(one, removed=other.removed, counter=other.counter) == other
    )


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
        ("role", None),
        ("role", "assistant"),
        ("role", "system"),
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


def with_value(fields: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    copied: Any = copy.deepcopy(fields)
    inside = copied
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    return dict(copied)


SECRET = "s3cret of the file"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("schema",), SECRET, "schema: expected ctxaudit.receipt/1, got something else"),
        (("removed",), {}, "removed: expected an array, got an object"),
        (("removed", 0), SECRET, "removed.0: expected an object, got text"),
        (("tokens_before",), -1, "tokens_before: expected 0 or more, got less"),
        (
            ("tokens_before",),
            2**53 + 1,
            "tokens_before: expected at most 9007199254740992, got more",
        ),
        (("tokens_before",), 10**400, "tokens_before: expected at most 9007199254740992, got more"),
        (("tokens_before",), True, "tokens_before: expected a whole number, got true or false"),
        (("tokens_before",), 1.5, "tokens_before: expected a whole number, got another number"),
        (("tokens_before",), "9", "tokens_before: expected a whole number, got text"),
        (
            (SECRET * 1_000,),
            1,
            "receipt: expected the fields of ctxaudit.receipt/1 alone, got an unknown one",
        ),
        (
            ("removed", 0, SECRET),
            1,
            "removed.0: expected the fields of ctxaudit.receipt/1 alone, got an unknown one",
        ),
        (
            ("removed", 0, "kind"),
            SECRET,
            (
                "removed.0.kind: expected text, tool_call, tool_result, thinking or other, "
                "got something else"
            ),
        ),
        (
            ("removed", 0, "sha256"),
            SECRET,
            "removed.0.sha256: expected 64 hex digits, lower case, got other text",
        ),
        (
            ("removed", 0, "sha256"),
            "0" * 64 + "\n",
            "removed.0.sha256: expected 64 hex digits, lower case, got other text",
        ),
        (
            ("removed", 0, "layer"),
            SECRET * 1_000,
            "removed.0.layer: expected at most 10000 characters, got more",
        ),
        (("removed", 0, "pointer"), {}, "removed.0.pointer: expected text, got an object"),
        (("inserted",), [{}], "inserted.0.message: expected a value, got none"),
        (
            ("inserted", 0, "stands_for", 0),
            None,
            "inserted.0.stands_for.0: expected text, got null",
        ),
    ],
)
def test_a_receipt_that_breaks_its_schema_is_refused(
    place: tuple[str | int, ...], value: Any, message: str
) -> None:
    fields = with_value(CASES["responses", 0][1].receipt.to_dict(), place, value)
    with pytest.raises(ReceiptError) as caught:
        Receipt.from_json(json.dumps(fields))
    assert str(caught.value) == message
    assert caught.value.__cause__ is None


def test_a_misspelled_field_is_named_before_the_one_that_is_missing() -> None:
    fields = compacted(talk(9), 110).receipt.to_dict()
    fields["tokens_befor"] = fields.pop("tokens_before")
    with pytest.raises(ReceiptError, match="got an unknown one"):
        Receipt.from_json(json.dumps(fields))


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "JSON, got a mistake in line 1, column 0"),
        ("{", "JSON, got a mistake in line 1, column 1"),
        ("\ufeff{}", "JSON, got a mistake in line 1, column 1"),
        ("[" * 9_000, "JSON, got a mistake in line 1, column "),
        ('"\\ud800"', "JSON, got a mistake in line 1, column 8"),
        (b"\xff", "JSON, got a mistake in line 1, column 1"),
        ("\ud800", "UTF-8, got something else"),
        ("[]", "an object, got an array"),
        ("null", "an object, got null"),
        ('"x"', "an object, got text"),
        ("NaN", "an object, got another number"),
        (None, "text or bytes, got something else"),
    ],
)
def test_what_is_no_receipt_is_refused(text: Any, got: str) -> None:
    with pytest.raises(ReceiptError) as caught:
        Receipt.from_json(text)
    assert str(caught.value).startswith(f"receipt: expected {got}")


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9).map(SECRET.join),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([SECRET, f"{SECRET}\n", "layer"]), inner, max_size=3)
    ),
    max_leaves=9,
)


@given(data=st.data(), value=_values | st.just(SECRET), case=cases)
def test_a_refusal_is_short_and_holds_nothing_of_the_file(
    data: st.DataObject, value: Any, case: Any
) -> None:
    fields: Any = copy.deepcopy(case[1].receipt.to_dict())
    place, inside = [], fields
    while isinstance(inside, dict | list) and inside:
        names: Any = [*range(len(inside))] if isinstance(inside, list) else [*inside, SECRET]
        place.append(data.draw(st.sampled_from(names)))
        if place[-1] == SECRET or data.draw(st.booleans()):
            break
        inside = inside[place[-1]]
    try:
        Receipt.from_json(json.dumps(with_value(fields, tuple(place), value)))
    except ReceiptError as error:
        said = str(error)
        assert ": expected " in said
        assert ", got " in said
        assert said.isprintable()
        assert len(said) < 200
        assert SECRET not in said


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


@pytest.mark.parametrize(
    ("twice", "field"),
    [
        (lambda text: text[:-1] + ',"tokens_after":1}', "tokens_after"),
        (lambda text: '{"sch\\u0065ma":"ctxaudit.receipt/2",' + text[1:], "schema"),
        (lambda text: '{"tokens_before":' + "9" * 4_000 + "," + text[1:], "tokens_before"),
        (lambda text: text.replace('"layer":', '"layer":"x","layer":', 1), "removed.0.layer"),
        (
            lambda text: text.replace('"stands_for":', '"stands_for":[],"stands_for":', 1),
            "inserted.0.stands_for",
        ),
        # What stands under the name that is overruled is nobody's to read.
        (lambda text: '{"removed":{"secret\\n":1,"secret\\n":2},' + text[1:], "removed"),
        (lambda text: '{"removed":' + "[" * 150 + "]" * 150 + "," + text[1:], "removed"),
    ],
)
def test_a_field_that_stands_twice_is_refused(twice: Any, field: str) -> None:
    text = compacted(history("responses"), 0).receipt.to_json()
    altered = twice(text)
    assert altered != text
    for printed in (altered, altered.encode()):
        with pytest.raises(ReceiptError) as caught:
            Receipt.from_json(printed)
        assert str(caught.value) == f"{field}: expected it once, got it twice"
