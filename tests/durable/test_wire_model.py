"""The published schema is that of the model, and agrees with the reader about samples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from provenance.durable import DurableContextState
from provenance.durable.wire_model import StateRecord, state_json_schema
from provenance.schemas import load_schema
from tests.durable.strategies import states
from tests.durable.test_wire import EVIDENCE, FACT, ITEM

SCHEMA: dict[str, Any] = json.loads(state_json_schema())
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_published_file_is_what_the_model_gives() -> None:
    # After a change: write state_json_schema() to provenance/schemas/state.schema.json.
    assert load_schema("state") == state_json_schema()


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:ctxaudit:state:1"
    assert SCHEMA["properties"]["schema"]["const"] == "ctxaudit.state/1"


def test_models_are_strict_closed_and_frozen() -> None:
    assert StateRecord.model_config["strict"] is True
    assert StateRecord.model_config["extra"] == "forbid"
    record = StateRecord.model_validate({"schema": "ctxaudit.state/1"})
    with pytest.raises(ValueError, match="frozen"):
        setattr(record, "turn", 3)  # noqa: B010 - the type checker refuses it as well


@given(states(half_pairs=False))
def test_what_is_written_is_valid(state: DurableContextState) -> None:
    VALIDATOR.validate(json.loads(state.to_json()))


def _with(name: str, member: dict[str, object]) -> dict[str, object]:
    return {"schema": "ctxaudit.state/1", name: [member]}


@pytest.mark.parametrize(
    "document",
    [
        _with("facts", dict(FACT)),
        _with("pending_items", dict(ITEM)),
        _with("pending_items", {**ITEM, "status": "done", "reason": None}),
        _with("pending_items", {**ITEM, "status": "blocked", "reason": "waits"}),
        _with("pending_items", {**ITEM, "status": "blocked"}),
        _with("pending_items", {**ITEM, "status": "done", "reason": "waits"}),
        _with("retrieval_evidence", {**EVIDENCE, "score": 1, "conflict_key": None}),
        {"schema": "ctxaudit.state/1", "session": "s1", "turn": 0},
    ],
)
def test_schema_and_reader_accept_alike(document: dict[str, object]) -> None:
    VALIDATOR.validate(document)
    DurableContextState.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"schema": "ctxaudit.state/2"},
        {"schema": "ctxaudit.state/1", "other": 1},
        {"schema": "ctxaudit.state/1", "turn": -1},
        {"schema": "ctxaudit.state/1", "turn": "1"},
        {"schema": "ctxaudit.state/1", "session": " "},
        {"schema": "ctxaudit.state/1", "facts": None},
        _with("facts", {**FACT, "other": 1}),
        _with("facts", {**FACT, "content": "\n"}),
        _with("facts", {**FACT, "last_confirmed_at": "2026-01-01T09:00:00"}),
        _with("pending_items", {**ITEM, "status": "shut"}),
        _with("pending_items", {**ITEM, "reason": " "}),
        _with("retrieval_evidence", {**EVIDENCE, "score": 1.1}),
        _with("retrieval_evidence", {**EVIDENCE, "score": True}),
        _with("retrieval_evidence", {**EVIDENCE, "source_rank": 0}),
        _with("retrieval_evidence", {**EVIDENCE, "conflict_key": ""}),
        _with("retrieval_evidence", {k: v for k, v in EVIDENCE.items() if k != "source_title"}),
    ],
)
def test_schema_and_reader_refuse_alike(document: object) -> None:
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(ValueError, match=": "):
        DurableContextState.from_json(json.dumps(document))
