"""What a receipt says was put in, held to the result.

Guarantees: nothing is put in but one summary, of the user, which cites all that it stands for, and
at most the acknowledgement behind it; they stand where what they stand for stood.

Example:
    >>> from provenance.compaction.receipt import Receipt
    >>> from provenance.compaction.verification_rows import Problems
    >>> case = Case([], [], Receipt(0, 0, 0, 0, (), (), ()), Problems())
    >>> check_inserted(case, {})
    >>> case.problems.in_order()
    ()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provenance.compaction import summary
from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.compaction.verification_rows import Case, Place, Row, block_at
from provenance.messages.shapes import BlockKind, field, new_text_message, to_json_value

__all__ = ["check_inserted", "check_place"]

_HEAD = f"{summary.SUMMARY_HEAD}\n"
# The summary, and its acknowledgement.
_MOST = 2


def check_inserted(case: Case, changes: Mapping[Place, ChangedBlock]) -> None:
    """See that what was put in is a summary of what went, and what is said behind it."""
    problems, inserted = case.problems, case.receipt.inserted
    for number, one in enumerate(inserted):
        place = (one.message, one.block)
        block = block_at(case.after, place)
        if number >= _MOST:
            problems.of_result(place, "receipt: expected a summary and its acknowledgement alone")
        elif block is None or case.after[one.message].digests[one.block] != one.sha256:
            problems.of_result(place, "expected the block that was put in, got another")
        elif one.layer != summary.LAYER:
            problems.of_result(place, "layer: expected the summary, got another")
        elif number == 0:
            _check_summary(case, changes, one)
        else:
            _check_acknowledgement(case, changes, one)
    summed_up = [one.sha256 for one in changes.values() if one.layer == summary.LAYER]
    if [*(inserted[0].stands_for if inserted else ())] != summed_up:
        place = (inserted[0].message, inserted[0].block) if inserted else (0, 0)
        problems.of_result(place, "stands_for: expected what the summary removed, got others")


def check_place(case: Case, changes: Mapping[Place, ChangedBlock], kept: Sequence[Place]) -> None:
    """See that the summary stands where what it stands for stood.

    Args:
        case: what is verified.
        changes: what the receipt says of the original, by the place there.
        kept: of each message that stays its place in the original, and its place in the result.
    """
    places = [one.message for one in case.receipt.inserted]
    staying = {index for index, _ in kept}
    summed_up: list[int] = []
    for place, one in changes.items():
        if one.layer != summary.LAYER:
            continue
        if place[0] not in staying:
            summed_up.append(place[0])
        elif one.kind != BlockKind.THINKING.value:  # which goes with what it led to
            text = "message: expected the whole of it to be summed up, got a part"
            case.problems.of_original(place, text)
    if not summed_up or not places:
        return
    first, last = min(summed_up), max(summed_up)
    for index, there in kept:
        if first <= index <= last:
            text = "message: expected it to be summed up with those around it, got it kept"
            case.problems.of_original((index, 0), text)
        elif (there < min(places)) != (index < first):
            text = "expected the summary where what it stands for stood, got another place"
            case.problems.of_result((places[0], 0), text)
            return


def _check_summary(case: Case, changes: Mapping[Place, ChangedBlock], one: InsertedBlock) -> None:
    place, message = (one.message, one.block), case.after[one.message].message
    said = field(message, "content")
    if not isinstance(said, str) or not _is_summary(said):
        text = "content: expected a summary under its heading, got another text"
        case.problems.of_result(place, text)
    elif not _is_put_in(case, changes, message, role="user"):
        case.problems.of_result(place, "message: expected the role and the text, got others")
    if not one.stands_for:
        text = "stands_for: expected what the summary removed, got none"
        case.problems.of_result(place, text)


def _check_acknowledgement(
    case: Case, changes: Mapping[Place, ChangedBlock], one: InsertedBlock
) -> None:
    place, message = (one.message, one.block), case.after[one.message].message
    if field(message, "content") != summary.ACKNOWLEDGEMENT:
        text = "content: expected the acknowledgement, got another text"
        case.problems.of_result(place, text)
    elif not _is_put_in(case, changes, message, role="assistant"):
        case.problems.of_result(place, "message: expected the role and the text, got others")
    if one.message != case.receipt.inserted[0].message + 1:
        text = "message: expected it behind the summary, got another place"
        case.problems.of_result(place, text)
    if one.stands_for:
        case.problems.of_result(place, "stands_for: expected it of the summary alone")


def _is_summary(text: str) -> bool:
    return text.startswith(_HEAD) and bool(text.removeprefix(_HEAD).strip())


def _is_put_in(
    case: Case, changes: Mapping[Place, ChangedBlock], message: object, *, role: str
) -> bool:
    """Whether a message is what a layer puts in, down to the last field."""
    text = str(field(message, "content"))
    return to_json_value(message) in [
        new_text_message(like, role, text) for like in _seen_by_the_summary(case.before, changes)
    ]


def _seen_by_the_summary(
    before: Sequence[Row], changes: Mapping[Place, ChangedBlock]
) -> Iterator[list[object]]:
    """Give the messages that the summary was put among, as far as the receipt tells.

    One that lost a block before may have shown its shape by that block alone: once with those,
    once without.
    """
    whole: list[object] = []
    both: list[object] = []
    for index, row in enumerate(before):
        stays = [
            change is None or change.changed_to is not None or change.layer == summary.LAYER
            for change in (changes.get((index, block.index)) for block in row.blocks)
        ]
        if all(stays):
            whole.append(row.message)
        if any(stays):
            both.append(row.message)
    yield both
    yield whole
