"""OpenHands: an event each for what is said, called and answered.

Guarantees: a call has the arguments that the model gave; a result has its text, an error and a
rejection too.

Example:
    >>> answer_of({"kind": "AgentErrorEvent", "error": "no such tool"})
    ('no such tool', True)
"""

from __future__ import annotations

from typing import Any

from provenance.histories.builders import CommonBuilder
from provenance.histories.left_out import LeftOut
from provenance.histories.turns import Turns
from provenance.histories.values import arguments, as_text, texts_of
from provenance.transcripts.fields import dict_of
from provenance.transcripts.records import Record

__all__ = ["OpenHandsBuilder", "answer_of"]


class OpenHandsBuilder:
    """Builds the messages of one conversation."""

    def __init__(self, left_out: LeftOut) -> None:
        """Take where to count what is left out."""
        self._left_out = left_out
        self._common = CommonBuilder(left_out)
        self._turns: Turns = self._common.turns

    def take(self, record: Record) -> None:
        """Take the next record."""
        value = record.value
        match record.kind:
            case "MessageEvent" if record.speaker is not None and isinstance(value, dict):
                texts = texts_of(dict_of(value, "llm_message").get("content"))
                self._turns.say(str(record.speaker), "\n".join(texts))
            case "ActionEvent" if record.calls and isinstance(value, dict):
                self._turns.say("assistant", "\n".join(texts_of(value.get("thought"))))
                given = dict_of(value, "tool_call").get("arguments", value.get("action"))
                for call in record.calls:
                    self._turns.call(call.id, call.name, arguments(given))
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" if (
                record.results and isinstance(value, dict)
            ):
                text, is_error = answer_of(value)
                for result in record.results:
                    self._turns.answer(result.call_id, text, is_error=is_error)
            case _:
                self._common.take(record)

    def messages(self) -> list[dict[str, Any]]:
        """Give the messages."""
        return self._turns.messages


def answer_of(event: dict[str, Any]) -> tuple[str, bool]:
    """Give the text of a result, and whether it is an error."""
    for name in ("error", "rejection_reason"):
        if isinstance(found := event.get(name), str):
            return found, True
    observation = dict_of(event, "observation")
    content = observation.get("content")
    texts = texts_of(content)
    text = "\n".join(texts) if texts or content in (None, [], "") else as_text(content)
    return text, observation.get("is_error") is True
