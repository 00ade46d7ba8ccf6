"""The tool protocol: every call has exactly one result, later, from the other side.

Guarantees: a history that passes has for each call id, a non-blank string, one call by an assistant
and one result by the user side in a strictly later message, and no other calls or results. One pass
over the history; nothing is changed.

Example:
    >>> history = [
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls"}]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
    ... ]
    >>> validate_tool_protocol(history)
    {'t1': ToolInteraction(tool_use_message=0, tool_result_message=1)}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from provenance.messages._blocks import Block, BlockKind
from provenance.messages.failures import ToolProtocolError
from provenance.messages.shapes import read_message

__all__ = [
    "ToolInteraction",
    "ToolProtocolError",
    "is_call_id",
    "validate_rows",
    "validate_tool_protocol",
]

# Looked up once: an enumeration is slow to.
_CALL, _RESULT = BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT
_USER_SIDE = frozenset({"user", "tool"})


class ToolInteraction(NamedTuple):
    """Where the two sides of one call stand.

    Attributes:
        tool_use_message: index of the message with the call.
        tool_result_message: index of the message with its result.
    """

    tool_use_message: int
    tool_result_message: int


def validate_tool_protocol(messages: Sequence[object]) -> dict[str, ToolInteraction]:
    """Pair every call of a history with its result.

    Args:
        messages: a history in any of the shapes; never changed.

    Returns:
        Each interaction by its call id, in the order of the calls.

    Raises:
        ToolProtocolError: a call has no id or one that was used before, or is not by an assistant;
            a result is unknown, too early, a second one, or not by the user side; a call has no
            result. The first breach in the order of the messages is named; a call without a result
            is one only at the end.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise ToolProtocolError(
            f"messages: expected a sequence of messages, got {type(messages).__name__}"
        )
    return validate_rows(map(read_message, messages))


def validate_rows(rows: Iterable[tuple[str, Sequence[Block]]]) -> dict[str, ToolInteraction]:
    """The same for a history that was read already: of each message its role and its blocks."""
    called: dict[str, int] = {}
    answered: dict[str, int] = {}
    remaining = iter(enumerate(rows))
    for index, (role, blocks) in remaining:
        for block in blocks:
            kind = block.kind
            if kind is _CALL:
                call_id = _call_id(block, index, "tool call id")
                if role != "assistant" or call_id in called:
                    _refuse_call(call_id, index, role=role, called=called)
                called[call_id] = index
            elif kind is _RESULT:
                call_id = _call_id(block, index, "tool result id")
                if role not in _USER_SIDE:
                    _refuse(index, "role of a tool result", "the user side", _by(role), call_id)
                if call_id not in called:
                    got = "an earlier result" if _is_called(call_id, remaining) else "an unknown id"
                    _refuse(index, "tool result id", "the id of an earlier call", got, call_id)
                if call_id in answered:
                    got = f"a second result, after that of message {answered[call_id]}"
                    _refuse(index, "tool result id", "one result for a call", got, call_id)
                if called[call_id] >= index:
                    expected = f"a message after {called[call_id]}"
                    _refuse(index, "tool result", expected, f"message {index}", call_id)
                answered[call_id] = index
    for call_id, index in called.items():
        if call_id not in answered:
            _refuse(index, "tool call", "one result in a later message", "none", call_id)
    return {call_id: ToolInteraction(index, answered[call_id]) for call_id, index in called.items()}


def is_call_id(value: object) -> bool:
    """Whether a value can be the id of a call: a string that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def _call_id(block: Block, index: int, name: str) -> str:
    call_id = block.call_id
    if isinstance(call_id, str) and call_id.strip():
        return call_id
    got = "a blank string" if isinstance(call_id, str) else type(call_id).__name__
    raise ToolProtocolError(
        f"message {index}: {name}: expected a non-blank string, got {got}", message_index=index
    )


def _refuse_call(call_id: str, index: int, *, role: str, called: Mapping[str, int]) -> None:
    if role != "assistant":
        _refuse(index, "role of a tool call", "an assistant", _by(role), call_id)
    got = f"the id of a call in message {called[call_id]}"
    _refuse(index, "tool call id", "an id used once", got, call_id)


def _is_called(call_id: str, remaining: Iterator[tuple[int, tuple[str, Sequence[Block]]]]) -> bool:
    return any(
        block.kind is _CALL and block.call_id == call_id
        for _, (_, blocks) in remaining
        for block in blocks
    )


def _by(role: str) -> str:
    return role or "no known role"


def _refuse(index: int, name: str, expected: str, got: str, call_id: str) -> None:
    raise ToolProtocolError(
        f"message {index}: {name}: expected {expected}, got {got}",
        message_index=index,
        call_id=call_id,
    )
