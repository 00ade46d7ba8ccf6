"""What one record of Codex is: its kind, its calls and results, who says it, and its text.

Guarantees: pure; nothing raises, whatever an object holds. A record's kind is its outer type; only
where its payload is of a type that is not known does the kind name that too, so that a new version
of the agent is noticed.

Example:
    >>> shape_of({"type": "event_msg", "payload": {"type": "token_count"}}).kind
    'event_msg'
    >>> shape_of({"type": "event_msg", "payload": {"type": "hologram"}})[:2]
    ('event_msg/hologram', False)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from provenance.transcripts.adapters._codex_types import (
    ANSWERED_CALLS,
    EVENTS,
    OUTPUTS,
    RESPONSE_ITEMS,
    UNANSWERED_CALLS,
    WRAPPERS,
)
from provenance.transcripts.fields import dict_of, dicts_in, text_of, texts_in
from provenance.transcripts.records import Call, CallResult, Speaker

__all__ = [
    "OUTER_TYPES",
    "Shape",
    "Talk",
    "calls_in",
    "is_header",
    "is_own",
    "is_telling",
    "ordinal_in",
    "results_in",
    "say",
    "shape_of",
    "texts_of",
]

_PAYLOADS = {"response_item": RESPONSE_ITEMS, "event_msg": EVENTS}
# What the outer type of a line may be, since September 2025.
OUTER_TYPES = WRAPPERS | _PAYLOADS.keys()
# Fields of other formats whose lines may look alike.
_FOREIGN_FIELDS = frozenset({"sequence", "event_id", "sessionId", "uuid"})
_MAX_ORDINAL = (1 << 64) - 1
_SAID = ("name", "message", "text", "arguments", "input", "last_agent_message")


class Shape(NamedTuple):
    """What sort of record an object is; `item` is the item of the Responses API in it."""

    kind: str
    is_known: bool
    item: dict[str, Any] | None = None


class Talk:
    """Whose turn it is, as far as the records before tell.

    Which records are of one answer of the model is not written down. What follows a call with no
    output between them is of the call's own answer, and the output of one call says nothing of
    another that was made beside it: neither shows that the talk went on, so neither has a speaker.
    """

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._is_calling = False  # calls were made, and no output has come yet
        self._waiting: set[str] = set()  # the calls of that answer that have no output

    def speaker(self, item: dict[str, Any], calls: tuple[Call, ...]) -> Speaker | None:
        """Say who says the next record of the conversation."""
        speaker = _speaker_of(item)
        if item.get("type") in OUTPUTS:
            self._is_calling = False
            self._waiting.difference_update(result.call_id for result in results_in(item))
            return None if self._waiting else speaker
        if speaker is Speaker.USER or (speaker is not None and not self._is_calling):
            self._is_calling = False
            self._waiting.clear()
        elif speaker is not None:
            speaker = None
        self._is_calling = self._is_calling or bool(calls)
        self._waiting.update(call.id for call in calls)
        return speaker


def shape_of(value: dict[str, Any]) -> Shape:
    """Tell what sort of record an object is."""
    kind = text_of(value, "type")
    if kind is None:
        state = text_of(value, "record_type")
        if state is not None:
            return Shape(state, state == "state")
        return Shape("(none)", is_header(value))
    if kind in _PAYLOADS:
        payload = value.get("payload")
        what = text_of(payload, "type") if isinstance(payload, dict) else None
        is_known = what in _PAYLOADS[kind]
        item = payload if kind == "response_item" and isinstance(payload, dict) else None
        return Shape(kind if is_known else f"{kind}/{what or '(none)'}", is_known, item)
    if kind in WRAPPERS:
        return Shape(kind, is_known=True)
    if kind in RESPONSE_ITEMS and "payload" not in value:
        return Shape(kind, is_known=True, item=value)
    return Shape(kind, is_known=False)


def is_header(value: dict[str, Any]) -> bool:
    """Say whether a record is a session's first one, in its newer or older shape."""
    if "type" in value:
        return value.get("type") == "session_meta" and isinstance(value.get("payload"), dict)
    return (
        text_of(value, "id") is not None
        and text_of(value, "timestamp") is not None
        and "instructions" in value
    )


def is_own(value: dict[str, Any]) -> bool:
    """Say whether an object that was found on a damaged line is a record."""
    kind = text_of(value, "type")
    if kind is None:
        return is_header(value) or value.get("record_type") == "state"
    if "payload" in value:
        return "timestamp" in value
    return kind in RESPONSE_ITEMS


def is_telling(value: dict[str, Any], *, has_name: bool) -> bool:
    """Say whether an object is one that only Codex writes.

    Args:
        value: one of a file's first records.
        has_name: the file is named as a rollout is. A bare item is what others write too, so it
            tells nothing without that.
    """
    if not _FOREIGN_FIELDS.isdisjoint(value):
        return False
    kind = text_of(value, "type")
    if kind is None:
        return is_header(value) or value == {"record_type": "state"}
    if isinstance(value.get("payload"), dict):
        return kind in OUTER_TYPES and isinstance(value.get("timestamp"), str)
    return has_name and kind in RESPONSE_ITEMS and "payload" not in value


def ordinal_in(value: dict[str, Any]) -> str | None:
    """Give the ordinal that newer versions write, as text; None where there is none."""
    ordinal = value.get("ordinal")
    if type(ordinal) is int and 0 <= ordinal <= _MAX_ORDINAL:
        return str(ordinal)
    return None


def calls_in(item: dict[str, Any]) -> tuple[Call, ...]:
    """Give the call that an item is, if an output with its id belongs to it."""
    what = item.get("type")
    # What the provider searched itself is answered under no id.
    if not isinstance(what, str) or what not in ANSWERED_CALLS or _is_of_provider(item):
        return ()
    call_id = text_of(item, "call_id")
    if call_id is None and what == "local_shell_call":
        call_id = text_of(item, "id")
    if call_id is None:
        return ()
    return (Call(call_id, text_of(item, "name") or what.removesuffix("_call")),)


def results_in(item: dict[str, Any]) -> tuple[CallResult, ...]:
    """Give the result that an item is, if it names its call."""
    what, call_id = text_of(item, "type"), text_of(item, "call_id")
    if what not in OUTPUTS or call_id is None or _is_of_provider(item):
        return ()
    return (CallResult(call_id),)


def say(value: Any) -> str:  # noqa: ANN401 - whatever a file holds
    """Give the text of a record: what was said, asked of a tool, or answered by it."""
    if not isinstance(value, dict):
        return ""
    body = dict_of(value, "payload") or value
    parts = [text for key in _SAID if (text := text_of(body, key)) is not None]
    parts.extend(texts_in(dict_of(body, "action").get("command")))
    for key in ("summary", "content", "output"):
        parts.extend(texts_of(body.get(key)))
    return "\n".join(parts)


def texts_of(content: object) -> Iterator[str]:
    """Give the texts of a field that is text itself, or a list of parts that have it."""
    if isinstance(content, str):
        yield content
    for part in dicts_in(content):
        if (text := text_of(part, "text")) is not None:
            yield text


def _is_of_provider(item: dict[str, Any]) -> bool:
    return item.get("execution") == "server"


def _speaker_of(item: dict[str, Any]) -> Speaker | None:
    what = text_of(item, "type")
    if what == "message":
        role = text_of(item, "role")
        return Speaker(role) if role in ("user", "assistant") else None
    if what in OUTPUTS or what == "agent_message":  # the words of another agent to this one
        return Speaker.USER
    if what in ANSWERED_CALLS or what in UNANSWERED_CALLS or what == "reasoning":
        return Speaker.ASSISTANT
    return None
