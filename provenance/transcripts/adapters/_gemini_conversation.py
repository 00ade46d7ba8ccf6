"""What the lines of a Gemini CLI session mean for its conversation: updates, rewinds, replacements.

Guarantees: pure; each line costs time in proportion to what it changes. Gemini CLI itself reads its
files by these rules: a message of a known id takes the place of the one before; a rewind takes back
the message it names and all after it, and every message where it names none of them.

Example:
    >>> conversation = Conversation()
    >>> for ordinal, message_id in enumerate(["m1", "m2", "m3"], start=2):
    ...     _ = conversation.write(message_id, ordinal)
    >>> conversation.rewind("m2", 5).message
    'rewind: records 3 to 4: in the bytes, no longer in the conversation'
"""

from __future__ import annotations

from collections.abc import Iterable

from provenance.findings import Severity
from provenance.transcripts.ranges import say_numbers
from provenance.transcripts.records import Fault

__all__ = ["Conversation"]


class Conversation:
    """The messages that are in the conversation now, and the records that each stands in."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ordinals: dict[str, list[int]] = {}
        self._written: dict[str, int] = {}

    def write(self, message_id: str, ordinal: int) -> int | None:
        """Take a message; gives the record that it updates, None where its id is new."""
        self._ordinals.setdefault(message_id, []).append(ordinal)
        earlier = self._written.get(message_id)
        self._written[message_id] = ordinal
        return earlier

    def rewind(self, message_id: str, ordinal: int) -> Fault:
        """Take back a message and all after it; all of them where it is not there."""
        taken: list[int] = []
        is_there = message_id in self._ordinals
        while self._ordinals:
            last, ordinals = self._ordinals.popitem()
            taken += ordinals
            if is_there and last == message_id:
                break
        outcome = _say_gone(taken)
        if is_there:
            message = f"rewind: {outcome}"
            return Fault("rewound_records", Severity.INFO, message, ordinal=ordinal)
        message = (
            "rewind: expected the id of a message in the conversation, got another; "
            f"Gemini CLI then drops every message before it: {outcome}"
        )
        return Fault("rewind_target_absent", Severity.WARNING, message, ordinal=ordinal)

    def replace(self, message_ids: Iterable[str], ordinal: int) -> Fault:
        """Put other messages in the place of all; those that were there keep their records."""
        before, now = self._ordinals, {}
        for message_id in message_ids:
            # One that stands in the replacing record alone has no record of its own.
            now[message_id] = before.get(message_id, [])
        self._ordinals = now
        gone = [
            number
            for message_id, ordinals in before.items()
            if message_id not in now
            for number in ordinals
        ]
        message = f"$set: the conversation is now the {len(now)} messages here; {_say_gone(gone)}"
        return Fault("history_replaced", Severity.INFO, message, ordinal=ordinal)


def _say_gone(ordinals: list[int]) -> str:
    if not ordinals:
        return "no record leaves the conversation"
    noun = "record" if len(ordinals) == 1 else "records"
    return f"{noun} {say_numbers(sorted(ordinals))}: in the bytes, no longer in the conversation"
