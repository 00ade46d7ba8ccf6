"""What is refused in durable state, by whose fault.

Guarantees: each error is one line, "field: expected X, got Y", and holds no fact, description,
title or reason text. A value of the wrong type is a `TypeError` and a `ValueError` in one, so that
a caller who guards against bad values needs one `except`.

Example:
    >>> issubclass(DurableTypeError, ValueError) and issubclass(DurableTypeError, TypeError)
    True
"""

from __future__ import annotations

from provenance.errors import CallerError, DataError

__all__ = [
    "DurableTypeError",
    "DurableValueError",
    "ForbiddenTransitionError",
    "RenderedContextError",
    "SourceBindingError",
    "StateDocumentError",
    "StateMismatchError",
    "UnknownPendingItemError",
]


class DurableValueError(DataError, ValueError):
    """A field of a durable value breaks its rule."""

    code = "invalid_durable_value"


class DurableTypeError(DurableValueError, TypeError):
    """A field of a durable value has the wrong type."""

    code = "invalid_durable_type"


class StateDocumentError(DurableValueError):
    """A text is no `ctxaudit.state/1` document, or a state cannot be written as one."""

    code = "invalid_state_document"


class RenderedContextError(DataError, ValueError):
    """A text is no rendered durable context."""

    code = "invalid_rendered_context"


class ForbiddenTransitionError(CallerError, ValueError):
    """A pending item may not make this move, or not at this time."""

    code = "forbidden_transition"


class StateMismatchError(CallerError, ValueError):
    """A difference was to be applied to a state that is not the one it was made from."""

    code = "state_mismatch"


class UnknownPendingItemError(CallerError, KeyError):
    """No pending item has the id that was named."""

    code = "unknown_pending_item"

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return str(self.args[0]) if self.args else ""


class SourceBindingError(CallerError, ValueError):
    """Source resolutions do not belong to the state that they are to be rendered with."""

    code = "source_binding"
