"""State documents: what was written reads back equal, all else is one clean error."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable import (
    DurableContextState,
    DurableFact,
    DurableTypeError,
    DurableValueError,
    StateDocumentError,
)
from provenance.errors import CtxauditError
from provenance.limits import Limits
from tests.durable.strategies import POINTER, T0, a_fact, an_item, some_evidence, states

FACT = {
    "fact_id": "f1",
    "content": "It is so.",
    "source_pointer": POINTER,
    "last_confirmed_at": T0,
}
ITEM = {
    "item_id": "p1",
    "description": "Ship it.",
    "source_pointer": POINTER,
    "last_confirmed_at": T0,
}
EVIDENCE = {
    "memory_id": "m1",
    "source_id": "note:7",
    "source_type": "note",
    "source_title": "A title",
    "captured_at": T0,
    "score": 0.5,
    "source_rank": 1,
}


def _document(**changed: object) -> str:
    given_fields: dict[str, object] = {"schema": "ctxaudit.state/1"}
    return json.dumps({**given_fields, **changed})


def _read(text: str) -> DurableContextState:
    return DurableContextState.from_json(text)


def test_what_is_written_is_readable_and_whole() -> None:
    state = DurableContextState([a_fact()], [an_item("p1", "blocked")], [some_evidence()])
    assert json.loads(state.to_json()) == {
        "schema": "ctxaudit.state/1",
        "facts": [FACT],
        "pending_items": [{**ITEM, "status": "blocked", "reason": "waits for review"}],
        "retrieval_evidence": [EVIDENCE],
    }
    assert state.to_json().endswith("\n}\n")
    assert list(json.loads(state.to_json())) == [
        "schema",
        "facts",
        "pending_items",
        "retrieval_evidence",
    ]


def test_session_and_turn_are_written_where_they_are_known() -> None:
    state = DurableContextState(session="s1", turn=0)
    written = json.loads(state.to_json())
    assert (written["session"], written["turn"]) == ("s1", 0)
    assert _read(state.to_json()) == state


@given(states(half_pairs=False))
def test_reading_what_was_written_gives_an_equal_state(state: DurableContextState) -> None:
    text = state.to_json()
    assert _read(text) == state
    assert _read(text).to_json() == text
    text.encode("utf-8")


@given(states(half_pairs=False))
def test_what_is_written_hides_nothing(state: DurableContextState) -> None:
    hidden = [
        char
        for char in state.to_json()
        if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char != "\n"
    ]
    assert hidden == []


def test_letters_of_every_script_are_written_as_they_are() -> None:
    assert "\u6f22\u5b57 \U0001f600" in DurableContextState([a_fact("f1", "漢字 😀")]).to_json()


@pytest.mark.parametrize(
    "text",
    [
        _document(),
        _document(facts=[], pending_items=[], retrieval_evidence=[], session=None, turn=None),
        " \n\t" + _document() + "\r\n",
    ],
)
def test_an_empty_state_has_many_documents(text: str) -> None:
    assert _read(text) == DurableContextState()


def test_optional_fields_may_be_left_out_or_null() -> None:
    text = _document(
        pending_items=[ITEM, {**ITEM, "item_id": "p2", "status": "open", "reason": None}],
        retrieval_evidence=[EVIDENCE, {**EVIDENCE, "memory_id": "m2", "conflict_key": None}],
    )
    state = _read(text)
    assert state.pending_items[0] == an_item()
    assert state.retrieval_evidence[0] == some_evidence()


def test_a_whole_number_is_a_score() -> None:
    state = _read(_document(retrieval_evidence=[{**EVIDENCE, "score": 1}]))
    assert type(state.retrieval_evidence[0].score) is float


def test_a_bad_pointer_is_read() -> None:
    state = _read(_document(facts=[{**FACT, "source_pointer": "../../etc; x"}]))
    assert state.facts[0].source_pointer == "../../etc; x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_document(colour=1), "colour: expected a field of ctxaudit.state/1, got an unknown field"),
        (_document(facts=[{**FACT, "factid": 1}]), "facts[0].factid: expected a field"),
        (_document(facts=[FACT, {"fact_idd": "x"}]), "facts[1].fact_idd: expected a field"),
        (_document(pending_items=[{**ITEM, "Reason": "x"}]), "pending_items[0].Reason: "),
        (_document(retrieval_evidence=[{**EVIDENCE, "text": "x"}]), "retrieval_evidence[0].text: "),
        (_document(**{"schema ": 1}), "'schema ': expected a field"),
        (_document(**{"\x1b[31m\n": 1}), "'\\x1b[31m\\n': expected a field"),
        (_document(**{"": 1}), "'': expected a field"),
        (_document(**{"x" * 5000: 1}), "xxx...': expected a field"),
        (_document(schema_name="x"), "schema_name: expected a field"),
        ("{}", "schema: expected a value, got none"),
        (_document(schema="ctxaudit.state/2"), "schema: expected one of the values"),
        (_document(schema="ctxaudit.state/2"), "got 'ctxaudit.state/2'"),
        (_document(schema=None), "schema: expected one of the values"),
        (_document(facts=[{}]), "facts[0].fact_id: expected a value, got none (and 3 more)"),
        (_document(facts={}), "facts: expected an array, got an object"),
        (_document(facts=None), "facts: expected an array, got null"),
        (_document(facts=["f1"]), "facts[0]: expected an object, got text"),
        (
            _document(facts=[{**FACT, "content": 3}]),
            "facts[0].content: expected text, got a number",
        ),
        (_document(facts=[{**FACT, "content": True}]), "content: expected text, got true or false"),
        (_document(facts=[{**FACT, "content": " "}]), "facts[0].content: expected text, must not"),
        (_document(facts=[FACT, FACT]), "fact ids: expected no duplicate, got 'f1' twice"),
        (_document(pending_items=[ITEM, ITEM]), "pending item ids: "),
        (_document(retrieval_evidence=[EVIDENCE] * 2), "retrieval evidence memory ids: "),
        (
            _document(facts=[{**FACT, "last_confirmed_at": "2026-01-01T09:00"}]),
            "facts[0].last_confirmed_at: must include a timezone",
        ),
        (_document(facts=[{**FACT, "last_confirmed_at": 0}]), "last_confirmed_at: expected text"),
        (_document(pending_items=[{**ITEM, "status": "shut"}]), "pending_items[0].status: "),
        (_document(pending_items=[{**ITEM, "status": None}]), "pending_items[0].status: "),
        (_document(pending_items=[{**ITEM, "reason": ""}]), "pending_items[0].reason: "),
        (_document(pending_items=[{**ITEM, "reason": 1}]), "pending_items[0].reason: "),
        (_document(retrieval_evidence=[{**EVIDENCE, "score": "0.5"}]), "[0].score: expected a num"),
        (_document(retrieval_evidence=[{**EVIDENCE, "score": True}]), "[0].score: expected a num"),
        (_document(retrieval_evidence=[{**EVIDENCE, "score": 1.5}]), "[0].score: expected a fini"),
        (_document(retrieval_evidence=[{**EVIDENCE, "source_rank": 1.0}]), "[0].source_rank: "),
        (_document(retrieval_evidence=[{**EVIDENCE, "source_rank": 0}]), "[0].source_rank: "),
        (_document(retrieval_evidence=[{**EVIDENCE, "source_rank": 10**301}]), "[0].source_rank: "),
        (_document(session=""), "session: expected text, must not be empty"),
        (_document(session=3), "session: expected text, got a number"),
        (_document(turn=-1), "turn: expected a whole number of 0"),
        (_document(turn=True), "turn: expected a whole number, got true or false"),
        ("[]", "document: expected an object, got an array"),
        ("null", "document: expected an object, got null"),
        ("3", "document: expected an object, got a number"),
        ('"text"', "document: expected an object, got text"),
        ("", "document: expected JSON, got a mistake in line 1, column 1"),
        ("{", "document: expected JSON, got a mistake in line 1, column 2"),
        (_document() + "x", "document: expected JSON, got a mistake in line 1"),
        (_document() + _document(), "document: expected JSON, got a mistake in line 1"),
        ("{'schema': 1}", "document: expected JSON"),
        ('{"schema": "ctxaudit.state/1",}', "document: expected JSON"),
        ('{"session": "a\nb"}', "document: expected JSON"),
        ('{"session": "\\x"}', "document: expected JSON"),
        ("\ufeff" + _document(), "document: expected JSON, got a byte order mark before it"),
        ("\x00", "document: expected JSON"),
        ('{"schema": "ctxaudit.state/1", "schema": "ctxaudit.state/1"}', "schema: expected once"),
        ('{"facts": [{"fact_id": "a", "fact_id": "b"}]}', "fact_id: expected once in an object"),
        ('{"turn": 1, "\\u0074urn": 2}', "turn: expected once in an object"),
        ('{"session": "\\ud800"}', "session: expected text that a file can hold"),
        ('{"session": "\udc00"}', "session: expected text that a file can hold"),
        ('{"facts": [{"content": "a\\udfffb"}]}', "content: expected text that a file can hold"),
        ('{"schema": "ctxaudit.state/1", "\\ud800": 1}', "'\\ud800': expected text that"),
    ],
)
def test_a_mistake_is_named(text: str, said: str) -> None:
    with pytest.raises(StateDocumentError) as caught:
        _read(text)
    message = str(caught.value)
    assert said in message
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", "score: expected a finite number"),
        ("Infinity", "score: expected a finite number"),
        ("-Infinity", "score: expected a finite number"),
        ("1e999", "score: expected a finite number"),
        ("9" * 900, "score: expected a number"),
        ("9" * 5000, "score: expected a finite number"),
        ("0." + "1" * 5000, "score: expected a finite number"),
    ],
)
def test_a_score_that_is_no_number_is_named(number: str, said: str) -> None:
    text = _document(retrieval_evidence=[EVIDENCE]).replace("0.5", number)
    with pytest.raises(StateDocumentError, match=said):
        _read(text)


@pytest.mark.parametrize(
    "number",
    ["NaN", "1e3", "1.0", "9" * 301, "9" * 900, "9" * 5000, "9" * 2_000_000, "-" + "9" * 99],
)
def test_a_turn_that_is_no_count_is_named(number: str) -> None:
    with pytest.raises(StateDocumentError, match=r"^turn: expected a whole number"):
        _read(_document(turn=7).replace("7", number))


def test_a_long_fraction_still_is_a_score() -> None:
    text = _document(retrieval_evidence=[EVIDENCE]).replace("0.5", "0.5" + "0" * 900)
    assert _read(text).retrieval_evidence[0].score == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[" * 200_000 + "]" * 200_000,
        '{"a":' * 200_000 + "1" + "}" * 200_000,
        _document(facts=[FACT])[:-1] + ', "x": ' + "[" * 200_000 + "]" * 200_000 + "}",
        "]" * 10 + "[" * 200_000,
    ],
    ids=["open", "arrays", "objects", "inside", "closed first"],
)
def test_deep_nesting_is_one_clean_error(text: str) -> None:
    with pytest.raises(StateDocumentError, match=r"^document: expected at most 16 levels"):
        _read(text)


def test_millions_of_members_are_refused_before_they_are_built() -> None:
    text = '{"schema":"ctxaudit.state/1","facts":[' + "{}," * 300_000 + "{}]}"
    with pytest.raises(
        StateDocumentError, match="expected at most 250000 opening braces, got more"
    ):
        DurableContextState.from_json(text)


def test_an_unknown_field_that_nests_a_little_is_named() -> None:
    with pytest.raises(StateDocumentError, match=r"^x: expected a field"):
        _read(_document(x=[[[[{"a": [1]}]]]]))


def test_brackets_inside_texts_do_not_count_as_nesting() -> None:
    content = '[{"\\' * 10_000
    assert _read(_document(facts=[{**FACT, "content": content}])).facts[0].content == content


def test_a_large_document_is_refused_by_its_size() -> None:
    text = _document()
    limits = Limits(max_document_bytes=len(text))
    assert DurableContextState.from_json(text, limits=limits) == DurableContextState()
    with pytest.raises(StateDocumentError, match=r"^document: expected at most"):
        DurableContextState.from_json(text + " ", limits=limits)


@pytest.mark.parametrize("wrong", [None, 3, b"{}", {}, DurableContextState()])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    with pytest.raises(DurableTypeError, match=r"^document: expected text"):
        DurableContextState.from_json(wrong)


@pytest.mark.parametrize(
    ("state", "field"),
    [
        (DurableContextState([a_fact(), a_fact("\ud800")]), r"facts\[1\].fact_id"),
        (DurableContextState((), [an_item("\udfff")]), r"pending_items\[0\].item_id"),
        (
            DurableContextState((), (), [some_evidence(title="\ud800")]),
            r"retrieval_evidence\[0\].source_title",
        ),
        (DurableContextState(session="a\ud800"), "session"),
    ],
)
def test_what_no_file_can_hold_is_not_written(state: DurableContextState, field: str) -> None:
    with pytest.raises(StateDocumentError, match=rf"^{field}: expected text that a file can hold"):
        state.to_json()


def test_a_mistake_is_told_without_the_texts_of_the_document() -> None:
    secret = "a secret that is not for a log"
    for changed in ({**FACT, "content": [secret]}, {**FACT, "content": secret, "x": secret}):
        with pytest.raises(StateDocumentError) as caught:
            _read(_document(facts=[changed]))
        error: BaseException | None = caught.value
        while error is not None:
            assert secret not in str(error)
            error = error.__cause__


def test_a_mistake_is_found_under_a_small_stack_too() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(StateDocumentError):
        _read('{"a":' * limit + "1" + "}" * limit)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ("schema", "facts", "pending_items", "retrieval_evidence", "session", "turn", "other")
        ),
        _JSON | st.just("ctxaudit.state/1") | st.just([FACT]) | st.just([ITEM]),
    )
)
def test_any_object_is_a_state_or_one_error(content: dict[str, object]) -> None:
    try:
        state = _read(json.dumps(content))
    except DurableValueError:
        return
    assert _read(state.to_json()) == state


@given(st.text() | st.text(alphabet='{}[]",:0123456789.eE+-\\u tfnalsr'))
def test_any_text_is_a_state_or_one_error(text: str) -> None:
    with pytest.raises(CtxauditError):
        _read(text)


def test_from_json_is_found_on_the_type_and_to_json_on_the_value() -> None:
    fact = DurableFact("f1", "It is so.", POINTER, T0)
    assert DurableContextState.from_json(DurableContextState([fact]).to_json()).facts == (fact,)
