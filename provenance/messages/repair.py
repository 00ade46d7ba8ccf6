"""Repairs a history whose calls and results do not pair.

Guarantees: whatever goes in, what comes out passes `validate_tool_protocol`, and repairing it again
changes nothing. The same history is repaired the same way, and each thing done is reported. The
input is never changed; messages that need no repair are given back as the same objects. Time is
linear in the blocks.

What is decided, and why:

- A result belongs to the latest turn with an open call of its id; calls of one id within one turn
  get their results in order. An older open call of that id was interrupted.
- The second use of an id gets a fresh id, and so does its result. Both happened, so dropping them
  would lose evidence that nothing else holds; a fresh id loses nothing.
- Blank ids, and ids that are no strings, count as one id, and get fresh ones too.
- Fresh ids come from the place of the call, so that a history that grows keeps those it has.
- An interrupted call keeps its place, arguments and thinking, and is answered. Only a call that is
  not by an assistant, or whose answer would have to be a picture, is dropped, and then the thinking
  goes that led to nothing else.

Example:
    >>> history = [
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls"}]},
    ...     {"role": "user", "content": "Never mind."},
    ... ]
    >>> messages, repairs = repair_tool_protocol(history)
    >>> repairs[0].kind.value, [block["type"] for block in messages[1]["content"]]
    ('answered_interrupted_call', ['tool_result', 'text'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from provenance.frozen import sealed
from provenance.messages._answers import INTERRUPTED_TEXT, answer_to, with_answers
from provenance.messages._blocks import Block
from provenance.messages._pairing import Pairing, RepairKind, pair
from provenance.messages.failures import ToolProtocolError
from provenance.messages.shapes import blocks_of, role_of, with_call_ids, without_blocks
from provenance.messages.thinking import bound_thinking

__all__ = ["INTERRUPTED_TEXT", "Repair", "RepairKind", "repair_tool_protocol"]

_Rows = Sequence[tuple[str, Sequence[Block]]]
_Place = tuple[int, int]


@sealed
@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that a repair did.

    Attributes:
        message_index: the place of the message in the history that was given.
        block_index: the place of the block in it, as `blocks_of` counts.
        call_id: the id as it was; None where it was no string, or the block has none.
        kind: what was done.
        new_call_id: the fresh id of a call or result; the id that an interrupted call is answered
            by; None for what was dropped.
    """

    message_index: int
    block_index: int
    call_id: str | None
    kind: RepairKind
    new_call_id: str | None = None


def repair_tool_protocol(
    messages: Sequence[object],
) -> tuple[list[object], tuple[Repair, ...]]:
    """Make calls and results pair.

    Args:
        messages: a history in any of the shapes; never changed.

    Returns:
        The repaired history, and what was done in the order of the history; nothing, where nothing
        was wrong.

    Raises:
        ToolProtocolError: it is no sequence of messages at all.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise ToolProtocolError(
            f"messages: expected a sequence of messages, got {type(messages).__name__}"
        )
    rows = [(role_of(message), blocks_of(message)) for message in messages]
    plan = pair(rows)
    answers = _answers(messages, plan)
    for place in bound_thinking(rows, plan.dropped.keys()):
        plan.dropped[place] = RepairKind.DROPPED_THINKING
    kept = _edited(messages, plan)
    places = {index: place for place, (index, _) in enumerate(kept)}
    repaired = with_answers(
        [message for _, message in kept],
        {places[index]: found for index, found in answers.items()},
    )
    return repaired, _report(rows, plan, answers)


def _answers(messages: Sequence[object], plan: Pairing) -> dict[int, list[tuple[Block, object]]]:
    """The answers to interrupted calls, by message; a call that can have none is dropped."""
    found: dict[int, list[tuple[Block, object]]] = {}
    for call in plan.calls:
        if call.is_answered:
            continue
        block = msgspec.structs.replace(call.block, call_id=call.call_id)
        answer = answer_to(messages[call.message], block)
        if answer is None:
            place = (call.message, block.index)
            plan.dropped[place] = RepairKind.DROPPED_UNANSWERABLE_CALL
            plan.renamed.pop(place, None)
        else:
            found.setdefault(call.message, []).append((block, answer))
    return found


def _edited(messages: Sequence[object], plan: Pairing) -> list[tuple[int, object]]:
    """Each message that is left, with its place, renamed and thinned as planned."""
    ids: dict[int, dict[int, str]] = {}
    for (index, block), call_id in plan.renamed.items():
        ids.setdefault(index, {})[block] = call_id
    gone: dict[int, list[int]] = {}
    for index, block in plan.dropped:
        gone.setdefault(index, []).append(block)
    kept: list[tuple[int, object]] = []
    for index, message in enumerate(messages):
        new: object | None = with_call_ids(message, ids[index]) if index in ids else message
        if index in gone:
            new = without_blocks(new, gone[index])
            if new is None:
                continue
        kept.append((index, new))
    return kept


def _report(
    rows: _Rows, plan: Pairing, answers: Mapping[int, Sequence[tuple[Block, object]]]
) -> tuple[Repair, ...]:
    found: list[Repair] = []

    def note(place: _Place, kind: RepairKind, new_call_id: str | None = None) -> None:
        index, block = place
        call_id = rows[index][1][block].call_id
        known = call_id if isinstance(call_id, str) else None
        found.append(Repair(index, block, known, kind, new_call_id))

    calls = {(call.message, call.block.index) for call in plan.calls}
    for place, new_call_id in plan.renamed.items():
        kind = RepairKind.RENAMED_CALL if place in calls else RepairKind.RENAMED_RESULT
        note(place, kind, new_call_id)
    for place, kind in plan.dropped.items():
        note(place, kind)
    for index, answered in answers.items():
        for block, _ in answered:
            answered_by = block.call_id if isinstance(block.call_id, str) else None
            note((index, block.index), RepairKind.ANSWERED_INTERRUPTED_CALL, answered_by)
    # Renamed before answered: the sort keeps the order in which they were noted.
    return tuple(sorted(found, key=lambda repair: (repair.message_index, repair.block_index)))
