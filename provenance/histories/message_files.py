r"""Files of messages: a list, an object around one, or lines with a message each.

Guarantees: strict JSON (no NaN, no key twice, bounded nesting); what is no list of messages is one
error that says where. What is written again is of the shape that was read, and an object keeps all
its other fields.

Example:
    >>> file = parse_message_file(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    >>> file.shape.value, file.field
    ('object', 'messages')
    >>> file.with_messages([]).decode()
    '{"model":"m","messages":[]}\n'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from provenance.canonical import NumberText
from provenance.histories.failures import HistoryError
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.messages import role_of
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

__all__ = ["MessageFile", "MessageFileShape", "parse_message_file", "print_messages"]

_FIELDS = ("messages", "input")
_SYSTEM_FIELDS = ("system", "instructions")
_MARKS = frozenset({"role", "type"})
# Items of the Responses shape that say by their type alone what they are, and not who by.
_ITEMS = ("item_reference", "message")
_INTEGER_DIGITS = 4_000
_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number",
          float: "a number", type(None): "null"}  # fmt: skip


class MessageFileShape(StrEnum):
    """What stands around the messages of a file."""

    LIST = "list"
    OBJECT = "object"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file of messages, as it was read.

    Attributes:
        messages: in their order.
        shape: what stands around them.
        field: the field that holds them, of an object.
        request: the other fields of an object.
    """

    messages: list[dict[str, Any]]
    shape: MessageFileShape
    field: str = ""
    request: Mapping[str, Any] | None = None

    @property
    def system(self) -> object:
        """The system prompt beside the messages; None where there is none."""
        request = self.request or {}
        return next((request[name] for name in _SYSTEM_FIELDS if request.get(name)), None)

    @property
    def tools(self) -> Sequence[object]:
        """The tools beside the messages."""
        found = (self.request or {}).get("tools")
        return found if isinstance(found, list) else ()

    def with_messages(self, messages: Sequence[object]) -> bytes:
        """Give the file with other messages in it, in the shape that it has."""
        match self.shape:
            case MessageFileShape.LINES:
                return b"".join(_printed(message) + b"\n" for message in messages)
            case MessageFileShape.OBJECT:
                whole = {
                    name: list(messages) if name == self.field else value
                    for name, value in (self.request or {}).items()
                }
                return _printed(whole) + b"\n"
            case MessageFileShape.LIST:
                return print_messages(messages)


def print_messages(messages: Sequence[object]) -> bytes:
    """Print a list of messages, one a line."""
    if not messages:
        return b"[]\n"
    return b"[\n" + b",\n".join(map(_printed, messages)) + b"\n]\n"


def parse_message_file(data: bytes, *, limits: Limits = DEFAULT_LIMITS) -> MessageFile:
    """Read a file of messages.

    Args:
        data: a JSON list of messages; an object with them in `messages` or `input`; or JSON Lines,
            a message a line.
        limits: bounds on what is read.

    Raises:
        HistoryError: it is none of these; the message says where.
    """
    if len(data) > limits.max_document_bytes:
        raise HistoryError(f"file: expected at most {limits.max_document_bytes} bytes, got more")
    _require_text(data)
    start = data.lstrip(b" \t\r\n")
    if not start:
        raise HistoryError("file: expected messages, got nothing")
    if start.startswith(b"{"):
        lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        first = _one_line(lines[0][1], limits)
        if first is not None and (len(lines) > 1 or _is_message(first)):
            return _from_lines(lines, limits)
    value = _parse(data, "file", limits)
    if isinstance(value, list):
        return MessageFile(_messages(value, "message"), MessageFileShape.LIST)
    if not isinstance(value, dict):
        raise HistoryError(f"file: expected a list of messages, got {_name(value)}")
    return _from_object(value)


def _from_object(value: dict[str, Any]) -> MessageFile:
    named = [name for name in _FIELDS if name in value]
    if len(named) != 1:
        got = "both" if named else "an object with neither"
        raise HistoryError(
            f"file: expected messages, or an object with messages or input, got {got}"
        )
    name = named[0]
    if not isinstance(value[name], list):
        raise HistoryError(f"{name}: expected a list of messages, got {_name(value[name])}")
    messages = _messages(value[name], name)
    return MessageFile(messages, MessageFileShape.OBJECT, name, value)


def _from_lines(lines: list[tuple[int, bytes]], limits: Limits) -> MessageFile:
    messages = [_parse(line, f"line {number}", limits) for number, line in lines]
    for (number, _), message in zip(lines, messages, strict=True):
        _require_message(message, f"line {number}")
    return MessageFile(messages, MessageFileShape.LINES)


def _messages(values: list[Any], name: str) -> list[dict[str, Any]]:
    for number, value in enumerate(values):
        _require_message(value, f"{name} {number}")
    return values


def _require_message(value: object, place: str) -> None:
    if not isinstance(value, dict):
        raise HistoryError(f"{place}: expected an object, got {_name(value)}")
    if "role" not in value and value.get("type") not in _ITEMS and not role_of(value):
        raise HistoryError(
            f"{place}: expected a message with a role or an item, got another object"
        )


def _is_message(value: dict[str, Any]) -> bool:
    """Whether the one object of a file is a message, and no request with messages in it."""
    return not _MARKS.isdisjoint(value) and not any(name in value for name in _FIELDS)


def _one_line(line: bytes, limits: Limits) -> dict[str, Any] | None:
    """Give the object that a line is by itself; None where it is none."""
    try:
        value = _parse(line, "line", limits)
    except HistoryError:
        return None
    return value if isinstance(value, dict) else None


def _require_text(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise HistoryError(
            f"file: expected UTF-8, got another byte at offset {error.start}"
        ) from None


def _parse(data: bytes, place: str, limits: Limits) -> Any:  # noqa: ANN401 - a parsed value
    try:
        value = parse_strict(data, max_nesting=limits.max_nesting)
    except NotStrictJson as error:
        raise HistoryError(f"{place}: {error}") from None
    return _held(value, place)


def _held(value: Any, place: str) -> Any:  # noqa: ANN401 - a parsed value
    """Give the value with each number as one of Python's; changed in place, it is ours."""
    if isinstance(value, NumberText):
        return _number(value.text, place)
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for key, item in _members(holder):
            if isinstance(item, NumberText):
                holder[key] = _number(item.text, place)
            elif isinstance(item, dict | list):
                waiting.append(item)
    return value


def _members(holder: object) -> Iterator[tuple[Any, Any]]:
    if isinstance(holder, dict):
        yield from list(holder.items())
    elif isinstance(holder, list):
        yield from enumerate(holder)


def _number(text: str, place: str) -> int:
    # It has to be written again as it is, and no float holds it.
    if text.lstrip("-").isdecimal() and len(text) <= _INTEGER_DIGITS:
        return int(text)
    raise HistoryError(f"{place}: expected numbers that can be written again, got a larger one")


def _name(value: object) -> str:
    return _NAMES.get(type(value), "another value")


def _printed(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Only a half of a surrogate pair cannot be encoded; so written, it is an escape of JSON.
    return text.encode("utf-8", "backslashreplace")
