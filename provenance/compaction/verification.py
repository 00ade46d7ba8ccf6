"""Whether a result and its receipt account for the original: read `verify_receipt`.

Guarantees: no problem is named where kept blocks and receipt cover the original exactly once, and
what was changed or put in is what the layers change and put in. A problem names the first place
that does not fit, and holds no text of a message. Nothing is changed.

Example:
    >>> from provenance.compaction import compact_context
    >>> messages = [{"role": "user", "content": "hello"}]
    >>> result = compact_context(messages, None)
    >>> verify_receipt(messages, result)
    ()
    >>> verify_receipt([{"role": "user", "content": "Hello"}], result)[0].text
    'text: expected it in the result, got another block'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from provenance.compaction import truncation
from provenance.compaction.changes import ChangedBlock
from provenance.compaction.receipt import Receipt
from provenance.compaction.verification_inserted import check_inserted, check_place
from provenance.compaction.verification_removed import (
    LAYERS,
    check_interactions,
    check_removed,
    is_changed_to,
)
from provenance.compaction.verification_rows import (
    Case,
    Place,
    Problems,
    ReceiptProblem,
    Row,
    block_at,
    has_same_rest,
    read_rows,
)
from provenance.messages.shapes import Block, BlockKind
from provenance.messages.tokens import HeuristicCounter, TokenCounter

__all__ = ["ReceiptProblem", "Receipted", "verify_receipt"]

_COUNTS = ("tokens_before", "tokens_after", "applied_layers")


class Receipted(Protocol):
    """A `CompactionResult`, or anything with its messages and receipt."""

    @property
    def messages(self) -> Sequence[object]:
        """The messages after the compaction."""
        ...

    @property
    def receipt(self) -> Receipt:
        """The receipt of the compaction."""
        ...


def verify_receipt(
    original: Sequence[object], result: Receipted, *, counter: TokenCounter | None = None
) -> tuple[ReceiptProblem, ...]:
    """Say whether kept blocks and receipt cover the original exactly once.

    Args:
        original: the messages before the compaction.
        result: a `CompactionResult`, or anything with its `messages` and `receipt`.
        counter: the one that the compaction counted with: the costs are counted again. Without it
            they are by the estimate, where that gives the same total of the original; else the
            costs are not looked at.

    Returns:
        The problems: those of the original in its order, then those of the result. Empty where
        there is none.
    """
    case = Case(read_rows(original), read_rows(result.messages), result.receipt, Problems())
    # 1. What the receipt says of the original, and of the result.
    changes = check_removed(case)
    check_interactions(case, changes)
    check_inserted(case, changes)
    # 2. All else, message for message.
    kept = _check_kept(case, changes)
    check_place(case, changes, kept)
    # 3. The numbers.
    has_counter = counter is not None
    counter = counter or HeuristicCounter()
    total = _total(case.before, counter)
    # Without one it was the estimate, by all that can be told, where that gives the same total.
    if has_counter or total == case.receipt.tokens_before:
        _check_costs(case, changes, counter, total)
    _check_counts(case, result)
    _check_layers(case)
    return case.problems.in_order()


def _check_kept(case: Case, changes: Mapping[Place, ChangedBlock]) -> list[Place]:
    """See that what stays is the original; gives where each message was, and where it is."""
    problems = case.problems
    put_in = {one.message for one in case.receipt.inserted}
    rest = [(index, row) for index, row in enumerate(case.after) if index not in put_in]
    kept: list[Place] = []
    for index, row in enumerate(case.before):
        blocks = [
            block
            for block in row.blocks
            if (change := changes.get((index, block.index))) is None
            or change.changed_to is not None
        ]
        if not blocks:
            continue
        if len(kept) == len(rest):
            text = f"{blocks[0].kind.value}: expected it in the result, got the end"
            problems.of_original((index, blocks[0].index), text)
            return kept
        there, standing = rest[len(kept)]
        wrong = _difference(index, row, blocks, standing, changes)
        if wrong is not None:
            problems.of_original(*wrong)
            return kept
        kept.append((index, there))
    if len(kept) < len(rest):
        place = (rest[len(kept)][0], 0)
        problems.of_result(place, "expected the end of the result, got a message more")
    return kept


def _difference(
    index: int,
    row: Row,
    blocks: Sequence[Block],
    standing: Row,
    changes: Mapping[Place, ChangedBlock],
) -> tuple[Place, str] | None:
    for block, there in zip(blocks, standing.blocks, strict=False):
        place, change = (index, block.index), changes.get((index, block.index))
        digest = row.digests[block.index] if change is None else change.changed_to
        if there.kind is not block.kind or standing.digests[there.index] != digest:
            return place, f"{block.kind.value}: expected it in the result, got another block"
        if change is not None and not is_changed_to(row, block, change, there):
            return place, f"{block.kind.value}: expected it shortened, with a notice that is true"
    place = (index, blocks[-1].index)
    if len(blocks) != len(standing.blocks):
        return place, f"message: expected {len(blocks)} blocks, got {len(standing.blocks)}"
    if row.role != standing.role or not has_same_rest(row, standing):
        return place, "message: expected its role and fields in the result, got others"
    return None


def _total(rows: Sequence[Row], counter: TokenCounter) -> int:
    return sum([row.cost(counter) for row in rows])


def _check_costs(
    case: Case, changes: Mapping[Place, ChangedBlock], counter: TokenCounter, total: int
) -> None:
    counted: tuple[int, tuple[int, ...]] = (-1, ())
    for place, one in changes.items():
        if block_at(case.before, place) is None:
            continue
        if counted[0] != place[0]:
            counted = (place[0], case.before[place[0]].costs(counter))
        cost = counted[1][place[1]]
        if one.tokens != cost:
            case.problems.of_original(place, f"tokens: expected {cost}, got {one.tokens}")
    said = case.receipt.tokens_before
    if said != total:
        place = (len(case.before), 0)
        case.problems.of_original(place, f"tokens_before: expected {total}, got {said}")
    total, said = _total(case.after, counter), case.receipt.tokens_after
    if said != total:
        place = (len(case.after), 0)
        case.problems.of_result(place, f"tokens_after: expected {total}, got {said}")


def _check_counts(case: Case, result: Receipted) -> None:
    """See that the counts are true, and the same in the result itself where it has them."""
    receipt, place = case.receipt, (len(case.before), 0)
    if receipt.original_messages != place[0]:
        text = f"original_messages: expected {place[0]}, got {receipt.original_messages}"
        case.problems.of_original(place, text)
    place = (len(case.after), 0)
    if receipt.result_messages != place[0]:
        text = f"result_messages: expected {place[0]}, got {receipt.result_messages}"
        case.problems.of_result(place, text)
    for name in _COUNTS:
        if getattr(result, name, getattr(receipt, name)) != getattr(receipt, name):
            text = f"{name}: expected the same in result and receipt, got two"
            case.problems.of_result(place, text)


def _check_layers(case: Case) -> None:
    """See that the layers which are named are those that did what the receipt lists."""
    receipt, problems, place = case.receipt, case.problems, (len(case.after), 0)
    applied = receipt.applied_layers
    if [name for name in LAYERS if name in applied] != [*applied]:
        problems.of_result(place, "applied_layers: expected layers in their order, got others")
    # What cost nothing saved nothing, and a layer is named for what it saved.
    must = {one.layer for one in receipt.removed if one.changed_to is not None or one.tokens}
    may = {one.layer for one in receipt.removed}
    # What layer 1 shortened may have gone later, in the name of another.
    if any(one.kind == BlockKind.TOOL_RESULT.value for one in receipt.removed):
        may.add(truncation.LAYER)
    for name in LAYERS:
        if name in must and name not in applied:
            problems.of_result(place, f"applied_layers: expected {name} among them, got none")
        elif name in applied and name not in may:
            problems.of_result(place, f"applied_layers: expected nothing of {name}, got it named")
