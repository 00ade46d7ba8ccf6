"""Versions, differences and selections as the JSON documents of docs/states.md.

Guarantees: pure; what is None in a member or candidate is left out.

Example:
    >>> log_json([])
    {'schema': 'ctxaudit.state-log/1', 'states': []}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from provenance.durable import DurableFact, PendingItem, RetrievalEvidence, StateDifference
from provenance.stores import Selection, StateVersion

__all__ = ["difference_json", "item_json", "log_json", "selections_json"]

Item = DurableFact | PendingItem | RetrievalEvidence


def log_json(histories: Iterable[Sequence[StateVersion]]) -> dict[str, object]:
    """Give histories as `ctxaudit.state-log/1`, versions ascending."""
    return {
        "schema": "ctxaudit.state-log/1",
        "states": [
            {"name": history[0].name, "versions": [_version_json(one) for one in history]}
            for history in histories
        ],
    }


def selections_json(
    name: str, version: int | None, selections: Iterable[Selection]
) -> dict[str, object]:
    """Give traces as `ctxaudit.state-selections/1`."""
    return {
        "schema": "ctxaudit.state-selections/1",
        "name": name,
        "version": version,
        "selections": [_selection_json(one) for one in selections],
    }


def difference_json(
    name: str, before: int, after: int, difference: StateDifference
) -> dict[str, object]:
    """Give the difference between two versions as `ctxaudit.state-diff/1`."""
    document: dict[str, object] = {
        "schema": "ctxaudit.state-diff/1",
        "name": name,
        "before": before,
        "after": after,
        "changes": [
            {
                "kind": str(change.kind),
                "id": change.item_id,
                "change": str(change.change),
                "before": item_json(change.before),
                "after": item_json(change.after),
            }
            for change in difference
        ],
        "orders": {str(kind): list(ids) for kind, ids in difference.orders},
    }
    for field, step in (("session", difference.session), ("turn", difference.turn)):
        if step is not None:
            document[field] = {"before": step[0], "after": step[1]}
    return document


def _version_json(version: StateVersion) -> dict[str, object]:
    return {
        "version": version.version,
        "replaces": version.replaces,
        "created_at": version.created_at,
        "author": version.author,
        "note": version.note,
        "sha256": version.sha256,
        "bytes": version.bytes,
        "conflict_keys": dict(version.conflict_keys),
        "changes": [
            {
                "kind": change.kind,
                "id": change.item_id,
                "change": change.change,
                "source_pointer": change.source_pointer,
                "confirmed_at": change.confirmed_at,
                "confirmed_by": change.confirmed_by,
            }
            for change in version.changes
        ],
    }


def _selection_json(one: Selection) -> dict[str, object]:
    return {
        "selection_id": one.selection_id,
        "version": one.version,
        "recorded_at": one.recorded_at,
        "query": one.query,
        "candidates": [
            {
                field.name: value
                for field in fields(candidate)
                if (value := getattr(candidate, field.name)) is not None
            }
            for candidate in one.candidates
        ],
        "winners": list(one.winners),
        "losers": list(one.losers),
        "reasons": dict(one.reasons),
        "resolutions": [
            {"linked_at": linked.linked_at, "resolution": dict(linked.resolution)}
            for linked in one.resolutions
        ],
    }


def item_json(item: Item | None) -> dict[str, object] | None:
    """Give a member as the object that it is in a state's document."""
    if item is None:
        return None
    values: dict[str, object] = {one.name: getattr(item, one.name) for one in fields(item)}
    return {name: value for name, value in values.items() if value is not None}
