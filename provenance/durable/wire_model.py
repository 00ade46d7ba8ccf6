"""The shape of a `ctxaudit.state/1` document, and the JSON Schema that is published of it.

Guarantees: strict (a number is no text), closed (an unknown field is an error) and frozen. The
models know shapes only: what a text or a number must be is judged by the values that are built from
them, and repeated here as keywords of the schema.

Example:
    >>> StateRecord.model_validate({"schema": "ctxaudit.state/1"}).facts
    []
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from provenance.durable.instants import TIME_SCHEMA_PATTERN

__all__ = [
    "STATE_SCHEMA",
    "EvidenceRecord",
    "FactRecord",
    "PendingRecord",
    "StateRecord",
    "state_json_schema",
]

STATE_SCHEMA: Final = "ctxaudit.state/1"


class _Record(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, hide_input_in_errors=True, title=None
    )


# The keywords are for the published schema; the values themselves are the judges.
_Text = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})]
_Time = Annotated[str, Field(json_schema_extra={"pattern": TIME_SCHEMA_PATTERN})]


class FactRecord(_Record):
    """One confirmed fact."""

    fact_id: _Text
    content: _Text
    source_pointer: _Text
    last_confirmed_at: _Time


class PendingRecord(_Record):
    """One task; `reason` says why it is blocked."""

    item_id: _Text
    description: _Text
    source_pointer: _Text
    last_confirmed_at: _Time
    status: Literal["open", "blocked", "done"] = "open"
    reason: _Text | None = None


class EvidenceRecord(_Record):
    """Where one retrieved memory came from, and why it was selected."""

    memory_id: _Text
    source_id: _Text
    source_type: _Text
    source_title: str
    captured_at: _Time
    score: Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
    source_rank: Annotated[int, Field(json_schema_extra={"minimum": 1})]
    conflict_key: _Text | None = None


class StateRecord(_Record):
    """A durable state: facts, pending items and retrieval evidence, each id once."""

    model_config = ConfigDict(title=STATE_SCHEMA)

    schema_name: Literal["ctxaudit.state/1"] = Field(alias="schema")
    session: _Text | None = None
    turn: Annotated[int, Field(json_schema_extra={"minimum": 0})] | None = None
    facts: list[FactRecord] = []
    pending_items: list[PendingRecord] = []
    retrieval_evidence: list[EvidenceRecord] = []


def state_json_schema() -> str:
    """Give the JSON Schema of the document as the text of the published file.

    The schema states shapes and ranges. That ids come once and that a day is in the calendar is
    beyond it: only `read_state` says of a document that it is a state.
    """
    schema: dict[str, object] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ctxaudit:state:1",
    }
    schema.update(StateRecord.model_json_schema(by_alias=True))
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
