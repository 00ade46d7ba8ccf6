"""Every assignment to a frozen value is refused in the same way."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

from provenance import (
    DurableContextState,
    DurableFact,
    Finding,
    Limits,
    Location,
    PendingItem,
    RetrievalEvidence,
    Severity,
    SourceResolution,
    SourceResolutionStatus,
    parse_source_pointer,
)

TIME = "2026-01-01T09:00:00Z"
VALUES = [
    parse_source_pointer("transcript:s1:3"),
    SourceResolution("transcript:s1:3", SourceResolutionStatus.MISSING),
    Limits(),
    Location(),
    Finding("hard_link", Severity.INFO, "s1"),
    DurableFact("f1", "It is so.", "transcript:s1:3", TIME),
    PendingItem("p1", "Ship it.", "transcript:s1:3", TIME),
    RetrievalEvidence("m1", "note:7", "note", "", TIME, 0.5, 1),
    DurableContextState(),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_assigning_and_deleting_are_refused(value: object) -> None:
    for name in (type(value).__slots__[0], "no_such_field"):  # type: ignore[attr-defined]
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1)
        with pytest.raises(AttributeError):
            delattr(value, name)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_still_copy_and_pickle(value: object) -> None:
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
