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
from provenance.compaction.verification_costs import check_costs
from provenance.compaction.verification_inserted import check_inserted, check_place
from provenance.compaction.verification_removed import (
    LAYERS,
    Changed,
    check_interactions,
    check_removed,
    wrongly_changed,
)
from provenance.compaction.verification_rows import (
    Case,
    Place,
    Problems,
    ReceiptProblem,
    Row,
    has_same_rest,
    is_same_block,
    read_rows,
)
from provenance.messages.shapes import Block, BlockKind
from provenance.messages.tokens import TokenCounter

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
        counter: the one that the compaction counted with: the costs are counted again, and a
            receipt that names another one is a problem. Without it they are counted again where the
            receipt names the estimate, or names nothing and the estimate gives its total of the
            original; of any other receipt the sums have to agree with one another.

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
    check_costs(case, changes, counter)
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
    changed = [
        Changed(block, change, there)
        for block, there in zip(blocks, standing.blocks, strict=False)
        if (change := changes.get((index, block.index))) is not None
    ]
    wrong = wrongly_changed(row, standing, changed) if changed else ()
    for block, there in zip(blocks, standing.blocks, strict=False):
        place, change = (index, block.index), changes.get((index, block.index))
        is_there = (
            is_same_block(row, block, standing, there)
            if change is None
            else standing.digests[there.index] == change.changed_to
        )
        if there.kind is not block.kind or not is_there:
            return place, f"{block.kind.value}: expected it in the result, got another block"
        if block.index in wrong:
            return place, f"{block.kind.value}: expected it shortened, with a notice that is true"
    place = (index, blocks[-1].index)
    if len(blocks) != len(standing.blocks):
        return place, f"message: expected {len(blocks)} blocks, got {len(standing.blocks)}"
    if row.role != standing.role or not has_same_rest(row, standing):
        return place, "message: expected its role and fields in the result, got others"
    return None


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
