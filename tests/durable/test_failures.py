"""Errors: one tree, and what a caller can catch them as."""

from __future__ import annotations

import pytest

from provenance.durable import (
    DurableTypeError,
    DurableValueError,
    ForbiddenTransitionError,
    RenderedContextError,
    SourceBindingError,
    StateDocumentError,
    UnknownPendingItemError,
)
from provenance.errors import CallerError, CtxauditError, DataError


@pytest.mark.parametrize(
    ("error", "fault", "builtin"),
    [
        (DurableValueError, DataError, ValueError),
        (DurableTypeError, DataError, TypeError),
        (DurableTypeError, DataError, ValueError),
        (StateDocumentError, DataError, ValueError),
        (RenderedContextError, DataError, ValueError),
        (ForbiddenTransitionError, CallerError, ValueError),
        (SourceBindingError, CallerError, ValueError),
        (UnknownPendingItemError, CallerError, KeyError),
    ],
)
def test_an_error_says_whose_fault_it_is(
    error: type[CtxauditError], fault: type[CtxauditError], builtin: type[Exception]
) -> None:
    assert issubclass(error, fault)
    assert issubclass(error, builtin)


def test_codes_are_distinct() -> None:
    errors: list[type[CtxauditError]] = [
        DurableTypeError,
        DurableValueError,
        ForbiddenTransitionError,
        RenderedContextError,
        SourceBindingError,
        StateDocumentError,
        UnknownPendingItemError,
    ]
    assert len({error.code for error in errors}) == len(errors)


def test_an_unknown_id_prints_without_quotes() -> None:
    assert str(UnknownPendingItemError("item_id: expected x")) == "item_id: expected x"
    assert str(UnknownPendingItemError()) == ""
