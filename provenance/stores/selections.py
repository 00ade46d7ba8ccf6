"""Traces of retrievals, and verification results, as the documents that are kept of them.

Guarantees: pure. Winners and losers part the candidates; a conflict has one winner. What is read is
judged by the same rules as what is written. No recalled text and no excerpt of evidence is kept.

Example:
    >>> trace = make_trace("disk?", ["m1", "m2"], winners=["m1"], reasons={"m2": "older"})
    >>> read_trace(write_trace(trace)).losers
    ('m2',)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from provenance.canonical import canonical_json
from provenance.durable.failures import DurableValueError
from provenance.durable.fields import (
    optional_text,
    require_score,
    require_text,
    require_unique,
    require_whole_number,
    shown,
)
from provenance.frozen import sealed
from provenance.resolution import SourceResolution
from provenance.stores.failures import ConflictKeyTaken, StoreArgumentError, StoreDamaged
from provenance.stores.values import SelectionCandidate

__all__ = [
    "MAX_TRACE_BYTES",
    "Trace",
    "make_trace",
    "read_resolution",
    "read_trace",
    "write_resolution",
    "write_trace",
]

# A query with ten thousand candidates has about 2 MiB.
MAX_TRACE_BYTES = 16 << 20
_SCHEMA = "ctxaudit.selection/1"
# SQLite, and most readers of JSON, hold whole numbers of 64 bits.
_MAX_RANK = (1 << 53) - 1


@sealed
@dataclass(frozen=True, slots=True)
class Trace:
    """What a retrieval was asked, considered, chose and why."""

    query: str
    candidates: tuple[SelectionCandidate, ...]
    winners: tuple[str, ...]
    losers: tuple[str, ...]
    reasons: Mapping[str, str]


def make_trace(
    query: str,
    candidates: Iterable[object],
    *,
    winners: Iterable[str],
    losers: Iterable[str] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Trace:
    """Build a trace.

    Args:
        query: what was asked for.
        candidates: memory ids, `SelectionCandidate`s, or hits as `capture_retrieval_evidence`
            takes them.
        winners: memory ids, best first.
        losers: memory ids; None: every candidate that did not win.
        reasons: why, by memory id; anybody's reason may be left out.

    Raises:
        StoreArgumentError: a value breaks its rule, or the parts do not fit together.
        ConflictKeyTaken: two winners of one conflict.
    """
    try:
        asked = require_text(query, "query")
        considered = tuple(map(_candidate, candidates))
        won = tuple(require_text(one, "winners") for one in winners)
        ids = [one.memory_id for one in considered]
        require_unique(ids, "candidates")
        require_unique(won, "winners")
        rest = [one for one in ids if one not in set(won)]
        lost = rest if losers is None else [require_text(one, "losers") for one in losers]
        require_unique(lost, "losers")
        why = {
            require_text(key, "reasons"): require_text(one, "reasons")
            for key, one in (reasons or {}).items()
        }
    except DurableValueError as error:
        raise StoreArgumentError(str(error)) from error
    known = set(ids)
    for field, names in (("winners", won), ("losers", lost), ("reasons", tuple(why))):
        strange = next((one for one in names if one not in known), None)
        if strange is not None:
            raise StoreArgumentError(
                f"{field}: expected the memory id of a candidate, got {shown(strange)}"
            )
    if sorted(lost) != sorted(rest):
        raise StoreArgumentError(
            "losers: expected every candidate that did not win, once, got others"
        )
    _require_one_winner(considered, frozenset(won))
    return Trace(asked, considered, won, tuple(lost), why)


def write_trace(trace: Trace) -> bytes:
    """Give the document that is kept of a trace.

    Raises:
        StoreArgumentError: it is too large, or holds half a surrogate pair.
    """
    return _encode(
        {
            "schema": _SCHEMA,
            "query": trace.query,
            "candidates": [_filled(one) for one in trace.candidates],
            "winners": list(trace.winners),
            "losers": list(trace.losers),
            "reasons": dict(trace.reasons),
        }
    )


def read_trace(document: bytes) -> Trace:
    """Read a kept trace.

    Raises:
        StoreDamaged: it is none.
    """
    try:
        record = _TraceRecord.model_validate_json(document)
        return make_trace(
            record.query,
            [
                SelectionCandidate(**{key: value for key, value in one if value is not None})
                for one in record.candidates
            ],
            winners=record.winners,
            losers=record.losers,
            reasons=record.reasons,
        )
    except (ValidationError, StoreArgumentError, ConflictKeyTaken) as error:
        raise StoreDamaged(f"selection: expected a {_SCHEMA} document, got another") from error


def write_resolution(resolution: SourceResolution) -> bytes:
    """Give the document that is kept of a verification result: never its excerpt.

    Raises:
        StoreArgumentError: it is none, or cannot be written.
    """
    if not isinstance(resolution, SourceResolution):
        raise StoreArgumentError(
            f"resolution: expected SourceResolution, got {type(resolution).__name__}"
        )
    document = _encode(resolution.to_dict(include_excerpt=False))
    try:
        read_resolution(document)
    except StoreDamaged as error:
        raise StoreArgumentError("resolution: expected a result of the resolver's") from error
    return document


def read_resolution(document: bytes) -> dict[str, object]:
    """Read a kept verification result, as `SourceResolution.to_dict` gives it.

    Raises:
        StoreDamaged: it is none.
    """
    try:
        return _ResolutionRecord.model_validate_json(document).model_dump()
    except ValidationError as error:
        raise StoreDamaged("resolution: expected a verification result, got another") from error


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class _CandidateRecord(_Record):
    memory_id: str
    score: float | None = None
    source_rank: int | None = None
    source_id: str | None = None
    conflict_key: str | None = None


class _TraceRecord(_Record):
    schema_name: Literal["ctxaudit.selection/1"] = Field(alias="schema")
    query: str
    candidates: list[_CandidateRecord]
    winners: list[str]
    losers: list[str]
    reasons: dict[str, str]


class _ResolutionRecord(_Record):
    pointer: str
    status: Literal["available", "missing", "denied", "corrupt", "unsupported"]
    source_type: str | None
    evidence_sha256: str | None
    reason: str | None
    strength: str | None
    conclusive: bool
    quiescence: str | None
    native_id: str | None


def _candidate(given: object) -> SelectionCandidate:
    if isinstance(given, str):
        return SelectionCandidate(require_text(given, "candidates"))
    source: object = getattr(given, "provenance", None)
    source_id: object = getattr(given if source is None else source, "source_id", None)
    rank: object = getattr(given, "source_rank", None)
    if rank is None:
        rank = getattr(given, "rank", None)
    score: object = getattr(given, "score", None)
    if rank is not None and require_whole_number(rank, "source_rank", minimum=1) > _MAX_RANK:
        raise DurableValueError("source_rank: expected a smaller whole number, got a huge one")
    return SelectionCandidate(
        memory_id=require_text(getattr(given, "memory_id", None), "memory_id"),
        score=None if score is None else require_score(score, "score"),
        source_rank=None if rank is None else require_whole_number(rank, "source_rank", minimum=1),
        source_id=optional_text(source_id, "source_id"),
        conflict_key=optional_text(getattr(given, "conflict_key", None), "conflict_key"),
    )


def _require_one_winner(candidates: Iterable[SelectionCandidate], winners: frozenset[str]) -> None:
    taken: dict[str, str] = {}
    for one in candidates:
        key = one.conflict_key
        if key is None or one.memory_id not in winners:
            continue
        if key in taken:
            raise ConflictKeyTaken(
                f"conflict key {shown(key)}: expected one winner, got {shown(taken[key])} and "
                f"{shown(one.memory_id)}"
            )
        taken[key] = one.memory_id


def _filled(candidate: SelectionCandidate) -> dict[str, object]:
    values = {one.name: getattr(candidate, one.name) for one in fields(candidate)}
    return {name: value for name, value in values.items() if value is not None}


def _encode(document: dict[str, object]) -> bytes:
    try:
        data = canonical_json(document).encode()
    except UnicodeEncodeError as error:
        raise StoreArgumentError(
            "text: expected one that a file can hold, got half of a surrogate pair"
        ) from error
    if len(data) > MAX_TRACE_BYTES:
        raise StoreArgumentError(
            f"selection: expected at most {MAX_TRACE_BYTES} bytes, got {len(data)}"
        )
    return data
