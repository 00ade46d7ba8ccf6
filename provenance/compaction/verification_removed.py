"""What a receipt says of the original, held to the original.

Guarantees: each block that it names stands there, once and in order, and is what the receipt says.
A call leaves with its result. A pointer leads to the text of the block, as far as it says so.

Example:
    >>> from provenance.compaction.receipt import Receipt
    >>> from provenance.compaction.verification_rows import Problems
    >>> check_removed(Case([], [], Receipt(0, 0, 0, 0, (), (), ()), Problems()))
    {}
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from provenance.compaction import deduplication, pruning, summary, truncation
from provenance.compaction.canonical_form import canonical_block
from provenance.compaction.changes import ChangedBlock, call_id_of, said_role
from provenance.compaction.notices import is_shortened, possible_pointers
from provenance.compaction.spilling import kept_text
from provenance.compaction.verification_rows import (
    Case,
    Place,
    Row,
    block_at,
    is_same_block,
)
from provenance.messages.failures import ToolProtocolError
from provenance.messages.protocol import validate_rows
from provenance.messages.shapes import (
    Block,
    BlockKind,
    text_in_result,
    with_result_texts,
)
from provenance.pointers import (
    SourcePointerError,
    SourcePointerKind,
    UnsupportedSourcePointerError,
    parse_source_pointer,
)

__all__ = ["LAYERS", "Changed", "check_interactions", "check_removed", "wrongly_changed"]

LAYERS = (truncation.LAYER, deduplication.LAYER, pruning.LAYER, summary.LAYER)
_SIDES = (BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT)


def check_removed(case: Case) -> dict[Place, ChangedBlock]:
    """Compare each entry with the block that it names; gives the entries by their place."""
    problems = case.problems
    found: dict[Place, ChangedBlock] = {}
    last = (-1, -1)
    for one in case.receipt.removed:
        place = (one.message, one.block)
        block = block_at(case.before, place)
        if place in found:
            problems.of_original(place, "receipt: expected a block once, got it twice")
        elif place < last:
            problems.of_original(place, "receipt: expected the order of the original, got another")
        elif block is None:
            problems.of_original(place, "receipt: expected a block of the original, got none there")
        else:
            digest = case.before[one.message].digests[one.block]
            role = said_role(case.before[one.message].message)
            if one.role != role:
                text = "role: expected that of the original message, got another"
                problems.of_original(place, text)
            for text in _differences(one, block, digest):
                problems.of_original(place, text)
        last = max(last, place)
        found[place] = one
    return found


def _differences(one: ChangedBlock, block: Block, digest: str) -> Iterator[str]:
    if one.sha256 != digest:
        yield "sha256: expected the digest of the original block, got another"
    if one.kind != block.kind.value:
        yield f"kind: expected {block.kind.value}, got another"
    if one.call_id != call_id_of(block):
        yield "call_id: expected that of the original block, got another"
    # Layer 1 alone leaves a block in another form; what it shortened may be removed later.
    if one.layer not in LAYERS or (one.changed_to is not None) != (one.layer == truncation.LAYER):
        yield "layer: expected one that does this, got another"
    if one.changed_to is not None and block.kind is not BlockKind.TOOL_RESULT:
        yield f"changed_to: expected it of a tool_result alone, got it of a {block.kind.value}"
    if one.pointer is not None and not _is_pointer_to(one.pointer, block):
        yield "pointer: expected one to the text of the block, got another"


def check_interactions(case: Case, changes: Mapping[Place, ChangedBlock]) -> None:
    """See that each call went with its result, or stayed with it."""
    try:
        validate_rows((row.role, row.blocks) for row in case.before)
    except ToolProtocolError as error:
        # No such history is ever compacted.
        place = (error.message_index or 0, 0)
        case.problems.of_original(place, "message: expected one that keeps the tool protocol")
        return
    # By their call ids, each of which has one call and, later, one result: that was said just now.
    waiting: dict[object, bool] = {}
    for index, row in enumerate(case.before):
        for block in row.blocks:
            if block.kind not in _SIDES:
                continue
            place = (index, block.index)
            change = changes.get(place)
            is_gone = change is not None and change.changed_to is None
            if is_gone != waiting.setdefault(block.call_id, is_gone):
                text = "receipt: expected a call and its result to go together, got one of them"
                case.problems.of_original(place, text)


class Changed(NamedTuple):
    """A block that stands in the result in another form.

    Attributes:
        block: as it was.
        change: what the receipt says of it.
        there: what stands in its place.
    """

    block: Block
    change: ChangedBlock
    there: Block


def wrongly_changed(row: Row, standing: Row, changed: Sequence[Changed]) -> frozenset[int]:
    """Give the places of the blocks in a message that are not what layer 1 makes of them."""
    shown: dict[int, str] = {}
    for block, change, there in changed:
        before, after = text_in_result(block), text_in_result(there)
        if before is None or after is None or not is_shortened(before, after, change.pointer):
            continue
        shown[block.index] = after
    if not shown:
        return frozenset(one.block.index for one in changed)
    # Made again by the layer's own means, all at once: all else of them has to stay as it was.
    made = Row.of(with_result_texts(row.message, shown))
    return frozenset(
        block.index
        for block, change, there in changed
        if block.index not in shown
        or standing.digests[there.index] != change.changed_to
        or not is_same_block(made, made.blocks[block.index], standing, there)
    )


def _is_pointer_to(pointer: str, block: Block) -> bool:
    # Nothing but calls and results is ever stored, and no pointer has room for what is no word.
    if block.kind not in _SIDES or not pointer.isprintable() or not pointer.strip():
        return False
    text = text_in_result(block)
    if text is not None and pointer in possible_pointers(text):
        return True  # the block shows the ends of what was stored before
    try:
        parsed = parse_source_pointer(pointer)
    except UnsupportedSourcePointerError:
        return True  # of a store of one's own, whose pointers say nothing that could be checked
    except SourcePointerError:
        return False
    if parsed.kind is not SourcePointerKind.ARTIFACT or parsed.digest_prefix is None:
        return False  # a transcript holds messages as they were, and no text is spilled to it
    kept = {kept_text(block), canonical_block(block.value).decode(), text or ""}
    return any(_digest_of_text(one).startswith(parsed.digest_prefix) for one in kept)


def _digest_of_text(text: str) -> str:
    try:
        return hashlib.sha256(text.encode()).hexdigest()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file holds
        return ""
