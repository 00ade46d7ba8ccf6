"""What is refused about messages, by whose fault.

Guarantees: each error is one line, "message N: field: expected X, got Y", and holds no text of any
message.

Example:
    >>> issubclass(ToolProtocolError, ValueError)
    True
"""

from __future__ import annotations

from provenance.errors import CallerError, DataError

__all__ = ["NotAToolResultError", "ToolProtocolError", "UnknownProviderError"]


class ToolProtocolError(DataError, ValueError):
    """Calls and results of a history do not pair.

    Attributes:
        message_index: the place of the message that breaks the rule; None: it is the list itself.
        call_id: the id in question, where it is a string.
    """

    code = "tool_protocol"

    def __init__(
        self, text: str, *, message_index: int | None = None, call_id: str | None = None
    ) -> None:
        """Take the one line, the place and the id."""
        super().__init__(text)
        self.message_index = message_index
        self.call_id = call_id


class NotAToolResultError(CallerError, ValueError):
    """A place of a message was named that holds no tool result."""

    code = "not_a_tool_result"


class UnknownProviderError(CallerError, ValueError):
    """No rules are known for the provider that was named."""

    code = "unknown_provider"
