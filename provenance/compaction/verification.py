"""Whether a result and its receipt account for the original: read `verify_receipt`.

Guarantees: no problem is named where kept blocks and receipt cover the original exactly once. A
problem names the first place that does not fit, and holds no text of a message. Nothing is changed.

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

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from provenance.compaction import deduplication, pruning, summary, truncation
from provenance.compaction.canonical_form import digest_of
from provenance.compaction.changes import ChangedBlock, call_id_of
from provenance.compaction.notices import spilled_ends
from provenance.compaction.receipt import Receipt
from provenance.compaction.spilling import kept_text
from provenance.messages.shapes import (
    Block,
    blocks_of,
    new_text_message,
    result_text,
    role_of,
    to_json_value,
)
from provenance.messages.tokens import TokenCounter, count_blocks
from provenance.pointers import (
    SourcePointerError,
    UnsupportedSourcePointerError,
    parse_source_pointer,
)

__all__ = ["ReceiptProblem", "Receipted", "verify_receipt"]

_LAYERS = (truncation.LAYER, deduplication.LAYER, pruning.LAYER, summary.LAYER)
_COUNTS = ("tokens_before", "tokens_after", "applied_layers")
# What a message holds beside its blocks, which have digests of their own; empty it is no block.
_BLOCK_FIELDS = ("content", "tool_calls", "refusal", "audio", "function_call")


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


class ReceiptProblem(NamedTuple):
    """Where result and receipt do not account for the original.

    Attributes:
        message: place of the message in the original, or in the result where `of_result`.
        block: place of the block in it.
        of_result: the place is one of the result.
        text: what was expected, what was found; no text of a message.
    """

    message: int
    block: int
    of_result: bool
    text: str


def verify_receipt(
    original: Sequence[object], result: Receipted, *, counter: TokenCounter | None = None
) -> tuple[ReceiptProblem, ...]:
    """Say whether kept blocks and receipt cover the original exactly once.

    Args:
        original: the messages before the compaction.
        result: a `CompactionResult`, or anything with its `messages` and `receipt`.
        counter: the one that the compaction counted with; then the costs are counted again too.

    Returns:
        The problems: those of the original in its order, then those of the result. Empty where
        there is none.
    """
    before, after = _read(original), _read(result.messages)
    check = _Check(before, after, result.receipt)
    check.removed(counter)
    check.inserted()
    check.kept()
    check.counts(result)
    return tuple(sorted(check.problems, key=lambda one: (one.of_result, one.message, one.block)))


class _Message(NamedTuple):
    message: object
    role: str
    blocks: tuple[Block, ...]


def _read(messages: Sequence[object]) -> list[_Message]:
    return [_Message(message, role_of(message), blocks_of(message)) for message in messages]


class _Check:
    def __init__(
        self, before: Sequence[_Message], after: Sequence[_Message], receipt: Receipt
    ) -> None:
        self.problems: list[ReceiptProblem] = []
        self._before = before
        self._after = after
        self._receipt = receipt
        self._gone: dict[tuple[int, int], ChangedBlock] = {}
        self._put_in: dict[int, set[int]] = {}

    def removed(self, counter: TokenCounter | None) -> None:
        """What the receipt says of the original has to stand there, each block once, in order."""
        last = (-1, -1)
        for one in self._receipt.removed:
            place = (one.message, one.block)
            block = _at(self._before, place)
            if place in self._gone:
                self._say(place, "receipt: expected a block once, got it twice")
            elif place < last:
                self._say(place, "receipt: expected the order of the original, got another")
            elif block is None:
                self._say(place, "receipt: expected a block of the original, got none there")
            else:
                self._compare(place, one, block)
            last = max(last, place)
            self._gone[place] = one
        if counter is not None:
            self._costs(counter)

    def _compare(self, place: tuple[int, int], one: ChangedBlock, block: Block) -> None:
        if digest_of(block.value) != one.sha256:
            self._say(place, "sha256: expected the digest of the original block, got another")
        if one.kind != block.kind.value:
            self._say(place, f"kind: expected {block.kind.value}, got another")
        if one.call_id != call_id_of(block):
            self._say(place, "call_id: expected that of the original block, got another")
        # Layer 1 alone leaves a block in another form; what it shortened may be removed later.
        if one.layer not in _LAYERS or (one.changed_to is not None) != (
            one.layer == truncation.LAYER
        ):
            self._say(place, "layer: expected one that does this, got another")
        if one.pointer is not None and not _is_pointer_to(one.pointer, block):
            self._say(place, "pointer: expected one to the text of the block, got another")

    def _costs(self, counter: TokenCounter) -> None:
        counted: tuple[int, tuple[int, ...]] = (-1, ())
        for place, one in self._gone.items():
            if _at(self._before, place) is None:
                continue
            if counted[0] != place[0]:
                message = self._before[place[0]].message
                counted = (place[0], count_blocks(message, counter=counter))
            if one.tokens != counted[1][place[1]]:
                self._say(place, f"tokens: expected {counted[1][place[1]]}, got {one.tokens}")
        for name, messages, said in (
            ("tokens_before", self._before, self._receipt.tokens_before),
            ("tokens_after", self._after, self._receipt.tokens_after),
        ):
            total = sum(counter.count_message(one.message) for one in messages)
            if said != total:
                self._say((len(messages), 0), f"{name}: expected {total}, got {said}")

    def inserted(self) -> None:
        """What it says was put in has to stand in the result, and to cite what it stands for."""
        cited: list[str] = []
        last = (-1, -1)
        for one in self._receipt.inserted:
            place = (one.message, one.block)
            block = _at(self._after, place)
            if place <= last:
                self._say_of_result(place, "receipt: expected the order of the result, got another")
            elif block is None or digest_of(block.value) != one.sha256:
                self._say_of_result(place, "expected the block that was put in, got another")
            elif one.layer != summary.LAYER:
                self._say_of_result(place, "layer: expected the summary, got another")
            elif not self._is_put_in(self._after[one.message], by_user=bool(one.stands_for)):
                self._say_of_result(place, "message: expected a role and the text, got others")
            last = max(last, place)
            self._put_in.setdefault(one.message, set()).add(one.block)
            cited += one.stands_for
        summed_up = [one.sha256 for one in self._receipt.removed if one.layer == summary.LAYER]
        if cited != summed_up:
            place = next(((one.message, one.block) for one in self._receipt.inserted), (0, 0))
            self._say_of_result(place, "stands_for: expected what the summary removed, got others")

    def _is_put_in(self, message: _Message, *, by_user: bool) -> bool:
        """Whether all that a message has beside its text is what a layer puts in."""
        role = "user" if by_user else "assistant"
        forms = [new_text_message(like, role, "text") for like in self._seen_by_the_summary()]
        return any(_rest_of(_read([form])[0]) == _rest_of(message) for form in forms)

    def _seen_by_the_summary(self) -> Iterator[list[object]]:
        """Give the messages that the summary was put among, as far as the receipt tells.

        One that lost a block before may have shown its shape by that block alone: once with those,
        once without.
        """
        whole: list[object] = []
        both: list[object] = []
        for index, one in enumerate(self._before):
            stays = [
                change is None or change.changed_to is not None or change.layer == summary.LAYER
                for change in (self._gone.get((index, block.index)) for block in one.blocks)
            ]
            if all(stays):
                whole.append(one.message)
            if any(stays):
                both.append(one.message)
        yield both
        yield whole

    def kept(self) -> None:
        """All else, message for message and in order, has to be the original."""
        rest = iter(
            [
                (index, one)
                for index, one in enumerate(self._after)
                if len(self._put_in.get(index, ())) < len(one.blocks)
            ]
        )
        for index, message in enumerate(self._before):
            blocks = [
                block
                for block in message.blocks
                if (index, block.index) not in self._gone
                or self._gone[index, block.index].changed_to is not None
            ]
            if not blocks:
                continue
            found = next(rest, None)
            first = (index, blocks[0].index)
            if found is None:
                self._say(first, f"{blocks[0].kind.value}: expected it in the result, got the end")
                return
            if not self._is_kept(index, message, blocks, found):
                return
        left = next(rest, None)
        if left is not None:
            self._say_of_result((left[0], 0), "expected the end of the result, got a message more")

    def _is_kept(
        self, index: int, message: _Message, blocks: Sequence[Block], found: tuple[int, _Message]
    ) -> bool:
        _, standing = found
        for block, there in zip(blocks, standing.blocks, strict=False):
            change = self._gone.get((index, block.index))
            digest = digest_of(block.value) if change is None else change.changed_to
            if there.kind is not block.kind or digest_of(there.value) != digest:
                kind = block.kind.value
                self._say(
                    (index, block.index), f"{kind}: expected it in the result, got another block"
                )
                return False
        place = (index, blocks[-1].index)
        if len(blocks) != len(standing.blocks):
            self._say(place, f"message: expected {len(blocks)} blocks, got {len(standing.blocks)}")
            return False
        if message.role != standing.role or _rest_of(message) != _rest_of(standing):
            self._say(place, "message: expected its role and fields in the result, got others")
            return False
        return True

    def counts(self, result: Receipted) -> None:
        """The counts, here and in the result itself where it has them."""
        receipt = self._receipt
        for name, said, messages in (
            ("original_messages", receipt.original_messages, self._before),
            ("result_messages", receipt.result_messages, self._after),
        ):
            if said != len(messages):
                text = f"{name}: expected {len(messages)}, got {said}"
                self.problems.append(ReceiptProblem(len(messages), 0, name[0] == "r", text))
        for name in _COUNTS:
            if getattr(result, name, getattr(receipt, name)) != getattr(receipt, name):
                text = f"{name}: expected the same in result and receipt, got two"
                self._say_of_result((len(self._after), 0), text)
        if [name for name in _LAYERS if name in receipt.applied_layers] != [
            *receipt.applied_layers
        ]:
            text = "applied_layers: expected layers in their order, got others"
            self._say_of_result((len(self._after), 0), text)

    def _say(self, place: tuple[int, int], text: str) -> None:
        self.problems.append(ReceiptProblem(*place, of_result=False, text=text))

    def _say_of_result(self, place: tuple[int, int], text: str) -> None:
        self.problems.append(ReceiptProblem(*place, of_result=True, text=text))


def _at(messages: Sequence[_Message], place: tuple[int, int]) -> Block | None:
    message, block = place
    if not 0 <= message < len(messages) or not 0 <= block < len(messages[message].blocks):
        return None
    return messages[message].blocks[block]


def _rest_of(message: _Message) -> object:
    """Give what a message holds beside its blocks; nothing, where it is a block itself."""
    if any(block.value is message.message for block in message.blocks):
        return None
    fields = to_json_value(message.message)
    if not isinstance(fields, dict):
        return None
    return {
        name: value
        for name, value in fields.items()
        if name not in _BLOCK_FIELDS or value is None or value == ""
    }


def _is_pointer_to(pointer: str, block: Block) -> bool:
    ends = spilled_ends(result_text(block) or "")
    if ends is not None and ends.pointer == pointer:
        return True
    try:
        parsed = parse_source_pointer(pointer)
    except UnsupportedSourcePointerError:
        return True  # of a store of one's own, whose pointers say nothing that could be checked
    except SourcePointerError:
        return False
    if parsed.digest_prefix is None:
        return True
    try:
        digest = hashlib.sha256(kept_text(block).encode()).hexdigest()
    except UnicodeEncodeError:
        return False
    return digest.startswith(parsed.digest_prefix)
