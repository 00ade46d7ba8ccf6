"""What the events of OpenHands are, one at a time.

Guarantees: pure functions that take any JSON object; nothing in it makes them raise.

Example:
    >>> event = {"kind": "ActionEvent", "tool_call_id": "c1", "tool_name": "terminal"}
    >>> calls_of(event), speaker_of({**event, "source": "agent"})
    ((Call(id='c1', name='terminal'),), <Speaker.ASSISTANT: 'assistant'>)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from provenance.transcripts.fields import dict_of, text_of
from provenance.transcripts.records import (
    Call,
    CallResult,
    OutputFile,
    Reference,
    Speaker,
)

__all__ = [
    "ACP_CALL",
    "KNOWN_KINDS",
    "AcpCalls",
    "calls_of",
    "is_event",
    "kind_of",
    "parent_of",
    "references_of",
    "results_of",
    "say",
    "speaker_of",
]

_RESULTS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
# What the agent or the user says; a state, a prompt or a log is said by nobody.
_SAID = frozenset({"MessageEvent", "ActionEvent"})
# A call of another agent's tool: one event each time that its state changes.
ACP_CALL = "ACPToolCallEvent"
KNOWN_KINDS = frozenset(
    {
        *_RESULTS,
        *_SAID,
        ACP_CALL,
        "Condensation",
        "CondensationRequest",
        "CondensationSummaryEvent",
        "ConversationErrorEvent",
        "ConversationStateUpdateEvent",
        "HookExecutionEvent",
        "InterruptEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "SecurityAnalysisEvent",
        "ServerErrorEvent",
        "StreamingDeltaEvent",
        "SystemPromptEvent",
        "TokenEvent",
    }
)
_SOURCES = frozenset({"agent", "user", "environment", "hook"})
_SPEAKERS = {"user": Speaker.USER, "agent": Speaker.ASSISTANT}
# The parent of an event that begins a tree of its own.
_ROOT = "__root__"
_FINAL = frozenset({"completed", "failed"})

# The notice that stands where an output was cut.
_find_saved = re.compile(
    r"The complete output has been saved to ([^\n]{1,4096}?) - you can use other tools"
).search
_is_output_file = re.compile(r"[A-Za-z_]{1,64}_output_[0-9a-f]{8}\.[a-z]{1,8}").fullmatch


def kind_of(event: dict[str, Any]) -> str:
    """Give the kind of an event."""
    return text_of(event, "kind") or "(none)"


def is_event(value: dict[str, Any]) -> bool:
    """Say whether an object is an event of a known kind."""
    return (
        kind_of(value) in KNOWN_KINDS
        and text_of(value, "source") in _SOURCES
        and text_of(value, "id") is not None
        and text_of(value, "timestamp") is not None
    )


def parent_of(event: dict[str, Any]) -> str | None:
    """Give the id of the event that it follows, where it names one."""
    parent = text_of(event, "parent_id")
    return None if parent == _ROOT else parent


def speaker_of(event: dict[str, Any]) -> Speaker | None:
    """Say whose part of the conversation an event is."""
    kind = kind_of(event)
    if kind in _RESULTS:
        return Speaker.USER
    if kind == ACP_CALL:
        return Speaker.ASSISTANT
    return _SPEAKERS.get(text_of(event, "source") or "") if kind in _SAID else None


def calls_of(event: dict[str, Any]) -> tuple[Call, ...]:
    """Give the tool call that an event is."""
    if kind_of(event) != "ActionEvent":
        return ()
    inner = dict_of(event, "tool_call")
    call_id = text_of(event, "tool_call_id") or text_of(inner, "id")
    name = text_of(event, "tool_name") or text_of(inner, "name")
    return () if call_id is None else (Call(call_id, name),)


def results_of(event: dict[str, Any]) -> tuple[CallResult, ...]:
    """Give the result of a tool call that an event is."""
    call_id = text_of(event, "tool_call_id")
    return (CallResult(call_id),) if kind_of(event) in _RESULTS and call_id is not None else ()


class AcpCalls:
    """The calls of another agent's tools, each of which is told of by several events."""

    def __init__(self) -> None:
        self._open: dict[str, bool] = {}

    def take(self, event: dict[str, Any]) -> tuple[tuple[Call, ...], tuple[CallResult, ...]]:
        """Give the call where an event is the first of it, its result where it is done."""
        call_id = text_of(event, "tool_call_id")
        if call_id is None:
            return (), ()
        calls: tuple[Call, ...] = ()
        results: tuple[CallResult, ...] = ()
        if call_id not in self._open:
            calls = (Call(call_id, text_of(event, "tool_kind")),)
            self._open[call_id] = True
        if self._open[call_id] and text_of(event, "status") in _FINAL:
            results = (CallResult(call_id),)
            self._open[call_id] = False
        return calls, results


def references_of(event: dict[str, Any]) -> Iterator[Reference]:
    """Give what an event says exists elsewhere."""
    # 1. The events that it is about; where one is not there, the result without a call says so.
    for name in ("action_id", "message_id"):
        found = text_of(event, name)
        if found is not None:
            yield Reference(kind=name, records=(found,), is_optional=True)
    # 2. The events that a summary stands for.
    forgotten = event.get("forgotten_event_ids")
    if kind_of(event) == "Condensation" and isinstance(forgotten, list):
        ids = tuple(dict.fromkeys(item for item in forgotten if isinstance(item, str) and item))
        if ids:
            yield Reference(kind="forgotten_event_ids", records=ids)
    # 3. The file that holds the whole of an output.
    path = _output_file(event)
    if path is not None:
        yield Reference(kind="full_output", file=OutputFile(path))


def _output_file(event: dict[str, Any]) -> str | None:
    observation = dict_of(event, "observation")
    place = text_of(observation, "full_output_save_dir")
    if place is None:
        return None
    if _is_output_file(place.rpartition("/")[2]):
        return place
    # The words may stand in an output by chance: they count for a file of that folder alone.
    folder = f"{place.rstrip('/')}/"
    for text in _texts(observation.get("content")):
        found = _find_saved(text)
        if found is not None and found[1].startswith(folder):
            return found[1]
    return None


def say(event: dict[str, Any]) -> str:
    """Give what an event says: to a person, to a tool, or what a tool said."""
    said: list[str] = []
    for outer, inner in (
        ("llm_message", "content"),
        ("observation", "content"),
        ("tool_call", "arguments"),
    ):
        said += _texts(dict_of(event, outer).get(inner))
    names = (
        "thought",
        "system_prompt",
        "summary",
        "error",
        "rejection_reason",
        "detail",
        "content",
    )
    for name in names:
        said += _texts(event.get(name))
    return "\n".join(said)


def _texts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text
